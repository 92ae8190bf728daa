//! A position in the text of a shell line, and readers for what is the same everywhere in it.

use super::syntax::{Word, WordPart};

/// The line cannot be read for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

/// How deep a line may nest; deeper lines are refused before they endanger the stack.
pub(super) const DEEPEST: u32 = 24;

pub(super) struct Cursor<'a> {
    pub(super) characters: &'a [char],
    pub(super) at: usize,
    /// The position of the newline after which here-documents stand, and the position after them.
    pub(super) heredoc: Option<(usize, usize)>,
    pub(super) depth: u32,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(characters: &'a [char], depth: u32) -> Self {
        Self { characters, at: 0, heredoc: None, depth }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    pub(super) fn bump(&mut self) -> Result<char, Refused> {
        // The newline in front of a here-document may only be read as the end of its line.
        if self.heredoc.is_some_and(|(newline, _)| newline == self.at) {
            return Err(Refused);
        }
        let character = self.peek().ok_or(Refused)?;
        self.at += 1;
        Ok(character)
    }

    pub(super) fn bump_into(&mut self, word: &mut Word, quoted: bool) -> Result<(), Refused> {
        let character = self.bump()?;
        word.push(character, quoted);
        Ok(())
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

    /// Returns the bare word at the cursor, without moving.
    pub(super) fn upcoming(&self) -> String {
        let ends = |c: &char| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')');
        let rest = self.characters.get(self.at..).unwrap_or_default();
        // Reserved words are short: a longer word is none of them.
        rest.iter().take_while(|c| !ends(c)).take(12).collect()
    }

    pub(super) fn upcoming_end(&self) -> usize {
        let rest = self.characters.get(self.at..).unwrap_or_default();
        self.at + rest.iter().take_while(|c| !matches!(c, '\n' | ';')).count()
    }

    pub(super) fn take_reserved(&mut self, wanted: &str) -> Result<(), Refused> {
        self.blank_lines()?;
        if self.upcoming() != wanted {
            return Err(Refused);
        }
        self.at += wanted.chars().count();
        Ok(())
    }

    pub(super) fn name(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        self.slice(start, self.at)
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

    /// Reads `$'…'` as bash does.
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
            // This includes `\'`: a POSIX shell does not know `$'…'`, and would end the string at this quote.
            _ => return Err(Refused),
        };
        // NUL ends the string in bash, and bytes above 0x7f are no characters by themselves.
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
}
