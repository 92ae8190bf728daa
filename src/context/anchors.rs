//! What no summary may lose, found by code: paths, addresses, ids, hashes, numbers, error lines, rules.

use std::collections::HashMap;

use super::tells::{telling, tells_rule};

/// A kind of anchor, as the frame lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A path or the name of a file.
    Path,
    /// An address.
    Url,
    /// An id, a hash, a version, a number, a name in code.
    Id,
    /// A line that tells of a failure.
    Error,
    /// A sentence that says how things are, or how they are to be done.
    Rule,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Rule, Self::Error, Self::Path, Self::Id, Self::Url];

    /// How the frame calls them.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Path => "Files and paths",
            Self::Url => "Addresses",
            Self::Id => "Names, ids and numbers",
            Self::Error => "Errors seen",
            Self::Rule => "Rules, decisions and facts",
        }
    }
}

/// The longest anchor, in bytes: longer words are data.
const LONGEST_WORD: usize = 160;
/// The longest line that is an anchor, in bytes.
const LONGEST_LINE: usize = 240;

/// Anchors by kind, each once, with how often and where last it was seen.
#[derive(Debug, Default)]
pub(super) struct Index {
    seen: HashMap<(Kind, String), Seen>,
    order: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    /// How often.
    count: usize,
    /// In which text last.
    last: usize,
    /// Where in the order of first appearance.
    first: usize,
}

impl Index {
    /// Takes in the anchors of a text that is newer than all before.
    pub(super) fn read(&mut self, text: &str) {
        self.order += 1;
        for line in text.lines() {
            self.read_line(line.trim());
        }
    }

    /// Takes in the rules of what the model said. What a tool printed makes no rules: it may be a stranger's.
    pub(super) fn read_rules(&mut self, text: &str) {
        for line in text.lines().map(str::trim).filter(|line| tells_rule(line)) {
            self.add(Kind::Rule, clipped(line));
        }
    }

    /// Takes in the rules and the facts of what the person said.
    pub(super) fn read_facts(&mut self, text: &str) {
        for sentence in telling(text) {
            self.add(Kind::Rule, clipped(sentence));
        }
    }

    fn read_line(&mut self, line: &str) {
        if tells_failure(line) {
            self.add(Kind::Error, clipped(line));
        }
        for word in
            line.split(|character: char| character.is_whitespace() || "\"'`<>(){}[]|,;=".contains(character))
        {
            let word = word.trim_matches(|character: char| ".:!?*,。，：；！？、".contains(character));
            if word.len() <= LONGEST_WORD
                && let Some(kind) = kind_of(word)
            {
                self.add(kind, word.to_owned());
            }
        }
    }

    fn add(&mut self, kind: Kind, text: String) {
        let first = self.seen.len();
        let (order, seen) =
            (self.order, self.seen.entry((kind, text)).or_insert(Seen { first, ..Seen::default() }));
        seen.count += 1;
        seen.last = order;
    }

    /// The anchors of a kind, the most useful first: seen last, then often, then early.
    pub(super) fn ranked(&self, kind: Kind) -> Vec<&str> {
        let mut found: Vec<(&str, Seen)> = self
            .seen
            .iter()
            .filter(|((of, _), _)| *of == kind)
            .map(|((_, text), seen)| (text.as_str(), *seen))
            .collect();
        let halves = self.order / 2;
        // Seen in the newer half counts as much as being seen twice more.
        let worth = |seen: &Seen| seen.count + if seen.last > halves { 2 } else { 0 };
        found.sort_by(|(_, left), (_, right)| {
            worth(right).cmp(&worth(left)).then(right.last.cmp(&left.last)).then(left.first.cmp(&right.first))
        });
        found.into_iter().map(|(text, _)| text).collect()
    }
}

