//! What stands for the messages that are not sent: the person's words, facts found by code, a summary.

use super::anchors::{Index, Kind};
use super::beside::Beside;
use super::tells::{each_tells, telling};
use super::text::{beginning, middle_out};
use super::turns::turns;
use crate::conversation::{ContentBlock, Message, Outcome, Role, ToolCall, is_quoted, tokens};

/// How many tokens each part may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// The person's own words.
    pub(super) words: u64,
    /// What code found.
    pub(super) anchors: u64,
    /// What was run and changed.
    pub(super) deeds: u64,
}

/// How long a command or the arguments of a call are told, in bytes.
const DEED: usize = 160;
/// What stands for the part of a text that is left out.
const LEFT_OUT: &str = " [… recall has it whole …] ";
/// With fewer tokens nothing is told by a beginning and an end.
const LEAST_CLIPPED: u64 = 100;

/// Writes it; the messages are those that are not sent.
pub(super) fn write(
    messages: &[Message],
    (summary, quoted): (Option<&str>, &[String]),
    beside: &Beside<'_>,
    budget: Budget,
) -> String {
    let mut frame = format!(
        "[The first {} messages of this conversation are not sent any more: what follows stands for them. It is data \
         about the conversation so far, not a new request. The tool `recall` searches all that was said and printed, \
         word for word.]",
        messages.len()
    );
    let words = persons_words(messages, budget.words);
    section(&mut frame, "What the user said, in their own words", words);
    section(&mut frame, "To be kept at hand", beside.pins.iter().map(|pin| format!("- {pin}")));
    section(&mut frame, "Summary", summary.map(str::to_owned));
    section(&mut frame, "Done so far, the newest last", deeds(messages, budget.deeds));
    let facts = facts(messages, &frame, budget.anchors);
    for (title, line) in facts {
        section(&mut frame, title, Some(line));
    }
    section(&mut frame, "Open steps", beside.todos.map(str::to_owned));
    section(&mut frame, "What may answer the newest message", quoted.iter().cloned());
    frame.push_str("\n\n[End of what stands for the earlier messages.]\n\n");
    frame
}

fn section(frame: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_none() {
        return;
    }
    frame.extend(["\n\n## ", title]);
    for line in lines {
        frame.extend(["\n", &line]);
    }
}

/// What the person said, word for word, as far as the budget goes. Where it does not reach, the first message and what
/// tells most stay, of those the newest. In the list the oldest stands first.
fn persons_words(messages: &[Message], budget: u64) -> Vec<String> {
    let said: Vec<(usize, String)> = turns(messages)
        .filter(|(_, message)| message.role == Role::User && !message.has_results())
        .map(|(turn, message)| (turn, typed(message)))
        .collect();
    let tells = each_tells(said.iter().map(|(_, text)| text.as_str()));
    let mut order: Vec<usize> = (0..said.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse((*place == 0, tells[*place], *place)));
    let mut left = budget;
    let mut kept: Vec<(usize, String)> = Vec::new();
    for place in order {
        let (turn, text) = &said[place];
        // One message does not push all the others out.
        let most = if said.len() > 1 { left.min(budget / 2) } else { left };
        let Some(text) = fitting(text, most.saturating_sub(4)) else { continue };
        left = left.saturating_sub(tokens::estimate(&text) + 4);
        kept.push((place, format!("- turn {turn}: {text}")));
    }
    kept.sort_by_key(|(place, _)| *place);
    kept.into_iter().map(|(_, line)| line).collect()
}

/// A text where it has room; else the sentences of it that tell something, else its beginning and its end.
fn fitting(text: &str, most: u64) -> Option<String> {
    if tokens::estimate(text) <= most {
        return Some(text.to_owned());
    }
    let telling = telling(text).collect::<Vec<_>>().join(LEFT_OUT);
    if !telling.is_empty() && tokens::estimate(&telling) <= most {
        return Some(telling);
    }
    (most > LEAST_CLIPPED).then(|| clipped(text, most))
}

/// The beginning and the end of a text that has more than so many tokens.
pub(super) fn clipped(text: &str, most: u64) -> String {
    if tokens::estimate(text) <= most {
        return text.to_owned();
    }
    let bytes = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(2);
    middle_out(text, bytes / 2, bytes / 3, |_| LEFT_OUT.to_owned())
}

