//! Brackets: links, images, references to definitions, footnotes.

use std::sync::Arc;

use super::{
    emphasis::Scope,
    inline::{Ending, Kind, Link, REACH, Reader},
    links::{self, Suffix},
};

/// A bracket that may begin a link.
#[derive(Debug, Clone)]
pub(super) struct Opener {
    token: usize,
    pub(super) start: usize,
    after: usize,
    image: bool,
    /// It may still match: a link holds no link.
    pub(super) active: bool,
    delimiters: usize,
}

enum Reference {
    Found { end: usize, target: Arc<str> },
    Incomplete,
    None,
}

impl Reader<'_> {
    pub(super) fn open_bracket(&mut self) -> bool {
        let start = self.position;
        if self.byte_at(start + 1) == Some(b'^') {
            let label = start + 2;
            let end = self.text[label..].find([']', '[', ' ', '\t', '\n']).map(|end| label + end);
            match end {
                Some(end) if self.bytes[end] == b']' && end > label && end - start <= REACH => {
                    self.push(start, end + 1, Kind::Footnote(label, end));
                    return true;
                }
                Some(_) | None => {}
            }
        }
        self.bracket(start, start + 1, false)
    }

    pub(super) fn bang(&mut self) -> bool {
        if self.byte_at(self.position + 1) == Some(b'[') {
            return self.bracket(self.position, self.position + 2, true);
        }
        self.literal(1)
    }

    fn bracket(&mut self, start: usize, after: usize, image: bool) -> bool {
        self.push(start, after, Kind::Bracket(after));
        let token = self.out.tokens.len() - 1;
        let delimiters = self.out.delimiters.len();
        self.out.openers.push(Opener { token, start, after, image, active: true, delimiters });
        true
    }

    pub(super) fn close_bracket(&mut self) -> bool {
        let close = self.position;
        let Some(opener) = self.out.openers.pop() else { return self.literal(1) };
        if !opener.active || close - opener.start > REACH {
            return self.literal(1);
        }
        let label = &self.text[opener.after..close];
        let suffix = if self.byte_at(close + 1) == Some(b'(') {
            links::inline_suffix(self.text, close + 2, (close + REACH).min(self.bytes.len()))
        } else {
            Suffix::None
        };
        let (end, target) = match suffix {
            Suffix::Found { end, target } => (end, target),
            Suffix::Incomplete if self.may_close_later(close, REACH) => {
                self.position = opener.start;
                self.stop_at(opener.token, opener.start);
                return false;
            }
            Suffix::Incomplete if self.ending == Ending::Guess => (self.bytes.len(), Arc::from("")),
            Suffix::Incomplete | Suffix::None => match self.reference(label, close) {
                Reference::Found { end, target } => (end, target),
                Reference::Incomplete => {
                    self.position = opener.start;
                    self.stop_at(opener.token, opener.start);
                    return false;
                }
                Reference::None => {
                    if !label.is_empty() && self.is_label(opener.after, close) {
                        self.out.unresolved.push((close, links::normalize_label(label)));
                    }
                    return self.literal(1);
                }
            },
        };
        let index = self.out.links.len();
        self.out.links.push(Link { target, image: opener.image });
        self.out.pairs.push((opener.start, end));
        self.out.tokens[opener.token].kind = Kind::LinkStart(index);
        self.push(close, end, Kind::LinkEnd(index));
        self.out.match_delimiters(opener.delimiters, Scope::Link);
        if !opener.image {
            // What stands before one that was passed over so has been passed over too.
            let others = self.out.openers.iter_mut().rev().filter(|other| !other.image);
            others.take_while(|other| other.active).for_each(|other| other.active = false);
        }
        true
    }

    /// Takes back what was read after a bracket whose link is still arriving.
    fn stop_at(&mut self, token: usize, start: usize) {
        self.out.tokens.truncate(token);
        self.out.delimiters.retain(|delimiter| delimiter.start < start);
        self.text_start = start;
    }

    /// Tells whether what stands between the brackets may name a definition: brackets in brackets do not.
    fn is_label(&self, from: usize, close: usize) -> bool {
        links::label_end(self.text, from) == Some(close)
    }

    fn reference(&mut self, label: &str, close: usize) -> Reference {
        if self.byte_at(close + 1) == Some(b'[') {
            let from = close + 2;
            match links::label_end(self.text, from) {
                Some(end) if end > from => {
                    let second = &self.text[from..end];
                    if let Some(target) = self.definitions.find(second) {
                        return Reference::Found { end: end + 1, target };
                    }
                    self.out.unresolved.push((close, links::normalize_label(second)));
                    return Reference::None;
                }
                Some(end) => {
                    return match self.definitions.find(label) {
                        Some(target) => Reference::Found { end: end + 1, target },
                        None => Reference::None,
                    };
                }
                None if self.may_close_later(close, REACH) && !self.text[from..].contains(['[', ']']) => {
                    return Reference::Incomplete;
                }
                None => {}
            }
        }
        if !self.is_label(close - label.len(), close) {
            return Reference::None;
        }
        match self.definitions.find(label) {
            Some(target) => Reference::Found { end: close + 1, target },
            None => Reference::None,
        }
    }
}
