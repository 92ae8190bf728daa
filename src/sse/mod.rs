//! Server-sent events, cut anywhere: bytes in, whole events out; and the [`Lines`] below them, which other streams are made
//! of, too. Pure; knows neither a provider nor MCP, which both read them.
//!
//! Follows the parsing rules of the WHATWG HTML standard, section 9.2.6, with four allowances for real servers:
//! an event that the end of the stream left without its blank line still counts ([`SseParser::finish`]), a field
//! named `error` is an event of that name (llama.cpp before 2024 sent errors so), a line that begins with `{`
//! is data (gateways that print a bare JSON error into a running stream), and data that is whole, a JSON object or
//! `[DONE]`, ends before the next `data` or `event` line (gateways that write one newline between events, not two).

mod lines;
#[cfg(test)]
pub(crate) mod pieces;

use std::time::Duration;

use serde::de::IgnoredAny;

pub use lines::{Ends, Line, Lines};

/// The most bytes one event may hold. Models' deltas are far smaller; a whole picture in one event fits.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// One event as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event:` field; empty when there was none.
    pub name: String,
    /// The `data:` lines, joined by newlines. Invalid UTF-8 is replaced.
    pub data: String,
}

/// An event or line grew beyond its limit in bytes; nothing more can be read from this stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event is larger than {limit} bytes")]
pub struct TooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

/// Cuts bytes into events. Give it the bytes of a response in order, in pieces of any size.
#[derive(Debug)]
pub struct SseParser {
    limit: usize,
    lines: Lines,
    data: Vec<u8>,
    name: Vec<u8>,
    has_data: bool,
    /// Whether the data has more than one line, so that no line of it is an event of its own.
    has_lines: bool,
    /// The id that the event under way gives itself; it counts once the event is complete.
    id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl Default for SseParser {
    fn default() -> Self {
        Self::new()
    }
}

impl SseParser {
    /// Makes a parser with the limit of [`MAX_EVENT_BYTES`].
    #[must_use]
    pub const fn new() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }

    /// Makes a parser that refuses events of more than `limit` bytes.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            lines: Lines::new(Ends::Any, limit),
            data: Vec::new(),
            name: Vec::new(),
            has_data: false,
            has_lines: false,
            id: None,
            last_id: None,
            retry: None,
        }
    }

    /// Takes the next bytes and returns the events they complete.
    ///
    /// # Errors
    /// [`TooLong`] when one event outgrows the limit.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, TooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some(line) = self.lines.next(&mut rest) {
            let Line::Whole(line) = line else { return Err(TooLong { limit: self.limit }) };
            self.check(line.len())?;
            self.line(&line, &mut events);
        }
        self.check(if self.lines.is_skipping() { usize::MAX } else { self.lines.kept() })?;
        Ok(events)
    }

    /// Ends the stream and returns the event that was still open, if it has data.
    #[must_use]
    pub fn finish(&mut self) -> Option<SseEvent> {
        let mut events = Vec::new();
        if let Some(line) = self.lines.rest() {
            self.line(&line, &mut events);
        }
        self.dispatch(&mut events);
        events.pop()
    }

    /// Returns the id of the last whole event that had one: a stream that broke off is taken up behind it.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// Returns how long the server wants to be left alone before a stream that broke off is taken up again.
    #[must_use]
    pub const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Forgets the half event of a stream that broke off: another stream begins, which goes on behind [`Self::last_id`].
    pub fn begin_again(&mut self) {
        let (last_id, retry) = (self.last_id.take(), self.retry);
        *self = Self { last_id, retry, ..Self::with_limit(self.limit) };
    }

    const fn check(&self, line: usize) -> Result<(), TooLong> {
        if line.saturating_add(self.data.len()) > self.limit {
            return Err(TooLong { limit: self.limit });
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8], events: &mut Vec<SseEvent>) {
        match line.first() {
            None => self.dispatch(events),
            // A comment: keep-alive.
            Some(b':') => {}
            Some(b'{') => {
                self.dispatch_whole(events);
                self.add_data(line);
            }
            Some(_) => {
                let colon = line.iter().position(|byte| *byte == b':');
                let (field, value) = colon.map_or((line, &b""[..]), |at| (&line[..at], &line[at + 1..]));
                let value = value.strip_prefix(b" ").unwrap_or(value);
                match field {
                    b"data" => {
                        self.dispatch_whole(events);
                        self.add_data(value);
                    }
                    b"event" => {
                        self.dispatch_whole(events);
                        value.clone_into(&mut self.name);
                    }
                    b"error" => {
                        self.dispatch_whole(events);
                        self.name = b"error".to_vec();
                        self.add_data(value);
                    }
                    b"id" if !value.contains(&0) => self.id = Some(lossy(value.to_vec())),
                    b"retry" => {
                        let number = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                        self.retry = number.map(Duration::from_millis).or(self.retry);
                    }
                    _ => {}
                }
            }
        }
    }

    fn add_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
            self.has_lines = true;
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
    }

    /// Gives out data that needs nothing more, though no blank line ended it.
    fn dispatch_whole(&mut self, events: &mut Vec<SseEvent>) {
        // Looked at once an event: data that is checked line after line would cost the square of its length.
        if !self.has_data || self.has_lines {
            return;
        }
        let data = self.data.trim_ascii();
        let object = data.starts_with(b"{") && data.ends_with(b"}");
        if data == b"[DONE]" || (object && serde_json::from_slice::<IgnoredAny>(data).is_ok()) {
            self.dispatch(events);
        }
    }

    fn dispatch(&mut self, events: &mut Vec<SseEvent>) {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        self.has_lines = false;
        if self.id.is_some() {
            self.last_id = self.id.take();
        }
        if std::mem::take(&mut self.has_data) {
            events.push(SseEvent { name: lossy(name), data: lossy(data) });
        }
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
