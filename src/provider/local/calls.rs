//! Calls in the words of a small model: a JSON object in a fence, in a tag, or bare, told from an answer's own code.
//!
//! Text is passed on as it comes; what may become a call is held back only until it cannot.

use serde_json::{Map, Value};

use crate::conversation::ToolSpec;

/// What begins a call, with what ends it.
const OPENINGS: &[(&str, &str)] =
    &[("```json\n", "```"), ("```\n", "```"), ("<tool_call>", "</tool_call>"), ("", "")];

/// Bytes of a tool's name that these models invent, at most.
const LONGEST_NAME: usize = 32;

/// What came out of the model's words.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// Words for the person.
    Text(String),
    /// A whole call: the tool's name, and its arguments as JSON text.
    Call { name: String, arguments: String },
}

/// Tells calls from text.
#[derive(Debug)]
pub(super) struct CallReader<'a> {
    tools: &'a [ToolSpec],
    held: String,
    at_line_start: bool,
    in_fence: bool,
}

/// Whether held text is a call.
enum Verdict {
    /// It is not, up to this byte.
    Text(usize),
    /// It can still become one.
    Open,
    /// It is one, up to this byte.
    Call { name: String, arguments: String, end: usize },
}

impl<'a> CallReader<'a> {
    pub(super) const fn new(tools: &'a [ToolSpec]) -> Self {
        Self { tools, held: String::new(), at_line_start: true, in_fence: false }
    }

    /// Takes more of the model's words.
    pub(super) fn push(&mut self, text: &str) -> Vec<Said> {
        self.held.push_str(text);
        self.read(false)
    }

    /// The model has ended: a call that lacks only its closing brackets gets them, all else is text.
    pub(super) fn finish(&mut self) -> Vec<Said> {
        self.read(true)
    }

    /// The object that may be a call, as far as it is held.
    pub(super) fn object(&self) -> Option<&str> {
        if !self.at_line_start || self.in_fence || self.tools.is_empty() {
            return None;
        }
        let inside = OPENINGS.iter().filter_map(|(opening, _)| self.held.strip_prefix(opening));
        inside.map(str::trim_start).find(|inside| inside.starts_with('{'))
    }

    /// Tells whether what is held has the shape of a call: `{"name": …, "arguments": {`.
    pub(super) fn is_call(&self) -> bool {
        self.object().is_some_and(|object| is_shaped(&compact(object), true))
    }

    /// Forgets the last bytes of what is held.
    pub(super) fn take_back(&mut self, bytes: usize) {
        self.held.truncate(self.held.floor_char_boundary(self.held.len().saturating_sub(bytes)));
    }

    fn read(&mut self, ended: bool) -> Vec<Said> {
        let mut said = Vec::new();
        while !self.held.is_empty() {
            match self.judge(ended) {
                Verdict::Open => break,
                Verdict::Text(end) => {
                    let text: String = self.held.drain(..end).collect();
                    if self.at_line_start && text.trim_start().starts_with("```") {
                        self.in_fence = !self.in_fence;
                    }
                    self.at_line_start = text.ends_with('\n');
                    match said.last_mut() {
                        Some(Said::Text(before)) => before.push_str(&text),
                        Some(Said::Call { .. }) | None => said.push(Said::Text(text)),
                    }
                }
                Verdict::Call { name, arguments, end } => {
                    self.held.drain(..end);
                    self.at_line_start = true;
                    said.push(Said::Call { name, arguments });
                }
            }
        }
        said
    }

    fn judge(&self, ended: bool) -> Verdict {
        let line = self.held.find('\n').map_or(self.held.len(), |end| end + 1);
        let blank = self.held.len() - self.held.trim_start().len();
        if !self.at_line_start || self.in_fence || self.tools.is_empty() {
            // An opening stands at the start of a line: the rest of this one is text.
            return Verdict::Text(line);
        }
        if blank > 0 && blank < self.held.len() {
            return Verdict::Text(blank);
        }
        if blank == self.held.len() {
            return if ended { Verdict::Text(blank) } else { Verdict::Open };
        }
        for (opening, closing) in OPENINGS {
            if let Some(rest) = self.held.strip_prefix(opening) {
                match self.judge_object(rest, ended) {
                    Verdict::Call { name, arguments, end } => {
                        let end = opening.len() + end;
                        let after = &self.held[end..];
                        let space = after.len() - after.trim_start().len();
                        let closed = after[space..].strip_prefix(closing).map(|_| end + space + closing.len());
                        return match closed {
                            Some(end) => Verdict::Call { name, arguments, end },
                            None if ended => Verdict::Call { name, arguments, end },
                            // The fence's end may be on its way, and must not be shown.
                            None if closing.starts_with(after.trim_start()) => Verdict::Open,
                            None => Verdict::Call { name, arguments, end },
                        };
                    }
                    Verdict::Open if !ended => return Verdict::Open,
                    Verdict::Open | Verdict::Text(_) => {}
                }
            } else if !ended && opening.starts_with(&self.held) {
                return Verdict::Open;
            }
        }
        Verdict::Text(line)
    }

