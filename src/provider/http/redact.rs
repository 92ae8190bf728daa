//! Makes a sentence of an outside server fit to be shown and logged: no control characters, no secrets, not long.

use unicode_segmentation::UnicodeSegmentation;

use crate::character::is_unseen;
use crate::provider::settings::Secret;
use crate::secret::{self, Known, Level, MARK};

/// The most characters of a provider's sentence that are kept.
const LONGEST: usize = 300;

/// Makes the sentence one line of at most 300 characters without control characters and secrets.
///
/// Removed are `key` itself, what follows `Bearer`, and words shaped like keys, organisations and users: some
/// providers repeat them in their errors (openclaw/openclaw PR#99097).
#[must_use]
pub(crate) fn sanitise(text: &str, key: Option<&Secret>) -> String {
    let mut text = text.to_owned();
    if let Some(key) = key.filter(|key| key.expose().len() >= 4) {
        text = text.replace(key.expose(), MARK);
    }
    let words = text.split(|character: char| character.is_whitespace() || character.is_control());
    let words = words.map(|word| word.chars().filter(|character| !is_unseen(*character)).collect::<String>());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    shorten(&secret::redact(&line, &Known::default(), Level::Repeated).0)
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut length = 0;
    for grapheme in text.graphemes(true) {
        length += grapheme.chars().count();
        if length >= LONGEST {
            break;
        }
        kept.push_str(grapheme);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_and_ids_are_removed_and_words_stay() {
        let cases = [
            ("Incorrect API key provided: sk-proj-abc123def456.", "Incorrect API key provided: [redacted]"),
            ("key sk-ab****************wxyz is bad", "key [redacted] is bad"),
            ("Authorization: Bearer abcdefgh refused", "Authorization: Bearer [redacted] refused"),
            (
                "Rate limit for org-Ab12Cd34Ef in organization org_2wT5ElBE4",
                "Rate limit for [redacted] in organization [redacted]",
            ),
            ("\"user_id\":\"user_2wT5ElBE4Es3R4\"", "\"user_id\":\"[redacted]\""),
            (
                "the task-manager and user-friendly org-wide limits",
                "the task-manager and user-friendly org-wide limits",
            ),
            ("my secret hunter22 leaks", "my secret [redacted] leaks"),
            ("line\none\u{1b}[31m two\t\tthree\u{202e}", "line one [31m two three"),
        ];
        for (given, expected) in cases {
            assert_eq!(sanitise(given, Some(&Secret::new("hunter22"))), expected);
        }
    }

    #[test]
    fn long_sentences_are_cut_between_graphemes() {
        let cut = sanitise(&"e\u{301}".repeat(400), None);
        assert!(cut.chars().count() <= 300 && cut.ends_with("e\u{301}…"), "{cut}");
    }

    proptest! {
        #[test]
        fn nothing_sanitised_is_long_or_has_controls(text in "\\PC{0,20}(sk-[a-z0-9]{8}|\u{7}|\n| |Bearer ){0,9}\\PC{0,400}") {
            let clean = sanitise(&text, None);
            prop_assert!(clean.chars().count() <= 300);
            prop_assert!(!clean.chars().any(char::is_control));
        }
    }
}
