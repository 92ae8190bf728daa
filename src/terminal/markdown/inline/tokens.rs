//! The result of reading a text: tokens, with their runs and links, and how much of it is final.

use std::sync::Arc;

use super::delimiter::{Delimiter, REACH};

/// What follows the given text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// More text may follow, and this is its next character.
    Open(char),
    /// Nothing: the block is over.
    Closed,
    /// Not known: the text is shown for a moment only, as if everything open closed here.
    Guess,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text up to this position.
    Text(usize),
    /// Code, maths or HTML between these positions, shown as it is.
    Code(usize, usize),
    Maths(usize, usize),
    Html(usize, usize),
    /// A decoded character: escaped, or from an entity.
    Decoded(String),
    SoftBreak,
    HardBreak,
    /// An emphasis run, by the index of its delimiter.
    Run(usize),
    /// `[` or `![` that may become a link; as text it reaches up to this position.
    Bracket(usize),
    /// The start of a link, by its index in [`Parsed::links`].
    LinkStart(usize),
    LinkEnd(usize),
    /// A link whose text is its target.
    Autolink(usize, usize, Arc<str>),
    /// A footnote's label, between these positions.
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

/// A parsed text; its memory is reused for the next one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parsed {
    pub(super) tokens: Vec<Token>,
    pub(super) delimiters: Vec<Delimiter>,
    pub(super) links: Vec<Link>,
    /// Undefined labels, with their positions.
    pub(crate) unresolved: Vec<(usize, String)>,
    /// The ranges of the source that are one construct.
    pub(super) pairs: Vec<(usize, usize)>,
    /// The text before this position can no longer change.
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

    /// Sets how much is final in a text of `len` bytes that was read up to `unsure`.
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
        // A construct that begins before this position and ends after it is as uncertain as its end.
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
    /// Whether it may still match: a link contains no link.
    pub(super) active: bool,
    pub(super) delimiters: usize,
}
