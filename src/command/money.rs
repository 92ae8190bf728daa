//! `/usage`, `/budget` and `/effort`: what requests cost, may cost, and how much the model thinks.

use super::bill_words::short_bill;
use super::{Context, Outcome, Problem, bill};
use crate::conversation::{Bill, Money};
use crate::locale::{Locale, word};
use crate::provider::Effort;

/// How many cells the longest bar of `/usage` has.
const BAR: u64 = 20;

/// The most turns that have a bar each; earlier ones are summed up.
const TURNS: usize = 12;

pub(super) fn usage(context: &mut Context<'_>, _: &str) -> Outcome {
    let locale = context.locale;
    let ledger = context.agent.ledger();
    let total = ledger.total();
    let mut rows = Vec::new();
    if total.usage.total() > 0 {
        let turns: Vec<(String, Bill)> = ledger
            .rows()
            .iter()
            .map(|row| {
                (locale.with(word::said::UsageTurn { turn: &row.turn.to_string(), model: &row.model }), row.bill)
            })
            .collect();
        let hidden = turns.len().saturating_sub(TURNS);
        if hidden > 0 {
            rows.push(locale.count(word::said::USAGE_EARLIER, hidden as u64));
        }
        // One bar alone compares nothing.
        if turns.len() > 1 {
            rows.extend(chart(&turns[hidden..], locale));
        }
        let models = ledger.by_model();
        if models.len() > 1 {
            rows.extend(chart(&models, locale));
        }
        rows.push(locale.with(word::said::UsageTotal { bill: &bill(locale, &total) }));
    }
    let ghost = context.world.ghost_usage();
    if ghost.total() > 0 {
        let (input, output) = (&ghost.read().to_string(), &ghost.written().to_string());
        rows.push(locale.with(word::said::UsageGhost { input, output }));
    }
    if rows.is_empty() {
        return Outcome::Say(locale.text(word::said::USAGE_NONE).to_owned());
    }
    Outcome::Say(rows.join("\n"))
}

/// A bar a row: as long as what it cost where all of it has a price, else as its tokens.
fn chart(rows: &[(String, Bill)], locale: &Locale) -> Vec<String> {
    let priced = rows.iter().all(|(_, bill)| bill.cost().is_some_and(|cost| cost > Money::default()));
    let size = |bill: &Bill| if priced { bill.at_least().units() } else { bill.usage.total() };
    let most = rows.iter().map(|(_, bill)| size(bill)).max().unwrap_or(0).max(1);
    let widest = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let row = |(name, one): &(String, Bill)| {
        // What is there is seen, however small.
        let cells = (u128::from(size(one)) * u128::from(BAR) / u128::from(most)).max(1);
        let bar: String = (0..u128::from(BAR)).map(|at| if at < cells { '█' } else { '·' }).collect();
        format!("{name:widest$}  {bar}  {}", short_bill(locale, one))
    };
    rows.iter().map(row).collect()
}

/// The word that takes a budget or an effort away.
const OFF: &str = "off";

pub(super) fn budget(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    let amount = argument.trim_start_matches('$');
    if argument == OFF {
        context.agent.wishes().budget = None;
    } else if !argument.is_empty() {
        let Some(dollars) = amount.parse::<f64>().ok().filter(|dollars| dollars.is_finite() && *dollars >= 0.0)
        else {
            let what = locale.with(word::said::BudgetWrong { amount: argument });
            return Outcome::Fail(Problem { what, hint: String::new() });
        };
        context.agent.wishes().budget = Some(Money::dollars(dollars));
    }
    let spent = bill(locale, &context.agent.ledger().total());
    Outcome::Say(match context.agent.wishes().budget {
        Some(budget) => locale.with(word::said::Budget { budget: &budget.to_string(), spent: &spent }),
        None => locale.with(word::said::BudgetNone { spent: &spent }),
    })
}

/// What may follow `/effort`.
pub(super) const EFFORTS: &[&str] = &["off", "none", "minimal", "low", "medium", "high", "xhigh", "max"];

pub(super) fn effort(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    let known = context.agent.model().abilities.efforts.clone();
    if argument == OFF {
        context.agent.wishes().effort = None;
    } else if !argument.is_empty() {
        let Some(effort) = Effort::parse(argument) else {
            let what = locale.with(word::said::WordUnknown { word: argument, known: &EFFORTS.join(", ") });
            return Outcome::Fail(Problem { what, hint: String::new() });
        };
        context.agent.wishes().effort = Some(effort);
    }
    let wished = context.agent.wishes().effort;
    let sent = context.agent.model().abilities.effort(wished);
    let mut said = match (wished, sent) {
        (None, _) => locale.text(word::said::EFFORT_NONE).to_owned(),
        (Some(_), None) => locale.text(word::said::EFFORT_NOT_TAKEN).to_owned(),
        (Some(wished), Some(sent)) if wished == sent => locale.with(word::said::Effort { effort: sent.word() }),
        (Some(wished), Some(sent)) => {
            locale.with(word::said::EffortNearest { effort: sent.word(), wished: wished.word() })
        }
    };
    if !known.is_empty() {
        let known: Vec<&str> = known.into_iter().map(Effort::word).collect();
        said.push_str(&locale.with(word::said::EffortKnown { known: &known.join(", ") }));
    }
    Outcome::Say(said)
}
