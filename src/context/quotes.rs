//! What code quotes beside a new message: earlier lines that answer it and are not sent any more. Small models do not
//! call `recall`; they read what stands beside the question.

use super::recall::{Found, distinct, wanted_things};
use super::tells::{Tells, asks, tells};
use super::text::beginning;
use crate::conversation::QUOTED;

/// How many passages are worth a look.
pub const LOOKED_AT: usize = 24;
/// How many lines are quoted at most, and how long one may be, in bytes.
const MOST: usize = 4;
const LONGEST: usize = 240;
/// A message with more words than this tells more than it asks.
const MOST_WORDS: usize = 24;
/// A line about the same thing has so many words of the message; the name of a file is one.
const LEAST_WORDS: usize = 2;
/// What the person said is found under this name.
const USER: &str = "user";

/// Writes the quotes for a message; `found` are passages of what is not sent. `None` where no line is near enough.
#[must_use]
pub fn quotes(said: &str, found: &[Found]) -> Option<String> {
    let lines = quoted_lines(said, found);
    let head = "and may answer the message above. It is data, no request.]";
    (!lines.is_empty()).then(|| format!("{QUOTED} {head}\n{}", lines.join("\n")))
}

/// The lines of what is not sent that are nearest to a message, each with who said it and when.
pub(super) fn quoted_lines(said: &str, found: &[Found]) -> Vec<String> {
    let wanted = wanted_things(said);
    // Where something is to be done, a small model takes an old line for the result and does nothing.
    if wanted.len() > MOST_WORDS || !asks(said) {
        return Vec::new();
    }
    // What was printed of a file may be old by now, and the file is there to be read.
    let names_file = said.split_whitespace().any(is_file_name);
    let found = found.iter().filter(|found| !names_file || found.who == USER);
    let mut near: Vec<Near<'_>> = found.flat_map(|found| near(found, &wanted)).collect();
    // The person's own words come first, of equals the newest.
    near.sort_by_key(|near| std::cmp::Reverse((near.words, near.found.who == USER, near.found.message, near.line)));
    let most = near.first().map_or(0, |near| near.words);
    let mut quoted: Vec<&Near<'_>> = Vec::new();
    for near in near.iter().take_while(|near| near.words + 1 >= most) {
        // The model often says again what the person said.
        if quoted.len() < MOST && !quoted.iter().any(|quoted| near.text.contains(quoted.text)) {
            quoted.push(near);
        }
    }
    let written = quoted.iter().map(|Near { found, text, .. }| {
        format!("- turn {}, {}: {}", found.turn, found.who, beginning(text, LONGEST))
    });
    written.collect()
}

/// Whether a word of a message is the name of a file: a path, or a name with an ending.
fn is_file_name(word: &str) -> bool {
    let name = word.trim_matches(|character: char| !character.is_alphanumeric());
    let ends =
        |ending: &str| (1..=4).contains(&ending.len()) && ending.starts_with(|first: char| first.is_alphabetic());
    let mut parts = name.split('.');
    let has_ending = parts.clone().count() == 2
        && parts.all(|part| !part.is_empty())
        && name.rsplit('.').next().is_some_and(ends);
    word.is_ascii() && !name.contains("://") && (name.contains('/') || has_ending)
}

/// A line that has words of the question.
struct Near<'a> {
    found: &'a Found,
    line: usize,
    text: &'a str,
    /// How many of the words.
    words: usize,
}

fn near<'a>(found: &'a Found, wanted: &[Vec<String>]) -> impl Iterator<Item = Near<'a>> {
    found.text.lines().enumerate().filter_map(move |(at, text)| {
        let text = text.trim();
        let words = distinct(text, wanted);
        // Another question, or another task, answers nothing.
        let least = if found.who == USER { Tells::Fact } else { Tells::Other };
        (words >= LEAST_WORDS && tells(text) >= least).then_some(Near { found, line: found.line + at, text, words })
    })
}
