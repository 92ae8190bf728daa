//! Texts of sed and awk: whether they only look. What is not certainly harmless is not.

/// Tells whether a text of sed neither writes, runs nor reads files.
pub(crate) fn sed_only_looks(script: &str) -> bool {
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

    /// Passes a pattern up to its delimiter; an escaped delimiter, and one in brackets, is none.
    fn pattern(&mut self, delimiter: char, brackets: bool) -> Option<()> {
        let mut inside = false;
        loop {
            let character = self.peek()?;
            self.at += 1;
            match character {
                '\\' => self.at += 1,
                '\n' => return None,
                // Whether a delimiter in brackets counts is not the same in every sed.
                '[' if brackets && !inside => inside = true,
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
                'b' | 't' | 'T' | ':' => {
                    while self.peek().is_some_and(|c| !matches!(c, '\n' | ';' | '}')) {
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

/// Tells whether a text of awk only prints.
pub(crate) fn awk_only_looks(program: &str) -> bool {
    let without_or = program.replace("||", "  ");
    let suspicious = ["system", "getline", "@", "ENVIRON", "close", "fflush", "ARGV", "PROCINFO", "extension"];
    if without_or.contains('|') || suspicious.iter().any(|word| program.contains(word)) {
        return false;
    }
    // `>` compares outside the braces, and writes to a file after a print inside of them.
    let (mut depth, mut characters) = (0_i32, program.chars().peekable());
    while let Some(character) = characters.next() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            '>' if characters.peek() == Some(&'=') => {}
            '>' if depth != 0 => return in_condition(program),
            _ => {}
        }
    }
    true
}

/// A `>` in braces compares for certain only where nothing is printed, or inside `if (…)`.
fn in_condition(program: &str) -> bool {
    let (mut round, mut printing) = (0_u32, false);
    let mut word = String::new();
    for character in program.chars() {
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        if matches!(word.as_str(), "print" | "printf") {
            printing = true;
        }
        word.clear();
        match character {
            '(' => round += 1,
            ')' => round = round.saturating_sub(1),
            ';' | '\n' | '}' | '{' => {
                printing = false;
                round = 0;
            }
            // Quotes and slashes could make any of these characters mean something else.
            '"' | '/' | '\\' if printing => {}
            '>' if printing || round == 0 => return false,
            _ => {}
        }
    }
    // A string or pattern may hide where a statement ends.
    !program.contains(['"', '/', '\\'])
}
