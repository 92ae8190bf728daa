//! Parses compound commands: groups, conditions, loops, cases, tests, functions.

use super::cursor::Refused;
use super::lexer::Until;
use super::looks;
use super::parser::{Parser, nested};
use super::syntax::{Node, Word, WordPart};

/// Tells whether a text can only be an expression: for a plain POSIX shell `((` opens two subshells, and runs what
/// is in them.
fn is_expression(text: &str) -> bool {
    let operand = |c: char| c.is_alphanumeric() || c == '_';
    let mut last: Option<char> = None;
    for word in text.split_whitespace() {
        if last.is_some_and(operand) && word.starts_with(operand) {
            return false;
        }
        last = word.chars().last();
    }
    looks::looks_destructive(text).is_none()
}

/// Makes a word that is a number, whatever it contains.
fn expression(inner: Word) -> Word {
    Word { source: inner.source.clone(), parts: vec![WordPart::Number { inner }] }
}

impl Parser<'_, '_> {
    /// Parses a compound command, if one starts here.
    pub(super) fn compound(&mut self) -> Result<Option<Node>, Refused> {
        if self.cursor.peek() == Some('(') {
            self.cursor.bump()?;
            if self.cursor.peek() == Some('(') {
                self.cursor.bump()?;
                let inner = self.lexer().arithmetic()?;
                if !is_expression(&inner.source) {
                    return Err(Refused);
                }
                return Ok(Some(Node::Test { words: vec![expression(inner)] }));
            }
            let body = nested(self.cursor, ')')?;
            return Ok(Some(Node::Subshell(Box::new(body))));
        }
        let upcoming = self.cursor.upcoming();
        let node = match upcoming.as_str() {
            "{" => {
                self.cursor.at += 1;
                let body = self.list(&["}"])?;
                self.cursor.take_reserved("}")?;
                body
            }
            "if" => self.conditional()?,
            "while" | "until" => {
                self.cursor.at += 5;
                let condition = Box::new(self.list(&["do"])?);
                let body = Box::new(self.do_group()?);
                Node::While { condition, body }
            }
            "for" | "select" => self.for_loop(upcoming.len())?,
            "case" => self.case()?,
            "[[" => self.test()?,
            "function" => {
                self.cursor.at += 8;
                self.cursor.blanks()?;
                let name = self.lexer().word(Until::Blank)?.and_then(|word| word.constant()).ok_or(Refused)?;
                self.cursor.blanks()?;
                if self.cursor.peek() == Some('(') {
                    self.cursor.bump()?;
                    if self.cursor.bump()? != ')' {
                        return Err(Refused);
                    }
                }
                self.function_body(name)?
            }
            "coproc" | "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}" | "in" | "repeat"
            | "foreach" => {
                return Err(Refused);
            }
            _ => return Ok(None),
        };
        Ok(Some(node))
    }

    pub(super) fn function_body(&mut self, name: String) -> Result<Node, Refused> {
        self.cursor.blank_lines()?;
        let body = self.cursor.deeper(|cursor| Parser { cursor }.compound())?.ok_or(Refused)?;
        Ok(Node::Function { name, body: Box::new(body) })
    }

    pub(super) fn do_group(&mut self) -> Result<Node, Refused> {
        self.cursor.take_reserved("do")?;
        let body = self.list(&["done"])?;
        self.cursor.take_reserved("done")?;
        Ok(body)
    }

    pub(super) fn conditional(&mut self) -> Result<Node, Refused> {
        let mut branches = Vec::new();
        self.cursor.at += 2;
        loop {
            let condition = self.list(&["then"])?;
            self.cursor.take_reserved("then")?;
            let body = self.list(&["elif", "else", "fi"])?;
            branches.push((condition, body));
            match self.cursor.upcoming().as_str() {
                "elif" => self.cursor.at += 4,
                "else" => {
                    self.cursor.at += 4;
                    let body = self.list(&["fi"])?;
                    branches.push((Node::Sequence(Vec::new()), body));
                    break;
                }
                _ => break,
            }
        }
        self.cursor.take_reserved("fi")?;
        Ok(Node::If(branches))
    }

    pub(super) fn for_loop(&mut self, keyword: usize) -> Result<Node, Refused> {
        self.cursor.at += keyword;
        self.cursor.blanks()?;
        if self.cursor.peek() == Some('(') {
            self.cursor.bump()?;
            if self.cursor.bump()? != '(' {
                return Err(Refused);
            }
            let inner = self.lexer().arithmetic()?;
            self.separator()?;
            let body = Box::new(self.do_group()?);
            return Ok(Node::While { condition: Box::new(Node::Test { words: vec![expression(inner)] }), body });
        }
        let variable = self.cursor.name();
        if variable.is_empty() {
            return Err(Refused);
        }
        self.cursor.blank_lines()?;
        let mut words = Vec::new();
        if self.cursor.upcoming() == "in" {
            self.cursor.at += 2;
            loop {
                self.cursor.blanks()?;
                match self.lexer().word(Until::Blank)? {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
        }
        self.separator()?;
        let body = Box::new(self.do_group()?);
        Ok(Node::For { variable, words, body })
    }

    /// Parses `;` or a newline before `do`.
    pub(super) fn separator(&mut self) -> Result<(), Refused> {
        self.cursor.blanks()?;
        if self.cursor.peek() == Some(';') {
            self.cursor.bump()?;
        }
        self.cursor.blank_lines()
    }

    pub(super) fn case(&mut self) -> Result<Node, Refused> {
        self.cursor.at += 4;
        self.cursor.blanks()?;
        let word = self.lexer().word(Until::Blank)?.ok_or(Refused)?;
        self.cursor.take_reserved("in")?;
        let (mut patterns, mut arms) = (Vec::new(), Vec::new());
        loop {
            self.cursor.blank_lines()?;
            if self.cursor.upcoming() == "esac" {
                self.cursor.at += 4;
                return Ok(Node::Case { word, patterns, arms });
            }
            if self.cursor.peek() == Some('(') {
                self.cursor.bump()?;
            }
            loop {
                self.cursor.blanks()?;
                patterns.push(self.lexer().word(Until::Blank)?.ok_or(Refused)?);
                self.cursor.blanks()?;
                match self.cursor.bump()? {
                    '|' => {}
                    ')' => break,
                    _ => return Err(Refused),
                }
            }
            arms.push(self.cursor.deeper(|cursor| Parser { cursor }.list(&["esac"]))?);
            self.cursor.blank_lines()?;
            if self.cursor.peek() == Some(';') && self.cursor.peek_at(1) == Some(';') {
                self.cursor.bump()?;
                self.cursor.bump()?;
                if self.cursor.peek() == Some('&') {
                    self.cursor.bump()?;
                }
            } else if self.cursor.upcoming() != "esac" {
                return Err(Refused);
            }
        }
    }

    /// Parses `[[ … ]]`, where operators are words.
    pub(super) fn test(&mut self) -> Result<Node, Refused> {
        self.cursor.at += 2;
        let mut words = Vec::new();
        loop {
            self.cursor.blank_lines()?;
            if self.cursor.upcoming() == "]]" {
                self.cursor.at += 2;
                return Ok(Node::Test { words });
            }
            let after_match = words.last().and_then(Word::bare).is_some_and(|word| word == "=~");
            let until = if after_match { Until::Pattern } else { Until::Test };
            match self.lexer().word(until)? {
                Some(word) => words.push(word),
                None => match self.cursor.bump()? {
                    '(' | ')' | '<' | '>' | '&' | '|' => {}
                    _ => return Err(Refused),
                },
            }
        }
    }
}
