//! The tree of a shell line: what runs, in which order, and the pieces of its words.

/// A word before expansion.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Word {
    /// Its pieces, in order.
    pub(crate) parts: Vec<WordPart>,
    /// The word as written.
    pub(crate) source: String,
}

/// One piece of a word.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WordPart {
    /// Characters; if they are not quoted, globs, braces and `~` are active.
    Text { text: String, quoted: bool },
    /// `$name` or `${name…}`.
    Variable { name: String, quoted: bool, operator: Operator },
    /// `$(…)` or backticks.
    Substitution { body: Box<Node>, quoted: bool },
    /// `<(…)` or `>(…)`.
    Process { body: Box<Node> },
    /// `$((…))`, with the words inside that run or read something.
    Number { inner: Word },
}

/// What an expansion does to a variable's value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operator {
    /// Nothing.
    None,
    /// Replaces an empty value: `${name:-word}`, `${name:=word}`.
    Default(Word),
    /// Anything else: the value is not followed, but the word inside is.
    Changed(Word),
}

/// Where a redirection leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    /// Truncates.
    Write,
    Append,
    ReadWrite,
    /// `>&2`, `<&-`: no file.
    Duplicate,
    /// `<<<` and `<<`: the target is the text itself.
    Text,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Redirect {
    pub(crate) kind: RedirectKind,
    pub(crate) target: Word,
    pub(crate) source: String,
}

/// `name=value` or `name=(values)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) values: Vec<Word>,
    /// `+=`.
    pub(crate) appends: bool,
    pub(crate) is_array: bool,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) source: String,
    /// Where its first word begins in the source, in bytes.
    pub(crate) first: usize,
}

/// A command of any kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Simple(Simple),
    Pipeline(Vec<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Sequence(Vec<Node>),
    /// `( … )`, and anything sent to the background.
    Subshell(Box<Node>),
    For {
        variable: String,
        words: Vec<Word>,
        body: Box<Node>,
    },
    While {
        condition: Box<Node>,
        body: Box<Node>,
    },
    /// Conditions with their branches; the condition of an `else` branch is an empty sequence.
    If(Vec<(Node, Node)>),
    Case {
        word: Word,
        patterns: Vec<Word>,
        arms: Vec<Node>,
    },
    Function {
        name: String,
        body: Box<Node>,
    },
    Redirected {
        body: Box<Node>,
        redirects: Vec<Redirect>,
    },
    /// `[[ … ]]` and `(( … ))`.
    Test {
        words: Vec<Word>,
    },
}

impl Word {
    /// Returns the word's text if it is constant: nothing in it is expanded.
    pub(crate) fn constant(&self) -> Option<String> {
        if self.bare() == Some("[") {
            return Some("[".to_owned());
        }
        let mut whole = String::new();
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                WordPart::Text { text, quoted: true } => whole.push_str(text),
                WordPart::Text { text, quoted: false } => {
                    let tilde = index == 0 && text.starts_with('~');
                    if tilde || text.contains(['*', '?', '[', '{']) || text.contains("=~") {
                        return None;
                    }
                    whole.push_str(text);
                }
                WordPart::Variable { .. }
                | WordPart::Substitution { .. }
                | WordPart::Process { .. }
                | WordPart::Number { .. } => return None,
            }
        }
        Some(whole)
    }

    /// Returns the word's text if it is written without quoting, as reserved words must be.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [WordPart::Text { text, quoted: false }] if *text == self.source => Some(text),
            _ => None,
        }
    }

    pub(crate) fn push(&mut self, character: char, is_quoted: bool) {
        if let Some(WordPart::Text { text, quoted }) = self.parts.last_mut()
            && *quoted == is_quoted
        {
            text.push(character);
        } else {
            self.parts.push(WordPart::Text { text: character.to_string(), quoted: is_quoted });
        }
    }
}
