//! Compound commands into their trees: groups, conditions, loops, cases, tests, functions.

use super::lexer::Until;
use super::looks;
use super::parser::{Parser, Refused};
use super::syntax::{Node, Word, WordPart};

/// Tells whether a text can only be an expression: to a plain POSIX shell `((` opens two subshells, and what stands
/// in them is run.
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

/// A word that is a number, whatever is in it.
fn expression(inner: Word) -> Word {
    Word { source: inner.source.clone(), parts: vec![WordPart::Number { inner }] }
}

impl Parser<'_> {
    /// Reads a compound command, if one starts here.
    pub(super) fn compound(&mut self) -> Result<Option<Node>, Refused> {
        if self.peek() == Some('(') {
            self.bump()?;
            if self.peek() == Some('(') {
                self.bump()?;
                let inner = self.arithmetic()?;
                if !is_expression(&inner.source) {
                    return Err(Refused);
                }
                return Ok(Some(Node::Test { words: vec![expression(inner)] }));
            }
            let body = self.nested(')')?;
            return Ok(Some(Node::Subshell(Box::new(body))));
        }
        let upcoming = self.upcoming();
        let node = match upcoming.as_str() {
            "{" => {
                self.at += 1;
                let body = self.list(&["}"])?;
                self.take_reserved("}")?;
                body
            }
            "if" => self.conditional()?,
            "while" | "until" => {
                self.at += 5;
                let condition = Box::new(self.list(&["do"])?);
                let body = Box::new(self.do_group()?);
                Node::While { condition, body }
            }
            "for" | "select" => self.for_loop(upcoming.len())?,
            "case" => self.case()?,
            "[[" => self.test()?,
            "function" => {
                self.at += 8;
                self.blanks()?;
                let name = self.word(Until::Blank)?.and_then(|word| word.constant()).ok_or(Refused)?;
                self.blanks()?;
                if self.peek() == Some('(') {
                    self.bump()?;
                    if self.bump()? != ')' {
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
        self.blank_lines()?;
        let body = self.deeper(Self::compound)?.ok_or(Refused)?;
        Ok(Node::Function { name, body: Box::new(body) })
    }

    pub(super) fn do_group(&mut self) -> Result<Node, Refused> {
        self.take_reserved("do")?;
        let body = self.list(&["done"])?;
        self.take_reserved("done")?;
        Ok(body)
    }

    pub(super) fn conditional(&mut self) -> Result<Node, Refused> {
        let mut branches = Vec::new();
        self.at += 2;
        loop {
            let condition = self.list(&["then"])?;
            self.take_reserved("then")?;
            let body = self.list(&["elif", "else", "fi"])?;
            branches.push((condition, body));
            match self.upcoming().as_str() {
                "elif" => self.at += 4,
                "else" => {
                    self.at += 4;
                    let body = self.list(&["fi"])?;
                    branches.push((Node::Sequence(Vec::new()), body));
                    break;
                }
                _ => break,
            }
        }
        self.take_reserved("fi")?;
        Ok(Node::If(branches))
    }

    pub(super) fn for_loop(&mut self, keyword: usize) -> Result<Node, Refused> {
        self.at += keyword;
        self.blanks()?;
        if self.peek() == Some('(') {
            self.bump()?;
            if self.bump()? != '(' {
                return Err(Refused);
            }
            let inner = self.arithmetic()?;
            self.separator()?;
            let body = Box::new(self.do_group()?);
            return Ok(Node::While { condition: Box::new(Node::Test { words: vec![expression(inner)] }), body });
        }
        let variable = self.name();
        if variable.is_empty() {
            return Err(Refused);
        }
        self.blank_lines()?;
        let mut words = Vec::new();
        if self.upcoming() == "in" {
            self.at += 2;
            loop {
                self.blanks()?;
                match self.word(Until::Blank)? {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
        }
        self.separator()?;
        let body = Box::new(self.do_group()?);
        Ok(Node::For { variable, words, body })
    }

    /// `;` or a newline before `do`.
    pub(super) fn separator(&mut self) -> Result<(), Refused> {
        self.blanks()?;
        if self.peek() == Some(';') {
            self.bump()?;
        }
        self.blank_lines()
    }

    pub(super) fn case(&mut self) -> Result<Node, Refused> {
        self.at += 4;
        self.blanks()?;
        let word = self.word(Until::Blank)?.ok_or(Refused)?;
        self.take_reserved("in")?;
        let (mut patterns, mut arms) = (Vec::new(), Vec::new());
        loop {
            self.blank_lines()?;
            if self.upcoming() == "esac" {
                self.at += 4;
                return Ok(Node::Case { word, patterns, arms });
            }
            if self.peek() == Some('(') {
                self.bump()?;
            }
            loop {
                self.blanks()?;
                patterns.push(self.word(Until::Blank)?.ok_or(Refused)?);
                self.blanks()?;
                match self.bump()? {
                    '|' => {}
                    ')' => break,
                    _ => return Err(Refused),
                }
            }
            arms.push(self.deeper(|parser| parser.list(&["esac"]))?);
            self.blank_lines()?;
            if self.peek() == Some(';') && self.peek_at(1) == Some(';') {
                self.bump()?;
                self.bump()?;
                if self.peek() == Some('&') {
                    self.bump()?;
                }
            } else if self.upcoming() != "esac" {
                return Err(Refused);
            }
        }
    }

    /// `[[ … ]]`: operators are words here.
    pub(super) fn test(&mut self) -> Result<Node, Refused> {
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.blank_lines()?;
            if self.upcoming() == "]]" {
                self.at += 2;
                return Ok(Node::Test { words });
            }
            let after_match = words.last().and_then(Word::bare).is_some_and(|word| word == "=~");
            let until = if after_match { Until::Pattern } else { Until::Test };
            match self.word(until)? {
                Some(word) => words.push(word),
                None => match self.bump()? {
                    '(' | ')' | '<' | '>' | '&' | '|' => {}
                    _ => return Err(Refused),
                },
            }
        }
    }
}
