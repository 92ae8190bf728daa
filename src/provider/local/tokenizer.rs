//! Text to tokens and back: byte-level byte-pair encoding as in GPT-2, with the word boundaries of the Qwen 2 and Llama 3
//! families.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::gguf::{Gguf, ModelError};

/// The longest piece that merges are looked for in, in bytes: the search is quadratic in it.
const LONGEST_PIECE: usize = 256;

/// A model's vocabulary.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    /// The bytes of each token.
    bytes: Vec<Box<[u8]>>,
    /// Tokens that are marks of the template and no text.
    marks: HashMap<Box<[u8]>, u32>,
    /// The token of each single byte.
    single: [Option<u32>; 256],
    /// What two neighbours become, and how early.
    merges: HashMap<(u32, u32), (u32, u32), BuildHasherDefault<TextHasher>>,
    /// Words that are tokens, whether merges lead there or not: only the Llama 3 family has that.
    words: HashMap<Box<[u8]>, u32, BuildHasherDefault<TextHasher>>,
    /// The most digits in a piece.
    digits: usize,
}

impl Tokenizer {
    pub(crate) fn new(file: &Gguf) -> Result<Self, ModelError> {
        match file.word("tokenizer.ggml.model").as_deref() {
            Some("gpt2") => {}
            Some(other) => return Err(ModelError::unsupported("tokenizer.ggml.model", other)),
            None => return Err(ModelError::Missing("tokenizer.ggml.model".into())),
        }
        let is_llama = file.word("tokenizer.ggml.pre").is_some_and(|name| name == "llama-bpe");
        let texts = file.texts("tokenizer.ggml.tokens");
        let kinds = file.numbers("tokenizer.ggml.token_type");
        let byte_of = byte_of_characters();
        let mut bytes = Vec::with_capacity(texts.len());
        let mut ids: HashMap<&[u8], u32, BuildHasherDefault<TextHasher>> = HashMap::default();
        ids.reserve(texts.len());
        let mut marks = HashMap::new();
        let mut single = [None; 256];
        let mut words = HashMap::default();
        for (index, text) in texts.iter().enumerate() {
            let id = u32::try_from(index).map_err(|_| ModelError::Unfit("tokenizer.ggml.tokens".into()))?;
            // Kinds 3 and 4 are control and user-defined tokens: their text stands for itself.
            let is_mark = kinds.get(index).is_some_and(|kind| *kind == 3.0 || *kind == 4.0);
            let raw: Box<[u8]> = if is_mark { (*text).into() } else { raw_bytes(text, &byte_of) };
            if is_mark {
                marks.insert(raw.clone(), id);
            } else {
                if let [byte] = *raw {
                    single[usize::from(byte)] = Some(id);
                }
                ids.insert(text, id);
                if is_llama {
                    words.insert(raw.clone(), id);
                }
            }
            bytes.push(raw);
        }
        let mut merges = HashMap::default();
        let mut joined = Vec::new();
        for (rank, text) in file.texts("tokenizer.ggml.merges").into_iter().enumerate() {
            let Some(space) = text.iter().position(|byte| *byte == b' ') else { continue };
            let (left, right) = (&text[..space], &text[space + 1..]);
            joined.clear();
            joined.extend_from_slice(left);
            joined.extend_from_slice(right);
            if let (Some(left), Some(right), Some(both)) = (ids.get(left), ids.get(right), ids.get(&*joined)) {
                merges.insert((*left, *right), (u32::try_from(rank).unwrap_or(u32::MAX), *both));
            }
        }
        Ok(Self { bytes, marks, single, merges, words, digits: if is_llama { 3 } else { 1 } })
    }

    /// Finds a mark of the template.
    pub(crate) fn mark(&self, text: &str) -> Option<u32> {
        self.marks.get(text.as_bytes()).copied()
    }

    /// Tells whether a token is a mark.
    pub(crate) fn is_mark(&self, token: u32) -> bool {
        self.bytes.get(token as usize).is_some_and(|bytes| self.marks.contains_key(bytes))
    }

