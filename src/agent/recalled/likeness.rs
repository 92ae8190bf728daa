//! How much a line that was typed is like a question: the words both have, and the programs that do what it asks for.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::approval::stands_before_program;
use crate::context::{each_word, stem};

/// What people call what programs do.
const PURPOSES: &str = include_str!("purposes.words");
/// Words that mean the same.
const SAME: &str = include_str!("same.words");

/// The usual constants of BM25 (Robertson and Zaragoza 2009). Lines are short, so that their length says less.
const K1: f64 = 1.2;
const B: f64 = 0.4;
/// How much it counts that a word of a line begins as one of the question, that it means the same, and that its program
/// does what the word says.
const BEGINS: f64 = 0.7;
const MEANS: f64 = 0.3;
const DOES: f64 = 0.8;
/// A shorter word is the beginning of too many.
const LEAST_BEGINNING: usize = 3;
/// The most words of a question that count.
const MOST_WORDS: usize = 32;
/// How many words may stand between two of a phrase: "take the commit back".
const BETWEEN: usize = 3;
/// Words that say little of what is sought, and how much they count.
const GENERAL: &str = " mak get put us se look keep show list tak giv run want need last first new old all now right thing \
                       command go let turn set up down off out at with without only again ";
const OF_GENERAL: f64 = 0.5;
/// How much less a line counts that has none of the words of a question but one.
const COVERS: f64 = 0.5;

/// A program, or one that is used with a word: a sub-command, a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Program {
    name: &'static str,
    with: Option<&'static str>,
}

/// The programs whose purpose has a word, by its stem.
static PROGRAMS: LazyLock<HashMap<String, Vec<Program>>> = LazyLock::new(|| {
    let mut programs: HashMap<String, Vec<Program>> = HashMap::new();
    for row in PURPOSES.lines().filter(|row| !row.starts_with('#')) {
        let Some((named, purpose)) = row.split_once(": ") else { continue };
        for stem in stems(purpose) {
            programs.entry(stem).or_default().extend(named.split_whitespace().map(named_in));
        }
    }
    programs
});

/// The groups of words that mean the same, each by its words; a phrase is several.
static GROUPS: LazyLock<Vec<Vec<Vec<String>>>> = LazyLock::new(|| {
    let rows = SAME.lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| row.split_whitespace().map(stems).collect()).collect()
});

/// The groups that a single word is in, by its stem.
static MEANINGS: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut meanings: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, group) in GROUPS.iter().enumerate() {
        for word in group {
            if let [word] = word.as_slice() {
                meanings.entry(word).or_default().push(number);
            }
        }
    }
    meanings
});

fn stems(text: &str) -> Vec<String> {
    let mut stems = Vec::new();
    each_word(text, &mut |word| stems.push(word.to_owned()));
    stems
}

/// `PROGRAM`, or `PROGRAM+WORD`.
fn named_in(named: &'static str) -> Program {
    match named.split_once('+') {
        Some((name, with)) => Program { name, with: Some(with) },
        None => Program { name: named, with: None },
    }
}

/// Which words of a question a line has, a bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Has {
    whole: u32,
    begun: u32,
    meant: u32,
    done: u32,
    words: u32,
}

/// How some words begin: most others are told from them by the first two letters, whatever their case.
struct Beginnings([bool; 32 * 32]);

impl Default for Beginnings {
    fn default() -> Self {
        Self([false; 32 * 32])
    }
}

impl Beginnings {
    fn add(&mut self, word: &str) {
        self.0[Self::of(word.as_bytes())] = true;
    }

    fn has(&self, word: &[u8]) -> bool {
        self.0[Self::of(word)]
    }

    fn of(word: &[u8]) -> usize {
        let letter = |at: usize| word.get(at).map_or(0, |byte| usize::from(byte & 31));
        letter(0) * 32 + letter(1)
    }
}

/// A word of a question.
struct Wanted {
    stem: String,
    counts: f64,
}

/// The words of a question.
pub(super) struct Question {
    words: Vec<Wanted>,
    /// The words of lines that count, each with the bits it stands for: as it was asked, and as what means the same.
    exact: HashMap<String, (u32, u32)>,
    /// Whether a word may be one of them, by how it begins.
    begins: Beginnings,
    /// The same of the programs.
    runs: Beginnings,
    /// The programs that do what is asked for, by their names.
    does: HashMap<&'static str, Vec<(u32, Option<&'static str>)>>,
}

