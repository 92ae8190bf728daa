//! Reads code line by line and gives each piece its colour.

use nu_ansi_term::Style;

use super::language::{Flavour, Language};
use super::languages::LANGUAGES;
use super::markup;
use super::open::Open;
use super::painter::Painter;
use crate::terminal::line::Line;
use crate::terminal::theme::Theme;

/// Colours the lines of one piece of code, in their order.
#[derive(Debug, Clone)]
pub struct Highlighter {
    language: &'static Language,
    open: Open,
    /// Whether the line before ended with a backslash: a shell's command continues.
    goes_on: bool,
}

impl Highlighter {
    /// Finds a language by a fence's info string, or by a file's extension.
    ///
    /// `None` for an unknown language: its code is not coloured.
    #[must_use]
    pub fn new(info: &str) -> Option<Self> {
        let name = info.trim_start_matches(['{', '.', ' ']);
        let end = name.find([' ', ',', '{', '}', ':', ';', '\t']).unwrap_or(name.len());
        let name = name[..end].to_ascii_lowercase();
        let language = LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()))?;
        Some(Self { language, open: Open::Nothing, goes_on: false })
    }

    /// Colours the next line, given without its newline; the text itself is not changed.
    pub fn line(&mut self, text: &str, theme: &Theme) -> Line {
        let mut painter = Painter::new(text, theme);
        match self.language.flavour {
            Flavour::Diff => painter.diff(),
            Flavour::Markup => markup::line(&mut self.open, &mut painter),
            Flavour::Words | Flavour::Keys(_) | Flavour::Style => self.words(&mut painter),
        }
        painter.finish()
    }

    fn words(&mut self, painter: &mut Painter<'_>) {
        let text = painter.text;
        let bytes = text.as_bytes();
        let mut position = self.go_on(painter);
        let mut at_command = self.language.commands && position == 0 && !self.goes_on;
        self.goes_on = text.ends_with('\\');
        if self.language.flavour == Flavour::Keys('=') && text.trim_start().starts_with('[') {
            position = painter.paint(position, text.len(), painter.theme.code_type);
        }
        while let Some(byte) = bytes.get(position).copied() {
            position = match byte {
                b' ' | b'\t' => position + 1,
                _ if at_command => {
                    let (end, still) = self.command(painter, position);
                    at_command = still;
                    end
                }
                b'0'..=b'9' => painter.paint(position, number_end(bytes, position), painter.theme.code_number),
                b'A'..=b'Z' | b'a'..=b'z' | b'_' | 0x80.. => {
                    self.special(painter, position).unwrap_or_else(|| self.word(painter, position))
                }
                _ => self
                    .special(painter, position)
                    .unwrap_or_else(|| painter.paint(position, position + 1, Style::new())),
            };
            at_command |= self.language.commands && ends_command(&bytes[..position], bytes.get(position).copied());
        }
    }

    /// Colours the word where a shell expects a command; returns its end, and whether a command may still follow.
    fn command(&mut self, painter: &mut Painter<'_>, start: usize) -> (usize, bool) {
        let text = painter.text;
        let rest = &text[start..];
        let is_value = text[..start].ends_with('=');
        if ["$ ", "% ", "> ", "! "].iter().any(|sign| rest.starts_with(sign)) {
            return (painter.paint(start, start + 1, Style::new()), true);
        }
        if let Some(end) = self.special(painter, start) {
            return (end, is_value);
        }
        let length = rest.find([' ', '\t', '|', ';', '&', '(', ')', '<', '>', '"', '\'', '`', '$', '=']);
        let end = start + length.unwrap_or(rest.len());
        let word = &text[start..end];
        if is_value && !word.is_empty() {
            return (painter.paint(start, end, Style::new()), true);
        }
        if word.is_empty() || text[end..].starts_with('=') {
            return (painter.paint(start, end + 1, Style::new()), true);
        }
        let is_keyword = self.language.keywords.binary_search(&word).is_ok();
        let style = if is_keyword { painter.theme.code_keyword } else { painter.theme.code_function };
        (painter.paint(start, end, style), COMMAND_FOLLOWS.contains(&word))
    }

    /// Continues what the line before left open; returns where it ends.
    fn go_on(&mut self, painter: &mut Painter<'_>) -> usize {
        match std::mem::take(&mut self.open) {
            Open::Nothing | Open::Tag => 0,
            Open::Comment(kind, depth) => self.comment(painter, 0, 0, kind, depth),
            Open::Text(kind) => self.string(painter, 0, 0, kind),
        }
    }

    /// Reads comments, strings, attributes and variables.
    fn special(&mut self, painter: &mut Painter<'_>, position: usize) -> Option<usize> {
        let text = painter.text;
        let rest = &text[position..];
        let language = self.language;
        let spaced = position == 0 || text.as_bytes()[position - 1].is_ascii_whitespace();
        for (kind, (open, _)) in language.block_comments.iter().enumerate() {
            if rest.starts_with(open) {
                return Some(self.comment(painter, position, position + open.len(), kind, 1));
            }
        }
        if (spaced || !language.spaced_comments) && language.line_comments.iter().any(|open| rest.starts_with(open))
        {
            return Some(painter.paint(position, text.len(), painter.theme.code_comment));
        }
        let named = position > 0 && is_name_byte(text.as_bytes()[position - 1]);
        for (kind, quote) in language.quotes.iter().enumerate() {
            let letter = quote.open.as_bytes()[0].is_ascii_alphabetic();
            if rest.starts_with(quote.open) && !(letter && named) {
                return Some(self.string(painter, position, position + quote.open.len(), kind));
            }
        }
        if language.characters && rest.starts_with('\'') {
            let end = character_end(rest)?;
            return Some(painter.paint(position, position + end, painter.theme.code_string));
        }
        if language.variables && rest.starts_with('$') {
            let end = position
                + 1
                + rest[1..].bytes().take_while(|byte| is_name_byte(*byte) || b"{}@?#*!:".contains(byte)).count();
            return Some(painter.paint(position, end, painter.theme.code_type));
        }
        let open = language.attributes.filter(|open| rest.starts_with(open))?;
        let name = rest[open.len()..].bytes().take_while(|byte| is_name_byte(*byte) || *byte == b'.').count();
        let end = if open == "#[" { rest.find(']').map_or(rest.len(), |end| end + 1) } else { open.len() + name };
        Some(painter.paint(position, position + end, painter.theme.code_keyword))
    }

    fn comment(
        &mut self,
        painter: &mut Painter<'_>,
        start: usize,
        from: usize,
        kind: usize,
        depth: usize,
    ) -> usize {
        let (open, close) = self.language.block_comments[kind];
        let text = painter.text;
        let (mut position, mut depth) = (from, depth);
        while position < text.len() {
            let rest = &text.as_bytes()[position..];
            if rest.starts_with(close.as_bytes()) {
                position += close.len();
                depth -= 1;
                if depth == 0 {
                    return painter.paint(start, position, painter.theme.code_comment);
                }
            } else if self.language.nested_comments && rest.starts_with(open.as_bytes()) {
                position += open.len();
                depth += 1;
            } else {
                position += 1;
            }
        }
        self.open = Open::Comment(kind, depth);
        painter.paint(start, text.len(), painter.theme.code_comment)
    }

    fn string(&mut self, painter: &mut Painter<'_>, start: usize, from: usize, kind: usize) -> usize {
        let quote = self.language.quotes[kind];
        let text = painter.text;
        let bytes = text.as_bytes();
        let mut position = from;
        while position < bytes.len() {
            if quote.escapes && bytes[position] == b'\\' {
                position += 2;
            } else if bytes[position..].starts_with(quote.close.as_bytes()) {
                let end = position + quote.close.len();
                let is_key = matches!(self.language.flavour, Flavour::Keys(sign) if text[end..].trim_start().starts_with(sign));
                let style = if is_key { painter.theme.code_type } else { painter.theme.code_string };
                return painter.paint(start, end, style);
            } else {
                position += 1;
            }
        }
        if quote.lines {
            self.open = Open::Text(kind);
        }
        painter.paint(start, text.len(), painter.theme.code_string)
    }

    fn word(&self, painter: &mut Painter<'_>, start: usize) -> usize {
        let text = painter.text;
        let language = self.language;
        let dashed = language.dashed_names || matches!(language.flavour, Flavour::Style | Flavour::Keys(_));
        let length =
            text[start..].bytes().take_while(|byte| is_name_byte(*byte) || dashed && b"-?.".contains(byte)).count();
        let end = start + length.max(1);
        let word = &text[start..end];
        let theme = painter.theme;
        let after = text[end..].trim_start();
        let lower = if language.any_case { word.to_ascii_lowercase() } else { String::new() };
        let key = if language.any_case { lower.as_str() } else { word };
        let holds = |list: &[&str]| list.binary_search(&key).is_ok();
        let is_key = match language.flavour {
            Flavour::Keys(sign) => {
                after.starts_with(sign) && text[..start].trim_start_matches([' ', '-', '{', ',']).is_empty()
            }
            Flavour::Style => after.starts_with(':') && !after.starts_with("::"),
            Flavour::Words | Flavour::Markup | Flavour::Diff => false,
        };
        let declared = std::mem::replace(&mut painter.declares, DECLARE_FUNCTIONS.contains(&word));
        let style = if is_key {
            theme.code_type
        } else if declared {
            theme.code_function
        } else if holds(language.constants) {
            theme.code_number
        } else if holds(language.keywords) && (!language.commands || word == "in") {
            theme.code_keyword
        } else if language.macros && text[end..].starts_with('!') && !text[end..].starts_with("!=") {
            theme.code_function
        } else if holds(language.types) || language.capital_types && starts_capital(word) {
            theme.code_type
        } else if language.functions && text[end..].starts_with('(') {
            theme.code_function
        } else {
            Style::new()
        };
        painter.paint(start, end, style)
    }
}

