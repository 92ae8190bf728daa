//! Words of a line, and of a command as it is written.

use std::ops::Range;

/// Numbers in words, from one.
pub(super) const NUMBERS: &[&str] =
    &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// Words that turn a sentence around.
const NOT: &[&str] = &["not", "no", "never", "without", "except", "excluding", "non", "nor", "cannot"];

/// The words of a line in small letters, without what stands around them.
pub(super) fn words(line: &str) -> Vec<String> {
    let words = line.split(|letter: char| letter.is_whitespace() || "-/".contains(letter));
    let words = words.map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

pub(super) fn turns(word: &str) -> bool {
    NOT.contains(&word) || word.ends_with("n't") || word.ends_with("n’t") || word == "dont"
}

/// Tells whether a word of a command is a program that searches lines.
pub(super) fn is_search(word: &str) -> bool {
    "grep egrep fgrep".split(' ').any(|name| name == word)
}

/// Tells whether a word of a command ends a program's own.
pub(super) fn is_joint(word: &str) -> bool {
    ["|", "||", "&&"].contains(&word) || word.ends_with([';', '&'])
}

/// Where the words of a command stand, as they are written; `None` where quotes do not end.
pub(super) fn raw(command: &str) -> Option<Vec<Range<usize>>> {
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
