//! What a secret is: one table of shapes, names, programs and files, for all who keep secrets back. Pure, but for
//! `dotenv`, [`files`], [`found`] and [`packed`], which ask the disk; knows no session, no provider, no tool and no words
//! for people.

mod announced;
mod behind;
mod block;
mod columns;
mod command;
mod cut;
pub mod derived;
mod dotenv;
mod exact;
pub mod files;
mod form;
pub mod found;
mod issuers;
mod known;
mod level;
mod login;
mod looks;
mod manifest;
mod name;
mod named;
mod opened;
pub mod packed;
mod pair;
mod places;
pub mod printed;
mod prose;
mod random;
mod shape;
mod stand_in;
mod table;
mod together;
mod value;
mod view;

pub use cut::CUT;
pub use dotenv::Dotenv;
pub use known::Known;
pub use level::{Level, MARK};
pub use name::{asks_for_secret, is_kept_from_readers, is_secret_name};
pub use stand_in::{Kinds, MakeKey, StandIns};

use std::ops::Range;

/// Finds what stands in a text in place of secrets: marks and stand-ins.
#[must_use]
pub fn placeholders(text: &str) -> Vec<Range<usize>> {
    let marks = text.match_indices(MARK).map(|(at, mark)| at..at + mark.len());
    let stand_ins = text.match_indices(form::START).filter_map(|(at, start)| {
        let from = at + start.len();
        (form::digits(&text[from..]) == form::DIGITS).then(|| at..from + form::DIGITS)
    });
    let mut found: Vec<Range<usize>> = marks.chain(stand_ins).collect();
    found.sort_by_key(|range| range.start);
    found
}

/// Finds the secrets of a text: in order, none in another.
#[must_use]
pub fn find(text: &str, known: &Known, level: Level) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let known = known.now();
    match level {
        Level::Repeated => {
            known.find(text, &mut found);
            shape::find_repeated(text, &mut found);
        }
        Level::Kept | Level::Sent => in_views(text, &mut found, |text, found| {
            known.find(text, found);
            find_here(text, level, found);
        }),
    }
    let mut found = merged(found);
    // What stands in for a secret is none, wherever it stands.
    found.retain(|range| !form::is_all_of(&text[range.clone()]));
    found
}

/// Finds the values that are known in a text, and nothing else.
fn find_known(text: &str, known: &Known) -> Vec<Range<usize>> {
    let (mut found, known) = (Vec::new(), known.now());
    in_views(text, &mut found, |text, found| known.find(text, found));
    merged(found)
}

/// Looks through a text as it stands, and as those who wrote it meant it.
fn in_views(text: &str, found: &mut Vec<Range<usize>>, look: impl Fn(&str, &mut Vec<Range<usize>>)) {
    look(text, found);
    for view in view::bare(text).into_iter().chain(view::strings(text)) {
        let mut inside = Vec::new();
        look(&view.text, &mut inside);
        found.extend(inside.iter().filter_map(|range| view.origin(range)));
    }
}

/// Finds what a text tells as it stands.
fn find_here(text: &str, level: Level, found: &mut Vec<Range<usize>>) {
    shape::find(text, found);
    block::find(text, level, found);
    manifest::find(text, found);
    let mut start = 0;
    let mut inside = Vec::new();
    let mut lines = Lines::default();
    for line in text.split_inclusive('\n') {
        inside.clear();
        let bare = line.trim_end_matches(['\n', '\r']);
        find_in_line(bare, level, &mut inside);
        let from = behind::place(bare).unwrap_or(0);
        if from > 0 {
            found.extend(inside.drain(..).map(|range| start + range.start..start + range.end));
            find_in_line(&bare[from..], level, &mut inside);
        }
        lines.find(bare, from, &mut inside);
        found.extend(inside.iter().map(|range| start + from + range.start..start + from + range.end));
        start += line.len();
    }
}

/// What is known from one line to the next.
#[derive(Default)]
struct Lines {
    pairs: pair::Pairs,
    columns: columns::Columns,
    transcript: printed::Transcript,
    announced: announced::Announced,
    opened: opened::Opened,
}

impl Lines {
    fn find(&mut self, whole: &str, from: usize, found: &mut Vec<Range<usize>>) {
        let line = &whole[from..];
        self.pairs.find(line, found);
        self.columns.find(whole, from, found);
        self.announced.find(line, found);
        self.opened.find(line, found);
        self.transcript.find(line, behind::typed(whole), found);
    }
}

/// Finds what the line tells alone.
fn find_in_line(line: &str, level: Level, found: &mut Vec<Range<usize>>) {
    login::find(line, level, found);
    command::find(line, found);
    named::find(line, level, found);
    random::find(line, found);
    prose::find(line, found);
    opened::in_line(line, found);
}

/// Takes the secrets out of a text; tells how many there were.
#[must_use]
pub fn redact(text: &str, known: &Known, level: Level) -> (String, usize) {
    let found = find(text, known, level);
    let mut clean = String::with_capacity(text.len());
    let mut written = 0;
    for range in &found {
        clean.push_str(&text[written..range.start]);
        clean.push_str(MARK);
        written = range.end;
    }
    clean.push_str(&text[written..]);
    (clean, found.len())
}

/// Tells whether a line looks as if it held a secret: a false alarm costs one line of history.
#[must_use]
pub fn looks_secret(line: &str) -> bool {
    !find(line, &Known::default(), Level::Sent).is_empty()
}

fn merged(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in found {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod kinds_tests;
#[cfg(test)]
mod rows_tests;
#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;

#[cfg(test)]
mod ordinary_tests;
