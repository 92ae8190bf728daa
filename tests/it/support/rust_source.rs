//! Reads Rust source as far as the checks of the house need it: words, punctuation, strings; comments dropped.
//!
//! It is no parser: the checks look for a path, a macro's name or a string, and a stream of tokens is enough to
//! find them without being fooled by comments, strings and lifetimes.

use std::path::{Path, PathBuf};

/// A piece of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// An identifier, a keyword or a number.
    Word(String),
    /// A string literal's text as written, without quotes and with its escapes untouched.
    Text(String),
    /// Any other character.
    Mark(char),
}

impl Token {
    /// Tells whether this is the given word.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }

    /// Tells whether this is the given character.
    pub(crate) fn is_mark(&self, mark: char) -> bool {
        *self == Self::Mark(mark)
    }
}

/// A token and the line it begins on, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    /// What.
    pub(crate) token: Token,
    /// Where.
    pub(crate) line: usize,
}

/// Cuts source into tokens.
pub(crate) fn tokens(source: &str) -> Vec<Placed> {
    let characters: Vec<char> = source.chars().collect();
    let mut reader = Reader { characters: &characters, at: 0, line: 1 };
    let mut found = Vec::new();
    while let Some(placed) = reader.next() {
        found.push(placed);
    }
    found
}

struct Reader<'a> {
    characters: &'a [char],
    at: usize,
    line: usize,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> char {
        self.characters.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn step(&mut self) -> char {
        let character = self.peek(0);
        self.at += 1;
        self.line += usize::from(character == '\n');
        character
    }

    fn done(&self) -> bool {
        self.at >= self.characters.len()
    }

    fn next(&mut self) -> Option<Placed> {
        loop {
            if self.done() {
                return None;
            }
            match (self.peek(0), self.peek(1)) {
                (space, _) if space.is_whitespace() => {
                    self.step();
                }
                ('/', '/') => self.skip_line(),
                ('/', '*') => self.skip_block(),
                _ => break,
            }
        }
        let line = self.line;
        let token = self.token();
        Some(Placed { token, line })
    }

    fn skip_line(&mut self) {
        while !self.done() && self.peek(0) != '\n' {
            self.step();
        }
    }

    fn skip_block(&mut self) {
        let mut depth = 0;
        while !self.done() {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    self.step();
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return;
            }
        }
    }

    fn token(&mut self) -> Token {
        let first = self.peek(0);
        if first == '"' {
            self.step();
            return self.quoted();
        }
        if first == '\'' {
            return self.quote_or_lifetime();
        }
        if first.is_alphanumeric() || first == '_' {
            return self.word();
        }
        Token::Mark(self.step())
    }

    fn word(&mut self) -> Token {
        let mut word = String::new();
        while self.peek(0).is_alphanumeric() || self.peek(0) == '_' {
            word.push(self.step());
        }
        match (word.as_str(), self.peek(0)) {
            ("b" | "c", '"') => {
                self.step();
                self.quoted()
            }
            ("b", '\'') => self.quote_or_lifetime(),
            ("r" | "br" | "cr", '"' | '#') if self.opens_raw() => self.raw(),
            _ => Token::Word(word),
        }
    }

    fn opens_raw(&self) -> bool {
        let mut ahead = 0;
        while self.peek(ahead) == '#' {
            ahead += 1;
        }
        self.peek(ahead) == '"'
    }

    fn raw(&mut self) -> Token {
        let mut hashes = 0;
        while self.step() == '#' {
            hashes += 1;
        }
        let mut text = String::new();
        while !self.done() {
            let character = self.step();
            if character == '"' && (0..hashes).all(|ahead| self.peek(ahead) == '#') {
                self.at += hashes;
                break;
            }
            text.push(character);
        }
        Token::Text(text)
    }

    fn quoted(&mut self) -> Token {
        let mut text = String::new();
        while !self.done() {
            match self.step() {
                '"' => break,
                '\\' => {
                    text.push('\\');
                    text.push(self.step());
                }
                other => text.push(other),
            }
        }
        Token::Text(text)
    }

    /// `'x'` and `'\n'` are characters, `'x` is a lifetime: told apart by the closing quote.
    fn quote_or_lifetime(&mut self) -> Token {
        self.step();
        if self.peek(0) == '\\' {
            self.at += 2;
            while !self.done() && self.step() != '\'' {}
        } else if self.peek(1) == '\'' {
            self.step();
            self.at += 1;
        }
        Token::Mark('\'')
    }
}

/// Lists every `.rs` file below a folder, sorted, as (path relative to `root` with `/`, text); a folder that is not
/// there has none.
pub(crate) fn rust_files(root: &Path, folder: &str) -> Vec<(String, String)> {
    let mut waiting: Vec<PathBuf> = vec![root.join(folder)];
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder of the repository is readable");
            waiting.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
            files.push((name, std::fs::read_to_string(&path).expect("source is UTF-8")));
        }
    }
    files.sort();
    files
}

/// The repository's root.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<Token> {
        tokens(source).into_iter().map(|placed| placed.token).collect()
    }

    #[test]
    fn comments_strings_characters_and_lifetimes_are_told_apart() {
        let source = "a // b\n/* c /* d */ e */ 'f' '\\'' 'g r#\"h\"i\"# \"j\\\"k\" b\"l\"";
        let expected = vec![
            Token::Word("a".into()),
            Token::Mark('\''),
            Token::Mark('\''),
            Token::Mark('\''),
            Token::Word("g".into()),
            Token::Text("h\"i".into()),
            Token::Text("j\\\"k".into()),
            Token::Text("l".into()),
        ];
        assert_eq!(words(source), expected);
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let placed = tokens("/*\n*/ \"x\ny\" z");
        assert_eq!(placed.last(), Some(&Placed { token: Token::Word("z".into()), line: 3 }));
    }
}
