//! Prints a turn again in full: the reasoning, the text, the calls, and every line they returned.

use std::io::Write;
use std::path::Path;

use super::diff;
use super::finished::{Finished, plan, title};
use super::painter::{HANG, Painter};
use super::prose::dimmed;
use crate::conversation::{ContentBlock, Message, Outcome, Role, Subject, ToolCall, ToolResult, ToolVerb};
use crate::frontend::words;
use crate::locale::word;
use crate::terminal::{Line, sanitize_line};
use crate::tool::{ToolFacts, Toolbox};

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

/// Rows of a screen that are not for what is printed again: its marks, the prompt, a line of room.
const KEPT_FREE: usize = 6;

/// Prints the end of a conversation again, as much as a screen holds, between two lines that say so.
pub(super) fn recap<W: Write>(painter: &mut Painter<W>, tools: &Toolbox, messages: &[Message]) {
    let room = painter.height().saturating_sub(KEPT_FREE).max(1);
    let mut rows: Vec<Line> = Vec::new();
    let mut back = 1;
    while let Some(messages) = turn(messages, back).filter(|_| rows.len() < room) {
        let typed: Vec<Message> = messages.iter().map(without_attachments).collect();
        let mut earlier = in_full(painter, tools, &typed);
        if !rows.is_empty() {
            earlier.push(Line::new());
        }
        earlier.append(&mut rows);
        rows = earlier;
        back += 1;
    }
    if rows.is_empty() {
        return;
    }
    rows.drain(..rows.len().saturating_sub(room));
    let (earlier, now) = (painter.locale().text(word::repl::EARLIER), painter.locale().text(word::repl::NOW));
    let (earlier, now) = (earlier.to_owned(), now.to_owned());
    painter.say(&earlier);
    painter.print(&rows);
    painter.say(&now);
}

/// A message as the person typed it: what was attached follows in further texts.
fn without_attachments(message: &Message) -> Message {
    let mut message = message.clone();
    if message.role == Role::User {
        let mut texts = 0;
        message.content.retain(|block| {
            let is_text = matches!(block, ContentBlock::Text { .. });
            texts += u32::from(is_text);
            !is_text || texts == 1
        });
    }
    message
}

/// Lays out the messages of a turn in full.
pub(super) fn in_full<W: Write>(painter: &Painter<W>, tools: &Toolbox, messages: &[Message]) -> Vec<Line> {
    let mut rows = Vec::new();
    for message in messages {
        for block in &message.content {
            let mut section = match block {
                ContentBlock::Text { text } if message.role == Role::User => person(painter, text),
                ContentBlock::Text { text } => painter.laid_out(text.trim()),
                ContentBlock::Reasoning(reasoning) => {
                    let rows = painter.laid_out(reasoning.text.trim());
                    rows.iter().map(|row| dimmed(row, painter.theme().dim)).collect()
                }
                ContentBlock::ToolCall(call) => call_rows(painter, tools, call, result(messages, &call.id)),
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

fn call_rows<W: Write>(
    painter: &Painter<W>,
    tools: &Toolbox,
    call: &ToolCall,
    result: Option<&ToolResult>,
) -> Vec<Line> {
    let theme = painter.theme();
    let (subject, about) = words::recorded(tools, painter.roots(), call);
    let unknown = ToolFacts::default();
    let finished = Finished {
        name: &call.name,
        verb: tools.identity(&call.name).verb,
        outcome: result.map_or(Outcome::Interrupted, |result| result.outcome),
        content: result.map_or("", |result| &result.content),
        facts: result.map_or(&unknown, |result| &result.facts),
        duration_ms: result.map_or(0, |result| result.duration_ms),
        change: None,
    };
    let mut rows = painter.in_rows(
        &title(
            painter,
            &subject,
            &words::about(painter.locale(), painter.roots(), &about, &subject),
            &finished,
            None,
        ),
        HANG,
    );
    if let Subject::Command { line } = &subject
        && line.lines().nth(1).is_some()
    {
        rows.extend(line.lines().map(|text| Line::styled(format!("  $ {}", sanitize_line(text)), theme.strong)));
    }
    let text = |name: &str| call.input.get(name).and_then(serde_json::Value::as_str);
    let path = Path::new(text("path").unwrap_or_default());
    if let (Some(old), Some(new)) = (text("old_string"), text("new_string")) {
        // Nobody knows any more where in the file this stood: no line numbers.
        rows.extend(diff::plain_changes(path, old, new, painter.ink()));
    } else if let Some(patch) = text("patch") {
        rows.extend(patch.lines().map(|text| Line::styled(format!("  {}", sanitize_line(text)), theme.dim)));
    }
    if finished.verb == ToolVerb::Plan && finished.outcome == Outcome::Ok {
        rows.extend(plan(theme, finished.content));
    } else {
        let lines = finished.content.lines();
        rows.extend(lines.map(|text| Line::styled(format!("  {}", sanitize_line(text)), theme.dim)));
    }
    rows
}

/// Lays out what a person said, broken into rows.
fn person<W: Write>(painter: &Painter<W>, text: &str) -> Vec<Line> {
    painter.person(text).iter().flat_map(|line| painter.in_rows(line, HANG)).collect()
}

fn result<'a>(messages: &'a [Message], call_id: &str) -> Option<&'a ToolResult> {
    messages.iter().find_map(|message| message.result_of(call_id))
}
