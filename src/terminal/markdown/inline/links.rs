//! Reads what follows a link's text, and the definitions to which links may refer.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::entity;
use crate::terminal::markdown::source;

/// How many bytes of memory definitions may take; later ones stay text.
const DEFINITIONS_LIMIT: usize = 1 << 20;

/// How deep parentheses may be nested in a target (cmark's limit); CommonMark requires three.
const PARENTHESES: usize = 32;

/// The longest label, in bytes, with its opening bracket (CommonMark's limit is 999 characters).
pub(crate) const LABEL: usize = 1000;

/// What stands after `](`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Suffix {
    Found { end: usize, target: Arc<str> },
    Incomplete,
    None,
}

/// Reads `target "title")` from `start`, the position after `(`, but not beyond `limit`.
pub(crate) fn inline_suffix(text: &str, start: usize, limit: usize) -> Suffix {
    let text = &text[..text.floor_char_boundary(limit)];
    let bytes = text.as_bytes();
    let position = skip_space(bytes, start);
    let Some((target, mut position)) = destination(text, position) else {
        return if unfinished_destination(bytes, position) { Suffix::Incomplete } else { Suffix::None };
    };
    let after_target = position;
    position = skip_space(bytes, position);
    let quote = bytes.get(position).copied();
    if position > after_target && matches!(quote, Some(b'"' | b'\'' | b'(')) {
        match title_end(text, position) {
            Some(end) => position = skip_space(bytes, end),
            None => return Suffix::Incomplete,
        }
    }
    match bytes.get(position) {
        Some(b')') => Suffix::Found { end: position + 1, target: Arc::from(unescape(target)) },
        Some(_) => Suffix::None,
        None => Suffix::Incomplete,
    }
}

fn skip_space(bytes: &[u8], start: usize) -> usize {
    start + bytes[start.min(bytes.len())..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count()
}

/// Reads a target; returns it without brackets, and where it ends.
fn destination(text: &str, start: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    if bytes.get(start) == Some(&b'<') {
        let mut position = start + 1;
        while let Some(byte) = bytes.get(position) {
            match byte {
                b'>' => return Some((&text[start + 1..position], position + 1)),
                b'<' | b'\n' => return None,
                b'\\' => position += 2,
                _ => position += 1,
            }
        }
        return None;
    }
    let (depth, position) = bracketed(bytes, start);
    (depth == 0).then(|| (&text[start..position], position))
}

/// Skips a target; returns how many parentheses are open at its end, and where that is.
fn bracketed(bytes: &[u8], start: usize) -> (usize, usize) {
    let mut depth = 0_usize;
    let mut position = start;
    while let Some(byte) = bytes.get(position).filter(|_| depth <= PARENTHESES) {
        match byte {
            b'\\' if bytes.get(position + 1).is_some_and(u8::is_ascii_punctuation) => position += 1,
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            0..=b' ' | 0x7f => break,
            _ => {}
        }
        position += 1;
    }
    (depth, position.min(bytes.len()))
}

fn unfinished_destination(bytes: &[u8], start: usize) -> bool {
    let rest = &bytes[start.min(bytes.len())..];
    match rest.first() {
        Some(b'<') => !rest[1..].iter().any(|byte| matches!(byte, b'<' | b'\n')),
        Some(_) => {
            let (depth, end) = bracketed(bytes, start);
            depth <= PARENTHESES && end == bytes.len()
        }
        None => true,
    }
}

fn title_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let close = if bytes[start] == b'(' { b')' } else { bytes[start] };
    let mut position = start + 1;
    while let Some(byte) = bytes.get(position) {
        match byte {
            b'\\' => position += 1,
            byte if *byte == close => return Some(position + 1),
            _ => {}
        }
        position += 1;
    }
    None
}

/// Resolves escapes and character references in a target.
pub(crate) fn unescape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.find(['\\', '&']) {
        result.push_str(&rest[..found]);
        rest = &rest[found..];
        let escaped = rest.as_bytes().get(1).copied().filter(u8::is_ascii_punctuation);
        if let (Some(byte), true) = (escaped, rest.starts_with('\\')) {
            result.push(char::from(byte));
            rest = &rest[2..];
        } else if let (Some((length, decoded)), true) = (entity::decode(rest), rest.starts_with('&')) {
            result.push_str(&decoded);
            rest = &rest[length..];
        } else {
            result.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    result.push_str(rest);
    result
}

/// Returns where a label that starts at `start` ends: at its `]`.
pub(crate) fn label_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut position = start;
    while let Some(byte) = bytes.get(position).filter(|_| position - start < LABEL) {
        match byte {
            b']' => return Some(position),
            b'[' => return None,
            b'\\' => position += 2,
            _ => position += 1,
        }
    }
    None
}

/// Normalises a label for comparison: white space becomes one space, letters become lower case.
pub(crate) fn normalize_label(label: &str) -> String {
    let mut normal = String::with_capacity(label.len());
    for word in label.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.extend(word.chars().flat_map(char::to_lowercase).flat_map(char::to_uppercase));
    }
    normal
}

/// The definitions so far, and the labels that were used before they were defined.
#[derive(Debug, Clone, Default)]
pub(crate) struct Definitions {
    targets: Arc<HashMap<String, Arc<str>>>,
    missed: Arc<HashSet<String>>,
    bytes: usize,
}

impl Definitions {
    pub(crate) fn find(&self, label: &str) -> Option<Arc<str>> {
        if self.targets.is_empty() {
            return None;
        }
        self.targets.get(&normalize_label(label)).cloned()
    }

    /// Remembers an undefined label, so that its definition is shown when it comes.
    pub(crate) fn miss(&mut self, label: String) {
        if self.bytes < DEFINITIONS_LIMIT && !self.missed.contains(&label) {
            self.bytes += label.len() + 64;
            Arc::make_mut(&mut self.missed).insert(label);
        }
    }

    /// Adds a definition; returns whether it may be left out, because no label was used before it.
    pub(crate) fn add(&mut self, label: String, target: Arc<str>) -> bool {
        if self.bytes >= DEFINITIONS_LIMIT {
            return false;
        }
        let silent = !self.missed.contains(&label);
        if !self.targets.contains_key(&label) {
            self.bytes += label.len() + target.len() + 64;
            Arc::make_mut(&mut self.targets).insert(label, target);
        }
        silent
    }
}

/// Reads a line that consists of a link definition; returns the normalised label and the target.
pub(crate) fn definition(line: &str) -> Option<(String, Arc<str>)> {
    let line = line.trim_end();
    let end = line.strip_prefix('[').and_then(|_| label_end(line, 1))?;
    let label = normalize_label(&line[1..end]);
    let rest = line[end + 1..].strip_prefix(':')?;
    let start = line.len() - rest.trim_start_matches([' ', '\t']).len();
    let (target, after) = destination(line, start)?;
    if label.is_empty() || after == start {
        return None;
    }
    let title = line[after..].trim_start();
    let spaced = title.len() < line[after..].len();
    let good = title.is_empty()
        || spaced
            && title.starts_with(['"', '\'', '('])
            && title_end(line, line.len() - title.len()) == Some(line.len());
    good.then(|| (label, Arc::from(source::visible(&unescape(target)).as_ref())))
}
