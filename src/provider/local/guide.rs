//! What a call must look like: tells byte by byte whether a text can still become a call of one of the tools. Pure.
//!
//! `{"name": "shell", "arguments": {"command": "…"}}`: the name is one of the tools', the keys are those of its
//! schema, each once, nothing required is missing, and what is in quotes ends as JSON's texts do. A backslash may stand
//! before anything there: `calls` reads it.

use serde_json::Value;

use crate::conversation::{ToolSpec, ToolVerb};

/// The most blanks in a row between two signs: these models indent, and some never end it.
const BLANKS: u8 = 24;
/// Tools, and arguments of one, that are told apart: a bit each.
const MOST: usize = 64;
/// What stands before a tool's name, and between it and the arguments.
const BEFORE: &[&[u8]] = &[b"{", b"\"name\"", b":", b"\""];
const BETWEEN: &[&[u8]] = &[b",", b"\"arguments\"", b":", b"{"];

/// The calls there can be.
#[derive(Debug)]
pub(super) struct Guide {
    tools: Vec<Shape>,
}

#[derive(Debug)]
struct Shape {
    name: String,
    keys: Vec<Key>,
    is_command: bool,
}

#[derive(Debug)]
struct Key {
    name: String,
    required: bool,
    is_text: bool,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallState {
    step: Step,
    blanks: u8,
    tool: usize,
    /// Names that still fit, a bit each.
    fitting: u64,
    /// Arguments that are there, a bit each.
    used: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Before { part: usize, at: usize },
    Name { at: usize },
    Between { part: usize, at: usize },
    FirstKey,
    NextKey,
    Key { at: usize },
    Colon { key: usize },
    Value { key: usize },
    Text,
    Escape,
    Other { depth: u8, quoted: bool, escaped: bool },
    AfterText,
    LastBrace,
    End,
}

impl CallState {
    /// Where every call begins.
    pub(super) const START: Self =
        Self { step: Step::Before { part: 0, at: 0 }, blanks: 0, tool: 0, fitting: u64::MAX, used: 0 };

    /// The call is whole.
    pub(super) fn is_end(self) -> bool {
        self.step == Step::End
    }

    /// A text has just ended, and its end may have been a quote inside of it.
    pub(super) fn is_behind_text(self) -> bool {
        self.step == Step::AfterText && self.blanks == 0
    }

    /// A text goes on.
    pub(super) fn is_in_text(self) -> bool {
        matches!(self.step, Step::Text | Step::Escape)
    }

    fn to(self, step: Step) -> Self {
        Self { step, blanks: 0, ..self }
    }
}

impl Guide {
    /// Makes the guide to calls of these tools.
    pub(super) fn new(tools: &[ToolSpec]) -> Self {
        let shape = |tool: &ToolSpec| {
            let required = tool.input_schema.get("required").and_then(Value::as_array);
            let required = |name: &str| required.is_some_and(|all| all.iter().any(|other| other == name));
            let properties = tool.input_schema.get("properties").and_then(Value::as_object);
            let key = |(name, property): (&String, &Value)| Key {
                name: name.clone(),
                required: required(name),
                is_text: property.get("type").is_some_and(|kind| kind == "string"),
            };
            let keys = properties.into_iter().flatten().take(MOST).map(key).collect();
            let is_command = matches!(tool.identity.verb, ToolVerb::Run | ToolVerb::Propose);
            Shape { name: tool.name.clone(), keys, is_command }
        };
        Self { tools: tools.iter().take(MOST).map(shape).collect() }
    }

    /// Goes on with more of a call; `None` where it can become none.
    pub(super) fn follow(&self, place: CallState, text: &[u8]) -> Option<CallState> {
        text.iter().try_fold(place, |place, byte| self.step(place, *byte))
    }

    /// Tells whether the call is one of a tool that takes a command.
    pub(super) fn is_command(&self, place: CallState) -> bool {
        let is_known = !matches!(place.step, Step::Before { .. } | Step::Name { .. });
        is_known && self.tools.get(place.tool).is_some_and(|shape| shape.is_command)
    }

