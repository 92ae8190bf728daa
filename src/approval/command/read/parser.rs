//! Parses the words of a shell line into a tree: lists, pipelines, compound commands, redirections, here-documents.

use super::cursor::{Cursor, DEEPEST, Refused};
use super::lexer::{Lexer, Until};
use super::syntax::{Assignment, Node, Simple};

/// How many `&&` and `||` may stand in a row: each makes the tree one level deeper, and walking and dropping it
/// recurse.
const LONGEST_CHAIN: u32 = 100;

/// Parses a whole text.
pub(crate) fn parse(text: &str, depth: u32) -> Result<Node, Refused> {
    let characters: Vec<char> = text.chars().collect();
    let mut cursor = Cursor::new(&characters, depth);
    let node = Parser { cursor: &mut cursor }.list(&[])?;
    if cursor.at < characters.len() { Err(Refused) } else { Ok(node) }
}

/// Parses a text that stands inside the text of `cursor`.
pub(super) fn within(cursor: &Cursor<'_>, text: &str) -> Result<Node, Refused> {
    if cursor.depth >= DEEPEST { Err(Refused) } else { parse(text, cursor.depth + 1) }
}

/// Parses a list up to and including a closing character.
pub(super) fn nested(cursor: &mut Cursor<'_>, close: char) -> Result<Node, Refused> {
    let node = cursor.deeper(|cursor| Parser { cursor }.list(&[]))?;
    if cursor.bump()? == close { Ok(node) } else { Err(Refused) }
}

/// Parses commands from a text.
pub(super) struct Parser<'c, 'a> {
    pub(super) cursor: &'c mut Cursor<'a>,
}

