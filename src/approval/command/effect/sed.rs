//! Reads sed scripts: tells whether they only look. A script that is not certainly harmless counts as harmful.

/// Tells whether a sed script neither writes nor reads files, and runs nothing.
pub(crate) fn only_looks(script: &str) -> bool {
    let characters: Vec<char> = script.chars().collect();
    let mut reader = Sed { characters: &characters, at: 0 };
    reader.commands().is_some()
}

struct Sed<'a> {
    characters: &'a [char],
    at: usize,
}

impl Sed<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn skip(&mut self, wanted: &str) {
        while self.peek().is_some_and(|c| wanted.contains(c)) {
            self.at += 1;
        }
    }

    /// Skips a pattern up to its delimiter; a delimiter that is escaped or in brackets does not end it.
    fn pattern(&mut self, delimiter: char, brackets: bool) -> Option<()> {
        let mut inside = false;
        loop {
            let character = self.peek()?;
            self.at += 1;
            match character {
                '\\' => self.at += 1,
                '\n' => return None,
                // The versions of sed disagree about a delimiter in brackets.
                '[' if brackets && !inside => {
                    inside = true;
                    // A closing bracket right after the opening one is a member of the set in some versions, and
                    // ends it in others.
                    let first = if self.peek() == Some('^') { self.at + 1 } else { self.at };
                    if self.characters.get(first) == Some(&']') {
                        return None;
                    }
                }
                ']' if inside => inside = false,
                _ if character == delimiter && inside => return None,
                _ if character == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some('$') => self.at += 1,
            Some(c) if c.is_ascii_digit() => {
                self.skip("0123456789");
                if self.peek() == Some('~') {
                    self.at += 1;
                    self.skip("0123456789");
                }
            }
            Some('/') => {
                self.at += 1;
                self.pattern('/', true)?;
                self.skip("IM");
            }
            Some('\\') => {
                let delimiter = *self.characters.get(self.at + 1)?;
                self.at += 2;
                self.pattern(delimiter, true)?;
                self.skip("IM");
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn commands(&mut self) -> Option<()> {
        loop {
            self.skip(" \t\n;");
            let Some(_) = self.peek() else { return Some(()) };
            if self.address()? {
                self.skip(" \t");
                if self.peek() == Some(',') {
                    self.at += 1;
                    self.skip(" \t+~");
                    if !self.address()? {
                        return None;
                    }
                }
            }
            self.skip(" \t!");
            let command = self.peek()?;
            self.at += 1;
            match command {
                '{' | '}' | 'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | '=' | 'z' => {}
                'q' | 'Q' | 'l' => self.skip(" 0123456789"),
                // A blank ends a label, and GNU sed reads the next command after it.
                'b' | 't' | 'T' | ':' => {
                    self.skip(" \t");
                    while self.peek().is_some_and(|c| !matches!(c, ' ' | '\t' | '\n' | ';' | '}')) {
                        self.at += 1;
                    }
                }
                's' | 'y' => {
                    let delimiter = self.peek().filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
                    self.at += 1;
                    self.pattern(delimiter, true)?;
                    self.pattern(delimiter, false)?;
                    if command == 's' {
                        // Not `e`, which runs, nor `w`, which writes.
                        self.skip("gpiIMm0123456789");
                    }
                }
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return None,
            }
            self.skip(" \t");
            if self.peek().is_some_and(|c| !matches!(c, ';' | '\n' | '}' | '{')) && !matches!(command, '{' | '}') {
                return None;
            }
        }
    }
}
