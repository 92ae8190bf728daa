//! When a conversation is cut, and where.

use super::beside::Beside;
use super::frame::{self, Budget};
use super::quotes::{LOOKED_AT, quoted_lines};
use super::recall::recall;
use super::thin;
use super::view::view;
use crate::conversation::{ContentBlock, Cut, Message, Role, is_quoted, tokens};

/// What a request may hold. Unit: tokens, as [`tokens`] estimates them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The model's window: all that is read and written.
    pub window: u64,
    /// The system prompt and the tools.
    pub beginning: u64,
    /// What is kept free for the answer.
    pub answer: u64,
}

/// How pressing a cut is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// There is room.
    None,
    /// A good moment should be used.
    Soft,
    /// The next request may not fit.
    Hard,
}

/// Shares of the room for messages, in percent: above SOFT a cut is wanted, above HARD it is forced. Thinning alone is
/// enough if it comes down to GOAL.
const SOFT: u64 = 70;
const HARD: u64 = 85;
const GOAL: u64 = 45;
/// The newest messages that stay whole, the person's words and what code found: shares of the same room.
const TAIL: u64 = 20;
const WORDS: u64 = 15;
const ANCHORS: u64 = 8;
const DEEDS: u64 = 5;
/// The model's summary may take so much of the same room.
const SUMMARY: u64 = 10;
/// The person's words have no more tokens than this, however large the window is (as codex keeps them).
const MOST_WORDS: u64 = 20_000;
const MOST_ANCHORS: u64 = 4_000;
const MOST_DEEDS: u64 = 2_000;
/// In a small room the person's words get a larger share.
const SMALL_ROOM: u64 = 6_000;
const WORDS_OF_SMALL: u64 = 20;
/// The newest outputs stay whole: so many tokens, and the last rounds.
const WHOLE_OUTPUTS: u64 = 4_000;
const WHOLE_ROUNDS: usize = 2;

impl Limits {
    /// What is left for messages.
    #[must_use]
    pub const fn room(&self) -> u64 {
        self.window.saturating_sub(self.beginning).saturating_sub(self.answer)
    }

    const fn share(&self, percent: u64) -> u64 {
        self.room() / 100 * percent
    }
}

/// Estimates the tokens of the messages that a request would hold.
#[must_use]
pub fn sent_tokens(messages: &[Message], cut: Option<&Cut>) -> u64 {
    all(&view(messages, cut))
}

/// Tells how pressing a cut is.
#[must_use]
pub fn need(messages: &[Message], cut: Option<&Cut>, limits: &Limits) -> Need {
    let sent = sent_tokens(messages, cut);
    if sent > limits.share(HARD) {
        Need::Hard
    } else if sent > limits.share(SOFT) {
        Need::Soft
    } else {
        Need::None
    }
}

/// Works out the next cut: old outputs are thinned where that is enough, else old messages are dropped for a frame.
/// `None` where no cut would make the request smaller.
#[must_use]
pub fn plan(messages: &[Message], cut: Option<&Cut>, beside: &Beside<'_>, limits: &Limits) -> Option<Cut> {
    let now = sent_tokens(messages, cut);
    let was = cut.cloned().unwrap_or_default();
    let only_thin = Cut { thinned: whole_from(messages).max(was.thinned), ..was.clone() };
    let thin = sent_tokens(messages, Some(&only_thin));
    if beside.summary.is_none() && thin < now && thin <= limits.share(GOAL) {
        return Some(only_thin);
    }
    let (dropped, thinned) = tail(messages, &was, limits);
    // Replacing a single message by a frame saves nothing.
    if dropped < was.dropped + 2 {
        return (thin < now).then_some(only_thin);
    }
    let words = if limits.room() < SMALL_ROOM { WORDS_OF_SMALL } else { WORDS };
    let budget = Budget {
        words: limits.share(words).min(MOST_WORDS),
        anchors: limits.share(ANCHORS).min(MOST_ANCHORS),
        deeds: limits.share(DEEDS).min(MOST_DEEDS),
    };
    let summary = beside.summary.map(|summary| frame::clipped(summary, limits.share(SUMMARY))).or(was.summary);
    let quoted = about_newest(messages, dropped);
    let frame = frame::write(&messages[..dropped], (summary.as_deref(), &quoted), beside, budget);
    let cut = Cut { dropped, thinned, frame, summary };
    (sent_tokens(messages, Some(&cut)) < now).then_some(cut)
}

/// The dropped lines that are about what the person said last; none where that message has its quotes already.
fn about_newest(messages: &[Message], dropped: usize) -> Vec<String> {
    let said = messages[dropped..].iter().rfind(|message| message.role == Role::User && !message.has_results());
    let texts = said.into_iter().flat_map(|said| &said.content).filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        ContentBlock::Reasoning(_)
        | ContentBlock::ToolCall(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Image(_)
        | ContentBlock::WireItem(_) => None,
    });
    let texts: Vec<&str> = texts.collect();
    match texts.first() {
        Some(said) if !texts.iter().any(|text| is_quoted(text)) => {
            quoted_lines(said, &recall(&messages[..dropped], said, LOOKED_AT))
        }
        Some(_) | None => Vec::new(),
    }
}

/// Returns the first message whose outputs stay whole: the last rounds stay, and the newest outputs up to a limit.
fn whole_from(messages: &[Message]) -> usize {
    let (mut left, mut rounds) = (WHOLE_OUTPUTS, 0);
    for (index, message) in messages.iter().enumerate().rev() {
        if !message.has_results() {
            continue;
        }
        rounds += 1;
        let cost = outputs(message);
        if rounds > WHOLE_ROUNDS && cost > left {
            return index + 1;
        }
        left = left.saturating_sub(cost);
    }
    0
}

/// Returns how many messages are dropped, and in how many messages at the beginning outputs are thinned.
fn tail(messages: &[Message], was: &Cut, limits: &Limits) -> (usize, usize) {
    let mut left = limits.share(TAIL);
    let whole = whole_from(messages);
    let last = messages.iter().rposition(|message| !message.has_results()).unwrap_or(0);
    let mut from = last;
    for index in (was.dropped..messages.len()).rev() {
        let message = &messages[index];
        let cost = if index < whole {
            tokens::estimate_message(&thin::message(message))
        } else {
            tokens::estimate_message(message)
        };
        if cost > left {
            break;
        }
        left -= cost;
        // A result stands behind its call.
        if !message.has_results() {
            from = index;
        }
    }
    let from = from.min(last);
    let fits = all(&messages[from..]) <= limits.share(HARD - WORDS - ANCHORS - DEEDS);
    (from, if fits { whole.max(from) } else { messages.len() })
}

fn outputs(message: &Message) -> u64 {
    let results = message.content.iter().map(|block| match block {
        ContentBlock::ToolResult(result) => tokens::estimate(&result.content),
        ContentBlock::Text { .. }
        | ContentBlock::Reasoning(_)
        | ContentBlock::ToolCall(_)
        | ContentBlock::Image(_)
        | ContentBlock::WireItem(_) => 0,
    });
    results.sum()
}

fn all(messages: &[Message]) -> u64 {
    messages.iter().map(tokens::estimate_message).sum()
}
