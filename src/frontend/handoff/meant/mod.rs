//! Where a line says how old a file is, or that directories below are left out, and the command says something else. A
//! small model writes `-mtime -2` for two hours, which is two days, and forgets `-maxdepth 1`: what it then deletes is more than
//! was meant. Only what can be read without a doubt is changed. So is a text to print in other letters, an archive that its name
//! says is plain, a sum that counts what `wc` itself has summed up, and a `grep -q` whose output something else would read.

mod asked;
mod find;
mod piped;

use std::ops::Range;

use crate::locale::{Locale, word};
use crate::terminal::sanitize_line;

/// One thing that a command says differently now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The line says it, the command said nothing of it.
    Added { said: String, now: String },
    /// The command said something else.
    Instead { said: String, was: String, now: String },
    /// `wc` prints a total that would be counted, too.
    CountedTwice { now: String },
    /// A quiet program's output was to be read.
    SaysNothing { was: String, now: String },
    /// What stands on both sides of an `-o` belongs together.
    Grouped { now: String },
}

impl Change {
    /// Words it for the person.
    pub(super) fn worded(&self, locale: &Locale) -> String {
        match self {
            Self::Added { said, now } => locale.with(word::handoff::Meant { said: &sanitize_line(said), now }),
            Self::Instead { said, was, now } => {
                locale.with(word::handoff::MeantNot { said: &sanitize_line(said), now, was: &sanitize_line(was) })
            }
            Self::CountedTwice { now } => locale.with(word::handoff::CountedTwice { now }),
            Self::SaysNothing { was, now } => locale.with(word::handoff::SaysNothing { was, now }),
            Self::Grouped { now } => locale.with(word::handoff::Grouped { now: &sanitize_line(now) }),
        }
    }
}

/// Changes a command to what the line says; lists what was changed.
#[must_use]
pub(crate) fn meant(line: &str, command: &str) -> Option<(String, Vec<Change>)> {
    let mut command = command.to_owned();
    let changes = [
        find::age(line, &mut command),
        find::size(line, &mut command),
        find::depth(line, &mut command),
        find::grouped(&mut command),
        asked::kept(line, &mut command),
        asked::printed(line, &mut command),
        asked::unpacked(line, &mut command),
        piped::once(&mut command),
        piped::heard(&mut command),
    ];
    let changes: Vec<Change> = changes.into_iter().flatten().collect();
    (!changes.is_empty()).then_some((command, changes))
}

/// Words that turn a sentence around.
const NOT: &[&str] = &["not", "no", "never", "without", "except", "excluding", "non", "nor", "cannot"];

/// The words of a line in small letters, without what stands around them.
fn words(line: &str) -> Vec<String> {
    let words = line.split(|letter: char| letter.is_whitespace() || "-/".contains(letter));
    let words = words.map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

fn turns(word: &str) -> bool {
    NOT.contains(&word) || word.ends_with("n't") || word.ends_with("n’t") || word == "dont"
}

/// Where the words of a command stand, as they are written; `None` where quotes do not end.
fn raw(command: &str) -> Option<Vec<Range<usize>>> {
    let (mut words, mut begun, mut quote) = (Vec::new(), None, None);
    let mut letters = command.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (None, letter) if letter.is_whitespace() => {
                words.extend(begun.take().map(|begun| begun..at));
                continue;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None | Some('"'), '\\') => {
                letters.next()?;
            }
            _ => {}
        }
        begun.get_or_insert(at);
    }
    words.extend(begun.map(|begun| begun..command.len()));
    quote.is_none().then_some(words)
}

#[cfg(test)]
#[path = "meant_tests.rs"]
mod tests;