/// What a person typed; what was attached is named by its first line.
fn typed(message: &Message) -> String {
    let mut texts = message.content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.trim()),
        ContentBlock::Image(_) => Some("[a picture]"),
        ContentBlock::Reasoning(_)
        | ContentBlock::ToolCall(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::WireItem(_) => None,
    });
    let mut typed = texts.next().unwrap_or_default().to_owned();
    for attached in texts.filter(|text| !text.is_empty() && !is_quoted(text)) {
        typed.extend(["\n  + ", &beginning(attached.lines().next().unwrap_or_default(), DEED)]);
    }
    typed
}

/// What the model ran and changed, with how it ended; the newest as far as the budget goes.
fn deeds(messages: &[Message], budget: u64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut left = budget;
    for (index, message) in messages.iter().enumerate().rev() {
        for call in message.calls().collect::<Vec<_>>().into_iter().rev() {
            let line = deed(call, messages.get(index + 1));
            if lines.contains(&line) {
                continue;
            }
            let cost = tokens::estimate(&line) + 1;
            if cost > left {
                lines.reverse();
                return lines;
            }
            left -= cost;
            lines.push(line);
        }
    }
    lines.reverse();
    lines
}

fn deed(call: &ToolCall, answers: Option<&Message>) -> String {
    let result = answers.and_then(|message| message.result_of(&call.id));
    let end = match result.map(|result| (result.outcome, result.facts.exit_code)) {
        Some((Outcome::Ok, None | Some(0))) => "worked".to_owned(),
        Some((Outcome::Ok | Outcome::Failed, Some(code))) => format!("exit {code}"),
        Some((Outcome::Failed, None)) => "failed".to_owned(),
        Some((Outcome::Denied, _)) => "denied".to_owned(),
        Some((Outcome::Interrupted, _)) | None => "interrupted".to_owned(),
    };
    let about = ["command", "path", "file_path", "pattern", "url", "question"]
        .into_iter()
        .find_map(|name| call.input.get(name)?.as_str())
        .map_or_else(|| call.input.to_string(), str::to_owned);
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("- {} {}: {end}", call.name, beginning(&about, DEED))
}

/// The anchors of all texts, by kind, each kind with its share of the budget; none that `frame` has already.
fn facts(messages: &[Message], frame: &str, budget: u64) -> Vec<(&'static str, String)> {
    let mut index = Index::default();
    let blocks = messages.iter().flat_map(|message| message.content.iter().map(|block| (message.role, block)));
    for (role, block) in blocks {
        match block {
            // Nobody said it a second time, and a tool may have printed it.
            ContentBlock::Text { text } if is_quoted(text) => {}
            ContentBlock::Text { text } => {
                index.read(text);
                match role {
                    Role::User => index.read_facts(text),
                    Role::Assistant => index.read_rules(text),
                }
            }
            ContentBlock::ToolCall(call) => read_value(&mut index, &call.input),
            ContentBlock::ToolResult(result) => index.read(&result.content),
            ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => {}
        }
    }
    let mut left = budget;
    let kinds = u64::try_from(Kind::ALL.len()).unwrap_or(1);
    let mut found = Vec::new();
    for (number, kind) in (0_u64..).zip(Kind::ALL) {
        // What a kind leaves goes to those that follow.
        let mut share = left / (kinds - number);
        let between = match kind {
            Kind::Error | Kind::Rule => "\n- ",
            Kind::Path | Kind::Url | Kind::Id => " · ",
        };
        let mut taken: Vec<&str> = Vec::new();
        for anchor in index.ranked(kind).into_iter().filter(|anchor| !has(frame, anchor)) {
            let cost = tokens::estimate(anchor) + 1;
            if cost > share {
                continue;
            }
            share -= cost;
            left -= cost;
            taken.push(anchor);
        }
        if !taken.is_empty() {
            let first = if between == "\n- " { "- " } else { "" };
            found.push((kind.title(), format!("{first}{}", taken.join(between))));
        }
    }
    found
}

/// Whether a text has these words, and not as a part of a longer word.
fn has(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let (before, behind) = (text[..at].chars().next_back(), text[at + words.len()..].chars().next());
        !before.into_iter().chain(behind).any(char::is_alphanumeric)
    })
}

fn read_value(index: &mut Index, value: &serde_json::Value) {
    match value {
        serde_json::Value::String(text) => index.read(text),
        serde_json::Value::Array(values) => values.iter().for_each(|value| read_value(index, value)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| read_value(index, value)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}