    /// Reads `{"name": …, "arguments": {…}}`.
    fn judge_object(&self, text: &str, ended: bool) -> Verdict {
        let start = text.len() - text.trim_start().len();
        let body = &text[start..];
        if body.is_empty() {
            return Verdict::Open;
        }
        if !body.starts_with('{') {
            return Verdict::Text(0);
        }
        // The name comes first: as soon as it is none of ours, or another key stands there, this is an answer's code.
        let compact = compact(body);
        let expected = self.tools.iter().map(|tool| format!("{{\"name\":\"{}\"", tool.name));
        let ours = expected.into_iter().any(|start| compact.starts_with(&start) || start.starts_with(&compact));
        if !ours && !is_shaped(&compact, false) {
            return Verdict::Text(0);
        }
        let (whole, end) = match object_end(body) {
            Ok(end) => (body[..end].to_owned(), end),
            Err(missing) if ended => (format!("{body}{missing}"), body.len()),
            Err(_) => return Verdict::Open,
        };
        let Ok(call) = serde_json::from_str::<Value>(&mended(&whole)) else { return Verdict::Text(0) };
        let Some(name) = call.get("name").and_then(Value::as_str) else { return Verdict::Text(0) };
        let arguments = call.get("arguments").or_else(|| call.get("parameters")).cloned().unwrap_or_default();
        let arguments = match self.tools.iter().find(|tool| tool.name == name) {
            Some(tool) => repair(arguments, &tool.input_schema),
            // Passed on, so that the model is told which tools there are.
            None if arguments.is_object() => arguments,
            None => return Verdict::Text(0),
        };
        Verdict::Call { name: name.to_owned(), arguments: arguments.to_string(), end: start + end }
    }
}

/// The beginning of an object without its blanks.
fn compact(object: &str) -> String {
    object.chars().take(120).filter(|character| !character.is_whitespace()).collect()
}

/// Tells whether this is, or can become unless it is to be `whole`, a call: `{"name":"rename","arguments":{`, whatever
/// the name. An answer's own code has another second key.
fn is_shaped(compact: &str, whole: bool) -> bool {
    let Some(rest) = compact.strip_prefix("{\"name\":\"") else { return false };
    let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_').unwrap_or(rest.len());
    let (next, rest) = ("\",\"arguments\":{", &rest[end..]);
    end <= LONGEST_NAME && (rest.starts_with(next) || !whole && next.starts_with(rest))
}

/// Finds the end of the object that begins the text; the error is what would close it.
fn object_end(text: &str) -> Result<usize, String> {
    let mut open = Vec::new();
    let (mut quoted, mut escaped) = (false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                open.pop();
                if open.is_empty() {
                    return Ok(at + character.len_utf8());
                }
            }
            _ => {}
        }
    }
    let quote = if quoted { "\"" } else { "" };
    Err(std::iter::once(quote.to_owned()).chain(open.iter().rev().map(char::to_string)).collect())
}

/// Makes JSON of an object as these models write one: with line ends inside of texts, and with backslashes that are
/// meant for the shell (`\;`, `\.`, `\b`). Quotes, backslashes, line ends, tabs and characters by number keep the
/// meaning that JSON gives them.
pub(super) fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quoted = false;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' if quoted => {
                let mut after = rest.clone();
                match after.next() {
                    Some(known @ ('"' | '\\' | 'n' | 'r' | 't')) => {
                        out.extend(['\\', known]);
                        rest = after;
                    }
                    Some('u') if after.as_str().get(..4).is_some_and(is_number) => out.push('\\'),
                    Some(_) | None => out.push_str(r"\\"),
                }
            }
            '\n' if quoted => out.push_str("\\n"),
            '\t' if quoted => out.push_str("\\t"),
            _ => {
                quoted ^= character == '"';
                out.push(character);
            }
        }
    }
    out
}

fn is_number(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Mends arguments that miss the schema in the ways small models do: an object as a string, one wrong name for the
/// one thing that is required, numbers and truths as strings. What cannot be mended stays, for the tool to refuse.
fn repair(arguments: Value, schema: &Value) -> Value {
    let arguments = match arguments {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields = match (arguments, required.as_slice()) {
        (Value::Object(fields), _) => fields,
        (Value::Null, _) => Map::new(),
        (single, [only]) => Map::from_iter([((*only).to_owned(), single)]),
        (other, _) => return other,
    };
    let missing: Vec<&str> = required.iter().copied().filter(|name| !fields.contains_key(*name)).collect();
    let unknown: Vec<String> = fields.keys().filter(|name| !properties.contains_key(*name)).cloned().collect();
    if let ([missing], [unknown]) = (missing.as_slice(), unknown.as_slice())
        && let Some(value) = fields.remove(unknown)
    {
        fields.insert((*missing).to_owned(), value);
    }
    for (name, value) in &mut fields {
        let kind = properties.get(name).and_then(|property| property.get("type")).and_then(Value::as_str);
        let mended = match (kind, &*value) {
            (Some("integer" | "number" | "boolean"), Value::String(text)) => serde_json::from_str(text).ok(),
            (Some("string"), Value::Number(number)) => Some(Value::String(number.to_string())),
            (Some("array"), Value::String(text)) => Some(Value::Array(vec![Value::String(text.clone())])),
            _ => None,
        };
        if let Some(mended) = mended {
            *value = mended;
        }
    }
    Value::Object(fields)
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
