//! Short programs of Python and of JavaScript given in the line itself: whether they only compute, print, and read the
//! files they name. What is not certainly harmless is not.
//!
//! Only what is named here may stand in them: which names are called without a dot before them, which modules are
//! loaded, and none of the members that lead from what is harmless to what is not. Below it lies the sandbox, as below
//! all that runs unasked; this only keeps the question for what is worth one.

use std::collections::BTreeSet;

use super::snippet_words::{
    JAVASCRIPT, JAVASCRIPT_MEMBERS, JAVASCRIPT_MODULES, JAVASCRIPT_OBJECTS, PYTHON, PYTHON_MEMBERS, PYTHON_MODULES,
    RESERVED,
};

/// A language whose short programs are read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    JavaScript,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A name, and whether a dot stands before it.
    Word(String, bool),
    /// A text in quotes, and whether it is a plain one: nothing in it is replaced.
    Text(String, bool),
    Number,
    Mark(char),
}

/// The files a short program reads, where it does no more than that, compute and print; `None` where it may.
pub(super) fn reads_only(language: Language, program: &str) -> Option<Vec<String>> {
    let tokens = tokens(language, program)?;
    let mut reader = Reader { language, tokens: &tokens, given: BTreeSet::new(), files: Vec::new() };
    reader.names();
    if language == Language::Python {
        reader.modules()?;
    }
    reader.check()?;
    Some(reader.files)
}

struct Reader<'t> {
    language: Language,
    tokens: &'t [Token],
    /// Names the program itself gives to values and modules.
    given: BTreeSet<String>,
    files: Vec<String>,
}

