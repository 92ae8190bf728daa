//! Commands built into shells, and programs that print the environment.

use super::super::known::is_secret_name;
use super::call::{Call, Field, Finding};
use crate::approval::program::Grammar;
use crate::approval::{Class, Unparsed};

/// Judges a built-in command; `None` if its row, or a look at its flags, says enough.
pub(super) fn judge(call: &Call<'_, '_>) -> Option<Finding> {
    let says = |wanted: fn(&str) -> bool| call.texts().iter().any(|text| wanted(text));
    Some(match call.name {
        "export" | "declare" | "typeset" | "readonly" | "local" | "unset" | "let" => declares(call),
        "fc" | "bind" | "complete" | "enable" | "unalias" => Finding::new(Class::Execute),
        "exec" => Finding::new(Class::ReadOnly),
        "alias" if !call.positionals().is_empty() => Finding::unparsed(Unparsed::Redefined),
        "shopt" if says(|text| text == "expand_aliases") => Finding::unparsed(Unparsed::Redefined),
        "set" if says(sets_by_words) => Finding::unparsed(Unparsed::Redefined),
        _ => return None,
    })
}

/// Tells whether a call only looks; `None` if its row says enough.
pub(super) fn looks(call: &Call<'_, '_>) -> Option<bool> {
    match call.name {
        "trap" => Some(call.arguments.iter().all(|field| matches!(field.value.start(), "-p" | "-l"))),
        "history" => Some(call.arguments.iter().all(is_number)),
        "hash" => call.arguments.is_empty().then_some(true),
        // `-v` counts only as the first word; an unknown first word may be `-v`.
        "printf" => Some(call.arguments.first().is_none_or(|field| {
            let start = field.value.start();
            !start.starts_with("-v") && (!start.is_empty() || field.value.shown().is_empty())
        })),
        _ => None,
    }
}

pub(super) fn does_more(call: &Call<'_, '_>) -> bool {
    call.name == "alias" && !call.positionals().is_empty()
}

fn is_number(field: &Field) -> bool {
    field.value.known().is_some_and(|text| text.chars().all(|c| c.is_ascii_digit()))
}

pub(super) fn prints_environment(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::ReadOnly);
    let names = call.positionals();
    let secret = names.iter().any(|field| field.value.known().is_none_or(|name| is_secret_name(&name)));
    if names.is_empty() || secret || call.is(Grammar::Env) {
        finding.credential = Some("environment".to_owned());
    }
    finding
}

fn declares(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::ReadOnly);
    for field in call.positionals() {
        let text = field.value.start();
        let name = text.split(['=', '+']).next().unwrap_or_default();
        if name.contains(['[', '$', '`', '(']) || (text.is_empty() && !field.value.chunks.is_empty()) {
            return Finding::unparsed(Unparsed::Environment);
        }
    }
    // `-n` makes a second name for another variable, and the value of `-i` is an expression.
    if call.name != "export" && call.has_flag("ni", &[]) {
        return Finding::unparsed(Unparsed::Environment);
    }
    if call.name != "local" && call.positionals().is_empty() || call.has_flag("p", &[]) {
        finding.credential = Some("environment".to_owned());
    }
    finding
}

/// Tells whether `set -k` is given: every word that looks like an assignment is then one, wherever it stands.
fn sets_by_words(text: &str) -> bool {
    text == "keyword" || text.strip_prefix('-').is_some_and(|letters| letters.contains('k'))
}
