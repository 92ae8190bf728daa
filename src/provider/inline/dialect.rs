//! The markups of calls, one function each: GLM, Qwen, Hermes, Kimi, DeepSeek, MiniMax. Pure.

use serde_json::{Map, Value};

use super::piece::LeakedCall;
use crate::conversation::ToolSpec;

/// What a call's markup begins with.
pub(super) const OPENINGS: &[&str] = &[
    "<tool_call>",
    "<function=",
    "<invoke name=",
    "<minimax:tool_call>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜DSML｜",
];

/// What each of [`OPENINGS`] begins with.
pub(super) const FIRST: char = '<';

/// Marks around calls that carry no information.
const WRAPPINGS: &[&str] = &[
    "<minimax:tool_call>",
    "</minimax:tool_call>",
    "</tool_call>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<function_calls>",
    "</function_calls>",
    "<tool_calls>",
    "</tool_calls>",
];

/// What a call without any mark begins with: a whole answer that is nothing but its object (Qwen2.5-Coder).
pub(super) const BARE: char = '{';

/// Tells whether an answer that begins with [`BARE`] can still be such a call: the name comes first, and was offered.
fn may_be_bare(text: &str, tools: &[ToolSpec]) -> bool {
    let mut rest = text;
    for mark in ["{", "\"name\"", ":", "\""] {
        rest = rest.trim_start();
        match rest.strip_prefix(mark) {
            Some(behind) => rest = behind,
            None => return mark.starts_with(rest),
        }
    }
    match rest.split_once('"') {
        Some((name, _)) => tools.iter().any(|tool| tool.name == name),
        None => tools.iter().any(|tool| tool.name.starts_with(rest)),
    }
}

/// Tells whether text that begins with an opening can still become a call of one of these tools.
pub(super) fn may_be_call(text: &str, tools: &[ToolSpec]) -> bool {
    if text.starts_with(BARE) {
        return may_be_bare(text, tools);
    }
    let named = |rest: &str, before: &str| match rest.strip_prefix(before) {
        Some(rest) => tools.iter().any(|tool| tool.name.starts_with(rest) || rest.starts_with(tool.name.as_str())),
        None => before.starts_with(rest),
    };
    if let Some(rest) = text.strip_prefix("<tool_call>") {
        let rest = rest.trim_start();
        let object = rest.starts_with('{');
        return rest.is_empty()
            || object
            || named(rest, "<function=")
            || named(rest, "<invoke name=\"")
            || named(rest, "");
    }
    if text.starts_with("<function=") {
        return named(text, "<function=");
    }
    if text.starts_with("<invoke name=") {
        return named(text, "<invoke name=\"");
    }
    // These marks are tokens of their own: no prose holds them.
    true
}

/// Reads all calls in a text, and the text around them. `None` where one of them is not whole, or of no known tool.
pub(super) fn read(text: &str, tools: &[ToolSpec]) -> Option<(Vec<LeakedCall>, String)> {
    if text.starts_with(BARE) {
        let object: Map<String, Value> = serde_json::from_str(text).ok()?;
        let is_call =
            object.len() == 2 && ["arguments", "parameters"].iter().any(|field| object.contains_key(*field));
        return is_call
            .then(|| Reader { rest: text, tools }.hermes())
            .flatten()
            .map(|call| (vec![call], String::new()));
    }
    // DeepSeek's newest markup is the one of `invoke` with a mark in each tag.
    let plain = text.replace("｜DSML｜", "");
    let mut reader = Reader { rest: &plain, tools };
    let (mut calls, mut around) = (Vec::new(), String::new());
    while !reader.rest.is_empty() {
        if reader.skip_wrapping() {
            continue;
        }
        if let Some(call) = reader.call().ok()? {
            calls.push(call);
            continue;
        }
        let next = reader.rest.chars().next().map_or(0, char::len_utf8);
        around.push_str(reader.take(next));
    }
    (!calls.is_empty()).then_some((calls, around))
}

/// A call that is not whole, or of no known tool.
struct Broken;

