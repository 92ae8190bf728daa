//! Texts that are looked for together, in one look at a line.

use std::borrow::Cow;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

/// Some of a table's texts.
pub(super) struct Together {
    texts: &'static [&'static str],
    /// Whether a capital of ASCII is the same letter.
    of_any_case: bool,
    search: OnceLock<Option<AhoCorasick>>,
}

impl Together {
    pub(super) const fn new(texts: &'static [&'static str]) -> Self {
        Self { texts, of_any_case: false, search: OnceLock::new() }
    }

    /// Texts in small letters, which a line may have in capitals.
    pub(super) const fn of_any_case(texts: &'static [&'static str]) -> Self {
        Self { texts, of_any_case: true, search: OnceLock::new() }
    }

    /// Tells whether a line has any of them.
    pub(super) fn any(&self, line: &str) -> bool {
        match self.search() {
            Some(search) => search.is_match(line),
            None => self.texts.iter().any(|text| self.as_looked_at(line).contains(text)),
        }
    }

    /// Returns where the first of them ends.
    pub(super) fn first_end(&self, line: &str) -> Option<usize> {
        match self.search() {
            // They are told by where they end.
            Some(search) => search.find_overlapping_iter(line).next().map(|found| found.end()),
            None => {
                self.texts.iter().filter_map(|text| Some(self.as_looked_at(line).find(text)? + text.len())).min()
            }
        }
    }

    fn as_looked_at<'a>(&self, line: &'a str) -> Cow<'a, str> {
        if self.of_any_case { line.to_ascii_lowercase().into() } else { line.into() }
    }

    /// `None` if they cannot be looked for together.
    fn search(&self) -> Option<&AhoCorasick> {
        let make = || AhoCorasick::builder().ascii_case_insensitive(self.of_any_case).build(self.texts).ok();
        self.search.get_or_init(make).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXTS: &[&str] = &["pass", "password", "word", "a", "密码", ": EAP \""];
    const TEXTS_IN_SMALL: &[&str] = &["pass", "password", "word", "密码", ": eap \""];

    proptest! {
        /// Whatever the line: as if each was looked for alone.
        #[test]
        fn they_are_found_as_each_alone(line in "(pass|password|wor|d|a|x| |密|码|: EAP \"){0,12}") {
            let together = Together::new(TEXTS);
            prop_assert_eq!(together.any(&line), TEXTS.iter().any(|text| line.contains(text)));
            let alone = TEXTS.iter().filter_map(|text| Some(line.find(text)? + text.len())).min();
            prop_assert_eq!(together.first_end(&line), alone);
        }

        /// The same in capitals and small letters.
        #[test]
        fn they_are_found_in_any_case(line in "(pass|PASSword|Wor|d|a|X| |密|: eap \"){0,12}") {
            let together = Together::of_any_case(TEXTS_IN_SMALL);
            let lower = line.to_ascii_lowercase();
            prop_assert_eq!(together.any(&line), TEXTS_IN_SMALL.iter().any(|text| lower.contains(text)));
            let alone = TEXTS_IN_SMALL.iter().filter_map(|text| Some(lower.find(text)? + text.len())).min();
            prop_assert_eq!(together.first_end(&line), alone);
        }
    }
}
