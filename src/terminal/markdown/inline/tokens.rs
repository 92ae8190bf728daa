//! What a text is read into: tokens, the runs and links among them, and how much of it is final.

use std::sync::Arc;

use super::delimiter::{Delimiter, REACH};

/// What comes after the text given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// More may come; the next character is this.
    Open(char),
    /// The block is over.
    Closed,
    /// Unknown, to be shown for a moment only: what is open is taken as closed here.
    Guess,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text from the token's start to here.
    Text(usize),
    /// Code, maths or HTML, from and to; shown as it stands.
    Code(usize, usize),
    Maths(usize, usize),
    Html(usize, usize),
    /// One character that stands for itself: escaped, or from an entity.
    Decoded(String),
    SoftBreak,
    HardBreak,
    /// An emphasis run: its delimiter's index.
    Run(usize),
    /// `[` or `![` that may become a link; the text from the token's start to here.
    Bracket(usize),
    /// A link begins: index into [`Parsed::links`].
    LinkStart(usize),
    LinkEnd(usize),
    /// A link whose text is its target.
    Autolink(usize, usize, Arc<str>),
    /// A footnote's label, from and to.
    Footnote(usize, usize),
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) target: Arc<str>,
    pub(super) image: bool,
}

/// A text read; keeps its memory from one text to the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parsed {
    pub(super) tokens: Vec<Token>,
    pub(super) delimiters: Vec<Delimiter>,
    pub(super) links: Vec<Link>,
    /// Labels in brackets that led nowhere, with where they stood.
    pub(crate) unresolved: Vec<(usize, String)>,
    /// Source ranges that are one construct.
    pub(super) pairs: Vec<(usize, usize)>,
    /// Up to here nothing can change any more.
    pub(crate) safe: usize,
    pub(super) openers: Vec<Opener>,
}

impl Parsed {
    /// Forgets the text read before.
    pub(super) fn clear(&mut self) {
        self.tokens.clear();
        self.delimiters.clear();
        self.links.clear();
        self.unresolved.clear();
        self.pairs.clear();
        self.openers.clear();
    }

    /// Says up to where nothing can change any more: a text of `len` bytes that was read up to `unsure`.
    pub(super) fn settle(&mut self, len: usize, unsure: usize, ending: Ending) {
        self.safe = self.safe_end(len, unsure, ending);
    }

    fn safe_end(&self, len: usize, unsure: usize, ending: Ending) -> usize {
        if !matches!(ending, Ending::Open(_)) {
            return len;
        }
        let reachable = |start: usize| len - start <= REACH;
        let bracket = self.openers.iter().find(|opener| opener.active && reachable(opener.start));
        let run = self.delimiters.iter().find(|run| run.may_open() && reachable(run.start));
        let mut safe = unsure.min(bracket.map_or(len, |opener| opener.start)).min(run.map_or(len, |run| run.start));
        // A construct that begins before and ends after is as unsure as its end.
        loop {
            let start =
                self.pairs.iter().filter(|(start, end)| *start < safe && *end > safe).map(|pair| pair.0).min();
            match start {
                Some(start) => safe = start,
                None => return safe,
            }
        }
    }
}

/// A bracket that may begin a link.
#[derive(Debug, Clone)]
pub(super) struct Opener {
    pub(super) token: usize,
    pub(super) start: usize,
    pub(super) after: usize,
    pub(super) image: bool,
    /// It may still match: a link holds no link.
    pub(super) active: bool,
    pub(super) delimiters: usize,
}
