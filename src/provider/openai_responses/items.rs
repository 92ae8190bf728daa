//! What the items of a response hold, and what of them is kept. Pure.

use serde_json::{Map, Value};

/// An item as far as it has come.
#[derive(Debug)]
pub(super) enum Item {
    Message {
        text: String,
    },
    Reasoning {
        text: String,
        /// Which paragraph is being written.
        part: Option<u64>,
        signed: bool,
    },
    Call {
        slot: usize,
        arguments: String,
    },
    /// A call that holds calls.
    Wrapper,
    /// A call whose input is plain text.
    Custom,
    /// A tool that the provider runs itself, and kinds to come.
    Other,
    /// The same, complete.
    Done,
}

/// Whether the encryption of a thought came with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Late {
    No,
    Yes,
}

/// Returns a text field; empty when there is none.
pub(super) fn text_of<'a>(holder: &'a Value, field: &str) -> &'a str {
    holder.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Joins the texts of a list of parts.
pub(super) fn joined(parts: Option<&Value>, separator: &str) -> String {
    let parts = parts.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let texts = parts.iter().filter_map(|part| part.get("text").or_else(|| part.get("refusal"))?.as_str());
    texts.collect::<Vec<_>>().join(separator)
}

/// Keeps the fields of a call we do not know (`namespace`, `caller`): they go back with it.
pub(super) fn unknown_fields(item: &Value) -> Map<String, Value> {
    const KNOWN: &[&str] = &["id", "call_id", "name", "arguments", "status", "input"];
    let fields = item.as_object().into_iter().flatten();
    let unknown = fields.filter(|(name, value)| !KNOWN.contains(&name.as_str()) && !value.is_null());
    let unknown = unknown.filter(|(name, value)| *name != "type" || *value != "function_call");
    unknown.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Kinds of items that go back as they came, without the id under which nothing is stored.
const KEPT: &[&str] = &["web_search_call", "compaction", "tool_search_call", "tool_search_output"];

/// Returns an item in the form in which it goes back.
pub(super) fn kept(item: &Value) -> Option<Value> {
    if !KEPT.contains(&text_of(item, "type")) {
        return None;
    }
    let mut item = item.as_object()?.clone();
    item.shift_remove("id");
    Some(Value::Object(item))
}

/// Reads the calls inside of the wrapper some models put around them (vercel/ai 6be0f51): names and JSON text.
pub(super) fn wrapped(arguments: &str) -> Option<Vec<(String, String)>> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    let uses = value.get("tool_uses")?.as_array().filter(|uses| !uses.is_empty())?;
    uses.iter()
        .map(|call| {
            let name = text_of(call, "recipient_name");
            let name = name.strip_prefix("functions.").unwrap_or(name);
            let parameters = call.get("parameters").filter(|parameters| parameters.is_object())?;
            (!name.is_empty()).then(|| (name.to_owned(), parameters.to_string()))
        })
        .collect()
}
