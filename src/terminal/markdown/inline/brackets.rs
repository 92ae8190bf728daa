//! Brackets: links, images, references to definitions, footnotes.

use std::sync::Arc;

use super::delimiter::REACH;
use super::emphasis::{Scope, pair_runs};
use super::links::{self, Suffix};
use super::reader::Reader;
use super::tokens::{Ending, Kind, Link, Opener};

enum Reference {
    Found { end: usize, target: Arc<str> },
    Incomplete,
    None,
}

/// Reads `[`, which may begin a link or a footnote.
pub(super) fn open(reader: &mut Reader<'_>) -> bool {
    let start = reader.position;
    if reader.byte_at(start + 1) == Some(b'^') {
        let label = start + 2;
        let end = reader.text[label..].find([']', '[', ' ', '\t', '\n']).map(|end| label + end);
        match end {
            Some(end) if reader.bytes[end] == b']' && end > label && end - start <= REACH => {
                reader.push(start, end + 1, Kind::Footnote(label, end));
                return true;
            }
            Some(_) | None => {}
        }
    }
    bracket(reader, start, start + 1, false)
}

/// Reads `!`, which may begin a picture.
pub(super) fn bang(reader: &mut Reader<'_>) -> bool {
    if reader.byte_at(reader.position + 1) == Some(b'[') {
        return bracket(reader, reader.position, reader.position + 2, true);
    }
    reader.literal(1)
}

fn bracket(reader: &mut Reader<'_>, start: usize, after: usize, image: bool) -> bool {
    reader.push(start, after, Kind::Bracket(after));
    let token = reader.out.tokens.len() - 1;
    let delimiters = reader.out.delimiters.len();
    reader.out.openers.push(Opener { token, start, after, image, active: true, delimiters });
    true
}

/// Reads `]`: the end of a link, if one began.
pub(super) fn close(reader: &mut Reader<'_>) -> bool {
    let close = reader.position;
    let Some(opener) = reader.out.openers.pop() else { return reader.literal(1) };
    if !opener.active || close - opener.start > REACH {
        return reader.literal(1);
    }
    let label = &reader.text[opener.after..close];
    let suffix = if reader.byte_at(close + 1) == Some(b'(') {
        links::inline_suffix(reader.text, close + 2, (close + REACH).min(reader.bytes.len()))
    } else {
        Suffix::None
    };
    let (end, target) = match suffix {
        Suffix::Found { end, target } => (end, target),
        Suffix::Incomplete if reader.may_close_later(close, REACH) => {
            reader.position = opener.start;
            stop_at(reader, opener.token, opener.start);
            return false;
        }
        Suffix::Incomplete if reader.ending == Ending::Guess => (reader.bytes.len(), Arc::from("")),
        Suffix::Incomplete | Suffix::None => match reference(reader, label, close) {
            Reference::Found { end, target } => (end, target),
            Reference::Incomplete => {
                reader.position = opener.start;
                stop_at(reader, opener.token, opener.start);
                return false;
            }
            Reference::None => {
                if !label.is_empty() && is_label(reader, opener.after, close) {
                    reader.out.unresolved.push((close, links::normalize_label(label)));
                }
                return reader.literal(1);
            }
        },
    };
    let index = reader.out.links.len();
    reader.out.links.push(Link { target, image: opener.image });
    reader.out.pairs.push((opener.start, end));
    reader.out.tokens[opener.token].kind = Kind::LinkStart(index);
    reader.push(close, end, Kind::LinkEnd(index));
    pair_runs(reader.out, opener.delimiters, Scope::Link);
    if !opener.image {
        // The openers before an opener that was skipped like this were skipped as well.
        let others = reader.out.openers.iter_mut().rev().filter(|other| !other.image);
        others.take_while(|other| other.active).for_each(|other| other.active = false);
    }
    true
}

/// Undoes what was read after a bracket whose link has not arrived completely.
fn stop_at(reader: &mut Reader<'_>, token: usize, start: usize) {
    reader.out.tokens.truncate(token);
    reader.out.delimiters.retain(|delimiter| delimiter.start < start);
    reader.text_start = start;
}

/// Tells whether the text between the brackets may be a label; brackets within brackets may not.
fn is_label(reader: &Reader<'_>, from: usize, close: usize) -> bool {
    links::label_end(reader.text, from) == Some(close)
}

fn reference(reader: &mut Reader<'_>, label: &str, close: usize) -> Reference {
    if reader.byte_at(close + 1) == Some(b'[') {
        let from = close + 2;
        match links::label_end(reader.text, from) {
            Some(end) if end > from => {
                let second = &reader.text[from..end];
                if let Some(target) = reader.definitions.find(second) {
                    return Reference::Found { end: end + 1, target };
                }
                reader.out.unresolved.push((close, links::normalize_label(second)));
                return Reference::None;
            }
            Some(end) => {
                return match reader.definitions.find(label) {
                    Some(target) => Reference::Found { end: end + 1, target },
                    None => Reference::None,
                };
            }
            None if reader.may_close_later(close, REACH) && !reader.text[from..].contains(['[', ']']) => {
                return Reference::Incomplete;
            }
            None => {}
        }
    }
    if !is_label(reader, close - label.len(), close) {
        return Reference::None;
    }
    match reader.definitions.find(label) {
        Some(target) => Reference::Found { end: close + 1, target },
        None => Reference::None,
    }
}