    fn step(&self, place: CallState, byte: u8) -> Option<CallState> {
        let shape = self.tools.get(place.tool)?;
        let is_between = match place.step {
            Step::Before { at, .. } | Step::Between { at, .. } => at == 0,
            Step::FirstKey
            | Step::NextKey
            | Step::Colon { .. }
            | Step::Value { .. }
            | Step::AfterText
            | Step::LastBrace => true,
            Step::Name { .. } | Step::Key { .. } | Step::Text | Step::Escape | Step::Other { .. } | Step::End => {
                false
            }
        };
        if is_between && byte.is_ascii_whitespace() {
            return (place.blanks < BLANKS).then(|| CallState { blanks: place.blanks + 1, ..place });
        }
        let next = match place.step {
            Step::Before { part, at } => match literal(BEFORE, part, at, byte)? {
                Literal::Open { part, at } => place.to(Step::Before { part, at }),
                Literal::Whole => place.to(Step::Name { at: 0 }),
            },
            Step::Name { at } => {
                match named(self.tools.iter().map(|tool| tool.name.as_bytes()), place.fitting, at, byte)? {
                    Named::Open(fitting) => CallState { fitting, ..place }.to(Step::Name { at: at + 1 }),
                    Named::Whole(tool) => CallState { tool, ..place }.to(Step::Between { part: 0, at: 0 }),
                }
            }
            Step::Between { part, at } => match literal(BETWEEN, part, at, byte)? {
                Literal::Open { part, at } => place.to(Step::Between { part, at }),
                Literal::Whole => place.to(Step::FirstKey),
            },
            Step::FirstKey | Step::NextKey => match byte {
                b'"' => CallState { fitting: !place.used, ..place }.to(Step::Key { at: 0 }),
                b'}' if place.step == Step::FirstKey => closed(shape, place)?,
                _ => return None,
            },
            Step::Key { at } => {
                match named(shape.keys.iter().map(|key| key.name.as_bytes()), place.fitting, at, byte)? {
                    Named::Open(fitting) => CallState { fitting, ..place }.to(Step::Key { at: at + 1 }),
                    Named::Whole(key) => CallState { used: place.used | 1 << key, ..place }.to(Step::Colon { key }),
                }
            }
            Step::Colon { key } if byte == b':' => place.to(Step::Value { key }),
            Step::Value { key } => match byte {
                b'"' => place.to(Step::Text),
                _ if shape.keys.get(key)?.is_text => return None,
                b'[' | b'{' => place.to(Step::Other { depth: 1, quoted: false, escaped: false }),
                b'0'..=b'9' | b'-' | b't' | b'f' => {
                    place.to(Step::Other { depth: 0, quoted: false, escaped: false })
                }
                _ => return None,
            },
            Step::Text => match byte {
                b'"' => place.to(Step::AfterText),
                b'\\' => place.to(Step::Escape),
                0..0x20 => return None,
                _ => place,
            },
            // What JSON does not know as an escape is a backslash of the text: `find … -exec … \;`.
            Step::Escape => match byte {
                0..0x20 => return None,
                _ => place.to(Step::Text),
            },
            Step::Other { depth, quoted, escaped } => other(shape, place, (depth, quoted, escaped), byte)?,
            Step::AfterText => behind(shape, place, byte)?,
            Step::LastBrace if byte == b'}' => place.to(Step::End),
            Step::End => place,
            Step::Colon { .. } | Step::LastBrace => return None,
        };
        Some(next)
    }
}

/// A number, a truth, a list or an object: only its end is looked for.
fn other(
    shape: &Shape,
    place: CallState,
    (depth, quoted, escaped): (u8, bool, bool),
    byte: u8,
) -> Option<CallState> {
    let (depth, quoted, escaped) = match byte {
        0..0x20 if quoted => return None,
        _ if escaped => (depth, quoted, false),
        b'\\' if quoted => (depth, true, true),
        b'"' if depth > 0 => (depth, !quoted, false),
        b'[' | b'{' if !quoted && depth > 0 => (depth.checked_add(1)?, false, false),
        b']' | b'}' if !quoted && depth > 0 => (depth - 1, false, false),
        b',' | b'}' if depth == 0 => return behind(shape, place, byte),
        b'"' | b'[' | b'{' | b']' if depth == 0 => return None,
        _ => (depth, quoted, false),
    };
    Some(place.to(Step::Other { depth, quoted, escaped }))
}

/// Behind a value: another argument, or their end.
fn behind(shape: &Shape, place: CallState, byte: u8) -> Option<CallState> {
    match byte {
        b',' if place.used.count_ones() as usize != shape.keys.len() => Some(place.to(Step::NextKey)),
        b'}' => closed(shape, place),
        _ => None,
    }
}

fn closed(shape: &Shape, place: CallState) -> Option<CallState> {
    let is_there = |(index, key): (usize, &Key)| !key.required || place.used & 1 << index != 0;
    shape.keys.iter().enumerate().all(is_there).then(|| place.to(Step::LastBrace))
}

enum Literal {
    Open { part: usize, at: usize },
    Whole,
}

/// Goes on in a row of fixed words.
fn literal(parts: &[&[u8]], part: usize, at: usize, byte: u8) -> Option<Literal> {
    let word = parts.get(part)?;
    (word.get(at) == Some(&byte)).then(|| match (at + 1 == word.len(), part + 1 == parts.len()) {
        (false, _) => Literal::Open { part, at: at + 1 },
        (true, false) => Literal::Open { part: part + 1, at: 0 },
        (true, true) => Literal::Whole,
    })
}

enum Named {
    /// These still fit.
    Open(u64),
    /// It is this one.
    Whole(usize),
}

/// Goes on in one of several names, which a quote ends.
fn named<'a>(names: impl Iterator<Item = &'a [u8]>, fitting: u64, at: usize, byte: u8) -> Option<Named> {
    let mut open = 0;
    for (index, name) in names.enumerate().filter(|(index, _)| fitting & 1 << index != 0) {
        if byte == b'"' && name.len() == at {
            return Some(Named::Whole(index));
        }
        if name.get(at) == Some(&byte) {
            open |= 1 << index;
        }
    }
    (open != 0).then_some(Named::Open(open))
}

#[cfg(test)]
#[path = "guide_tests.rs"]
mod tests;