impl Reader<'_> {
    fn mark(&self, at: usize) -> Option<char> {
        match self.tokens.get(at) {
            Some(Token::Mark(mark)) => Some(*mark),
            Some(Token::Word(..) | Token::Text(..) | Token::Number) | None => None,
        }
    }

    fn word(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at) {
            Some(Token::Word(word, _)) => Some(word),
            Some(Token::Mark(_) | Token::Text(..) | Token::Number) | None => None,
        }
    }

    fn is_plain_member(&self, word: &str) -> bool {
        let more = match self.language {
            Language::Python => PYTHON_MEMBERS,
            Language::JavaScript => JAVASCRIPT_MEMBERS,
        };
        !word.starts_with('_') && !more.contains(&word)
    }

    /// A name becomes one of the program's own, where it may.
    fn give(&mut self, word: &str) -> Option<()> {
        if RESERVED.contains(&word) || !self.is_plain_member(word) {
            return None;
        }
        self.given.insert(word.to_owned());
        Some(())
    }

    /// Collects what the program gives names to: assignments, loops, parameters. More than those do no harm, as long
    /// as none of them means anything without being given.
    fn names(&mut self) {
        let mut binding = false;
        for (at, token) in self.tokens.iter().enumerate() {
            let Token::Word(word, dotted) = token else {
                if matches!(token, Token::Mark(':' | ';' | '\n' | '=')) {
                    binding = false;
                }
                continue;
            };
            let assigned = self.mark(at + 1) == Some('=') && self.mark(at + 2) != Some('=');
            let parameter = self.mark(at + 1) == Some('⇒') || self.is_listed(at);
            match word.as_str() {
                "for" | "lambda" | "as" | "const" | "let" | "var" | "def" | "function" => binding = true,
                "in" | "of" => binding = false,
                _ if !*dotted && (binding || assigned || parameter) => {
                    // One that may not be given is refused where it is used.
                    let _ = self.give(word);
                }
                _ => {}
            }
        }
    }

    /// Tells whether a name stands in brackets before an arrow.
    fn is_listed(&self, at: usize) -> bool {
        let mut next = at + 1;
        while let Some(Token::Word(..) | Token::Mark(',' | '[' | ']' | '{' | '}')) = self.tokens.get(next) {
            next += 1;
        }
        self.mark(next) == Some(')') && self.mark(next + 1) == Some('⇒')
    }

    /// Takes the modules that are loaded; `None` for one that is not known to be harmless.
    fn modules(&mut self) -> Option<()> {
        let mut at = 0;
        while at < self.tokens.len() {
            match self.tokens.get(at) {
                Some(Token::Word(word, false)) if word == "import" => at = self.imported(at + 1)?,
                Some(Token::Word(word, false)) if word == "from" => {
                    let (name, next) = self.dotted(at + 1)?;
                    if !PYTHON_MODULES.contains(&name.as_str()) || self.word(next) != Some("import") {
                        return None;
                    }
                    at = self.taken(next + 1)?;
                }
                Some(_) | None => at += 1,
            }
        }
        Some(())
    }

    /// `import a, b as c`: where it ends.
    fn imported(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let (name, next) = self.dotted(at)?;
            if !PYTHON_MODULES.contains(&name.as_str()) {
                return None;
            }
            at = next;
            if self.word(at) == Some("as") {
                let alias = self.word(at + 1)?.to_owned();
                self.give(&alias)?;
                at += 2;
            } else if name.contains('.') {
                // It would bring the module above along.
                return None;
            } else {
                self.given.insert(name);
            }
            if self.mark(at) != Some(',') {
                return Some(at);
            }
            at += 1;
        }
    }

    /// The names behind `from module import`: where they end.
    fn taken(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let name = self.word(at)?.to_owned();
            self.give(&name)?;
            at += 1;
            if self.word(at) == Some("as") {
                let alias = self.word(at + 1)?.to_owned();
                self.give(&alias)?;
                at += 2;
            }
            if self.mark(at) != Some(',') {
                return Some(at);
            }
            at += 1;
        }
    }

    /// A module's name with its dots.
    fn dotted(&self, from: usize) -> Option<(String, usize)> {
        let mut name = self.word(from)?.to_owned();
        let mut at = from + 1;
        while let Some(Token::Word(more, true)) = self.tokens.get(at) {
            name = format!("{name}.{more}");
            at += 1;
        }
        Some((name, at))
    }

    fn check(&mut self) -> Option<()> {
        let python = self.language == Language::Python;
        let mut imports = false;
        for (at, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Mark(';' | '\n') => imports = false,
                Token::Word(word, false) if python && matches!(word.as_str(), "import" | "from") => imports = true,
                Token::Word(..) if imports => {}
                Token::Word(word, true) => self.member(at, word)?,
                Token::Word(word, false) if python && word == "open" => self.files.push(self.opened(at)?),
                Token::Word(word, false) if !python && word == "require" => self.required(at)?,
                Token::Word(word, false) => self.name(at, word)?,
                Token::Text(text, plain) => self.text(at, text, *plain)?,
                Token::Mark('[') if !python => self.index(at)?,
                // What another call gives is called: it may be anything.
                Token::Mark(')' | ']') if self.mark(at + 1) == Some('(') => return None,
                // A key that is put together takes any member out of a value.
                Token::Mark(']') if !python && self.mark(at + 1) == Some(':') => return None,
                Token::Mark('@') => return None,
                Token::Mark(_) | Token::Number => {}
            }
        }
        Some(())
    }

    fn member(&self, at: usize, word: &str) -> Option<()> {
        let before = at.checked_sub(1).and_then(|before| self.word(before));
        let reads = match word {
            "load" => matches!(before, Some("json" | "tomllib")),
            "compile" => before == Some("re"),
            _ => false,
        };
        let assigned = self.mark(at + 1) == Some('=') && self.mark(at + 2) != Some('=');
        ((reads || self.is_plain_member(word)) && !assigned).then_some(())
    }

    fn name(&self, at: usize, word: &str) -> Option<()> {
        if self.given.contains(word) {
            return Some(());
        }
        let known = match self.language {
            Language::Python => PYTHON,
            Language::JavaScript => JAVASCRIPT,
        };
        if let Some((_, members)) = JAVASCRIPT_OBJECTS.iter().find(|(object, _)| *object == word) {
            let harmless = matches!(self.tokens.get(at + 1), Some(Token::Word(member, true)) if members.contains(&member.as_str()));
            return (self.language == Language::JavaScript && harmless).then_some(());
        }
        let key =
            self.language == Language::JavaScript && self.mark(at + 1) == Some(':') && self.is_plain_member(word);
        (known.contains(&word) || key).then_some(())
    }

    fn text(&self, at: usize, text: &str, plain: bool) -> Option<()> {
        // A member's name in quotes is one, too.
        let names = self.language == Language::JavaScript
            && (!self.is_plain_member(text) || text.contains('\\') && self.mark(at + 1) == Some(':'));
        let formats = !plain && text.contains(['{', '\\']) && !is_simple_format(text);
        (!text.contains("__") && !names && !formats).then_some(())
    }

    /// The file that is opened for reading.
    fn opened(&self, at: usize) -> Option<String> {
        let Some(Token::Text(name, true)) = self.tokens.get(at + 2) else { return None };
        let plain = match (self.tokens.get(at + 3), self.tokens.get(at + 4), self.tokens.get(at + 5)) {
            (Some(Token::Mark(')')), _, _) => true,
            (Some(Token::Mark(',')), Some(Token::Text(mode, true)), Some(Token::Mark(')'))) => {
                matches!(mode.as_str(), "r" | "rb" | "rt")
            }
            _ => false,
        };
        (self.mark(at + 1) == Some('(') && plain && !name.contains('\\')).then(|| name.clone())
    }

    /// Notes the file that is read as data; `None` for a module that may reach anything.
    fn required(&mut self, at: usize) -> Option<()> {
        let Some(Token::Text(name, true)) = self.tokens.get(at + 2) else { return None };
        if self.mark(at + 1) != Some('(') || self.mark(at + 3) != Some(')') {
            return None;
        }
        if !JAVASCRIPT_MODULES.contains(&name.as_str()) {
            let below = name.starts_with("./") || name.starts_with("../");
            let data = std::path::Path::new(name).extension().is_some_and(|ending| ending == "json");
            if !below || !data || name.contains('\\') {
                return None;
            }
            self.files.push(name.clone());
        }
        Some(())
    }

    /// In brackets after a value stands a member's name; one that is put together is not known.
    fn index(&self, at: usize) -> Option<()> {
        let after_value = match at.checked_sub(1).and_then(|before| self.tokens.get(before)) {
            Some(Token::Word(word, dotted)) => {
                *dotted || !matches!(word.as_str(), "return" | "of" | "in" | "case" | "const" | "let" | "var")
            }
            Some(Token::Mark(mark)) => matches!(mark, ')' | ']' | '}' | '?' | '.'),
            Some(Token::Text(..) | Token::Number) => true,
            None => false,
        };
        let known = match (self.tokens.get(at + 1), self.mark(at + 2)) {
            (Some(Token::Text(name, _)), Some(']')) => !name.contains('\\'),
            (Some(Token::Number), Some(']')) => true,
            _ => false,
        };
        (!after_value || known).then_some(())
    }
}

