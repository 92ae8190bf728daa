//! Writing an answer, token by token: text is passed on as it comes, a call is held to what the tools take.
//!
//! A call is known when its shape is: `{"name": …, "arguments": {`. From there on only what fits a tool is written;
//! what did not fit before (a name that no tool has) is taken back, for none of it has been passed on yet.

use std::sync::atomic::Ordering;

use tokio::sync::mpsc;

use super::super::examples::is_line;
use super::calls::{CallReader, Said};
use super::engine::Loaded;
use super::guide::{CallState, Guide};
use super::job::{Event, Job};
use super::likely::{choose, likeliest, most_likely};
use super::network::Next;
use super::tokenizer::whole_characters;
use crate::conversation::{StopReason, StreamEvent, ToolSpec, Usage};

/// Tokens that count against being said again.
const REMEMBERED: usize = 64;
/// What is said three times in a row ends an answer: of at most this many tokens, and for at least as many in all.
const CIRCLE: usize = 256;
const CIRCLES: usize = 72;
/// Tokens of a call that is a command: the longest of a person's commands have a hundred.
const COMMAND: usize = 300;
/// How many times as likely it is made that an answer begins with a command in its words. Asked how something is done,
/// these models rather do it: "how do I unpack x" begins with a call at 0.4 to 0.7 and so at 0.1 to 0.3; where something
/// is to be done it is 0.9 and below 0.07.
const NAMED: f32 = 4.0;
/// Quotes inside of texts that are mended in one answer.
const QUOTES: usize = 32;

/// What is written and not passed on yet.
struct Held<'a> {
    reader: CallReader<'a>,
    guide: Guide,
    /// The beginning of a character.
    bytes: Vec<u8>,
    /// Bytes of each token.
    lengths: Vec<usize>,
    /// Whether it is known for a call, and since how many tokens.
    is_call: bool,
    before_call: usize,
    quotes: usize,
}

impl Held<'_> {
    /// How far the call is; `None` where anything may be written.
    fn place(&self) -> Option<CallState> {
        let object = self.reader.object().filter(|_| self.is_call)?;
        let place = self.guide.follow(CallState::START, object.as_bytes())?;
        self.guide.follow(place, &self.bytes)
    }

    /// Takes the last token back.
    fn take_back(&mut self) -> bool {
        let Some(length) = self.lengths.pop() else { return false };
        let pending = self.bytes.len().saturating_sub(length);
        let of_text = length - (self.bytes.len() - pending);
        self.bytes.truncate(pending);
        self.reader.take_back(of_text);
        true
    }
}

impl Loaded {
    /// Writes the answer.
    pub(super) fn write(
        &mut self,
        job: &Job,
        tools: &[ToolSpec],
        events: &mpsc::Sender<Event>,
        mut likely: Vec<f32>,
        (read, cached): (u64, u64),
    ) {
        let send = |event| events.blocking_send(Ok(event)).is_ok();
        let reader = CallReader::new(tools);
        let (bytes, lengths) = (Vec::new(), Vec::new());
        let mut held =
            Held { reader, guide: Guide::new(tools), bytes, lengths, is_call: false, before_call: 0, quotes: 0 };
        let (mut written, mut calls) = (0, 0);
        let from = self.tokens.len();
        // Where a command is wanted for the prompt line, a call is how it is named.
        if !tools.is_empty() && !is_line(tools) {
            self.rather_name(&mut likely);
        }
        let reason = loop {
            if job.stop.load(Ordering::Relaxed) || events.is_closed() {
                return;
            }
            let place = held.place();
            let is_long = place.is_some_and(|place| held.guide.is_command(place))
                && held.lengths.len().saturating_sub(held.before_call) >= COMMAND;
            if written >= job.most || self.tokens.len() >= self.context || is_long {
                break StopReason::Length;
            }
            if place.is_some_and(CallState::is_end) {
                break StopReason::ToolUse;
            }
            let token = if let Some(place) = place {
                match self.choose_fitting(place, &mut held, &likely, job) {
                    Chosen::Token(token) => token,
                    Chosen::Nothing => {
                        held.is_call = false;
                        continue;
                    }
                    Chosen::Stopped => return,
                }
            } else {
                let said = from.max(self.tokens.len().saturating_sub(REMEMBERED));
                choose(&mut likely, &self.tokens[said..])
            };
            if self.tokenizer.is_mark(token) {
                break StopReason::EndTurn;
            }
            written += 1;
            let text = self.tokenizer.bytes(token);
            held.lengths.push(text.len());
            held.bytes.extend_from_slice(text);
            let said = held.reader.push(&whole_characters(&mut held.bytes));
            if !tell(said, &mut calls, &send) {
                return;
            }
            // One call a message: what these models write behind a call is its result, invented.
            if calls > 0 {
                break StopReason::ToolUse;
            }
            self.tokens.push(token);
            if goes_round(&self.tokens[from..]) {
                // It is not in memory.
                self.tokens.pop();
                break StopReason::Repeating;
            }
            let Some(next) = self.read_next(&job.stop) else {
                self.tokens.pop();
                return;
            };
            likely = next;
            if !held.is_call && held.reader.is_call() {
                held.is_call = true;
                held.before_call = held.lengths.len();
                let before = self.tokens.len();
                while held.place().is_none() && held.reader.object().is_some() && held.take_back() {
                    self.tokens.pop();
                }
                if self.tokens.len() < before {
                    let Some(next) = self.read_last(job) else { return };
                    likely = next;
                }
            }
        };
        // Half a call is none: closed by us, it would be a command that nobody wrote.
        let is_cut = held.is_call && matches!(reason, StopReason::Length | StopReason::Repeating);
        let told = is_cut || {
            let rest = held.reader.push(&String::from_utf8_lossy(&held.bytes));
            tell(rest, &mut calls, &send) && (calls > 0 || tell(held.reader.finish(), &mut calls, &send))
        };
        let reason = if calls > 0 { StopReason::ToolUse } else { reason };
        let usage = Usage {
            input: read.saturating_sub(cached),
            cached_read: cached,
            output: written as u64,
            ..Usage::default()
        };
        let _ = told && send(StreamEvent::Usage(usage)) && send(StreamEvent::Done(reason));
    }

