//! Searching everything that was said: BM25 over passages.

use std::collections::HashMap;

use super::turns::turns;
use crate::conversation::{ContentBlock, Message, Role};

/// How many passages are shown at once.
pub const PASSAGES: usize = 5;

/// A passage that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The person's turn it belongs to, counted from 1.
    pub turn: usize,
    /// Who said it: `user`, `assistant`, or the tool that printed it.
    pub who: String,
    /// Its first line within that text, counted from 1.
    pub line: usize,
    /// The passage, word for word.
    pub text: String,
}

/// How many lines a passage has, and how many it shares with the one before.
const LINES: usize = 12;
const SHARED: usize = 2;
/// The longest line that is quoted, in bytes.
const LONGEST_LINE: usize = 400;

/// The usual constants of BM25 (Robertson and Zaragoza 2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A passage, unread.
struct Passage<'a> {
    turn: usize,
    who: &'a str,
    line: usize,
    lines: Vec<&'a str>,
}

/// Finds the passages of a conversation that answer a query best.
#[must_use]
pub fn recall(messages: &[Message], query: &str, most: usize) -> Vec<Found> {
    let mut wanted: Vec<String> = Vec::new();
    words(query, &mut |word| {
        if !wanted.iter().any(|known| known == word) {
            wanted.push(word.to_owned());
        }
    });
    let passages: Vec<Passage<'_>> = turns(messages).flat_map(|(turn, message)| passages(turn, message)).collect();
    let counted: Vec<(Vec<u32>, f64)> = passages.iter().map(|passage| count(passage, &wanted)).collect();
    let all = as_float(passages.len());
    let average = (counted.iter().map(|(_, length)| length).sum::<f64>() / all.max(1.0)).max(1.0);
    let rarity: Vec<f64> = (0..wanted.len())
        .map(|term| {
            let having = as_float(counted.iter().filter(|(counts, _)| counts[term] > 0).count());
            ((all - having + 0.5) / (having + 0.5)).ln_1p()
        })
        .collect();
    let mut scored: Vec<(f64, usize)> = counted
        .iter()
        .enumerate()
        .map(|(index, (counts, length))| {
            let score = counts.iter().zip(&rarity).map(|(count, rarity)| {
                let count = f64::from(*count);
                rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / average))
            });
            (score.sum(), index)
        })
        .filter(|(score, _)| *score > 0.0)
        .collect();
    // Of equals the newest.
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(right.1.cmp(&left.1)));
    scored.into_iter().take(most).map(|(_, index)| found(&passages[index])).collect()
}

fn found(passage: &Passage<'_>) -> Found {
    let lines: Vec<String> = passage.lines.iter().map(|line| super::text::beginning(line, LONGEST_LINE)).collect();
    Found { turn: passage.turn, who: passage.who.to_owned(), line: passage.line, text: lines.join("\n") }
}

fn passages(turn: usize, message: &Message) -> Vec<Passage<'_>> {
    let who = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let mut found = Vec::new();
    for block in &message.content {
        match block {
            ContentBlock::Text { text } => split(turn, who, text, &mut found),
            ContentBlock::ToolResult(result) => split(turn, &result.name, &result.content, &mut found),
            ContentBlock::ToolCall(call) => values(turn, &call.name, &call.input, &mut found),
            ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => {}
        }
    }
    found
}

fn values<'a>(turn: usize, who: &'a str, value: &'a serde_json::Value, found: &mut Vec<Passage<'a>>) {
    match value {
        serde_json::Value::String(text) => split(turn, who, text, found),
        serde_json::Value::Array(values_) => values_.iter().for_each(|value| values(turn, who, value, found)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| values(turn, who, value, found)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

fn split<'a>(turn: usize, who: &'a str, text: &'a str, found: &mut Vec<Passage<'a>>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut start = 0;
    while start < lines.len() {
        let end = (start + LINES).min(lines.len());
        found.push(Passage { turn, who, line: start + 1, lines: lines[start..end].to_vec() });
        if end == lines.len() {
            break;
        }
        start = end - SHARED;
    }
}

/// How often each word stands in a passage, and how many words it has.
fn count(passage: &Passage<'_>, wanted: &[String]) -> (Vec<u32>, f64) {
    let mut counts = vec![0; wanted.len()];
    let mut length = 0_u32;
    let places: HashMap<&str, usize> =
        wanted.iter().enumerate().map(|(place, word)| (word.as_str(), place)).collect();
    for line in &passage.lines {
        words(line, &mut |word| {
            length += 1;
            if let Some(place) = places.get(word) {
                counts[*place] += 1;
            }
        });
    }
    (counts, f64::from(length))
}

/// The words of a text in lower case: letters and digits; of a script without spaces each pair of letters.
fn words(text: &str, take: &mut dyn FnMut(&str)) {
    let lower = text.to_lowercase();
    for word in lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if word.is_ascii() || word.chars().all(|character| (character as u32) < 0x2e80) {
            take(stem(word));
            continue;
        }
        let letters: Vec<(usize, char)> = word.char_indices().collect();
        for pair in letters.windows(2) {
            take(&word[pair[0].0..pair[1].0 + pair[1].1.len_utf8()]);
        }
        if letters.len() == 1 {
            take(word);
        }
    }
}

/// A word without the endings English adds most: `errors`, `failed`, `running`.
fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 5 {
        return word;
    }
    let cut = ["ing", "ed", "es", "s"].into_iter().find_map(|ending| word.strip_suffix(ending));
    cut.filter(|cut| cut.len() >= 3).unwrap_or(word)
}

#[expect(clippy::cast_precision_loss, reason = "counts of passages are far below 2^52")]
const fn as_float(count: usize) -> f64 {
    count as f64
}
