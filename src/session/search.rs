//! Searching what was said in all sessions: their bytes are scanned, and only the lines with a hit are read.

use std::fs::File;
use std::path::Path;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde_json::Value;

use super::entry::{EntryKind, read_kind};
use super::frame::is_frame;
use super::parts::{Buffer, line_of, on_threads, read_lower};
use crate::conversation::ContentBlock;

/// The usual constants of BM25 (Robertson and Zaragoza 2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// How often a word is counted in a file at most: from there on more of it changes no score by a hundredth.
const MOST_COUNTED: f64 = 128.0;

/// What is looked for.
struct Wanted {
    lower: String,
    matcher: RegexMatcher,
}

/// What was found in a file: how often each word stands in it.
struct Hits {
    counts: Vec<f64>,
    bytes: f64,
}

/// Ranks the files in which all words of a text were said, called, answered or given as a title, whatever their case:
/// their places, the best first. Of equals the first.
pub(super) fn ranked(paths: &[&Path], text: &str) -> Vec<usize> {
    let Some(mut wanted) = text.split_whitespace().map(wanted).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    if wanted.is_empty() {
        return Vec::new();
    }
    // A long word is in few files, and what lacks one is not scanned for the next.
    wanted.sort_by_key(|word| std::cmp::Reverse(word.lower.len()));
    let found = on_threads(paths.len(), |place, buffer| hits(paths[place], &wanted, buffer));
    let found = found.into_iter().enumerate();
    let mut found: Vec<(usize, Hits)> = found.filter_map(|(place, hits)| Some((place, hits?))).collect();
    let all = as_float(paths.len());
    let having = as_float(found.len());
    let average = (found.iter().map(|(_, hits)| hits.bytes).sum::<f64>() / having.max(1.0)).max(1.0);
    let rarity = ((all - having + 0.5) / (having + 0.5)).ln_1p();
    let score = |hits: &Hits| {
        let scores = hits
            .counts
            .iter()
            .map(|count| rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * hits.bytes / average)));
        scores.sum::<f64>()
    };
    found.sort_by(|(one, left), (other, right)| score(right).total_cmp(&score(left)).then(one.cmp(other)));
    found.into_iter().map(|(place, _)| place).collect()
}

