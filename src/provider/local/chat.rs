//! A conversation in the tokens of a ChatML model, which the Qwen family was taught and others after it, or of Llama 3.
//!
//! Nothing a person, a file or a tool wrote can become a mark of the template: text is encoded as text, marks are put
//! between by their numbers.

use serde_json::{Map, Value, json};

use super::super::examples::{END, Step, arguments, is_line, named, talks};
use super::gguf::ModelError;
use super::tokenizer::Tokenizer;
use crate::conversation::{ContentBlock, Message, Role, ToolSpec};

/// The most of one tool's result a small model is given, in bytes: the beginning and the end of it.
const RESULT_LIMIT: usize = 4_000;
/// Tokens of older messages that are read where a command for the prompt line is wanted: there every question is a new
/// process, which has to read all of them again.
const LINE_BEFORE: usize = 400;
/// What stands where older messages were left out.
const LEFT_OUT: &str = "(Earlier messages were left out: they do not fit.)";
/// How calls are written: the fenced form, because it is what these models write whatever they are told.
const CALLS: &str = "\n\nFor each function call, return a json object with function name and arguments in a json \
                     code block:\n```json\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n```\nCall one \
                     function, then wait for its result.";

/// What is asked, as tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) tokens: Vec<u32>,
    /// How many of them are the same for every conversation with these tools.
    pub(super) fixed: usize,
}

/// The marks of the template.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    /// What a conversation begins with.
    first: Option<u32>,
    start: u32,
    /// What ends the name of who speaks; a line break where there is none.
    named: Option<u32>,
    end: u32,
    /// What an answer without thoughts begins with, where a model has them.
    thoughts: Option<[u32; 2]>,
}

impl Marks {
    /// Finds them in a vocabulary.
    pub(super) fn find(tokenizer: &Tokenizer) -> Result<Self, ModelError> {
        let mark = |text: &str| tokenizer.mark(text).ok_or_else(|| ModelError::Missing(text.to_owned()));
        if let Some(named) = tokenizer.mark("<|end_header_id|>") {
            let first = tokenizer.mark("<|begin_of_text|>");
            let (start, end) = (mark("<|start_header_id|>")?, mark("<|eot_id|>")?);
            return Ok(Self { first, start, named: Some(named), end, thoughts: None });
        }
        let thoughts = tokenizer.mark("<think>").zip(tokenizer.mark("</think>")).map(|(begin, end)| [begin, end]);
        Ok(Self { first: None, start: mark("<|im_start|>")?, named: None, end: mark("<|im_end|>")?, thoughts })
    }
}

/// Words the prompt. `system` begins with what never changes; what does stands behind its first empty line. Of the
/// messages the first `stable` are the same each time; with tools, that does not matter.
///
/// Leaves out the oldest messages until it has at most `limit` tokens; `None` when the last message alone has more.
pub(super) fn prompt(
    tokenizer: &Tokenizer,
    marks: Marks,
    (system, messages, stable): (&str, &[Message], usize),
    tools: &[ToolSpec],
    limit: usize,
) -> Option<Prompt> {
    let mut writer = Writer { tokenizer, marks, tokens: marks.first.into_iter().collect() };
    let (always, changing) = system.split_once("\n\n").unwrap_or((system, ""));
    writer.begin("system");
    writer.text(always);
    if !tools.is_empty() {
        writer.text("\n\n# Tools\n\nYou may call functions. Their signatures are within <tools></tools>:\n<tools>");
        for tool in tools {
            writer.text(&format!("\n{}", signature(tool)));
        }
        writer.text("\n</tools>");
        writer.text(CALLS);
    }
    if tools.is_empty() && !changing.is_empty() {
        writer.text(&format!("\n\n{changing}"));
    }
    writer.end();
    for step in talks(tools).flatten() {
        writer.shown(step, tools);
    }
    let fixed = if tools.is_empty() { 0 } else { writer.tokens.len() };
    if !tools.is_empty() {
        writer.said("system", &format!("{END}\n{changing}"));
    }
    let head = writer.tokens;
    let spoken: Vec<Vec<u32>> = (0..messages.len())
        .map(|index| {
            let mut writer = Writer { tokenizer, marks, tokens: Vec::new() };
            writer.message(&messages[index]);
            writer.tokens
        })
        .collect();
    let mut ask = Writer { tokenizer, marks, tokens: Vec::new() };
    ask.asked();
    let mut note = Writer { tokenizer, marks, tokens: Vec::new() };
    note.said("user", LEFT_OUT);
    let mut from = 0;
    let size = |from: usize| {
        let cut = if from == 0 { 0 } else { note.tokens.len() };
        head.len() + cut + spoken[from..].iter().map(Vec::len).sum::<usize>() + ask.tokens.len()
    };
    let soft = if is_line(tools) { limit.min(head.len() + LINE_BEFORE) } else { limit };
    while size(from) > soft {
        // A result is never left without its call, and the question is never left out.
        let is_beginning = |index: &usize| !messages[*index].has_results() && messages[*index].role == Role::User;
        match (from + 1..messages.len()).find(is_beginning) {
            Some(next) => from = next,
            None => break,
        }
    }
    while size(from) > limit {
        // A long turn of its own: what it began with goes, too.
        let next = (from + 1..messages.len()).find(|index| !messages[*index].has_results())?;
        from = next;
    }
    let before = spoken.iter().take(stable).map(Vec::len).sum::<usize>();
    let mut tokens = head;
    let head = tokens.len();
    if from > 0 {
        tokens.extend(&note.tokens);
    }
    tokens.extend(spoken[from..].iter().flatten());
    tokens.extend(&ask.tokens);
    let fixed = if tools.is_empty() && stable > 0 && from == 0 { head + before } else { fixed };
    Some(Prompt { tokens, fixed })
}

