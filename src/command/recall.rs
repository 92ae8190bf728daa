//! `/recall` and `axi recall`: what was said and typed before.

use std::time::SystemTime;

use super::sessions::age;
use super::{Context, Outcome};
use crate::agent::Recalled;
use crate::locale::{Locale, word};

/// How many in a conversation, beside its own.
const MOST_BESIDE: usize = 5;
/// The longest text of one that a conversation shows, in characters.
const LONGEST: usize = 200;

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
    let pick = (!elsewhere.is_empty()).then(|| {
        let now = SystemTime::now();
        let items = elsewhere.iter().map(|found| (in_a_row(locale, found, now), as_line(found)));
        Outcome::PickLine { question: locale.text(word::said::RECALL_ELSEWHERE).to_owned(), items: items.collect() }
    });
    let told = (!told.is_empty()).then(|| Outcome::Say(told.join("\n\n")));
    match (told, pick) {
        (Some(told), Some(pick)) => Outcome::Both(Box::new(told), Box::new(pick)),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => Outcome::Say(locale.text(word::said::RECALL_NONE).to_owned()),
    }
}

/// The same in one row: the text first, then how long ago and where from.
fn in_a_row(locale: &Locale, found: &Recalled, now: SystemTime) -> String {
    let row = recalled_row(locale, found, now);
    let (about, _) = row.split_once('\n').unwrap_or((&row, ""));
    let text: String = found.text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect();
    let about: Vec<&str> = about.split_whitespace().collect();
    format!("{text}  · {}", about.join(" "))
}

/// What stands on the line once it is picked: a shell's line to be run, words to be sent, a session to be gone on with.
fn as_line(found: &Recalled) -> String {
    match found.source.strip_prefix("session:") {
        Some(id) => format!("/resume {id}"),
        None if found.source == "axi" => found.text.clone(),
        None => format!("!{}", found.text),
    }
}