/// The anchors of a text in one line of at most so many bytes.
pub(super) fn listed(text: &str, most: usize) -> String {
    let mut index = Index::default();
    index.read(text);
    let mut line = String::new();
    for anchor in Kind::ALL.into_iter().flat_map(|kind| index.ranked(kind)) {
        if line.len() + anchor.len() + 2 > most {
            continue;
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(anchor);
    }
    line
}

fn clipped(line: &str) -> String {
    super::text::beginning(line, LONGEST_LINE)
}

/// What a word is, if it is an anchor.
fn kind_of(word: &str) -> Option<Kind> {
    if word.len() < 2 {
        return None;
    }
    if word.contains("://") && !word.starts_with(':') {
        return Some(Kind::Url);
    }
    let letters = word.chars().filter(|character| character.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let plain = word.chars().all(|character| character.is_alphanumeric() || "._-/~+@:#$%&\\".contains(character));
    if !plain || letters + digits == 0 {
        return None;
    }
    if is_path(word, letters) {
        return Some(Kind::Path);
    }
    let mixed = letters > 0 && digits > 0;
    let number = letters == 0 && digits >= 3;
    let in_code = letters > 2
        && (word.chars().skip(1).any(|character| character == '_') || word.contains("::") || has_hump(word));
    let dashed = letters > 2 && word.len() > 5 && word.chars().any(char::is_uppercase) && word.contains('-');
    let constant =
        letters > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit());
    (mixed || number || in_code || dashed || constant).then_some(Kind::Id)
}

fn is_path(word: &str, letters: usize) -> bool {
    if letters == 0 {
        return false;
    }
    if word.contains('/') {
        let parts = word.split('/').filter(|part| !part.is_empty()).count();
        return parts > 1 || word.starts_with(['/', '~', '.']);
    }
    let Some((stem, ending)) = word.rsplit_once('.') else { return false };
    !ending.is_empty()
        && ending.len() <= 5
        && ending.starts_with(|character: char| character.is_ascii_alphabetic())
        && ending.chars().all(|character| character.is_ascii_alphanumeric())
        && (stem.is_empty() || stem.chars().any(char::is_alphanumeric))
}

/// Whether a small letter is followed by a capital inside (`camelCase`).
fn has_hump(word: &str) -> bool {
    word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Words of a line that tells of a failure.
const FAILURES: &[&str] = &[
    "error",
    "failed",
    "failure",
    "panicked",
    "exception",
    "fatal",
    "denied",
    "not found",
    "undefined",
    "cannot ",
    "错误",
    "失败",
    "エラー",
];

fn tells_failure(line: &str) -> bool {
    let lower = line.to_lowercase();
    line.len() > 6 && FAILURES.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, kind: Kind) -> Vec<String> {
        let mut index = Index::default();
        index.read(text);
        index.read_rules(text);
        let mut found: Vec<String> = index.ranked(kind).into_iter().map(str::to_owned).collect();
        found.sort();
        found
    }

    #[test]
    fn a_word_of_wide_letters_is_read_as_any_other() {
        assert_eq!(found("中文的句子 数据_库 été_x", Kind::Id), ["été_x", "数据_库"]);
    }

    #[test]
    fn what_no_summary_may_lose_is_found() {
        let text = "See src/main.rs and ~/.config/axi, Makefile.toml at https://example.org/a?b.\n\
                    commit 3f2a91c, ticket JIRA-4711, port 8443, v1.2.3, fetch_user, readLine, MAX_SIZE.\n\
                    error[E0308]: mismatched types\nWe must never push to main.";
        assert_eq!(found(text, Kind::Path), ["Makefile.toml", "src/main.rs", "~/.config/axi"]);
        assert_eq!(found(text, Kind::Url), ["https://example.org/a?b"]);
        for id in ["3f2a91c", "JIRA-4711", "8443", "v1.2.3", "fetch_user", "readLine", "MAX_SIZE", "E0308"] {
            assert!(found(text, Kind::Id).contains(&id.to_owned()), "{id}: {:?}", found(text, Kind::Id));
        }
        assert_eq!(found(text, Kind::Error), ["error[E0308]: mismatched types"]);
        assert_eq!(found(text, Kind::Rule), ["We must never push to main."]);
    }

    #[test]
    fn prose_has_none() {
        let text = "This is how people write, and nothing of it is an anchor. 12 men; it's well-known.";
        for kind in Kind::ALL {
            assert_eq!(found(text, kind), Vec::<String>::new(), "{kind:?}");
        }
    }

    #[test]
    fn what_was_seen_last_and_often_stands_first() {
        let mut index = Index::default();
        index.read("old.rs");
        index.read("old.rs often.rs");
        index.read("often.rs x");
        index.read("new.rs often.rs");
        assert_eq!(index.ranked(Kind::Path), ["often.rs", "new.rs", "old.rs"]);
        assert_eq!(listed("a.rs b.rs c.rs", 10), "a.rs, b.rs");
    }
}