/// Words that are followed by a function's name.
const DECLARE_FUNCTIONS: [&str; 8] = ["fn", "def", "defp", "defn", "func", "fun", "function", "sub"];

/// Words of shells that are followed by a command.
const COMMAND_FOLLOWS: [&str; 12] =
    ["begin", "builtin", "command", "do", "elif", "else", "exec", "if", "sudo", "then", "until", "while"];

/// Tells whether a shell's command has just ended, so that another may follow; `next` is the byte after it.
fn ends_command(before: &[u8], next: Option<u8>) -> bool {
    match before {
        [.., b'>', b'&'] => false,
        [.., b'&'] => next != Some(b'>'),
        [.., b'|' | b';' | b'(' | b'`'] => true,
        _ => false,
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn starts_capital(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_uppercase()) && bytes.any(|byte| byte.is_ascii_lowercase())
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    while let Some(byte) = bytes.get(end) {
        let dot = *byte == b'.' && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if !(is_name_byte(*byte) || dot) {
            break;
        }
        end += 1;
    }
    end
}

/// Returns the length of `'x'` or `'\n'`; `None` if the quote begins something else, such as a lifetime.
fn character_end(text: &str) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    let (_, first) = characters.next()?;
    if first == '\\' {
        characters.next()?;
        return characters.take(10).find(|(_, character)| *character == '\'').map(|(end, _)| end + 1);
    }
    characters.next().filter(|(_, character)| *character == '\'').map(|(end, _)| end + 1)
}

#[cfg(test)]
#[path = "highlighter_tests.rs"]
mod tests;
