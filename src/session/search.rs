//! Searching what was said in all sessions: their bytes are scanned, and only the lines with a hit are read.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde_json::Value;

use super::entry::{EntryKind, read_kind};
use crate::conversation::ContentBlock;

/// How much of a file is scanned at once, in bytes: what a core keeps nearest. A longer line is taken whole.
const PIECE: usize = 64 * 1024;
/// How many threads scan.
const MOST_THREADS: usize = 8;
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
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(paths.len());
    let mut found: Vec<(usize, Hits)> = std::thread::scope(|scope| {
        let scan = || {
            let mut found = Vec::new();
            let mut buffer = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(place) else { return found };
                found.extend(hits(path, &wanted, &mut buffer).map(|hits| (place, hits)));
            }
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(scan)).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect()
    });
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
    let written = serde_json::to_string(word).ok()?;
    let mut pattern = String::new();
    for character in written[1..written.len() - 1].chars() {
        if !character.is_alphanumeric() && character.is_ascii() {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    // The few letters beyond ASCII that fold into it (the sign for kelvin) would make the search for `s` and `k` slow.
    let mut builder = RegexMatcherBuilder::new();
    let matcher = builder.case_insensitive(true).unicode(!word.is_ascii()).build(&pattern).ok()?;
    Some(Wanted { lower: word.to_lowercase(), matcher })
}

/// What a file has of all words; `None` where one is missing.
fn hits(path: &Path, wanted: &[Wanted], buffer: &mut Vec<u8>) -> Option<Hits> {
    let mut counts = Vec::new();
    for word in wanted {
        let (mut count, mut said) = (0.0, false);
        pieces(path, buffer, &mut |lines| {
            count += scan(lines, word, &mut said);
            count < MOST_COUNTED
        })?;
        said.then(|| counts.push(count))?;
    }
    let bytes = std::fs::metadata(path).ok()?.len();
    Some(Hits { counts, bytes: as_float(usize::try_from(bytes).unwrap_or(usize::MAX)) })
}

/// Hands over the lines of a file, many at once, until no more are wanted; `None` where it cannot be read.
pub(super) fn pieces(path: &Path, buffer: &mut Vec<u8>, take: &mut dyn FnMut(&[u8]) -> bool) -> Option<()> {
    let mut file = File::open(path).ok()?;
    buffer.resize(PIECE, 0);
    let mut held = 0;
    loop {
        let read = file.read(&mut buffer[held..]).ok()?;
        held += read;
        let whole = if read == 0 { held } else { memchr::memrchr(b'\n', &buffer[..held]).map_or(0, |at| at + 1) };
        if read > 0 && whole == 0 {
            if held == buffer.len() {
                buffer.resize(held * 2, 0);
            }
            continue;
        }
        if !take(&buffer[..whole]) || read == 0 {
            return Some(());
        }
        buffer.copy_within(whole..held, 0);
        held -= whole;
    }
}

/// How often a word stands in these lines, outside of their frame; the first time it is looked whether it was said.
fn scan(lines: &[u8], word: &Wanted, said: &mut bool) -> f64 {
    let mut count = 0.0;
    let mut not_in = 0..0;
    let found = word.matcher.find_iter(lines, |found| {
        if is_frame(lines, found.start(), found.end()) || not_in.contains(&found.start()) {
            return true;
        }
        if !*said {
            let start = memchr::memrchr(b'\n', &lines[..found.start()]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &lines[found.end()..]).map_or(lines.len(), |at| found.end() + at);
            if !says(&lines[start..end], &word.lower) {
                not_in = start..end;
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
    if open > 0 && before[open - 1] == b'\\' {
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
