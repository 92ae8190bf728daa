//! Words of this session, for ghost text without a model: a long name that was just read need not be typed.

use crate::secret::looks_secret;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Letters of a word that must have been typed.
const TYPED: usize = 3;
/// Letters a word must have to be worth it, and may have to be a word.
const LENGTHS: std::ops::RangeInclusive<usize> = 6..=60;
/// Words kept; the newest.
const WORDS: usize = 4_000;
/// Bytes looked at of one text.
const LOOKED_AT: usize = 256 * 1024;

#[derive(Debug, Default)]
struct Words {
    /// By word: when it was last heard.
    heard: BTreeMap<String, u64>,
    count: u64,
}

/// The words, shared by the parts of one editor.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionWords(Arc<Mutex<Words>>);

impl SessionWords {
    fn lock(&self) -> MutexGuard<'_, Words> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over the words of a text.
    pub(crate) fn hear(&self, text: &str) {
        let text = &text[..text.floor_char_boundary(LOOKED_AT)];
        let mut words = self.lock();
        for word in text.split(|character: char| !is_part(character)) {
            let word = word.trim_matches(['-', '.', ':', '/']);
            if LENGTHS.contains(&word.chars().count())
                && word.chars().any(char::is_alphabetic)
                && !looks_secret(word)
            {
                words.count += 1;
                let now = words.count;
                words.heard.insert(word.to_owned(), now);
            }
        }
        if words.heard.len() > WORDS {
            let mut ages: Vec<u64> = words.heard.values().copied().collect();
            ages.sort_unstable();
            let oldest = ages[ages.len() - WORDS];
            words.heard.retain(|_, at| *at >= oldest);
        }
    }

    /// Returns the rest of the word at the end of `line`: of those that fit the one heard last.
    pub(super) fn completion(&self, line: &str) -> Option<String> {
        if line.starts_with(['/', '!', '?']) {
            return None;
        }
        let typed = line.rsplit(|character: char| !is_part(character)).next().unwrap_or_default();
        let before = line[..line.len() - typed.len()].chars().next_back();
        // An @path has a menu of its own.
        if typed.chars().count() < TYPED || before == Some('@') {
            return None;
        }
        let words = self.lock();
        let fitting = words.heard.range(typed.to_owned()..).take_while(|(word, _)| word.starts_with(typed));
        let (word, _) = fitting.filter(|(word, _)| word.len() > typed.len()).max_by_key(|(_, at)| **at)?;
        Some(word[typed.len()..].to_owned())
    }
}

/// Tells whether a character belongs to a word, a name or a path.
fn is_part(character: char) -> bool {
    (character.is_alphanumeric() && !is_wide(character)) || matches!(character, '_' | '-' | '.' | ':' | '/')
}

/// Chinese, Japanese and Korean put no spaces between words: text between two spaces is half a sentence.
fn is_wide(character: char) -> bool {
    character >= '\u{2E80}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_heard_is_completed_the_newest_first() {
        let words = SessionWords::default();
        words.hear("see src/frontend/repl.rs and `parse_configuration_file` (in parse_config::load).");
        assert_eq!(words.completion("rename parse_").as_deref(), Some("config::load"));
        assert_eq!(words.completion("rename parse_configu").as_deref(), Some("ration_file"));
        words.hear("parse_configuration_file");
        assert_eq!(words.completion("rename parse_").as_deref(), Some("configuration_file"));
        assert_eq!(words.completion("open src/fr").as_deref(), Some("ontend/repl.rs"));
        for line in ["", "pa", "/parse_", "!parse_", "x parse_ ", "@parse_", "Parse_"] {
            assert_eq!(words.completion(line), None, "{line}");
        }
    }

    #[test]
    fn secrets_and_short_words_are_not_kept_and_old_ones_go() {
        let words = SessionWords::default();
        words.hear("short sk-proj-abcdefghijklmnop1234 123456789 这个函数的名字是 计算结果集合");
        assert_eq!(words.lock().heard.len(), 0);
        let many: Vec<String> = (0..5_000).map(|number| format!("number{number}")).collect();
        words.hear(&many.join(" "));
        assert_eq!(words.lock().heard.len(), WORDS);
        assert_eq!(words.completion("number499").as_deref(), Some("9"));
    }
}