fn wanted(word: &str) -> Option<Wanted> {
    let written = serde_json::to_string(word).ok()?.to_ascii_lowercase();
    let mut pattern = String::new();
    for character in written[1..written.len() - 1].chars() {
        if !character.is_alphanumeric() && character.is_ascii() {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    // The few letters beyond ASCII that fold into it (the sign for kelvin) would make the search for `s` and `k` slow.
    let beyond = !word.is_ascii();
    let matcher = RegexMatcherBuilder::new().case_insensitive(beyond).unicode(beyond).build(&pattern).ok()?;
    Some(Wanted { lower: word.to_lowercase(), matcher })
}

/// What a file has of all words; `None` where one is missing.
fn hits(path: &Path, wanted: &[Wanted], buffer: &mut Buffer) -> Option<Hits> {
    let file = File::open(path).ok()?;
    let bytes = file.metadata().ok()?.len();
    let mut words: Vec<Tally<'_>> = wanted.iter().map(|word| Tally::new(word, bytes)).collect();
    // A word is looked for from where the one before it was found: of most files only the first is looked for.
    let read = read_lower(&file, 0..bytes, buffer, &mut |offset, lines| {
        let mut is_enough = true;
        for word in &mut words {
            word.from = word.from.min(offset);
            word.scan(lines);
            is_enough &= word.is_enough();
            if !word.said {
                break;
            }
        }
        !is_enough
    });
    read.ok()?;
    for word in &mut words {
        let before = word.from;
        if before > 0 && !word.is_enough() {
            let read = read_lower(&file, 0..before, buffer, &mut |_, lines| {
                word.scan(lines);
                !word.is_enough()
            });
            read.ok()?;
        }
        word.said.then_some(())?;
    }
    let counts = words.iter().map(|word| word.count.min(MOST_COUNTED)).collect();
    Some(Hits { counts, bytes: as_float(usize::try_from(bytes).unwrap_or(usize::MAX)) })
}

/// How often a word stands in a file, as far as it was counted.
struct Tally<'a> {
    word: &'a Wanted,
    /// Where the lines begin in which it was looked for, up to the file's end.
    from: u64,
    count: f64,
    /// Whether it was said there.
    said: bool,
}

impl<'a> Tally<'a> {
    const fn new(word: &'a Wanted, bytes: u64) -> Self {
        Self { word, from: bytes, count: 0.0, said: false }
    }

    fn is_enough(&self) -> bool {
        self.count >= MOST_COUNTED
    }

    /// Counts it in lines in lower case, outside of their frame; the first time it is looked whether it was said.
    fn scan(&mut self, lines: &[u8]) {
        if self.is_enough() {
            return;
        }
        let mut not_in = 0..0;
        let found = self.word.matcher.find_iter(lines, |found| {
            if is_frame(lines, found.start(), found.end()) || not_in.contains(&found.start()) {
                return true;
            }
            if !self.said {
                let line = line_of(lines, found.start());
                // JSON in lower case is JSON with the same texts but for their case.
                if !says(&lines[line.clone()], &self.word.lower) {
                    not_in = line;
                    return true;
                }
                self.said = true;
            }
            self.count += 1.0;
            !self.is_enough()
        });
        // Its error is that of a callback, which has none.
        drop(found);
    }
}

/// Whether the words of a line hold a text in lower case. What is written between them (`role`, `kind`) is not theirs.
fn says(line: &[u8], wanted: &str) -> bool {
    let holds = |text: &str| text.to_lowercase().contains(wanted);
    match read_kind(line) {
        Some(EntryKind::Message { message }) => message.content.iter().any(|block| match block {
            ContentBlock::Text { text } => holds(text),
            ContentBlock::ToolCall(call) => holds(&call.name) || value_says(&call.input, &holds),
            ContentBlock::ToolResult(result) => holds(&result.content),
            ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => false,
        }),
        Some(
            EntryKind::Title { title: said }
            | EntryKind::Topic { topic: said }
            | EntryKind::Forked { title: said, .. },
        ) => holds(&said),
        Some(
            EntryKind::Started { .. }
            | EntryKind::Usage { .. }
            | EntryKind::Model { .. }
            | EntryKind::TurnEnded { .. }
            | EntryKind::Changed { .. }
            | EntryKind::Rewound { .. }
            | EntryKind::Cut { .. }
            | EntryKind::CutUndone
            | EntryKind::Unanswered { .. }
            | EntryKind::Noted { .. }
            | EntryKind::NotesTold
            | EntryKind::Pinned { .. },
        )
        | None => false,
    }
}

/// Whether a value of a call says it: its texts, not the names of its fields.
fn value_says(value: &Value, holds: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => holds(text),
        Value::Array(values) => values.iter().any(|value| value_says(value, holds)),
        Value::Object(fields) => fields.values().any(|value| value_says(value, holds)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and sizes of files are far below 2^52")]
const fn as_float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::conversation::Message;
    use crate::session::entry::Entry;

    #[test]
    fn words_are_counted_in_all_of_a_file_wherever_the_first_of_them_is() {
        let line = |text: &str| {
            let message = Message::user(text);
            Entry::line(EntryKind::Message { message }, std::time::SystemTime::UNIX_EPOCH).unwrap()
        };
        // Longer than what is read at once.
        let other = line(&"nothing of it. ".repeat(20_000));
        for order in ["hhpo", "oohph", "pohoh", "pphoh", "hoopp", "hpo", "oph", "hohop"] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            for part in order.chars() {
                let part = match part {
                    'h' => line("the Heron, a heron"),
                    'p' => line("its PORT"),
                    _ => other.clone(),
                };
                file.write_all(&part).unwrap();
            }
            let count = |letter: char| as_float(order.matches(letter).count());
            let words: Vec<Wanted> = ["heron", "port"].iter().filter_map(|word| wanted(word)).collect();
            let found = hits(file.path(), &words, &mut Buffer::default()).map(|hits| hits.counts);
            assert_eq!(found, Some(vec![2.0 * count('h'), count('p')]), "{order}");
            let words: Vec<Wanted> = ["heron", "port", "gull"].iter().filter_map(|word| wanted(word)).collect();
            assert!(hits(file.path(), &words, &mut Buffer::default()).is_none());
        }
    }
}
