//! The whole diff of a trial, file by file and line by line, as a change looks that is asked about.

use super::diff::{Ink, changes};
use super::looks::Looks;
use crate::locale::{Locale, word};
use crate::terminal::{Line, Span, sanitize_line};
use crate::trial::{Change, ChangeSet, Kind, NotShown};

/// Longer texts are not compared line by line (bytes).
const MOST: u64 = 16 * 1024 * 1024;

/// Lays out what a trial changed; nothing of it is left out.
#[must_use]
pub fn trial_diff(locale: &Locale, looks: &Looks, set: &ChangeSet) -> Vec<Line> {
    rows(locale, Ink { theme: &looks.theme, highlight: looks.highlight }, set)
}

pub(super) fn rows(locale: &Locale, ink: Ink<'_>, set: &ChangeSet) -> Vec<Line> {
    set.changes.iter().flat_map(|change| of_one(locale, ink, set, change)).collect()
}

fn of_one(locale: &Locale, ink: Ink<'_>, set: &ChangeSet, change: &Change) -> Vec<Line> {
    let mut title = Line::new();
    let directory = if change.is_directory() { "/" } else { "" };
    let name = format!("{}{directory}", set.shown(&change.path).display());
    let style = if change.kind == Kind::Deleted { ink.theme.removed } else { ink.theme.strong };
    title.push(Span::new(sanitize_line(&name).into_owned(), style));
    let mut notes = Vec::new();
    match change.kind {
        Kind::Added if !change.is_directory() => notes.push(locale.text(word::approve::NEW_FILE).to_owned()),
        Kind::Deleted => notes.push(locale.text(word::approve::DELETED).to_owned()),
        Kind::Added | Kind::Changed | Kind::Mode | Kind::Link => {}
    }
    if let Some(target) = change.leads_to() {
        notes.push(format!("→ {}", sanitize_line(&set.shown(target).display().to_string())));
    }
    if let Some((before, after)) = change.modes() {
        notes.push(format!("{before:o} → {after:o}"));
    }
    let is_content = !change.is_directory() && matches!(change.kind, Kind::Added | Kind::Changed | Kind::Deleted);
    let texts = is_content.then(|| change.texts(MOST));
    if let Some(Err(why)) = &texts {
        notes.push(match why {
            NotShown::NoText => locale.text(word::trial::NO_TEXT).to_owned(),
            NotShown::TooLong => locale.text(word::trial::TOO_LONG).to_owned(),
            NotShown::Unreadable(cause) => locale.with(word::trial::Unreadable { cause }),
        });
    }
    if !notes.is_empty() {
        title.push(Span::new(format!(" · {}", notes.join(" · ")), ink.theme.dim));
    }
    let mut rows = vec![title];
    if let Some(Ok((was, is))) = texts {
        rows.extend(changes(&change.path, &was, &is, ink));
    }
    rows
}
