//! `/usage`, `/budget` and `/effort`: what requests cost, may cost, and how much the model thinks.

use super::bill_words::short_bill;
use super::chart::{Bar, Chart};
use super::{Context, Outcome, Problem, bill};
use crate::conversation::{Bill, LedgerRow, Money};
use crate::locale::{Locale, word};
use crate::provider::Effort;

/// The most turns that have a bar each; earlier ones are summed up.
const TURNS: usize = 12;

pub(super) fn usage(context: &mut Context<'_>, _: &str) -> Outcome {
    let locale = context.locale;
    let ledger = context.agent.ledger();
    let total = ledger.total();
    let mut charts = Vec::new();
    if total.usage.total() > 0 {
        let models = ledger.by_model();
        let turns: Vec<(String, Bill)> =
            ledger.rows().iter().map(|row| (turn(locale, row, models.len()), row.bill)).collect();
        let hidden = turns.len().saturating_sub(TURNS);
        // One bar alone compares nothing.
        if turns.len() > 1 {
            charts.push(Chart::Line(locale.text(word::said::USAGE_TURNS).to_owned()));
            charts
                .extend((hidden > 0).then(|| Chart::Line(locale.count(word::said::USAGE_EARLIER, hidden as u64))));
            charts.push(bars(&turns[hidden..], locale));
        }
        if models.len() > 1 {
            charts.push(Chart::Line(locale.text(word::said::USAGE_MODELS).to_owned()));
            charts.push(bars(&models, locale));
        }
        charts.push(Chart::Line(locale.with(word::said::UsageTotal { bill: &bill(locale, &total) })));
    }
    let ghost = context.world.ghost_usage();
    if ghost.total() > 0 {
        let (input, output) = (&ghost.read().to_string(), &ghost.written().to_string());
        charts.push(Chart::Line(locale.with(word::said::UsageGhost { input, output })));
    }
    if charts.is_empty() {
        return Outcome::Say(locale.text(word::said::USAGE_NONE).to_owned());
    }
    Outcome::Chart(charts)
}

/// Names a turn, with the model's own name where several answered.
fn turn(locale: &Locale, row: &LedgerRow, models: usize) -> String {
    let number = row.turn.to_string();
    match row.model.rsplit('/').next().filter(|_| models > 1) {
        Some(model) => locale.with(word::said::UsageTurnModel { turn: &number, model }),
        None => locale.with(word::said::UsageTurn { turn: &number }),
    }
}

/// A bar a row: as long as what it cost where all of it has a price, else as its tokens.
fn bars(rows: &[(String, Bill)], locale: &Locale) -> Chart {
    let priced = rows.iter().all(|(_, bill)| bill.cost().is_some_and(|cost| cost > Money::default()));
    let size = |bill: &Bill| if priced { bill.at_least().units() } else { bill.usage.total() };
    let bar =
        |(name, one): &(String, Bill)| Bar { name: name.clone(), size: size(one), words: short_bill(locale, one) };
    Chart::Bars(rows.iter().map(bar).collect())
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
    } else if argument.is_empty() {
        said.push_str(&locale.with(word::said::Choices { known: &EFFORTS.join(", ") }));
    }
    Outcome::Say(said)
}
