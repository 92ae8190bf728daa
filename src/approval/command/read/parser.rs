//! Words of a shell line into its tree: lists, pipelines, compound commands, redirections, here-documents.

use super::lexer::Until;
use super::syntax::{Assignment, Node, Simple};

/// The line is not read for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

/// How deep a line may nest; deeper ones are refused before the stack is in danger.
pub(super) const DEEPEST: u32 = 24;

/// How many `&&` and `||` may stand in a row: each is one deeper in the tree, which is walked and dropped by recursion.
const LONGEST_CHAIN: u32 = 100;

/// Parses a whole text.
pub(crate) fn parse(text: &str, depth: u32) -> Result<Node, Refused> {
    let characters: Vec<char> = text.chars().collect();
    let mut parser = Parser { characters: &characters, at: 0, heredoc: None, depth };
    let node = parser.list(&[])?;
    if parser.at < characters.len() { Err(Refused) } else { Ok(node) }
}

pub(super) struct Parser<'a> {
    pub(super) characters: &'a [char],
    pub(super) at: usize,
    /// Where the newline stands after which here-documents lie, and where reading goes on behind them.
    pub(super) heredoc: Option<(usize, usize)>,
    pub(super) depth: u32,
}

const LIST_ENDS: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl Parser<'_> {
    pub(super) fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    pub(super) fn bump(&mut self) -> Result<char, Refused> {
        // The newline in front of a here-document may only be passed as the end of its line.
        if self.heredoc.is_some_and(|(newline, _)| newline == self.at) {
            return Err(Refused);
        }
        let character = self.peek().ok_or(Refused)?;
        self.at += 1;
        Ok(character)
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> String {
        self.characters.get(from..to).unwrap_or_default().iter().collect()
    }

    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Refused>) -> Result<T, Refused> {
        if self.depth >= DEEPEST {
            return Err(Refused);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    pub(super) fn parse_text(&self, text: &str) -> Result<Node, Refused> {
        if self.depth >= DEEPEST { Err(Refused) } else { parse(text, self.depth + 1) }
    }

    /// Reads a list up to a closing character and past it.
    pub(super) fn nested(&mut self, close: char) -> Result<Node, Refused> {
        let node = self.deeper(|parser| parser.list(&[]))?;
        if self.bump()? == close { Ok(node) } else { Err(Refused) }
    }

    /// Skips blanks, continued lines and comments.
    pub(super) fn blanks(&mut self) -> Result<(), Refused> {
        loop {
            match self.peek() {
                Some(' ' | '\t') => drop(self.bump()?),
                Some('\\') if self.peek_at(1) == Some('\n') => {
                    self.bump()?;
                    self.bump()?;
                }
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.bump()?;
                    }
                }
                Some(_) | None => return Ok(()),
            }
        }
    }

    pub(super) fn newline(&mut self) {
        match self.heredoc {
            Some((newline, resume)) if newline == self.at => {
                self.at = resume;
                self.heredoc = None;
            }
            Some(_) | None => self.at += 1,
        }
    }

    pub(super) fn blank_lines(&mut self) -> Result<(), Refused> {
        loop {
            self.blanks()?;
            if self.peek() == Some('\n') { self.newline() } else { return Ok(()) }
        }
    }

    /// The bare word that stands here, without taking it.
    pub(super) fn upcoming(&self) -> String {
        let ends = |c: &char| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')');
        let rest = self.characters.get(self.at..).unwrap_or_default();
        // Reserved words are short; a longer word is none of them.
        rest.iter().take_while(|c| !ends(c)).take(12).collect()
    }

    pub(super) fn take_reserved(&mut self, wanted: &str) -> Result<(), Refused> {
        self.blank_lines()?;
        if self.upcoming() != wanted {
            return Err(Refused);
        }
        self.at += wanted.chars().count();
        Ok(())
    }

    /// Reads commands until the text, a closing parenthesis, `;;` or one of `ends` comes.
    pub(super) fn list(&mut self, ends: &[&str]) -> Result<Node, Refused> {
        let mut nodes = Vec::new();
        loop {
            self.blank_lines()?;
            let upcoming = self.upcoming();
            match self.peek() {
                None | Some(')') => break,
                Some(';') if self.peek_at(1) == Some(';') => break,
                Some(_) if LIST_ENDS.contains(&upcoming.as_str()) => {
                    if ends.contains(&upcoming.as_str()) {
                        break;
                    }
                    return Err(Refused);
                }
                Some(_) => {}
            }
            let node = self.and_or()?;
            self.blanks()?;
            match self.peek() {
                Some('&') => {
                    self.bump()?;
                    // zsh: `&|` and `&!` disown.
                    if matches!(self.peek(), Some('|' | '!' | '&')) {
                        return Err(Refused);
                    }
                    nodes.push(Node::Subshell(Box::new(node)));
                }
                Some(';') if self.peek_at(1) != Some(';') => {
                    self.bump()?;
                    nodes.push(node);
                }
                Some('\n') => {
                    self.newline();
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
            self.blanks()?;
            let operator = (self.peek(), self.peek_at(1));
            if operator != (Some('&'), Some('&')) && operator != (Some('|'), Some('|')) {
                return Ok(left);
            }
            self.bump()?;
            self.bump()?;
            self.blank_lines()?;
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
        self.blanks()?;
        loop {
            match self.upcoming().as_str() {
                "!" => self.at += 1,
                "time" => {
                    self.at += 4;
                    self.blanks()?;
                    if self.upcoming() == "-p" {
                        self.at += 2;
                    }
                }
                _ => break,
            }
            self.blanks()?;
        }
        let mut stages = vec![self.command()?];
        loop {
            self.blanks()?;
            if self.peek() != Some('|') || self.peek_at(1) == Some('|') {
                break;
            }
            self.bump()?;
            if self.peek() == Some('&') {
                self.bump()?;
            }
            self.blank_lines()?;
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
        self.deeper(|parser| {
            parser.blanks()?;
            let Some(body) = parser.compound()? else { return parser.simple() };
            let mut redirects = Vec::new();
            loop {
                parser.blanks()?;
                match parser.redirect()? {
                    Some(redirect) => redirects.push(redirect),
                    None => break,
                }
            }
            let body = Box::new(body);
            Ok(if redirects.is_empty() { *body } else { Node::Redirected { body, redirects } })
        })
    }

    pub(super) fn simple(&mut self) -> Result<Node, Refused> {
        let start = self.at;
        let mut command = Simple::default();
        let mut end = self.at;
        loop {
            self.blanks()?;
            if let Some(redirect) = self.redirect()? {
                command.redirects.push(redirect);
            } else if let Some(assignment) = self.assignment(&command)? {
                command.assignments.push(assignment);
            } else if let Some(word) = self.word(Until::Blank)? {
                if self.peek() == Some('(') {
                    // Only `name()` is left to come here.
                    let name = word.constant().ok_or(Refused)?;
                    if !command.words.is_empty() || !command.assignments.is_empty() || !command.redirects.is_empty()
                    {
                        return Err(Refused);
                    }
                    self.bump()?;
                    self.bump()?;
                    return self.function_body(name);
                }
                command.words.push(word);
            } else {
                break;
            }
            end = self.at;
        }
        if command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty() {
            return Err(Refused);
        }
        command.source = self.slice(start, end);
        Ok(Node::Simple(command))
    }

    pub(super) fn assignment(&mut self, command: &Simple) -> Result<Option<Assignment>, Refused> {
        if !command.words.is_empty() || !self.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            return Ok(None);
        }
        let start = self.at;
        let name = self.name();
        let appends = self.peek() == Some('+') && self.peek_at(1) == Some('=');
        if self.peek() == Some('[') && self.characters.get(self.at..).unwrap_or_default().contains(&'=') {
            // `name[index]=value`: the index is an expression, which can run commands.
            let word_end = self.upcoming_end();
            if self.slice(self.at, word_end).contains("]=") || self.slice(self.at, word_end).contains("]+=") {
                return Err(Refused);
            }
        }
        if !appends && self.peek() != Some('=') {
            self.at = start;
            return Ok(None);
        }
        self.at += if appends { 2 } else { 1 };
        if self.peek() == Some('(') {
            self.bump()?;
            let mut values = Vec::new();
            loop {
                self.blank_lines()?;
                match self.word(Until::Blank)? {
                    Some(word) => values.push(word),
                    None => break,
                }
            }
            if self.bump()? != ')' {
                return Err(Refused);
            }
            return Ok(Some(Assignment { name, values, appends, is_array: true }));
        }
        let value = self.word(Until::Blank)?.unwrap_or_default();
        Ok(Some(Assignment { name, values: vec![value], appends, is_array: false }))
    }

    pub(super) fn upcoming_end(&self) -> usize {
        let rest = self.characters.get(self.at..).unwrap_or_default();
        self.at + rest.iter().take_while(|c| !matches!(c, '\n' | ';')).count()
    }
}
