//! Texts that are looked for together, in one look at a line.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

/// Some of a table's texts.
pub(super) struct Together {
    texts: &'static [&'static str],
    search: OnceLock<Option<AhoCorasick>>,
}

impl Together {
    pub(super) const fn new(texts: &'static [&'static str]) -> Self {
        Self { texts, search: OnceLock::new() }
    }

    /// Tells whether a line has any of them.
    pub(super) fn any(&self, line: &str) -> bool {
        match self.search() {
            Some(search) => search.is_match(line),
            None => self.texts.iter().any(|text| line.contains(text)),
        }
    }

    /// Returns where the first of them ends.
    pub(super) fn first_end(&self, line: &str) -> Option<usize> {
        match self.search() {
            // They are told by where they end.
            Some(search) => search.find_overlapping_iter(line).next().map(|found| found.end()),
            None => self.texts.iter().filter_map(|text| Some(line.find(text)? + text.len())).min(),
        }
    }

    /// `None` if they cannot be looked for together.
    fn search(&self) -> Option<&AhoCorasick> {
        self.search.get_or_init(|| AhoCorasick::new(self.texts).ok()).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXTS: &[&str] = &["pass", "password", "word", "a", "密码", ": EAP \""];

    proptest! {
        /// Whatever the line: as if each was looked for alone.
        #[test]
        fn they_are_found_as_each_alone(line in "(pass|password|wor|d|a|x| |密|码|: EAP \"){0,12}") {
            let together = Together::new(TEXTS);
            prop_assert_eq!(together.any(&line), TEXTS.iter().any(|text| line.contains(text)));
            let alone = TEXTS.iter().filter_map(|text| Some(line.find(text)? + text.len())).min();
            prop_assert_eq!(together.first_end(&line), alone);
        }
    }
}