    /// Returns the bytes of a token; a character may be split among several.
    pub(crate) fn bytes(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], |bytes| bytes)
    }

    /// Encodes text. What looks like a mark of the template in it stays text: nothing from outside can end a turn.
    pub(crate) fn encode(&self, text: &str, into: &mut Vec<u32>) {
        for piece in (Pieces { rest: text, digits: self.digits }) {
            if let Some(word) = self.words.get(piece.as_bytes()) {
                into.push(*word);
                continue;
            }
            for part in piece.as_bytes().chunks(LONGEST_PIECE) {
                self.merge(part, into);
            }
        }
    }

    fn merge(&self, piece: &[u8], into: &mut Vec<u32>) {
        let mut tokens: Vec<u32> = piece.iter().filter_map(|byte| self.single[usize::from(*byte)]).collect();
        loop {
            let pairs = tokens.windows(2).enumerate();
            let best = pairs.filter_map(|(at, pair)| {
                let (rank, merged) = self.merges.get(&(pair[0], pair[1]))?;
                Some((*rank, at, *merged))
            });
            let Some((_, at, merged)) = best.min() else { break };
            tokens[at] = merged;
            tokens.remove(at + 1);
        }
        into.extend(tokens);
    }
}

/// A hash for tables made from a file whose hash was checked: no protection against chosen keys, three times as fast.
#[derive(Debug, Default, Clone, Copy)]
struct TextHasher(u64);

impl TextHasher {
    const fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for TextHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        for byte in rest {
            self.mix(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.mix(u64::from(number));
    }
}

/// The table of GPT-2 that writes every byte as a printable character.
fn byte_of_characters() -> HashMap<char, u8> {
    let mut next = 256;
    let mut table = HashMap::new();
    for byte in 0..=255_u8 {
        let printable = matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        let character = if printable {
            char::from(byte)
        } else {
            next += 1;
            char::from_u32(next - 1).unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        table.insert(character, byte);
    }
    table
}

fn raw_bytes(text: &[u8], byte_of: &HashMap<char, u8>) -> Box<[u8]> {
    String::from_utf8_lossy(text).chars().filter_map(|character| byte_of.get(&character).copied()).collect()
}

/// Cuts text where no merge may cross: the pattern of the Qwen 2 tokenizer,
/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`; that of
/// Llama 3 has `\p{N}{1,3}`.
struct Pieces<'a> {
    rest: &'a str,
    digits: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let length = piece_length(self.rest, self.digits)?;
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(piece)
    }
}

const fn is_break(character: char) -> bool {
    matches!(character, '\r' | '\n')
}

fn is_symbol(character: char) -> bool {
    !character.is_whitespace() && !character.is_alphabetic() && !character.is_numeric()
}

fn length_while(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

fn piece_length(text: &str, digits: usize) -> Option<usize> {
    let first = text.chars().next()?;
    if first == '\'' {
        let ending = ["s", "t", "re", "ve", "m", "ll", "d"]
            .into_iter()
            .find(|ending| text[1..].get(..ending.len()).is_some_and(|found| found.eq_ignore_ascii_case(ending)));
        if let Some(ending) = ending {
            return Some(1 + ending.len());
        }
    }
    let after = &text[first.len_utf8()..];
    if first.is_alphabetic() {
        return Some(length_while(text, char::is_alphabetic));
    }
    if !is_break(first) && !first.is_numeric() && after.starts_with(char::is_alphabetic) {
        return Some(first.len_utf8() + length_while(after, char::is_alphabetic));
    }
    if first.is_numeric() {
        let found = text.chars().take(digits).take_while(|character| character.is_numeric());
        return Some(found.map(char::len_utf8).sum());
    }
    if is_symbol(first) || (first == ' ' && after.starts_with(is_symbol)) {
        let start = usize::from(first == ' ');
        let symbols = start + length_while(&text[start..], is_symbol);
        return Some(symbols + length_while(&text[symbols..], is_break));
    }
    let blank = length_while(text, char::is_whitespace);
    if let Some(last) = text[..blank].rfind(is_break) {
        return Some(last + 1);
    }
    if blank < text.len() {
        // The last blank belongs to the word behind it.
        let last = text[..blank].chars().next_back().map_or(0, char::len_utf8);
        if blank > last {
            return Some(blank - last);
        }
    }
    Some(blank)
}

/// Takes the whole characters from the front of the bytes; what can still become one stays.
pub(super) fn whole_characters(bytes: &mut Vec<u8>) -> String {
    let keep = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        Ok(_) | Err(_) => 0,
    };
    let rest = bytes.split_off(bytes.len() - keep);
    let text = String::from_utf8_lossy(bytes).into_owned();
    *bytes = rest;
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_go_together_as_a_family_was_taught() {
        let pieces = |text: &'static str, digits| Pieces { rest: text, digits }.collect::<Vec<_>>();
        assert_eq!(pieces("in 12345 ms", 1), ["in", " ", "1", "2", "3", "4", "5", " ms"]);
        assert_eq!(pieces("in 12345 ms", 3), ["in", " ", "123", "45", " ms"]);
        assert_eq!(pieces("x=3.14\n\n  y", 3), ["x", "=", "3", ".", "14", "\n\n", " ", " y"]);
    }
}