impl Question {
    /// Reads a question, and its words as [`crate::context::wanted`] gives them.
    pub(super) fn new(query: &str, words: &[String]) -> Self {
        let phrases = phrases(&stems(query));
        let is_in_phrase = |word: &str| phrases.iter().any(|(_, of)| of.iter().any(|part| part == word));
        let single = words.iter().filter(|word| !is_in_phrase(word));
        let mut sought: Vec<(String, Vec<usize>)> =
            single.map(|word| (word.clone(), MEANINGS.get(word.as_str()).cloned().unwrap_or_default())).collect();
        sought.extend(phrases.into_iter().map(|(group, of)| (of.join(" "), vec![group])));
        sought.truncate(MOST_WORDS);
        let mut question = Self {
            words: Vec::new(),
            exact: HashMap::new(),
            begins: Beginnings::default(),
            runs: Beginnings::default(),
            does: HashMap::new(),
        };
        for (place, (stem, groups)) in sought.into_iter().enumerate() {
            question.take(1 << place, stem, &groups);
        }
        question
    }

    fn take(&mut self, bit: u32, stem: String, groups: &[usize]) {
        self.exact.entry(stem.clone()).or_default().0 |= bit;
        let mut does: Vec<Program> = PROGRAMS.get(&stem).cloned().unwrap_or_default();
        for same in groups.iter().flat_map(|group| &GROUPS[*group]) {
            if let [word] = same.as_slice() {
                self.exact.entry(word.clone()).or_default().1 |= bit;
                does.extend(PROGRAMS.get(word).into_iter().flatten());
            }
        }
        for program in does {
            self.runs.add(program.name);
            self.does.entry(program.name).or_default().push((bit, program.with));
        }
        for word in self.exact.keys() {
            self.begins.add(word);
        }
        let counts = if GENERAL.contains(&format!(" {stem} ")) { OF_GENERAL } else { 1.0 };
        self.words.push(Wanted { stem, counts });
    }

    fn looks(&self, line: &str, lower: &mut String) -> Has {
        let mut has = Has::default();
        let mut take = |word: &str| {
            if let Some((whole, meant)) = self.exact.get(word) {
                has.whole |= whole;
                has.meant |= meant;
            }
            for (place, wanted) in self.words.iter().enumerate() {
                if wanted.stem.len() >= LEAST_BEGINNING
                    && word.len() > wanted.stem.len()
                    && word.starts_with(&wanted.stem)
                {
                    has.begun |= 1 << place;
                }
            }
        };
        has.words = if line.is_ascii() {
            self.ascii_words(line, lower, &mut take)
        } else {
            let mut count = 0;
            each_word(line, &mut |word| {
                count += 1;
                take(word);
            });
            count
        };
        if !self.does.is_empty() {
            programs(line, &mut |name, rest| {
                if !self.runs.has(name.as_bytes()) {
                    return;
                }
                for (bit, with) in self.does.get(name).into_iter().flatten() {
                    if with.is_none_or(|with| is_with(rest, with)) {
                        has.done |= bit;
                    }
                }
            });
        }
        has
    }

    /// Counts the words of a line, and hands over those that may be one of the question, as most lines' words begin like
    /// none of it.
    fn ascii_words(&self, line: &str, lower: &mut String, take: &mut dyn FnMut(&str)) -> u32 {
        let bytes = line.as_bytes();
        let (mut count, mut at) = (0, 0);
        while at < bytes.len() {
            if !bytes[at].is_ascii_alphanumeric() {
                at += 1;
                continue;
            }
            let begin = at;
            while bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
                at += 1;
            }
            count += 1;
            if self.begins.has(&bytes[begin..at]) {
                lower.clear();
                lower.push_str(&line[begin..at]);
                lower.make_ascii_lowercase();
                take(stem(lower));
            }
        }
        count
    }

    /// How much each of some lines is like it; 0 where it has nothing of it.
    pub(super) fn scores<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Vec<f64> {
        let mut lower = String::new();
        let all: Vec<Has> = lines.map(|line| self.looks(line, &mut lower)).collect();
        let average =
            (all.iter().map(|has| f64::from(has.words)).sum::<f64>() / as_float(all.len().max(1))).max(1.0);
        let rarity = |having: &dyn Fn(&Has) -> bool| {
            let having = as_float(all.iter().filter(|has| having(has)).count());
            ((as_float(all.len()) - having + 0.5) / (having + 0.5)).ln_1p()
        };
        let of_words: Vec<[f64; 3]> = self
            .words
            .iter()
            .enumerate()
            .map(|(place, wanted)| {
                let bit = 1 << place;
                let said = rarity(&|has| (has.whole | has.begun) & bit != 0);
                let meant = rarity(&|has| (has.whole | has.begun | has.meant) & bit != 0);
                let done = rarity(&|has| has.done & bit != 0);
                [said, meant, done].map(|rarity| wanted.counts * rarity)
            })
            .collect();
        let all_counts = self.words.iter().map(|word| word.counts).sum::<f64>().max(OF_GENERAL);
        let score = |has: &Has| {
            if has.whole | has.begun | has.meant | has.done == 0 {
                return 0.0;
            }
            let words = of_words.iter().enumerate().map(|(place, [said, meant, done])| {
                let bit = 1_u32 << place;
                let weight = |bits: u32, weight: f64| if bits & bit == 0 { 0.0 } else { weight };
                weight(has.whole, *said)
                    .max(weight(has.begun, BEGINS * said))
                    .max(weight(has.meant, MEANS * meant))
                    .max(weight(has.done, DOES * done))
            });
            let covered = (0..self.words.len())
                .filter(|place| (has.whole | has.begun | has.meant | has.done) & (1 << place) != 0);
            let covered = covered.map(|place| self.words[place].counts).sum::<f64>() / all_counts;
            let length = 1.0 - B + B * f64::from(has.words) / average;
            words.sum::<f64>() * (K1 + 1.0) / (1.0 + K1 * length) * (1.0 - COVERS + COVERS * covered)
        };
        all.iter().map(score).collect()
    }
}