/// Words a line and what stands before it. The blank at its end belongs to the word that follows.
pub(super) fn line_prompt(
    tokenizer: &Tokenizer,
    marks: Marks,
    (before, line): (&str, &str),
    limit: usize,
) -> Option<Prompt> {
    let mut tokens: Vec<u32> = marks.first.into_iter().collect();
    let first = tokens.len();
    tokenizer.encode(before, &mut tokens);
    let fixed = tokens.len();
    tokenizer.encode(line.trim_end_matches(' '), &mut tokens);
    (tokens.len() > first && tokens.len() <= limit).then_some(Prompt { tokens, fixed })
}

/// What a tool is called and takes, in the shape of a call. The whole schema would cost half as many tokens again; calls
/// are held to it anyway.
fn signature(tool: &ToolSpec) -> Value {
    let properties = tool.input_schema["properties"].as_object().into_iter().flatten();
    let arguments: Map<String, Value> =
        properties.map(|(name, schema)| (name.clone(), schema["type"].clone())).collect();
    json!({"name": tool.name, "description": tool.description, "arguments": arguments})
}

struct Writer<'a> {
    tokenizer: &'a Tokenizer,
    marks: Marks,
    tokens: Vec<u32>,
}

impl Writer<'_> {
    fn text(&mut self, text: &str) {
        self.tokenizer.encode(text, &mut self.tokens);
    }

    fn begin(&mut self, role: &str) {
        self.tokens.push(self.marks.start);
        if let Some(named) = self.marks.named {
            self.text(role);
            self.tokens.push(named);
            self.text("\n\n");
        } else {
            self.text(&format!("{role}\n"));
        }
    }

    fn end(&mut self) {
        self.tokens.push(self.marks.end);
        if self.marks.named.is_none() {
            self.text("\n");
        }
    }

    /// An answer follows, and no thoughts before it: they would take a small model minutes.
    fn asked(&mut self) {
        self.begin("assistant");
        if let Some([begin, end]) = self.marks.thoughts {
            self.tokens.push(begin);
            self.text("\n\n");
            self.tokens.push(end);
            self.text("\n\n");
        }
    }

    fn said(&mut self, role: &str, text: &str) {
        self.begin(role);
        self.text(text);
        self.end();
    }

    fn shown(&mut self, step: &Step, tools: &[ToolSpec]) {
        match step {
            Step::User(text) => self.said("user", text),
            Step::Says(text) => self.said("assistant", text),
            Step::Calls(verb, fields) => {
                // A talk with a call of no tool is left out.
                let name = named(tools, *verb).unwrap_or_default();
                self.said("assistant", &call(name, &arguments(fields)));
            }
            Step::Gives(text) => self.said("user", &response(text)),
        }
    }

    fn message(&mut self, message: &Message) {
        let mut text = String::new();
        // What a person said comes behind what was sent along: a small model answers what it has read last.
        let mut said = None;
        for block in &message.content {
            match block {
                ContentBlock::Text { text: words } if message.role == Role::User && said.is_none() => {
                    said = Some(words);
                }
                ContentBlock::Text { text: words } => text.push_str(words),
                ContentBlock::ToolCall(made) => text.extend(["\n", &call(&made.name, &made.input)]),
                ContentBlock::ToolResult(result) => {
                    text.extend(["\n", &response(&middle_cut(&result.content))]);
                }
                ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => {}
            }
        }
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let parts = [text.trim(), said.map_or("", |words| words.trim())];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        self.said(role, &parts.join("\n\n"));
    }
}

fn call(name: &str, arguments: &Value) -> String {
    format!("```json\n{{\"name\": {}, \"arguments\": {arguments}}}\n```", json!(name))
}

fn response(text: &str) -> String {
    format!("<tool_response>\n{text}\n</tool_response>")
}

/// Keeps the beginning and the end of a long text.
fn middle_cut(text: &str) -> String {
    if text.len() <= RESULT_LIMIT {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(RESULT_LIMIT / 2);
    let tail = text.ceil_char_boundary(text.len() - RESULT_LIMIT / 2);
    format!("{}\n(… {} bytes left out …)\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
