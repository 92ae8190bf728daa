//! `/recall` and `axi recall`: what was said and typed before.

use std::time::SystemTime;

use super::sessions::age;
use super::{Context, Outcome};
use crate::agent::Recalled;
use crate::locale::{Locale, word};

/// How many in a conversation, beside its own.
const MOST_BESIDE: usize = 10;
/// The longest text of one that a conversation shows, in characters.
const LONGEST: usize = 300;

/// A row for a person: how long ago, where from, how it ended, and the text.
#[must_use]
pub fn recalled_row(locale: &Locale, found: &Recalled, now: SystemTime) -> String {
    let ago = found.when.map_or_else(String::new, |when| age(locale, now, when));
    let exit = found.exit.filter(|code| *code != 0).map(|code| {
        let code = &code.to_string();
        format!("  {}", locale.with(word::said::RecallExit { code }))
    });
    let text = found.text.replace('\n', "\n    ");
    format!("{ago:>6}  {}{}\n    {text}", found.source, exit.unwrap_or_default())
}

pub(super) fn recall(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    if argument.is_empty() {
        return Outcome::Say(locale.text(word::said::RECALL_WHAT).to_owned());
    }
    let mut told: Vec<String> = Vec::new();
    for found in context.agent.said().recall(argument) {
        let (turn, line) = (&found.turn.to_string(), &found.line.to_string());
        let place = locale.with(word::said::RecallPlace { turn, who: &found.who, line });
        told.push(format!("{place}\n{}", found.text));
    }
    let id = context.agent.session().id().clone();
    let elsewhere: Vec<Recalled> = context.world.recalled(argument, &id).into_iter().take(MOST_BESIDE).collect();
    if !elsewhere.is_empty() {
        let now = SystemTime::now();
        let rows = elsewhere.into_iter().map(|found| {
            let text: String = found.text.chars().take(LONGEST).collect();
            recalled_row(locale, &Recalled { text, ..found }, now)
        });
        let rows: Vec<String> = rows.collect();
        told.push(format!("{}\n{}", locale.text(word::said::RECALL_ELSEWHERE), rows.join("\n")));
    }
    if told.is_empty() {
        return Outcome::Say(locale.text(word::said::RECALL_NONE).to_owned());
    }
    Outcome::Say(told.join("\n\n"))
}