/// Finds the phrases of a question: the group of each, and its words.
fn phrases(words: &[String]) -> Vec<(usize, Vec<String>)> {
    let mut found: Vec<(usize, Vec<String>)> = Vec::new();
    for (number, group) in GROUPS.iter().enumerate() {
        for phrase in group.iter().filter(|phrase| phrase.len() > 1) {
            let stands = (0..words.len()).any(|begin| {
                let mut at = begin;
                phrase.iter().enumerate().all(|(part, word)| {
                    let within = if part == 0 { at..at + 1 } else { at..(at + BETWEEN).min(words.len()) };
                    match within.clone().find(|place| words[*place] == *word) {
                        Some(place) => {
                            at = place + 1;
                            true
                        }
                        None => false,
                    }
                })
            });
            if stands {
                found.push((number, phrase.clone()));
            }
        }
    }
    found
}

/// Hands over the programs of a line, each with what follows it.
fn programs<'a>(line: &'a str, take: &mut dyn FnMut(&'a str, &'a str)) {
    let ends = |byte: u8| matches!(byte, b'|' | b';' | b'&' | b'\n' | b'(');
    let mut further = Some(line);
    while let Some(line) = further {
        let end = line.bytes().position(ends).unwrap_or(line.len());
        further = line.get(end + 1..);
        let mut rest = line[..end].trim_start();
        loop {
            let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            if word.is_empty() {
                break;
            }
            let behind = behind.trim_start();
            if !word.contains('=') {
                take(word.rsplit('/').next().unwrap_or(word), behind);
                if !stands_before_program(word) {
                    break;
                }
            }
            rest = behind;
        }
    }
}

/// Tells whether the words behind a program have one: as a word of its own or its beginning up to `=`, or as a letter of a
/// bundle of flags.
fn is_with(rest: &str, with: &str) -> bool {
    let letter = match with.as_bytes() {
        [b'-', letter] if *letter != b'-' => Some(char::from(*letter)),
        // The oldest way of tar: letters without a dash, first.
        [letter] => return is_bundle(rest.split_whitespace().next().unwrap_or_default(), char::from(*letter)),
        _ => None,
    };
    rest.split_whitespace().any(|word| {
        word == with
            || word.split_once('=').is_some_and(|(flag, _)| flag == with)
            || letter.is_some_and(|letter| word.starts_with('-') && is_bundle(word, letter))
            || (with.starts_with("..") && word.contains(with))
    })
}

fn is_bundle(word: &str, letter: char) -> bool {
    let letters = word.strip_prefix('-').unwrap_or(word);
    letters.len() <= 6 && letters.chars().all(char::is_alphabetic) && letters.contains(letter)
}

/// What lines have in common that differ in a name or a number only: the program, the options, how many words.
pub(super) fn form(line: &str) -> (String, usize) {
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or_default();
    let options = line.split_whitespace().filter(|word| word.starts_with('-'));
    let form: Vec<&str> = std::iter::once(program).chain(options).collect();
    (form.join(" "), words.count())
}

#[expect(clippy::cast_precision_loss, reason = "counts of lines are far below 2^52")]
const fn as_float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
#[path = "likeness_tests.rs"]
mod tests;
