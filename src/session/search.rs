//! Searching what was said in all sessions: their bytes are scanned, and only the lines with a hit are read.

use std::fs::File;
use std::path::Path;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde_json::Value;

use super::entry::{EntryKind, read_kind};
use super::parts::{Buffer, Lines, on_threads, read_part};
use crate::conversation::ContentBlock;

/// The usual constants of BM25 (Robertson and Zaragoza 2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// The longest text of a line's frame, in bytes: names of fields, kinds, roles.
const FRAME: usize = 24;
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
    let mut counts = Vec::new();
    for word in wanted {
        let (mut count, mut said) = (0.0, false);
        let read = read_part(&file, 0..bytes, buffer, &mut |lines| {
            count += scan(lines, word, &mut said);
            count < MOST_COUNTED
        });
        read.ok()?;
        said.then(|| counts.push(count))?;
    }
    Some(Hits { counts, bytes: as_float(usize::try_from(bytes).unwrap_or(usize::MAX)) })
}

/// How often a word stands in these lines, outside of their frame; the first time it is looked whether it was said.
fn scan(lines: &Lines<'_>, word: &Wanted, said: &mut bool) -> f64 {
    let mut count = 0.0;
    let mut not_in = 0..0;
    let found = word.matcher.find_iter(lines.lower, |found| {
        if is_frame(lines.text, found.start(), found.end()) || not_in.contains(&found.start()) {
            return true;
        }
        if !*said {
            let line = lines.line_of(found.start());
            if !says(&lines.text[line.clone()], &word.lower) {
                not_in = line;
                return true;
            }
            *said = true;
        }
        count += 1.0;
        count < MOST_COUNTED
    });
    // Its error is that of a callback, which has none.
    drop(found);
    count
}

/// Whether a hit stands in the frame of a line: in the name of a field, or in a kind, a role, a type.
pub(super) fn is_frame(lines: &[u8], start: usize, end: usize) -> bool {
    let before = &lines[start.saturating_sub(FRAME)..start];
    let after = &lines[end..lines.len().min(end + FRAME)];
    let (Some(open), Some(close)) = (memchr::memrchr(b'"', before), memchr::memchr(b'"', after)) else {
        return false;
    };
    // A quote behind a backslash belongs to a text.
    let is_escaped = |bytes: &[u8], quote: usize| quote > 0 && bytes[quote - 1] == b'\\';
    if is_escaped(before, open) || is_escaped(after, close) {
        return false;
    }
    after.get(close + 1) == Some(&b':')
        || [&b"\"kind\":"[..], b"\"role\":", b"\"type\":", b"\"outcome\":"]
            .iter()
            .any(|field| before[..open].ends_with(field))
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
            | EntryKind::Rewound { .. }
            | EntryKind::Cut { .. }
            | EntryKind::CutUndone
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
