//! What a line of a session has beside what was said: names of fields, its kind, roles, types, outcomes.

use super::entry::HEAD;

/// The longest text of a line's frame, in bytes.
const LONGEST: usize = 24;

/// The types of blocks, each with the field that axi writes behind it.
const TYPES: [(&[u8], &[u8]); 6] = [
    (b"text", b"\"text\":"),
    (b"reasoning", b"\"text\":"),
    (b"tool_call", b"\"id\":"),
    (b"tool_result", b"\"call_id\":"),
    (b"image", b"\"media_type\":"),
    (b"wire_item", b"\"model\":"),
];
/// How a result may have ended.
const OUTCOMES: [&[u8]; 4] = [b"ok", b"failed", b"denied", b"interrupted"];
/// What only a line of results has.
const RESULTS: &[u8] = b"\"role\":\"user\"";

/// Whether a hit stands in the frame of its line. A call may have fields of these names, too: their values are said,
/// unless what stands around them is written exactly as in the frame.
pub(super) fn is_frame(lines: &[u8], start: usize, end: usize) -> bool {
    let before = &lines[start.saturating_sub(LONGEST)..start];
    let after = &lines[end..lines.len().min(end + LONGEST)];
    let (Some(open), Some(close)) = (memchr::memrchr(b'"', before), memchr::memchr(b'"', after)) else {
        return false;
    };
    let (open, close) = (start - before.len() + open, end + close);
    // A quote behind a backslash belongs to a text.
    let is_escaped = |quote: usize| quote > 0 && lines[quote - 1] == b'\\';
    if is_escaped(open) || is_escaped(close) {
        return false;
    }
    lines.get(close + 1) == Some(&b':') || is_value(&lines[..open], &lines[open + 1..close], &lines[close + 1..])
}

/// Whether a text is a value of the frame, by what stands before and behind its quotes.
fn is_value(before: &[u8], value: &[u8], behind: &[u8]) -> bool {
    if let Some(before) = before.strip_suffix(b"\"type\":") {
        let follows = |next: &[u8]| behind.strip_prefix(b",").is_some_and(|behind| behind.starts_with(next));
        return before.ends_with(b"{") && TYPES.iter().any(|(name, next)| *name == value && follows(next));
    }
    if let Some(before) = before.strip_suffix(b"\"role\":") {
        return before.ends_with(b"\"message\":{") || before == b"{";
    }
    if let Some(before) = before.strip_suffix(b"\"kind\":") {
        let head = &before[before.len().saturating_sub(HEAD)..];
        return head.len() == before.len() || head.contains(&b'\n');
    }
    if before.ends_with(b"\",\"outcome\":") {
        let line = &before[memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1)..];
        return OUTCOMES.contains(&value)
            && memchr::memmem::find(&line[..line.len().min(2 * HEAD)], RESULTS).is_some();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{ContentBlock, Message, Outcome, Role, ToolCall, ToolResult};
    use crate::session::entry::{Entry, EntryKind};

    fn line(message: Message) -> Vec<u8> {
        Entry::line(EntryKind::Message { message }, std::time::SystemTime::UNIX_EPOCH).unwrap()
    }

    fn call(name: &str, input: serde_json::Value) -> ToolCall {
        let extra = serde_json::Map::new();
        let (id, name, empty) = ("c1".to_owned(), name.to_owned(), String::new());
        ToolCall { id, name, input, invalid_input: None, extra, model: empty.clone(), arguments: empty }
    }

    fn calls(call: ToolCall) -> Message {
        Message { role: Role::Assistant, content: vec![ContentBlock::ToolCall(call)] }
    }

    /// The hits of a word that are not in the frame.
    fn said(lines: &[u8], word: &str) -> usize {
        let hits = memchr::memmem::find_iter(lines, word.as_bytes());
        hits.filter(|start| !is_frame(lines, *start, start + word.len())).count()
    }

    #[test]
    fn what_axi_writes_around_the_words_is_not_said() {
        let look = call("look", serde_json::json!({}));
        let failed = ContentBlock::ToolResult(ToolResult::closed(&look, Outcome::Failed));
        let failed = Message { role: Role::User, content: vec![failed] };
        let lines = [line(Message::user("hello")), line(calls(look)), line(failed)].concat();
        for word in ["text", "user", "assistant", "message", "kind", "tool_call", "call_id", "tool_result"] {
            assert_eq!(said(&lines, word), 0, "{word}");
        }
        // By the call's name and the result's; in the words that tell how it ended.
        assert_eq!(said(&lines, "look"), 2);
        assert_eq!(said(&lines, "failed"), 1);
        // A message of its own, as it is written anew.
        let written = serde_json::to_vec(&Message::user("hello")).unwrap();
        assert_eq!(said(&written, "user"), 0);
    }

    #[test]
    fn values_of_a_calls_own_fields_are_said_whatever_their_names() {
        let input = serde_json::json!({
            "type": "heron", "kind": "heron", "role": "heron", "outcome": "failed", "in": {"type": "tool_call"},
            "list": [{"kind": "message", "role": "user"}],
        });
        let line = [line(Message::user("before")), line(calls(call("make", input)))].concat();
        assert_eq!(said(&line, "heron"), 3);
        assert_eq!(said(&line, "failed"), 1);
        // One is of the frame, one of the call.
        assert_eq!(said(&line, "tool_call"), 1);
        assert_eq!(said(&line, "user"), 1);
        assert_eq!(said(&line, "message"), 1);
    }
}
