//! Looks at a text that cannot be read for certain. It can only forbid: a text that looks harmless is asked about
//! all the same.

use crate::approval::program::lists;
use crate::approval::program::{Program, Trait};

/// Returns what the text resembles, if it looks destructive.
pub(crate) fn looks_destructive(text: &str) -> Option<String> {
    // Characters are written as numbers in order to be overlooked.
    if text.contains("$'\\") {
        return Some("$'\\".to_owned());
    }
    // Quotes, backslashes and empty expansions disappear before a program sees the text.
    let mut plain = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' | '\\' => {}
            '$' if matches!(characters.peek(), Some('@' | '*')) => drop(characters.next()),
            _ => plain.push(character),
        }
    }
    let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'));
    let found = |text: &str| text.split(ends).find(|token| loses(token)).map(ToOwned::to_owned);
    // Single words of many programs, which together destroy something.
    let cleans = |text: &str| {
        let has = |wanted: &str| text.split(ends).any(|token| token == wanted);
        (has("git") && has("clean")).then(|| "git clean".to_owned())
    };
    found(&plain).or_else(|| found(text)).or_else(|| cleans(&plain))
}

fn loses(token: &str) -> bool {
    let named = |program: &Program| program.is(Trait::Loses);
    lists::LOSING_WORDS.contains(token) || Program::named(token).is_some_and(named)
}

/// Tells whether a word is the name of a program that destroys, or that runs what it is given.
pub(crate) fn is_destructive_name(word: &str) -> bool {
    let base = word.rsplit('/').next().unwrap_or_default();
    Program::named(base).is_some_and(|program| program.is(Trait::Suspect))
}
