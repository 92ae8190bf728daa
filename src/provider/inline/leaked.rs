//! Calls that a model wrote in its own markup and its server passed on as text (Gitlawb/openclaude PR#1791,
//! NousResearch/hermes-agent#24534). Taken from the model's own answer only, never from what it quotes in a code block;
//! only for tools that were offered, and few: what a file holds must not become a call.

use super::dialect::{self, BARE, FIRST, OPENINGS};
use super::piece::{Piece, overlap, push_text};
use crate::conversation::ToolSpec;

/// Families of models whose markup is known; a part of the name.
const FAMILIES: &[&str] = &["qwen", "qwq", "glm", "kimi", "deepseek", "minimax", "hermes"];

/// The most calls taken from one answer.
const MOST_CALLS: usize = 2;

/// The most text that is held back because a call may follow. Unit: bytes.
const MOST_HELD: usize = 256 * 1024;

/// Tells whether a model belongs to a family that is known to leak calls.
pub(super) fn is_known_to_leak(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    FAMILIES.iter().any(|family| model.contains(family))
}

/// Finds calls in an answer.
#[derive(Debug)]
pub(super) struct LeakedCalls<'a> {
    tools: &'a [ToolSpec],
    held: String,
    /// Whether `held` begins with an opening: all that follows is held until the end.
    is_open: bool,
    /// Whether the answer had nothing but blanks so far.
    is_blank: bool,
    fenced: bool,
    line: String,
}

impl<'a> LeakedCalls<'a> {
    /// Makes a reader; without tools it passes everything on.
    pub(super) const fn new(tools: &'a [ToolSpec]) -> Self {
        Self { tools, held: String::new(), is_open: false, is_blank: true, fenced: false, line: String::new() }
    }

    pub(super) fn push(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        if self.tools.is_empty() {
            push_text(text, pieces);
            return;
        }
        self.held.push_str(text);
        loop {
            if self.is_open {
                if self.held.len() <= MOST_HELD && dialect::may_be_call(&self.held, self.tools) {
                    return;
                }
                // No call follows: the mark is ordinary text.
                self.is_open = false;
                let first = self.held.chars().next().map_or(0, char::len_utf8);
                self.release(first, pieces);
            }
            let Some(at) = self.opening() else {
                let overlaps = OPENINGS.iter().map(|opening| overlap(&self.held, opening));
                let kept = if self.held.contains(FIRST) { overlaps.max().unwrap_or(0) } else { 0 };
                self.release(self.held.len() - kept, pieces);
                return;
            };
            self.release(at, pieces);
            if self.in_code() {
                let first = self.held.chars().next().map_or(0, char::len_utf8);
                self.release(first, pieces);
            } else {
                self.is_open = true;
            }
        }
    }

    pub(super) fn finish(&mut self, take_calls: bool, pieces: &mut Vec<Piece>) {
        let held = std::mem::take(&mut self.held);
        let found = if self.is_open && take_calls { dialect::read(&held, self.tools) } else { None };
        match found.filter(|(calls, _)| calls.len() <= MOST_CALLS) {
            Some((calls, text)) => {
                push_text(text.trim_end(), pieces);
                pieces.extend(calls.into_iter().map(Piece::Call));
            }
            None => push_text(&held, pieces),
        }
        self.is_open = false;
    }

    /// The first byte of the first opening.
    fn opening(&self) -> Option<usize> {
        let blanks = self.held.len() - self.held.trim_start().len();
        if self.is_blank && self.held[blanks..].starts_with(BARE) {
            return Some(blanks);
        }
        let first = self.held.find(FIRST)?;
        OPENINGS.iter().filter_map(|opening| self.held[first..].find(opening)).min().map(|at| first + at)
    }

    /// Gives out the first bytes of what is held, and follows the code blocks in them.
    fn release(&mut self, bytes: usize, pieces: &mut Vec<Piece>) {
        let text: String = self.held.drain(..bytes).collect();
        self.is_blank &= text.trim().is_empty();
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece);
            if piece.ends_with('\n') {
                self.fenced ^= is_fence(&self.line);
                self.line.clear();
            }
        }
        push_text(&text, pieces);
    }

    fn in_code(&self) -> bool {
        self.fenced || is_fence(&self.line) || self.line.matches('`').count() % 2 == 1
    }
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}
