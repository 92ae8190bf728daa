//! Characters of a shell line into words: quotes, escapes, expansions.
//!
//! What is not certain to be read the same by bash, zsh and a POSIX shell is refused: a refused line is asked.

use super::parser::{Parser, Refused};
use super::syntax::{Operator, Word, WordPart};

/// What ends a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Blanks and operators.
    Blank,
    /// The `}` of `${…}`.
    Brace,
    /// As `Blank`, inside `[[ … ]]`.
    Test,
    /// As `Test`, where brackets belong to the pattern.
    Pattern,
}

impl Parser<'_> {
    /// Reads one word; `None` where none starts.
    pub(super) fn word(&mut self, until: Until) -> Result<Option<Word>, Refused> {
        let start = self.at;
        let mut word = Word::default();
        let mut round = 0_u32;
        while let Some(character) = self.peek() {
            match character {
                '}' if until == Until::Brace => break,
                '(' if until == Until::Pattern => {
                    round += 1;
                    self.bump_into(&mut word, false)?;
                }
                ')' if until == Until::Pattern && round > 0 => {
                    round -= 1;
                    self.bump_into(&mut word, false)?;
                }
                '|' if until == Until::Pattern && round > 0 => self.bump_into(&mut word, false)?,
                '<' | '>' if until == Until::Blank && self.peek_at(1) == Some('(') => {
                    self.bump()?;
                    self.bump()?;
                    let body = self.nested(')')?;
                    word.parts.push(WordPart::Process { body: Box::new(body) });
                }
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' if until != Until::Brace => break,
                '(' if until == Until::Test => break,
                '(' if until == Until::Blank => {
                    if self.at == start {
                        break;
                    }
                    // A function's name; anything else is a glob with parentheses, which shells read differently.
                    if self.peek_at(1) == Some(')') {
                        break;
                    }
                    return Err(Refused);
                }
                '\\' => match self.peek_at(1) {
                    Some('\n') => {
                        self.bump()?;
                        self.bump()?;
                    }
                    Some(_) => {
                        self.bump()?;
                        self.bump_into(&mut word, true)?;
                    }
                    None => return Err(Refused),
                },
                '\'' => self.single_quoted(&mut word)?,
                '"' => {
                    self.bump()?;
                    self.double_quoted(&mut word, Some('"'))?;
                }
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backticks(&mut word, false)?,
                _ => self.bump_into(&mut word, false)?,
            }
        }
        if self.at == start && until != Until::Brace {
            return Ok(None);
        }
        word.source = self.slice(start, self.at);
        Ok(Some(word))
    }

    pub(super) fn bump_into(&mut self, word: &mut Word, quoted: bool) -> Result<(), Refused> {
        let character = self.bump()?;
        word.push(character, quoted);
        Ok(())
    }

    pub(super) fn single_quoted(&mut self, word: &mut Word) -> Result<(), Refused> {
        self.bump()?;
        let mut text = String::new();
        loop {
            match self.bump()? {
                '\'' => break,
                character => text.push(character),
            }
        }
        word.parts.push(WordPart::Text { text, quoted: true });
        Ok(())
    }

    /// Reads up to the closing quote, or to the end of the text where there is none (a here-document).
    pub(super) fn double_quoted(&mut self, word: &mut Word, close: Option<char>) -> Result<(), Refused> {
        // Also an empty string is a word.
        word.parts.push(WordPart::Text { text: String::new(), quoted: true });
        loop {
            let Some(character) = self.peek() else {
                return if close.is_none() { Ok(()) } else { Err(Refused) };
            };
            match character {
                _ if Some(character) == close => {
                    self.bump()?;
                    return Ok(());
                }
                '\\' => {
                    self.bump()?;
                    match self.peek() {
                        Some('\n') => {
                            self.bump()?;
                        }
                        Some('$' | '`' | '\\') => self.bump_into(word, true)?,
                        Some('"') if close.is_some() => self.bump_into(word, true)?,
                        Some(_) => word.push('\\', true),
                        None if close.is_none() => word.push('\\', true),
                        None => return Err(Refused),
                    }
                }
                '$' => self.dollar(word, true)?,
                '`' => self.backticks(word, true)?,
                _ => self.bump_into(word, true)?,
            }
        }
    }

    pub(super) fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Refused> {
        self.bump()?;
        match self.peek() {
            Some('\'') if !quoted => self.ansi_quoted(word),
            Some('"') if !quoted => {
                self.bump()?;
                self.double_quoted(word, Some('"'))
            }
            Some('(') if self.peek_at(1) == Some('(') => {
                self.bump()?;
                self.bump()?;
                let inner = self.arithmetic()?;
                word.parts.push(WordPart::Number { inner });
                Ok(())
            }
            Some('(') => {
                self.bump()?;
                let body = Box::new(self.nested(')')?);
                word.parts.push(WordPart::Substitution { body, quoted });
                Ok(())
            }
            Some('{') => {
                self.bump()?;
                self.braced_variable(word, quoted)
            }
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let name = self.name();
                if !quoted && self.peek() == Some('[') {
                    // zsh reads an index here, bash a glob.
                    return Err(Refused);
                }
                word.parts.push(WordPart::Variable { name, quoted, operator: Operator::None });
                Ok(())
            }
            Some(first) if first.is_ascii_digit() || "@*#?$!-".contains(first) => {
                let name = self.bump()?.to_string();
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

    pub(super) fn name(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        self.slice(start, self.at)
    }

    pub(super) fn braced_variable(&mut self, word: &mut Word, quoted: bool) -> Result<(), Refused> {
        let start = self.at;
        let length = self.peek() == Some('#') && self.peek_at(1) != Some('}');
        if length {
            self.bump()?;
        }
        let name = match self.peek() {
            Some(first) if first.is_ascii_alphabetic() || first == '_' => self.name(),
            Some(first) if first.is_ascii_digit() => self.name(),
            Some(first) if "@*#?$!-".contains(first) && self.peek_at(1) == Some('}') => self.bump()?.to_string(),
            // Indirection, flags of zsh, `${@:2}` and the like: what they yield is not followed.
            Some('@' | '*') => self.bump()?.to_string(),
            Some(_) | None => return Err(Refused),
        };
        let operator = match self.peek() {
            Some('}') => Operator::None,
            Some(':') if matches!(self.peek_at(1), Some('-' | '=')) => {
                self.bump()?;
                self.bump()?;
                Operator::Default(self.braced_rest()?)
            }
            Some('-' | '=') => {
                self.bump()?;
                Operator::Default(self.braced_rest()?)
            }
            Some(':' | '+' | '?' | '#' | '%' | '/' | '^' | ',' | '[') => Operator::Changed(self.braced_rest()?),
            // `@P` runs what is in the value.
            Some(_) | None => return Err(Refused),
        };
        if self.bump()? != '}' {
            return Err(Refused);
        }
        // Whether a single quote counts inside quoted braces depends on the operator and on the shell.
        if quoted && self.slice(start, self.at).contains('\'') {
            return Err(Refused);
        }
        let operator = if length { Operator::Changed(Word::default()) } else { operator };
        word.parts.push(WordPart::Variable { name, quoted, operator });
        Ok(())
    }

    pub(super) fn braced_rest(&mut self) -> Result<Word, Refused> {
        self.deeper(|parser| parser.word(Until::Brace))?.ok_or(Refused)
    }

    /// `$'…'`, as bash reads it.
    pub(super) fn ansi_quoted(&mut self, word: &mut Word) -> Result<(), Refused> {
        self.bump()?;
        let mut text = String::new();
        loop {
            match self.bump()? {
                '\'' => break,
                '\\' => text.push(self.ansi_escape()?),
                character => text.push(character),
            }
        }
        word.parts.push(WordPart::Text { text, quoted: true });
        Ok(())
    }

    pub(super) fn ansi_escape(&mut self) -> Result<char, Refused> {
        let code = match self.bump()? {
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            character @ ('\\' | '"' | '?') => return Ok(character),
            'e' | 'E' => return Ok('\u{1b}'),
            'x' => self.digits(16, 2)?,
            'u' => self.digits(16, 4)?,
            'U' => self.digits(16, 8)?,
            first @ '0'..='7' => {
                let mut code = first.to_digit(8).ok_or(Refused)?;
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
                    self.bump()?;
                    code = code * 8 + digit;
                }
                code
            }
            // Also `\'`: a POSIX shell knows no `$'…'` and would end the string at this quote.
            _ => return Err(Refused),
        };
        // NUL ends the string in bash, and bytes above are not characters by themselves.
        let is_plain = (1..0x80).contains(&code);
        char::from_u32(code).filter(|_| is_plain).ok_or(Refused)
    }

    pub(super) fn digits(&mut self, radix: u32, most: usize) -> Result<u32, Refused> {
        let mut code = 0_u32;
        let mut count = 0;
        while count < most
            && let Some(digit) = self.peek().and_then(|c| c.to_digit(radix))
        {
            self.bump()?;
            code = code.checked_mul(radix).and_then(|code| code.checked_add(digit)).ok_or(Refused)?;
            count += 1;
        }
        if count == 0 { Err(Refused) } else { Ok(code) }
    }

    pub(super) fn backticks(&mut self, word: &mut Word, quoted: bool) -> Result<(), Refused> {
        self.bump()?;
        let mut text = String::new();
        loop {
            match self.bump()? {
                '`' => break,
                '\\' => match self.bump()? {
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
        let body = Box::new(self.parse_text(&text)?);
        word.parts.push(WordPart::Substitution { body, quoted });
        Ok(())
    }

    /// Reads up to the `))` of an arithmetic expression.
    pub(super) fn arithmetic(&mut self) -> Result<Word, Refused> {
        let start = self.at;
        let mut inner = Word::default();
        let mut depth = 0_u32;
        loop {
            let character = self.peek().ok_or(Refused)?;
            match character {
                '(' => {
                    depth += 1;
                    self.bump()?;
                }
                ')' if depth > 0 => {
                    depth -= 1;
                    self.bump()?;
                }
                ')' if self.peek_at(1) == Some(')') => {
                    inner.source = self.slice(start, self.at);
                    self.bump()?;
                    self.bump()?;
                    return Ok(inner);
                }
                '$' => self.deeper(|parser| parser.dollar(&mut inner, true))?,
                '`' => self.backticks(&mut inner, true)?,
                _ if character.is_ascii_alphanumeric() || " \t\n_+-*/%<>=!&|^~?:,;.#[]".contains(character) => {
                    self.bump_into(&mut inner, true)?;
                }
                _ => return Err(Refused),
            }
        }
    }
}
