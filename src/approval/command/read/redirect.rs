//! Redirections and here-documents.

use super::lexer::Until;
use super::parser::{DEEPEST, Parser, Refused};
use super::syntax::{Redirect, RedirectKind, Word};

impl Parser<'_> {
    /// Reads a redirection, if one starts here.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>, Refused> {
        let start = self.at;
        let mut ahead = 0;
        while self.peek_at(ahead).is_some_and(|c| c.is_ascii_digit()) {
            ahead += 1;
        }
        let first = match self.peek_at(ahead) {
            Some('&') if ahead == 0 && self.peek_at(1) == Some('>') => '&',
            Some(c @ ('<' | '>')) if ahead > 0 || self.peek_at(1) != Some('(') => c,
            Some(_) | None => return Ok(None),
        };
        self.at += ahead;
        self.bump()?;
        let (second, third) = (self.peek(), self.peek_at(1));
        let (kind, length) = match (first, second, third) {
            ('&', _, Some('>')) => (RedirectKind::Append, 2),
            ('&', _, _) => (RedirectKind::Write, 1),
            ('<', Some('<'), Some('<')) => (RedirectKind::Text, 2),
            ('<', Some('<'), _) => {
                self.bump()?;
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
            self.bump()?;
        }
        // zsh: `>>|`, `>>!`, `>&!`.
        if matches!(self.peek(), Some('|' | '!')) {
            return Err(Refused);
        }
        self.blanks()?;
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
        Ok(Some(Redirect { kind, target, source: self.slice(start, self.at) }))
    }

    pub(super) fn here_document(&mut self, start: usize) -> Result<Redirect, Refused> {
        let strips = self.peek() == Some('-');
        if strips {
            self.bump()?;
        }
        self.blanks()?;
        let word = self.word(Until::Blank)?.ok_or(Refused)?;
        let delimiter = word.constant().ok_or(Refused)?;
        let quoted = word.bare().is_none();
        let source = self.slice(start, self.at);
        let (newline, mut line_start) = if let Some((newline, resume)) = self.heredoc {
            (newline, resume)
        } else {
            let ahead = self.characters.get(self.at..).unwrap_or_default();
            let newline = self.at + ahead.iter().position(|c| *c == '\n').ok_or(Refused)?;
            (newline, newline + 1)
        };
        let mut body = String::new();
        loop {
            let rest = self.characters.get(line_start..).ok_or(Refused)?;
            if rest.is_empty() {
                // bash takes the end of the text for the delimiter; what a person sees is then no whole document.
                return Err(Refused);
            }
            let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
            let line: String = rest[..length].iter().collect();
            line_start = (line_start + length + 1).min(self.characters.len());
            let line = if strips { line.trim_start_matches('\t') } else { line.as_str() };
            if line == delimiter {
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        self.heredoc = Some((newline, line_start));
        let mut target = Word { parts: Vec::new(), source: body.clone() };
        if quoted {
            for character in body.chars() {
                target.push(character, true);
            }
        } else {
            if self.depth >= DEEPEST {
                return Err(Refused);
            }
            let characters: Vec<char> = body.chars().collect();
            let mut inner = Parser { characters: &characters, at: 0, heredoc: None, depth: self.depth + 1 };
            inner.double_quoted(&mut target, None)?;
        }
        Ok(Redirect { kind: RedirectKind::Text, target, source })
    }
}