const LIST_ENDS: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl<'a> Parser<'_, 'a> {
    pub(super) fn lexer(&mut self) -> Lexer<'_, 'a> {
        Lexer { cursor: self.cursor }
    }

    /// Parses commands up to the end of the text, a closing parenthesis, `;;` or one of `ends`.
    pub(super) fn list(&mut self, ends: &[&str]) -> Result<Node, Refused> {
        let mut nodes = Vec::new();
        loop {
            self.cursor.blank_lines()?;
            let upcoming = self.cursor.upcoming();
            match self.cursor.peek() {
                None | Some(')') => break,
                Some(';') if self.cursor.peek_at(1) == Some(';') => break,
                Some(_) if LIST_ENDS.contains(&upcoming.as_str()) => {
                    if ends.contains(&upcoming.as_str()) {
                        break;
                    }
                    return Err(Refused);
                }
                Some(_) => {}
            }
            let node = self.and_or()?;
            self.cursor.blanks()?;
            match self.cursor.peek() {
                Some('&') => {
                    self.cursor.bump()?;
                    // zsh: `&|` and `&!` disown the job.
                    if matches!(self.cursor.peek(), Some('|' | '!' | '&')) {
                        return Err(Refused);
                    }
                    nodes.push(Node::Subshell(Box::new(node)));
                }
                Some(';') if self.cursor.peek_at(1) != Some(';') => {
                    self.cursor.bump()?;
                    nodes.push(node);
                }
                Some('\n') => {
                    self.cursor.newline();
                    nodes.push(node);
                }
                None | Some(')' | ';') => {
                    nodes.push(node);
                    break;
                }
                Some(_) => return Err(Refused),
            }
        }
        Ok(Node::Sequence(nodes))
    }

    pub(super) fn and_or(&mut self) -> Result<Node, Refused> {
        let mut left = self.pipeline()?;
        for _ in 0..LONGEST_CHAIN {
            self.cursor.blanks()?;
            let operator = (self.cursor.peek(), self.cursor.peek_at(1));
            if operator != (Some('&'), Some('&')) && operator != (Some('|'), Some('|')) {
                return Ok(left);
            }
            self.cursor.bump()?;
            self.cursor.bump()?;
            self.cursor.blank_lines()?;
            let right = Box::new(self.pipeline()?);
            left = if operator.0 == Some('&') {
                Node::And(Box::new(left), right)
            } else {
                Node::Or(Box::new(left), right)
            };
        }
        Err(Refused)
    }

    pub(super) fn pipeline(&mut self) -> Result<Node, Refused> {
        self.cursor.blanks()?;
        loop {
            match self.cursor.upcoming().as_str() {
                "!" => self.cursor.at += 1,
                "time" => {
                    self.cursor.at += 4;
                    self.cursor.blanks()?;
                    if self.cursor.upcoming() == "-p" {
                        self.cursor.at += 2;
                    }
                }
                _ => break,
            }
            self.cursor.blanks()?;
        }
        let mut stages = vec![self.command()?];
        loop {
            self.cursor.blanks()?;
            if self.cursor.peek() != Some('|') || self.cursor.peek_at(1) == Some('|') {
                break;
            }
            self.cursor.bump()?;
            if self.cursor.peek() == Some('&') {
                self.cursor.bump()?;
            }
            self.cursor.blank_lines()?;
            stages.push(self.command()?);
        }
        match stages.pop() {
            Some(only) if stages.is_empty() => Ok(only),
            Some(last) => {
                stages.push(last);
                Ok(Node::Pipeline(stages))
            }
            None => Err(Refused),
        }
    }

    pub(super) fn command(&mut self) -> Result<Node, Refused> {
        self.cursor.deeper(|cursor| {
            let mut parser = Parser { cursor };
            parser.cursor.blanks()?;
            let Some(body) = parser.compound()? else { return parser.simple() };
            let mut redirects = Vec::new();
            loop {
                parser.cursor.blanks()?;
                match parser.lexer().redirect()? {
                    Some(redirect) => redirects.push(redirect),
                    None => break,
                }
            }
            let body = Box::new(body);
            Ok(if redirects.is_empty() { *body } else { Node::Redirected { body, redirects } })
        })
    }

    pub(super) fn simple(&mut self) -> Result<Node, Refused> {
        let start = self.cursor.at;
        let mut command = Simple::default();
        let mut end = self.cursor.at;
        loop {
            self.cursor.blanks()?;
            let before = self.cursor.at;
            if let Some(redirect) = self.lexer().redirect()? {
                command.redirects.push(redirect);
            } else if let Some(assignment) = self.assignment(&command)? {
                command.assignments.push(assignment);
            } else if let Some(word) = self.lexer().word(Until::Blank)? {
                if self.cursor.peek() == Some('(') {
                    // Only `name()` gets here.
                    let name = word.constant().ok_or(Refused)?;
                    if !command.words.is_empty() || !command.assignments.is_empty() || !command.redirects.is_empty()
                    {
                        return Err(Refused);
                    }
                    self.cursor.bump()?;
                    self.cursor.bump()?;
                    return self.function_body(name);
                }
                if command.words.is_empty() {
                    command.first = self.cursor.slice(start, before).len();
                }
                command.words.push(word);
            } else {
                break;
            }
            end = self.cursor.at;
        }
        if command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty() {
            return Err(Refused);
        }
        command.source = self.cursor.slice(start, end);
        Ok(Node::Simple(command))
    }

    pub(super) fn assignment(&mut self, command: &Simple) -> Result<Option<Assignment>, Refused> {
        if !command.words.is_empty() || !self.cursor.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            return Ok(None);
        }
        let start = self.cursor.at;
        let name = self.cursor.name();
        let appends = self.cursor.peek() == Some('+') && self.cursor.peek_at(1) == Some('=');
        if self.cursor.peek() == Some('[')
            && self.cursor.characters.get(self.cursor.at..).unwrap_or_default().contains(&'=')
        {
            // In `name[index]=value` the index is an expression, which can run commands.
            let word_end = self.cursor.upcoming_end();
            if self.cursor.slice(self.cursor.at, word_end).contains("]=")
                || self.cursor.slice(self.cursor.at, word_end).contains("]+=")
            {
                return Err(Refused);
            }
        }
        if !appends && self.cursor.peek() != Some('=') {
            self.cursor.at = start;
            return Ok(None);
        }
        self.cursor.at += if appends { 2 } else { 1 };
        if self.cursor.peek() == Some('(') {
            self.cursor.bump()?;
            let mut values = Vec::new();
            loop {
                self.cursor.blank_lines()?;
                match self.lexer().word(Until::Blank)? {
                    Some(word) => values.push(word),
                    None => break,
                }
            }
            if self.cursor.bump()? != ')' {
                return Err(Refused);
            }
            return Ok(Some(Assignment { name, values, appends, is_array: true }));
        }
        let value = self.lexer().word(Until::Blank)?.unwrap_or_default();
        Ok(Some(Assignment { name, values: vec![value], appends, is_array: false }))
    }
}
