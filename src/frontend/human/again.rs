//! A turn once more, in full: what was thought, said and called, and every line that came back.

use std::io::Write;
use std::path::Path;

use super::paint::dimmed;
use super::said::HANG;
use super::work::Result;
use super::{Human, diff, words};
use crate::conversation::{ContentBlock, Message, Outcome, Role, Subject, ToolCall, ToolResult, ToolVerb};
use crate::terminal::{Dress, Line, MarkdownStream, Screen, Span, Theme, sanitize_line};
use crate::tool::ToolFacts;

/// Finds the messages of a turn; 1 is the last one. A turn begins with what a person said.
#[must_use]
pub fn turn(messages: &[Message], back: usize) -> Option<&[Message]> {
    let starts: Vec<usize> = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message.role == Role::User && !message.has_results())
        .map(|(index, _)| index)
        .collect();
    let index = starts.len().checked_sub(back)?;
    let start = *starts.get(index)?;
    let end = starts.get(index + 1).copied().unwrap_or(messages.len());
    messages.get(start..end)
}

impl<W: Write> Human<W> {
    /// Lays out the messages of a turn in full.
    pub fn in_full(&self, messages: &[Message]) -> Vec<Line> {
        let mut rows = Vec::new();
        for message in messages {
            for block in &message.content {
                let mut section = match block {
                    ContentBlock::Text { text } if message.role == Role::User => self.said(text),
                    ContentBlock::Text { text } => self.laid_out(text),
                    ContentBlock::Reasoning(reasoning) => {
                        let rows = self.laid_out(&reasoning.text);
                        rows.iter().map(|row| dimmed(row, self.looks.theme.dim)).collect()
                    }
                    ContentBlock::ToolCall(call) => self.call(call, result(messages, &call.id)),
                    ContentBlock::ToolResult(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => Vec::new(),
                };
                if !section.is_empty() && !rows.is_empty() {
                    rows.push(Line::new());
                }
                rows.append(&mut section);
            }
        }
        rows
    }

    /// Tells whether rows fill more than the screen.
    pub fn is_long(&self, rows: &[Line]) -> bool {
        rows.len() + 2 > usize::from((self.size)().1)
    }

    /// Prints rows that are laid out already.
    pub fn print(&mut self, rows: &[Line]) {
        self.resized();
        self.screen.commit_all(rows);
        self.end_section();
    }

    /// Writes rows as bytes for a pager: styled as on the screen, without links and marks.
    pub fn bytes(&self, rows: &[Line]) -> Vec<u8> {
        let styles = self.looks.theme != Theme::plain();
        let mut screen = Screen::linear(Vec::new(), Dress { styles, ..Dress::PLAIN });
        screen.commit_all(rows);
        screen.flush();
        screen.into_writer()
    }

    fn said(&self, text: &str) -> Vec<Line> {
        let line = |(index, text): (usize, &str)| {
            let mut line = Line::new();
            line.push(Span::new(if index == 0 { "❯ " } else { "  " }, self.looks.theme.accent));
            line.push(Span::plain(sanitize_line(text)));
            self.in_rows(&line, HANG)
        };
        text.lines().enumerate().flat_map(line).collect()
    }

    fn laid_out(&self, source: &str) -> Vec<Line> {
        let mut stream = MarkdownStream::new(self.layout(self.looks.theme));
        let mut rows = stream.push(source.trim());
        rows.extend(stream.finish());
        rows
    }

    fn call(&self, call: &ToolCall, result: Option<&ToolResult>) -> Vec<Line> {
        let theme = &self.looks.theme;
        let subject =
            self.tools.find(&call.name).map_or(Subject::Whole, |tool| tool.subject(&call.input, &self.place));
        let unknown = ToolFacts::default();
        let finished = Result {
            name: &call.name,
            outcome: result.map_or(Outcome::Interrupted, |result| result.outcome),
            content: result.map_or("", |result| &result.content),
            facts: result.map_or(&unknown, |result| &result.facts),
            duration_ms: result.map_or(0, |result| result.duration_ms),
        };
        let mut rows = self.in_rows(
            &self.title(&subject, &words::about(&self.locale, &self.place, &self.tools, call, &subject), &finished),
            HANG,
        );
        if let Subject::Command { line } = &subject
            && line.lines().nth(1).is_some()
        {
            rows.extend(
                line.lines().map(|text| Line::styled(format!("  $ {}", sanitize_line(text)), theme.strong)),
            );
        }
        let text = |name: &str| call.input.get(name).and_then(serde_json::Value::as_str);
        let path = Path::new(text("path").unwrap_or_default());
        if let (Some(old), Some(new)) = (text("old_string"), text("new_string")) {
            // Where in the file this stood nobody knows any more: no numbers.
            rows.extend(diff::plain_changes(path, old, new, self.ink()));
        } else if let Some(patch) = text("patch") {
            rows.extend(patch.lines().map(|text| Line::styled(format!("  {}", sanitize_line(text)), theme.dim)));
        }
        if self.tools.identity(&call.name).verb == ToolVerb::Plan && finished.outcome == Outcome::Ok {
            rows.extend(self.plan(finished.content));
        } else {
            let lines = finished.content.lines();
            rows.extend(lines.map(|text| Line::styled(format!("  {}", sanitize_line(text)), theme.dim)));
        }
        rows
    }
}

fn result<'a>(messages: &'a [Message], call_id: &str) -> Option<&'a ToolResult> {
    messages.iter().flat_map(|message| &message.content).find_map(|block| match block {
        ContentBlock::ToolResult(result) if result.call_id == call_id => Some(result),
        ContentBlock::ToolResult(_)
        | ContentBlock::Text { .. }
        | ContentBlock::Reasoning(_)
        | ContentBlock::ToolCall(_)
        | ContentBlock::Image(_)
        | ContentBlock::WireItem(_) => None,
    })
}
