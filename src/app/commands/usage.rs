//! `axi usage`: what all sessions cost.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::super::console::Console;
use super::super::context::App;
use crate::command::Problem;
use crate::config::Config;
use crate::conversation::{Bill, Price};
use crate::frontend::exit::Exit;
use crate::frontend::words;
use crate::locale::word;
use crate::provider;
use crate::terminal::sanitize_line;

pub(in crate::app) fn usage(app: &App, since: Option<&str>, json: bool) -> Exit {
    let console = Console::new(&app.locale);
    let Some(store) = app.sessions() else {
        console
            .fail(&Problem { what: app.locale.text(word::error::NO_CONFIG_DIR).to_owned(), hint: String::new() });
        return Exit::Failed;
    };
    let since = since.and_then(|text| SystemTime::now().checked_sub(duration(text)?)).unwrap_or(UNIX_EPOCH);
    let mut models: BTreeMap<String, Bill> = BTreeMap::new();
    store.spending(since, &mut |spending| {
        let bill = match spending.usd {
            Some(cost) => Bill::stored(spending.usage, Some(cost)),
            None => Bill::of(spending.usage, price(&spending.model, &app.config()).as_ref()),
        };
        models.entry(spending.model).or_default().add(bill);
    });
    let mut total = Bill::default();
    for bill in models.values() {
        total.add(*bill);
    }
    let mut models: Vec<(String, Bill)> = models.into_iter().collect();
    models.sort_by_key(|(_, bill)| std::cmp::Reverse((bill.at_least(), bill.usage.total())));
    if json {
        let rows: Vec<Value> = models.iter().map(|(model, bill)| row(model, bill)).collect();
        return console.json(&json!({"total": total, "models": rows}));
    }
    if models.is_empty() {
        console.note(app.locale.text(word::said::USAGE_NONE));
        return Exit::Done;
    }
    let widest = models.iter().map(|(model, _)| model.chars().count()).max().unwrap_or(0);
    let rows = models
        .iter()
        .map(|(model, bill)| format!("{:widest$}  {}", sanitize_line(model), words::bill(&app.locale, bill)));
    let total = app.locale.with(word::said::UsageTotal { bill: &words::bill(&app.locale, &total) });
    console.print(&rows.chain([total]).collect::<Vec<_>>().join("\n"))
}

fn row(model: &str, bill: &Bill) -> Value {
    let mut row = json!({"model": model});
    if let (Some(row), Ok(Value::Object(bill))) = (row.as_object_mut(), serde_json::to_value(bill)) {
        row.extend(bill);
    }
    row
}

/// Returns today's price, for the usage that an older axi recorded without a price.
fn price(id: &str, config: &Config) -> Option<Price> {
    let (name, model) = id.split_once('/')?;
    let said = config.providers.get(name).and_then(|section| section.models.get(model)?.price.clone());
    if let Some(price) = said.as_deref().and_then(Price::parse) {
        return Some(price);
    }
    if name == provider::OWN {
        return Some(Price::free());
    }
    let row = provider::find(name)?;
    row.settings(model, None, &|_: &str| None).abilities.price
}

/// Reads `30m`, `12h`, `7d`, `4w`.
fn duration(text: &str) -> Option<Duration> {
    let at = text.len().checked_sub(1)?;
    let (number, unit) = text.split_at_checked(at)?;
    let seconds = match unit {
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        "w" => 7 * 24 * 60 * 60,
        _ => return None,
    };
    Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_are_read() {
        assert_eq!(duration("7d"), Some(Duration::from_hours(168)));
        assert_eq!(duration("90m"), Some(Duration::from_mins(90)));
        for text in ["", "d", "7", "7y", "é", "-1d"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn what_an_older_axi_spent_has_the_price_of_today_where_there_is_one() {
        let config = Config::default();
        assert!(price("openai/gpt-4o", &config).is_some());
        assert_eq!(price("lab/m", &config), None);
        assert_eq!(price("local/qwen", &config), Some(Price::free()));
        assert_eq!(price("nonsense", &config), None);
    }
}