struct Reader<'a> {
    rest: &'a str,
    tools: &'a [ToolSpec],
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn skip(&mut self, mark: &str) -> bool {
        let found = self.rest.strip_prefix(mark);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn skip_wrapping(&mut self) -> bool {
        WRAPPINGS.iter().any(|mark| self.skip(mark))
    }

    /// Takes the text up to a mark, and the mark. At the end of the answer the mark may be missing.
    fn until(&mut self, mark: &str) -> &'a str {
        let end = self.rest.find(mark).unwrap_or(self.rest.len());
        let taken = self.take(end);
        self.skip(mark);
        taken
    }

    /// Takes the text up to a mark that must be there.
    fn up_to(&mut self, mark: &str) -> Option<&'a str> {
        self.rest.contains(mark).then(|| self.until(mark))
    }

    /// Reads a call if one begins here.
    fn call(&mut self) -> Result<Option<LeakedCall>, Broken> {
        let read = if self.skip("<tool_call>") {
            self.rest = self.rest.trim_start();
            if self.rest.starts_with('{') {
                self.hermes()
            } else if self.rest.starts_with("<function=") || self.rest.starts_with("<invoke name=") {
                return self.call();
            } else {
                self.glm()
            }
        } else if self.skip("<function=") {
            self.qwen()
        } else if self.skip("<invoke name=") {
            self.invoke()
        } else if self.skip("<|tool_call_begin|>") {
            self.kimi()
        } else if self.skip("<｜tool▁call▁begin｜>") {
            self.deepseek()
        } else {
            return Ok(None);
        };
        read.map(Some).ok_or(Broken)
    }

    /// `{"name": …, "arguments": {…}}`
    fn hermes(&mut self) -> Option<LeakedCall> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        self.take(values.byte_offset());
        let arguments = ["arguments", "parameters"].iter().find_map(|field| value.get(*field));
        let arguments = match arguments {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::from("{}"),
        };
        self.made("", value.get("name")?.as_str()?, &arguments)
    }

    /// `NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>…</tool_call>`
    fn glm(&mut self) -> Option<LeakedCall> {
        let mut inside = Reader { rest: self.until("</tool_call>"), tools: self.tools };
        let end = inside.rest.find("<arg_key>").unwrap_or(inside.rest.len());
        let name = inside.take(end).trim();
        let mut fields = Map::new();
        inside.rest = inside.rest.trim_start();
        while inside.skip("<arg_key>") {
            let key = inside.up_to("</arg_key>")?.trim();
            inside.rest = inside.rest.trim_start();
            if !inside.skip("<arg_value>") {
                return None;
            }
            let value = inside.up_to("</arg_value>")?;
            fields.insert(key.to_owned(), self.typed(name, key, value));
            inside.rest = inside.rest.trim_start();
        }
        inside.rest.is_empty().then_some(())?;
        self.made("", name, &Value::Object(fields).to_string())
    }

    /// `NAME><parameter=KEY>VALUE</parameter>…</function>`
    fn qwen(&mut self) -> Option<LeakedCall> {
        let name = self.up_to(">")?.trim();
        self.fields(name, "<parameter=", ">", "</function>")
    }

    /// `"NAME"><parameter name="KEY">VALUE</parameter>…</invoke>`
    fn invoke(&mut self) -> Option<LeakedCall> {
        let name = self.up_to(">")?.trim().trim_matches('"');
        self.fields(name, "<parameter name=\"", "\"", "</invoke>")
    }

    fn fields(&mut self, name: &str, begin: &str, key_end: &str, end: &str) -> Option<LeakedCall> {
        let mut fields = Map::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.skip(end) {
                return self.made("", name, &Value::Object(fields).to_string());
            }
            if !self.skip(begin) {
                return None;
            }
            let key = self.up_to(key_end)?.trim();
            if key_end == "\"" {
                self.up_to(">")?;
            }
            let value = self.up_to("</parameter>")?;
            fields.insert(key.to_owned(), self.typed(name, key, value));
        }
    }

    /// `functions.NAME:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`
    fn kimi(&mut self) -> Option<LeakedCall> {
        let id = self.up_to("<|tool_call_argument_begin|>")?.trim();
        let arguments = self.up_to("<|tool_call_end|>")?.trim();
        let name = id.strip_prefix("functions.").unwrap_or(id);
        let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
        self.made(id, name, arguments)
    }

    /// `NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>`, or before 3.1 `function<｜tool▁sep｜>NAME` and the object in a fence.
    fn deepseek(&mut self) -> Option<LeakedCall> {
        let mut name = self.up_to("<｜tool▁sep｜>")?.trim();
        let mut arguments = self.up_to("<｜tool▁call▁end｜>")?.trim();
        if name == "function" {
            let (first, fenced) = arguments.split_once('\n')?;
            name = first.trim();
            arguments = fenced.trim().trim_start_matches("```json").trim_matches('`').trim();
        }
        self.made("", name, arguments)
    }

    /// Makes the call if its tool was offered and its arguments are an object.
    fn made(&self, id: &str, name: &str, arguments: &str) -> Option<LeakedCall> {
        let name = name.strip_prefix("functions.").unwrap_or(name);
        self.tool(name)?;
        serde_json::from_str::<Map<String, Value>>(arguments).ok()?;
        Some(LeakedCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() })
    }

    fn tool(&self, name: &str) -> Option<&'a ToolSpec> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// A value that was written without quotes: text where the tool wants text, else JSON if it is some.
    fn typed(&self, name: &str, key: &str, value: &str) -> Value {
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        let wanted = self.tool(name).and_then(|tool| tool.input_schema.pointer(&format!("/properties/{key}/type")));
        let text = || Value::String(value.to_owned());
        if wanted.is_some_and(|wanted| wanted == "string") {
            return text();
        }
        serde_json::from_str(value).unwrap_or_else(|_| text())
    }
}
