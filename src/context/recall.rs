//! Searching everything that was said: BM25 over passages.

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::turns::turns;
use crate::conversation::{ContentBlock, Message, Role, is_quoted};

/// How many passages are shown at once.
pub const PASSAGES: usize = 5;

/// A passage that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Which of the messages it stands in.
    pub message: usize,
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
/// How much more words count that stand in one line together: in code and output a line says one thing.
const TOGETHER: f64 = 2.0;

/// Words of a question that say nothing of what is sought.
const ASKING: &str = " a all an and any are as at be been before by can could did do does for from had has have how i if in is it \
                      its me my of on or our said say so that the their them then there they this to us was we were \
                      what when where which who why will with would you your ";

/// A message, and where it stands in its conversation.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// Its number, counted from 0.
    pub number: usize,
    /// The person's turn it belongs to, counted from 1.
    pub turn: usize,
    /// The message.
    pub message: &'a Message,
}

/// A text of a message.
struct Spoken<'a> {
    message: usize,
    turn: usize,
    who: &'a str,
    text: &'a str,
}

/// A passage that has a word that is wanted.
struct Passage<'a> {
    message: usize,
    turn: usize,
    who: &'a str,
    line: usize,
    lines: Vec<&'a str>,
    /// How often each wanted word stands in it.
    counts: Vec<u32>,
    /// Which of them stand together in its lines, for each line that has any.
    together: Vec<Vec<bool>>,
    length: f64,
}

/// Finds the passages of a conversation that answer a query best: BM25 over passages, and above that the passage with a
/// line that has most of the words together. Texts without any of the words are passed over unread.
#[must_use]
pub fn recall(messages: &[Message], query: &str, most: usize) -> Vec<Found> {
    let said = turns(messages).enumerate().map(|(number, (turn, message))| Said { number, turn, message });
    recall_of(&said.collect::<Vec<_>>(), query, most)
}

/// The same of some messages of a conversation, the oldest first.
#[must_use]
pub fn recall_of(said: &[Said<'_>], query: &str, most: usize) -> Vec<Found> {
    let wanted = wanted(query);
    let Some(any) = any_of(&wanted) else { return Vec::new() };
    let texts: Vec<Spoken<'_>> = said.iter().flat_map(texts).collect();
    let mut passages = Vec::new();
    for text in &texts {
        with_any(text, &any, &wanted, &mut passages);
    }
    // Only passages with a word count, so that it makes no difference which of the others the caller read.
    let all = as_float(passages.len());
    let average = (passages.iter().map(|passage| passage.length).sum::<f64>() / all.max(1.0)).max(1.0);
    let rarity: Vec<f64> = (0..wanted.len())
        .map(|term| {
            let having = as_float(passages.iter().filter(|passage| passage.counts[term] > 0).count());
            ((all - having + 0.5) / (having + 0.5)).ln_1p()
        })
        .collect();
    let score = |passage: &Passage<'_>| {
        let words = passage.counts.iter().zip(&rarity).map(|(count, rarity)| {
            let count = f64::from(*count);
            rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * passage.length / average))
        });
        let line =
            |has: &Vec<bool>| has.iter().zip(&rarity).filter(|(has, _)| **has).map(|(_, rarity)| rarity).sum();
        let best = passage.together.iter().map(line).fold(0.0, f64::max);
        words.sum::<f64>() + TOGETHER * best
    };
    let mut scored: Vec<(f64, usize)> =
        passages.iter().map(score).enumerate().map(|(index, score)| (score, index)).collect();
    // Of equals the newest.
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(right.1.cmp(&left.1)));
    scored.into_iter().take(most).map(|(_, index)| found(&passages[index])).collect()
}

/// The words that are looked for, each once, in lower case and without their endings; all of a query that has nothing but
/// words of asking.
#[must_use]
pub fn wanted(query: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    each_word(query, &mut |word| {
        if !all.iter().any(|known| known == word) {
            all.push(word.to_owned());
        }
    });
    let telling: Vec<String> = all.iter().filter(|word| !ASKING.contains(&format!(" {word} "))).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

/// The same words, but those of a name (`src/main.rs`, `10.0.0.1`) together: they are one thing that is asked about.
pub(super) fn wanted_things(query: &str) -> Vec<Vec<String>> {
    let wanted = wanted(query);
    let is_name = |token: &&str| token.is_ascii() && token.contains(['/', '.']);
    let mut things: Vec<Vec<String>> = Vec::new();
    for token in query.split_whitespace().map(|token| token.trim_end_matches(['.', '?', '!', ',', ':', ';'])) {
        let mut parts: Vec<String> = Vec::new();
        each_word(token, &mut |word| {
            if wanted.iter().any(|wanted| wanted == word) {
                parts.push(word.to_owned());
            }
        });
        if is_name(&token) && !parts.is_empty() {
            things.push(parts);
        } else {
            things.extend(parts.into_iter().map(|word| vec![word]));
        }
    }
    things.sort();
    things.dedup();
    things
}

/// How many of the wanted things stand whole in a line.
pub(super) fn distinct(line: &str, wanted: &[Vec<String>]) -> usize {
    let mut has: Vec<Vec<bool>> = wanted.iter().map(|thing| vec![false; thing.len()]).collect();
    each_word(line, &mut |word| {
        for (thing, has) in wanted.iter().zip(&mut has) {
            for (_, has) in thing.iter().zip(has).filter(|(part, _)| *part == word) {
                *has = true;
            }
        }
    });
    has.into_iter().filter(|has| has.iter().all(|has| *has)).count()
}

/// Matches where one of the words may begin.
fn any_of(wanted: &[String]) -> Option<RegexMatcher> {
    if wanted.is_empty() {
        return None;
    }
    // They are letters and digits: nothing of them means anything in a pattern.
    RegexMatcherBuilder::new().case_insensitive(true).build(&wanted.join("|")).ok()
}

/// Adds the passages of a text that have a wanted word.
fn with_any<'a>(text: &Spoken<'a>, any: &RegexMatcher, wanted: &[String], passages: &mut Vec<Passage<'a>>) {
    let bytes = text.text.as_bytes();
    // The lines where one of the words may stand, in order.
    let mut marked: Vec<usize> = Vec::new();
    let (mut line, mut counted) = (0, 0);
    let scanned = any.find_iter(bytes, |found| {
        line += memchr::memchr_iter(b'\n', &bytes[counted..found.start()]).count();
        counted = found.start();
        if marked.last() != Some(&line) {
            marked.push(line);
        }
        true
    });
    // Its error is that of a callback, which has none.
    drop(scanned);
    if marked.is_empty() {
        return;
    }
    let lines: Vec<&str> = text.text.lines().collect();
    for start in touched(&marked, lines.len()) {
        let end = (start + LINES).min(lines.len());
        if let Some(part) = lines.get(start..end).filter(|part| !part.is_empty()) {
            let passage = Passage { lines: part.to_vec(), ..count(text, start, part, &marked, wanted) };
            if passage.counts.iter().any(|count| *count > 0) {
                passages.push(passage);
            }
        }
    }
}

