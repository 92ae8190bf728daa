//! Splits the characters of a shell line into words: quotes, escapes, expansions.
//!
//! A line is refused if bash, zsh and a POSIX shell may read it differently; a refused line is asked about.

use super::cursor::{Cursor, Refused};
use super::parser;
use super::syntax::{Operator, Word, WordPart};

/// The end of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// A blank or an operator.
    Blank,
    /// The `}` of `${…}`.
    Brace,
    /// As `Blank`, inside `[[ … ]]`.
    Test,
    /// As `Test`, where brackets belong to the pattern.
    Pattern,
}

/// Reads words and redirections from a text.
pub(super) struct Lexer<'c, 'a> {
    pub(super) cursor: &'c mut Cursor<'a>,
}

impl Lexer<'_, '_> {
    /// Reads one word; `None` if none starts here.
    pub(super) fn word(&mut self, until: Until) -> Result<Option<Word>, Refused> {
        let start = self.cursor.at;
        let mut word = Word::default();
        let mut round = 0_u32;
        while let Some(character) = self.cursor.peek() {
            match character {
                '}' if until == Until::Brace => break,
                '(' if until == Until::Pattern => {
                    round += 1;
                    self.cursor.bump_into(&mut word, false)?;
                }
                ')' if until == Until::Pattern && round > 0 => {
                    round -= 1;
                    self.cursor.bump_into(&mut word, false)?;
                }
                '|' if until == Until::Pattern && round > 0 => self.cursor.bump_into(&mut word, false)?,
                '<' | '>' if until == Until::Blank && self.cursor.peek_at(1) == Some('(') => {
                    self.cursor.bump()?;
                    self.cursor.bump()?;
                    let body = parser::nested(self.cursor, ')')?;
                    word.parts.push(WordPart::Process { body: Box::new(body) });
                }
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' if until != Until::Brace => break,
                '(' if until == Until::Test => break,
                '(' if until == Until::Blank => {
                    if self.cursor.at == start {
                        break;
                    }
                    // A function's name may end here; anything else is a glob with parentheses, which shells read
                    // differently.
                    if self.cursor.peek_at(1) == Some(')') {
                        break;
                    }
                    return Err(Refused);
                }
                '\\' => match self.cursor.peek_at(1) {
                    Some('\n') => {
                        self.cursor.bump()?;
                        self.cursor.bump()?;
                    }
                    Some(_) => {
                        self.cursor.bump()?;
                        self.cursor.bump_into(&mut word, true)?;
                    }
                    None => return Err(Refused),
                },
                '\'' => self.cursor.single_quoted(&mut word)?,
                '"' => {
                    self.cursor.bump()?;
                    self.double_quoted(&mut word, Some('"'))?;
                }
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backticks(&mut word, false)?,
                _ => self.cursor.bump_into(&mut word, false)?,
            }
        }
        if self.cursor.at == start && until != Until::Brace {
            return Ok(None);
        }
        word.source = self.cursor.slice(start, self.cursor.at);
        Ok(Some(word))
    }

    /// Reads up to the closing quote, or to the end of the text if there is none (in a here-document).
    pub(super) fn double_quoted(&mut self, word: &mut Word, close: Option<char>) -> Result<(), Refused> {
        // An empty string is a word, too.
        word.parts.push(WordPart::Text { text: String::new(), quoted: true });
        loop {
            let Some(character) = self.cursor.peek() else {
                return if close.is_none() { Ok(()) } else { Err(Refused) };
            };
            match character {
                _ if Some(character) == close => {
                    self.cursor.bump()?;
                    return Ok(());
                }
                '\\' => {
                    self.cursor.bump()?;
                    match self.cursor.peek() {
                        Some('\n') => {
                            self.cursor.bump()?;
                        }
                        Some('$' | '`' | '\\') => self.cursor.bump_into(word, true)?,
                        Some('"') if close.is_some() => self.cursor.bump_into(word, true)?,
                        Some(_) => word.push('\\', true),
                        None if close.is_none() => word.push('\\', true),
                        None => return Err(Refused),
                    }
                }
                '$' => self.dollar(word, true)?,
                '`' => self.backticks(word, true)?,
                _ => self.cursor.bump_into(word, true)?,
            }
        }
    }

