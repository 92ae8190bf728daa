//! The words of a query, found in the lines of sessions as they stand there, before any is parsed.

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use memchr::memmem::Finder;

use super::frame::is_frame;

/// The most words of a query that count.
const MOST_WORDS: usize = 32;

/// Words that are looked for, in lower case.
pub(super) struct Sought {
    any: RegexMatcher,
    /// Whether they are also found within other words: scripts without spaces are searched by pairs of letters.
    within: bool,
    words: Vec<String>,
    newline: Finder<'static>,
}

/// Which of the words a line of a session has, a bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Has {
    /// Anywhere in it.
    pub(super) words: u32,
    /// The most of them in one line of its text.
    pub(super) together: u32,
}

impl Sought {
    /// `None` where nothing is looked for. Words are letters and digits.
    pub(super) fn new(words: &[String]) -> Option<Self> {
        let mut words = words[..words.len().min(MOST_WORDS)].to_vec();
        let plain = |word: &String| !word.is_empty() && word.chars().all(char::is_alphanumeric);
        if words.is_empty() || !words.iter().all(plain) {
            return None;
        }
        // Of two that begin alike the longer one is tried first.
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let mut builder = RegexMatcherBuilder::new();
        // The lines are in lower case already, but for letters beyond ASCII. As in a search, ASCII folds into ASCII alone.
        let beyond = |word: &String| word.chars().any(|letter| !letter.is_ascii() && has_case(letter));
        builder.case_insensitive(words.iter().any(beyond)).unicode(!words.iter().all(|word| word.is_ascii()));
        // Letters and digits mean themselves in a pattern.
        let any = builder.build(&words.join("|")).ok()?;
        let within = words.iter().any(|word| !word.is_ascii());
        Some(Self { any, within, words, newline: Finder::new(b"\\n") })
    }

    /// The bits of all words.
    pub(super) fn all(&self) -> u32 {
        u32::MAX >> (MOST_WORDS - self.words.len())
    }

    /// Where one of them may stand next from a place on, in lines whose ASCII letters are in lower case.
    pub(super) fn next(&self, lower: &[u8], from: usize) -> Option<usize> {
        self.any.find_at(lower, from).ok().flatten().map(|found| found.start())
    }

    /// Which of them a line has outside of its frame, and the same line in lower case; `None` where it has none.
    pub(super) fn in_line(&self, line: &[u8], lower: &[u8]) -> Option<Has> {
        let (mut has, mut now, mut at, mut before) = (Has::default(), 0_u32, 0, 0);
        while let Ok(Some(found)) = self.any.find_at(lower, at) {
            at = found.end();
            let begins = self.within || may_begin_word(&line[..found.start()]);
            if !begins || is_frame(line, found.start(), found.end()) {
                continue;
            }
            let Some(place) = self.place(&lower[found.start()..found.end()]) else { continue };
            if self.newline.find(&line[before..found.start()]).is_some() {
                now = 0;
            }
            before = found.end();
            now |= 1 << place;
            has.words |= now;
            if now.count_ones() > has.together.count_ones() {
                has.together = now;
            }
            if has.together == self.all() {
                break;
            }
        }
        (has.words != 0).then_some(has)
    }

    fn place(&self, found: &[u8]) -> Option<usize> {
        let place = self.words.iter().position(|word| word.as_bytes() == found);
        place.or_else(|| {
            let lower = String::from_utf8_lossy(found).to_lowercase();
            self.words.iter().position(|word| *word == lower)
        })
    }
}

fn has_case(letter: char) -> bool {
    !letter.to_uppercase().eq([letter]) || !letter.to_lowercase().eq([letter])
}

/// Whether a word may begin behind this: not within another one. A line break is written `\n` there.
fn may_begin_word(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] | [.., b'\\', b'u', _, _, _, _] | [] => true,
        [.., last] => !last.is_ascii_alphanumeric(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_line_are_known_and_how_many_stand_together() {
        let sought =
            |words: &[&str]| Sought::new(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap();
        let has = |words: &[&str], line: &str| {
            let has = sought(words).in_line(line.as_bytes(), line.to_ascii_lowercase().as_bytes())?;
            Some((has.words.count_ones(), has.together.count_ones()))
        };
        let line = |text: &str| format!("{{\"text\":{}}}", serde_json::to_string(text).unwrap());
        let both = ["heron", "port"];
        assert_eq!(has(&both, &line("the Heron port")), Some((2, 2)));
        assert_eq!(has(&both, &line("the heron\nport 8017\nno")), Some((2, 1)));
        assert_eq!(has(&both, &line("a\nport\tports")), Some((1, 1)));
        // Within another word it is another word.
        assert_eq!(has(&both, &line("a report")), None);
        assert_eq!(has(&["port", "portal"], &line("portal")), Some((1, 1)));
        assert_eq!(has(&["error"], &line("errors \": ")), Some((1, 1)));
        assert_eq!(has(&["中文"], &line("heron中文字")), Some((1, 1)));
        assert_eq!(has(&["größe"], &line("die GRÖSSE der GRÖßE")), Some((1, 1)));
        assert_eq!(has(&["text"], &line("nothing")), None);
        assert!(Sought::new(&[]).is_none());
        assert!(Sought::new(&["a.b".to_owned()]).is_none());
    }
}