/// The first lines of the passages to which marked lines belong, of a text with so many lines.
fn touched(marked: &[usize], lines: usize) -> Vec<usize> {
    let step = LINES - SHARED;
    let all = lines.saturating_sub(SHARED).div_ceil(step).max(1);
    let mut touched: Vec<usize> = Vec::new();
    for line in marked {
        let last = (line / step).min(all - 1);
        let before = (line % step < SHARED).then(|| last.checked_sub(1)).flatten();
        for passage in before.into_iter().chain([last]) {
            if touched.last().is_none_or(|touched| *touched < passage * step) {
                touched.push(passage * step);
            }
        }
    }
    touched
}

/// Counts the wanted words of a passage. Only marked lines have any.
fn count<'a>(text: &Spoken<'a>, start: usize, lines: &[&str], marked: &[usize], wanted: &[String]) -> Passage<'a> {
    let mut counts = vec![0; wanted.len()];
    let mut length = 0_u32;
    let mut together = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if line.is_ascii() && marked.binary_search(&(start + number)).is_err() {
            length += words_of_ascii(line);
            continue;
        }
        let mut has = vec![false; wanted.len()];
        each_word(line, &mut |word| {
            length += 1;
            if let Some(place) = wanted.iter().position(|wanted| wanted == word) {
                counts[place] += 1;
                has[place] = true;
            }
        });
        together.push(has);
    }
    let Spoken { message, turn, who, .. } = *text;
    Passage { message, turn, who, line: start + 1, lines: Vec::new(), counts, together, length: f64::from(length) }
}

/// How many words a line of ASCII has.
fn words_of_ascii(line: &str) -> u32 {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
    let begins = line.as_bytes().windows(2).filter(|pair| !is_word(&pair[0]) && is_word(&pair[1])).count();
    let first = usize::from(line.as_bytes().first().is_some_and(is_word));
    u32::try_from(begins + first).unwrap_or(u32::MAX)
}

fn found(passage: &Passage<'_>) -> Found {
    let lines: Vec<String> = passage.lines.iter().map(|line| super::text::beginning(line, LONGEST_LINE)).collect();
    let (message, turn) = (passage.message, passage.turn);
    Found { message, turn, who: passage.who.to_owned(), line: passage.line, text: lines.join("\n") }
}

fn texts<'a>(said: &Said<'a>) -> Vec<Spoken<'a>> {
    let Said { number, turn, message } = *said;
    let said = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let mut found = Vec::new();
    for block in &message.content {
        match block {
            ContentBlock::Text { text } if is_quoted(text) => {}
            ContentBlock::Text { text } => found.push(Spoken { message: number, turn, who: said, text }),
            ContentBlock::ToolResult(result) => {
                found.push(Spoken { message: number, turn, who: &result.name, text: &result.content });
            }
            ContentBlock::ToolCall(call) => values(&call.input, &mut |text| {
                found.push(Spoken { message: number, turn, who: &call.name, text });
            }),
            ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => {}
        }
    }
    found
}

fn values<'a>(value: &'a serde_json::Value, take: &mut dyn FnMut(&'a str)) {
    match value {
        serde_json::Value::String(text) => take(text),
        serde_json::Value::Array(items) => items.iter().for_each(|value| values(value, take)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| values(value, take)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

/// Hands over the words of a text in lower case and without their endings: letters and digits; of a script without spaces
/// each pair of letters.
pub fn each_word(text: &str, take: &mut dyn FnMut(&str)) {
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

/// A word without the endings English adds most, so that its forms are one: `errors`, `entries`, `removed`, `running`. What
/// is left is a beginning of the word.
pub fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 4 {
        return word;
    }
    let without = |ending: &&str| {
        let cut = word.strip_suffix(*ending).filter(|cut| cut.len() >= 3)?;
        (*ending != "s" || !cut.ends_with('s')).then_some(cut)
    };
    let cut = ["ies", "ing", "ed", "es", "s"].iter().find_map(without).unwrap_or(word);
    let cut = cut.strip_suffix(['e', 'y']).filter(|cut| cut.len() >= 3).unwrap_or(cut);
    match cut.as_bytes() {
        [_, .., before, last] if before == last && cut.len() >= 4 => &cut[..cut.len() - 1],
        _ => cut,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of passages are far below 2^52")]
const fn as_float(count: usize) -> f64 {
    count as f64
}