    pub(super) fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Refused> {
        self.cursor.bump()?;
        match self.cursor.peek() {
            Some('\'') if !quoted => self.cursor.ansi_quoted(word),
            Some('"') if !quoted => {
                self.cursor.bump()?;
                self.double_quoted(word, Some('"'))
            }
            Some('(') if self.cursor.peek_at(1) == Some('(') => {
                self.cursor.bump()?;
                self.cursor.bump()?;
                let inner = self.arithmetic()?;
                word.parts.push(WordPart::Number { inner });
                Ok(())
            }
            Some('(') => {
                self.cursor.bump()?;
                let body = Box::new(parser::nested(self.cursor, ')')?);
                word.parts.push(WordPart::Substitution { body, quoted });
                Ok(())
            }
            Some('{') => {
                self.cursor.bump()?;
                self.braced_variable(word, quoted)
            }
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let name = self.cursor.name();
                if !quoted && self.cursor.peek() == Some('[') {
                    // zsh reads an index here, bash a glob.
                    return Err(Refused);
                }
                word.parts.push(WordPart::Variable { name, quoted, operator: Operator::None });
                Ok(())
            }
            Some(first) if first.is_ascii_digit() || "@*#?$!-".contains(first) => {
                let name = self.cursor.bump()?.to_string();
                word.parts.push(WordPart::Variable { name, quoted, operator: Operator::None });
                Ok(())
            }
            Some('[') => Err(Refused),
            Some(_) | None => {
                word.push('$', true);
                Ok(())
            }
        }
    }

    pub(super) fn braced_variable(&mut self, word: &mut Word, quoted: bool) -> Result<(), Refused> {
        let start = self.cursor.at;
        let length = self.cursor.peek() == Some('#') && self.cursor.peek_at(1) != Some('}');
        if length {
            self.cursor.bump()?;
        }
        let name = match self.cursor.peek() {
            Some(first) if first.is_ascii_alphabetic() || first == '_' => self.cursor.name(),
            Some(first) if first.is_ascii_digit() => self.cursor.name(),
            Some(first) if "@*#?$!-".contains(first) && self.cursor.peek_at(1) == Some('}') => {
                self.cursor.bump()?.to_string()
            }
            // Indirection, zsh flags, `${@:2}` and similar forms: their results are not followed.
            Some('@' | '*') => self.cursor.bump()?.to_string(),
            Some(_) | None => return Err(Refused),
        };
        let operator = match self.cursor.peek() {
            Some('}') => Operator::None,
            Some(':') if matches!(self.cursor.peek_at(1), Some('-' | '=')) => {
                self.cursor.bump()?;
                self.cursor.bump()?;
                Operator::Default(self.braced_rest()?)
            }
            Some('-' | '=') => {
                self.cursor.bump()?;
                Operator::Default(self.braced_rest()?)
            }
            Some(':' | '+' | '?' | '#' | '%' | '/' | '^' | ',' | '[') => Operator::Changed(self.braced_rest()?),
            // `@P` runs the text in the value.
            Some(_) | None => return Err(Refused),
        };
        if self.cursor.bump()? != '}' {
            return Err(Refused);
        }
        // Whether a single quote counts inside quoted braces depends on the operator and on the shell.
        if quoted && self.cursor.slice(start, self.cursor.at).contains('\'') {
            return Err(Refused);
        }
        // Of a length, too, the index is expanded.
        let operator = match operator {
            Operator::None if length => Operator::Changed(Word::default()),
            Operator::Default(word) if length => Operator::Changed(word),
            other => other,
        };
        word.parts.push(WordPart::Variable { name, quoted, operator });
        Ok(())
    }

    pub(super) fn braced_rest(&mut self) -> Result<Word, Refused> {
        self.cursor.deeper(|cursor| Lexer { cursor }.word(Until::Brace))?.ok_or(Refused)
    }

    pub(super) fn backticks(&mut self, word: &mut Word, quoted: bool) -> Result<(), Refused> {
        self.cursor.bump()?;
        let mut text = String::new();
        loop {
            match self.cursor.bump()? {
                '`' => break,
                '\\' => match self.cursor.bump()? {
                    character @ ('`' | '\\' | '$') => text.push(character),
                    '"' if quoted => text.push('"'),
                    character => {
                        text.push('\\');
                        text.push(character);
                    }
                },
                character => text.push(character),
            }
        }
        let body = Box::new(parser::within(self.cursor, &text)?);
        word.parts.push(WordPart::Substitution { body, quoted });
        Ok(())
    }

    /// Reads up to the `))` of an arithmetic expression.
    pub(super) fn arithmetic(&mut self) -> Result<Word, Refused> {
        let start = self.cursor.at;
        let mut inner = Word::default();
        let mut depth = 0_u32;
        loop {
            let character = self.cursor.peek().ok_or(Refused)?;
            match character {
                '(' => {
                    depth += 1;
                    self.cursor.bump()?;
                }
                ')' if depth > 0 => {
                    depth -= 1;
                    self.cursor.bump()?;
                }
                ')' if self.cursor.peek_at(1) == Some(')') => {
                    inner.source = self.cursor.slice(start, self.cursor.at);
                    self.cursor.bump()?;
                    self.cursor.bump()?;
                    return Ok(inner);
                }
                '$' => self.cursor.deeper(|cursor| Lexer { cursor }.dollar(&mut inner, true))?,
                '`' => self.backticks(&mut inner, true)?,
                _ if character.is_ascii_alphanumeric() || " \t\n_+-*/%<>=!&|^~?:,;.#[]".contains(character) => {
                    self.cursor.bump_into(&mut inner, true)?;
                }
                _ => return Err(Refused),
            }
        }
    }
}
