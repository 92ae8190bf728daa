//! Redirections and here-documents.

use super::cursor::{Cursor, DEEPEST, Refused};
use super::lexer::{Lexer, Until};
use super::syntax::{Redirect, RedirectKind, Word};

impl Lexer<'_, '_> {
    /// Parses a redirection, if one starts here.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>, Refused> {
        let start = self.cursor.at;
        let mut ahead = 0;
        while self.cursor.peek_at(ahead).is_some_and(|c| c.is_ascii_digit()) {
            ahead += 1;
        }
        let first = match self.cursor.peek_at(ahead) {
            Some('&') if ahead == 0 && self.cursor.peek_at(1) == Some('>') => '&',
            Some(c @ ('<' | '>')) if ahead > 0 || self.cursor.peek_at(1) != Some('(') => c,
            Some(_) | None => return Ok(None),
        };
        self.cursor.at += ahead;
        self.cursor.bump()?;
        let (second, third) = (self.cursor.peek(), self.cursor.peek_at(1));
        let (kind, length) = match (first, second, third) {
            ('&', _, Some('>')) => (RedirectKind::Append, 2),
            ('&', _, _) => (RedirectKind::Write, 1),
            ('<', Some('<'), Some('<')) => (RedirectKind::Text, 2),
            ('<', Some('<'), _) => {
                self.cursor.bump()?;
                return self.here_document(start).map(Some);
            }
            ('<', Some('>'), _) => (RedirectKind::ReadWrite, 1),
            ('<' | '>', Some('&'), _) => (RedirectKind::Duplicate, 1),
            ('<', _, _) => (RedirectKind::Read, 0),
            (_, Some('>'), _) => (RedirectKind::Append, 1),
            (_, Some('|' | '!'), _) => (RedirectKind::Write, 1),
            (_, _, _) => (RedirectKind::Write, 0),
        };
        for _ in 0..length {
            self.cursor.bump()?;
        }
        // zsh: `>>|`, `>>!`, `>&!`.
        if matches!(self.cursor.peek(), Some('|' | '!')) {
            return Err(Refused);
        }
        self.cursor.blanks()?;
        let target = self.word(Until::Blank)?.ok_or(Refused)?;
        // `>&1-` moves a descriptor in bash and writes a file in zsh.
        let is_descriptor = |text: &str| text == "-" || text.chars().all(|c| c.is_ascii_digit());
        let kind = match kind {
            // `>&file` is a file, `>&2` none.
            RedirectKind::Duplicate if target.bare().is_some_and(is_descriptor) => RedirectKind::Duplicate,
            RedirectKind::Duplicate if first == '>' => RedirectKind::Write,
            RedirectKind::Duplicate => return Err(Refused),
            kind => kind,
        };
        Ok(Some(Redirect { kind, target, source: self.cursor.slice(start, self.cursor.at) }))
    }

    pub(super) fn here_document(&mut self, start: usize) -> Result<Redirect, Refused> {
        let strips = self.cursor.peek() == Some('-');
        if strips {
            self.cursor.bump()?;
        }
        self.cursor.blanks()?;
        let word = self.word(Until::Blank)?.ok_or(Refused)?;
        let delimiter = word.constant().ok_or(Refused)?;
        let quoted = word.bare().is_none();
        let source = self.cursor.slice(start, self.cursor.at);
        let (newline, mut line_start) = if let Some((newline, resume)) = self.cursor.heredoc {
            (newline, resume)
        } else {
            let ahead = self.cursor.characters.get(self.cursor.at..).unwrap_or_default();
            let newline = self.cursor.at + ahead.iter().position(|c| *c == '\n').ok_or(Refused)?;
            (newline, newline + 1)
        };
        let mut body = String::new();
        loop {
            let rest = self.cursor.characters.get(line_start..).ok_or(Refused)?;
            if rest.is_empty() {
                // bash accepts the end of the text in place of the delimiter; a person then sees only a part of the
                // document.
                return Err(Refused);
            }
            let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
            let line: String = rest[..length].iter().collect();
            line_start = (line_start + length + 1).min(self.cursor.characters.len());
            let line = if strips { line.trim_start_matches('\t') } else { line.as_str() };
            if line == delimiter {
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        self.cursor.heredoc = Some((newline, line_start));
        let mut target = Word { parts: Vec::new(), source: body.clone() };
        if quoted {
            for character in body.chars() {
                target.push(character, true);
            }
        } else {
            if self.cursor.depth >= DEEPEST {
                return Err(Refused);
            }
            let characters: Vec<char> = body.chars().collect();
            let mut inner = Cursor::new(&characters, self.cursor.depth + 1);
            Lexer { cursor: &mut inner }.double_quoted(&mut target, None)?;
        }
        Ok(Redirect { kind: RedirectKind::Text, target, source })
    }
}