/// Tells whether a text in which values are put holds nothing but names, indexes and formats in its braces.
fn is_simple_format(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ":,%<>^+-[]! ".contains(c);
    let filled = text.split('{').skip(1);
    let mut filled = filled.map(|rest| rest.split_once('}').map(|(inside, _)| inside));
    filled.all(|inside| inside.is_some_and(|inside| inside.chars().all(plain)))
        && !text.replace("\\n", "").replace("\\t", "").contains('\\')
}

/// The program's tokens; `None` where they cannot be told for certain.
fn tokens(language: Language, program: &str) -> Option<Vec<Token>> {
    let characters: Vec<char> = program.chars().collect();
    let peek = |at: usize| characters.get(at).copied();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(character) = peek(at) {
        at += 1;
        match character {
            ' ' | '\t' => {}
            '"' | '\'' => {
                let formatted = match tokens.last() {
                    Some(Token::Word(word, false)) if is_prefix(language, word, &characters, at) => {
                        let formatted = word.contains(['f', 'F', 't', 'T']);
                        tokens.pop();
                        formatted
                    }
                    _ => false,
                };
                let (text, next) = quoted(language, &characters, at)?;
                tokens.push(Token::Text(text, !formatted));
                at = next;
            }
            '#' if language == Language::Python => {
                while peek(at).is_some_and(|c| c != '\n') {
                    at += 1;
                }
            }
            // A comment, or a pattern that may hide anything from here.
            '/' if language == Language::JavaScript => return None,
            '=' if peek(at) == Some('>') => {
                at += 1;
                tokens.push(Token::Mark('⇒'));
            }
            '.' if peek(at) == Some('.') => return None,
            _ if is_name(character) => {
                let mut word = String::from(character);
                let number = character.is_ascii_digit();
                let fraction =
                    |at: usize| peek(at) == Some('.') && peek(at + 1).is_some_and(|c| c.is_ascii_digit());
                while peek(at).is_some_and(is_name) || number && fraction(at) {
                    word.extend(peek(at));
                    at += 1;
                }
                let dotted = tokens.last() == Some(&Token::Mark('.'));
                if dotted {
                    tokens.pop();
                }
                tokens.push(if number { Token::Number } else { Token::Word(word, dotted) });
            }
            // Letters of other scripts may be folded into plain ones.
            '`' | '\\' => return None,
            _ if !character.is_ascii() || character.is_ascii_control() && character != '\n' => return None,
            _ => tokens.push(Token::Mark(character)),
        }
    }
    Some(tokens)
}

/// A text in quotes and what comes behind it; `at` is behind its first quote.
fn quoted(language: Language, characters: &[char], from: usize) -> Option<(String, usize)> {
    let peek = |at: usize| characters.get(at).copied();
    let quote = peek(from.checked_sub(1)?)?;
    let twice = |at: usize| peek(at) == Some(quote) && peek(at + 1) == Some(quote);
    let triple = language == Language::Python && twice(from);
    let mut at = from + if triple { 2 } else { 0 };
    let mut text = String::new();
    loop {
        let next = peek(at)?;
        at += 1;
        if next == '\\' {
            text.extend(['\\', peek(at)?]);
            at += 1;
        } else if next == quote && (!triple || twice(at)) {
            return Some((text, at + if triple { 2 } else { 0 }));
        } else if next == '\n' && !triple {
            return None;
        } else {
            text.push(next);
        }
    }
}

/// Tells whether a word right before a quote says what kind of text it is.
fn is_prefix(language: Language, word: &str, characters: &[char], at: usize) -> bool {
    let touches =
        at.checked_sub(2).and_then(|before| characters.get(before)).is_some_and(char::is_ascii_alphabetic);
    language == Language::Python && touches && word.len() <= 2 && word.chars().all(|c| "rbfutRBFUT".contains(c))
}

#[cfg(test)]
#[path = "snippet_tests.rs"]
mod tests;
