//! The doctor's page: what was looked at, in groups, as text and as JSON.

use serde_json::{Value, json};

use super::super::check::Check;
use crate::locale::{Locale, Word, word};
use crate::terminal::sanitize_line;

/// What the doctor may do to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// Look, from a prompt whose terminal somebody else reads.
    Look,
    /// Ask the terminal as well.
    AskTerminal,
    /// Call each provider, too.
    Call,
}

/// Checks of one kind.
pub(super) struct Group {
    /// Its name for programs.
    pub(super) id: &'static str,
    /// Its name for people.
    pub(super) says: Word,
    pub(super) checks: Vec<Check>,
}

/// A new row of the same item; the blanks before it keep markdown from making one paragraph of both.
const BREAK: &str = "  \n  ";

/// Writes the page as a markdown list, which stays readable as plain text in a terminal and in a bug report.
pub(super) fn text(groups: &[Group], locale: &Locale) -> String {
    let mut rows = Vec::new();
    for Group { says, checks, .. } in groups.iter().filter(|group| !group.checks.is_empty()) {
        let is_well = checks.iter().all(|check| check.todo.is_none());
        let mark = if is_well { '✓' } else { '✗' };
        rows.push(format!("{}**{mark} {}**\n", if rows.is_empty() { "" } else { "\n" }, locale.text(*says)));
        for Check { name, found, todo } in checks {
            let mark = if todo.is_some() { "✗ " } else { "" };
            let hint = todo.iter().map(|todo| format!("{BREAK}{} {}", locale.text(word::error::HINT), lines(todo)));
            rows.push(format!("- {mark}{name}: {}{}", lines(found), hint.collect::<String>()));
        }
    }
    rows.join("\n")
}

/// Keeps what was found from being anything but text, each line below the first further in.
fn lines(text: &str) -> String {
    text.lines().map(|line| sanitize_line(line).into_owned()).collect::<Vec<_>>().join(BREAK)
}

/// The same for programs.
pub(super) fn json(groups: &[Group]) -> Value {
    let check = |check: &Check| json!({"name": check.name, "ok": check.todo.is_none(), "found": check.found, "hint": check.todo});
    let group =
        |group: &Group| json!({"group": group.id, "checks": group.checks.iter().map(check).collect::<Value>()});
    json!({"version": env!("CARGO_PKG_VERSION"), "groups": groups.iter().map(group).collect::<Value>()})
}