    /// Makes it likelier that an answer names a command: to run one that nobody wanted run is worse than to name it.
    fn rather_name(&self, likely: &mut [f32]) {
        let mut tick = Vec::new();
        self.tokenizer.encode("`", &mut tick);
        if let [tick] = tick[..]
            && let Some(likely) = likely.get_mut(tick as usize)
        {
            *likely += NAMED.ln();
        }
    }

    /// Takes the most likely token that leaves a call possible.
    fn choose_fitting(&mut self, place: CallState, held: &mut Held<'_>, likely: &[f32], job: &Job) -> Chosen {
        let (best, _) = likeliest(likely);
        if self.fits(&held.guide, place, best).is_some() {
            return Chosen::Token(best);
        }
        // A text that ended, and words behind it: its end was a quote inside of it.
        let word = self.tokenizer.bytes(best).trim_ascii_start().first().copied();
        let goes_on = word.is_some_and(|byte| !b"`}],:\"".contains(&byte)) && !self.tokenizer.is_mark(best);
        if place.is_behind_text() && goes_on && held.quotes < QUOTES && held.take_back() {
            held.quotes += 1;
            self.tokens.pop();
            let Some(likely) = self.read_last(job) else { return Chosen::Stopped };
            let Some(place) = held.place() else { return Chosen::Nothing };
            let inside = |token| self.fits(&held.guide, place, token).is_some_and(CallState::is_in_text);
            return most_likely(&likely, inside).map_or(Chosen::Nothing, Chosen::Token);
        }
        let fits = |token| self.fits(&held.guide, place, token).is_some();
        most_likely(likely, fits).map_or(Chosen::Nothing, Chosen::Token)
    }

    fn fits(&self, guide: &Guide, place: CallState, token: u32) -> Option<CallState> {
        let text = self.tokenizer.bytes(token);
        // What is empty leads nowhere, again and again.
        let is_text = !text.is_empty() && !self.tokenizer.is_mark(token);
        is_text.then(|| guide.follow(place, text)).flatten()
    }

    /// Reads the last token again, after those behind it were taken back.
    fn read_last(&mut self, job: &Job) -> Option<Vec<f32>> {
        let last = self.tokens.len().checked_sub(1)?;
        self.ahead.clear();
        self.memory.truncate(last, self.network.shape());
        let next = self.network.read(&self.tokens[last..], &mut self.memory, Next::Wanted, &job.stop);
        if next.is_none() {
            self.tokens.truncate(last);
        }
        next
    }
}

/// What comes of looking for a token that fits.
enum Chosen {
    Token(u32),
    /// None does.
    Nothing,
    Stopped,
}

/// Sends what was said; tells whether anybody still listens.
fn tell(said: Vec<Said>, calls: &mut usize, send: &impl Fn(StreamEvent) -> bool) -> bool {
    said.into_iter().all(|said| match said {
        Said::Text(text) if *calls > 0 && text.trim().is_empty() => true,
        Said::Text(text) => send(StreamEvent::TextDelta(text)),
        Said::Call { name, arguments } => {
            let slot = *calls;
            *calls += 1;
            let start = StreamEvent::ToolCallStart { slot, id: String::new(), name, extra: serde_json::Map::new() };
            send(start) && send(StreamEvent::ToolCallDelta { slot, arguments })
        }
    })
}

/// Tells whether the same words were said three times in a row.
fn goes_round(tokens: &[u32]) -> bool {
    (1..=CIRCLE).any(|period| {
        let all = CIRCLES.max(period * 3);
        let last = tokens.len().checked_sub(all).map(|from| &tokens[from..]);
        last.is_some_and(|last| last[period..] == last[..all - period])
    })
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
