//! Converts formulas into one row, as a person writes them without a typesetter: `\frac{n(n+1)}{2}` becomes
//! `(n(n+1))/2`.
//!
//! TeX draws in two dimensions, and a row has only one: a formula that cannot be written unambiguously in one row
//! keeps its source. The names are those of TeX and amsmath.

/// One name a row: the text behind `\`, the text to show, and a kind: `o` for an operator with blanks around it,
/// `r` for an operator that also ends a product, `f` for the name of a function.
const SYMBOLS: &str = include_str!("maths.tsv");

/// How deep groups may be nested.
const DEEPEST: usize = 12;

const ABOVE: (&str, &str) = (
    "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδθφχ′°∘*",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᶿᵠᵡ′°°*",
);
const BELOW: (&str, &str) = ("0123456789+-=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ");

/// Converts a formula, given without its delimiters; `None` if one row would lose something or be ambiguous.
pub(in crate::terminal::markdown) fn in_one_row(source: &str) -> Option<String> {
    let mut formula = Formula { rest: source.trim(), out: String::new(), depth: 0, script: None };
    formula.until(None)?;
    Some(formula.out.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns a formula without its delimiters, unless its dollars are more likely a price or a variable.
pub(in crate::terminal::markdown) fn inside(source: &str) -> Option<&str> {
    for (open, close) in [("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]")] {
        if let Some(inner) = source.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
            return Some(inner);
        }
    }
    let inner = source.strip_prefix('$')?.strip_suffix('$')?;
    let letters_stand_alone = |text: &str| {
        let mut words = text.split(|character: char| !character.is_alphabetic());
        words.all(|word| word.chars().count() < 2) && text.contains(char::is_alphabetic)
    };
    let is_tex =
        inner.contains(['\\', '^']) || inner.split_once('_').is_some_and(|(base, _)| letters_stand_alone(base));
    (is_tex || letters_stand_alone(inner)).then_some(inner)
}

struct Formula<'a> {
    rest: &'a str,
    out: String,
    depth: usize,
    /// The mark of the last script, and where it ended: TeX allows one of each kind.
    script: Option<(char, usize)>,
}

impl<'a> Formula<'a> {
    fn next(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Continues up to the end of this group, and removes the closing mark.
    fn until(&mut self, close: Option<char>) -> Option<()> {
        loop {
            let Some(character) = self.next() else { return close.is_none().then_some(()) };
            if Some(character) == close {
                return Some(());
            }
            self.one(character)?;
        }
    }

    fn one(&mut self, character: char) -> Option<()> {
        match character {
            '\\' => self.command()?,
            '{' => {
                let inner = self.group('}')?;
                // An expression that was one factor in the group must stay one next to what follows.
                if inner.contains(['/', '√', '∛', '∜']) {
                    self.factor(&inner, &format!("({inner})"), true);
                } else {
                    self.out.push_str(&inner);
                }
            }
            '^' | '_' => self.script(character)?,
            '\'' => self.out.push('′'),
            // Cells of a table, a comment, or a closing brace without an opening one.
            '&' | '%' | '}' | '$' => return None,
            '~' => self.blank(),
            _ if character.is_whitespace() => self.blank(),
            _ => self.out.push(character),
        }
        Some(())
    }

    fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with([' ', '(', '[']) {
            self.out.push(' ');
        }
    }

    /// Reads a group whose opening mark was read already.
    fn group(&mut self, close: char) -> Option<String> {
        if self.depth == DEEPEST {
            return None;
        }
        let mut inner = Formula { rest: self.rest, out: String::new(), depth: self.depth + 1, script: None };
        inner.until(Some(close))?;
        self.rest = inner.rest;
        Some(inner.out.trim().to_owned())
    }

    /// Reads a group, or the single letter or name in its place.
    fn argument(&mut self) -> Option<String> {
        self.skip_blanks();
        let character = self.next()?;
        if character == '{' {
            return self.group('}');
        }
        if self.depth == DEEPEST || matches!(character, '^' | '_') {
            return None;
        }
        let mut inner = Formula { rest: self.rest, out: String::new(), depth: self.depth + 1, script: None };
        inner.one(character)?;
        self.rest = inner.rest;
        Some(inner.out.trim().to_owned())
    }

    /// Reads a group of words as it is written.
    fn words(&mut self) -> Option<&'a str> {
        self.skip_blanks();
        let (words, rest) = self.rest.strip_prefix('{')?.split_once('}')?;
        if words.contains(['{', '\\', '$', '^', '_']) {
            return None;
        }
        self.rest = rest;
        Some(words)
    }

    fn script(&mut self, mark: char) -> Option<()> {
        // Nothing stands in front of the script.
        if self.out.trim_end().is_empty() {
            return None;
        }
        let text = self.argument().filter(|text| !text.is_empty())?;
        if self.script == Some((mark, self.out.len())) {
            return None;
        }
        let (plain, small) = if mark == '^' { ABOVE } else { BELOW };
        let map = |character| plain.chars().position(|one| one == character).and_then(|at| small.chars().nth(at));
        let tight: String = text.chars().filter(|character| *character != ' ').collect();
        self.out.truncate(self.out.trim_end().len());
        if let Some(mapped) = tight.chars().map(map).collect::<Option<String>>() {
            self.out.push_str(&mapped);
        } else {
            let goes_on = self.rest.starts_with(|character: char| character.is_alphanumeric() || character == '\\');
            let shown = if goes_on && !text.starts_with('(') { format!("({text})") } else { closed(&text) };
            self.out.push(mark);
            self.out.push_str(&shown);
        }
        self.script = Some((mark, self.out.len()));
        Some(())
    }

    fn command(&mut self) -> Option<()> {
        let letters = self.rest.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let name = if letters == 0 { self.rest.get(..1)? } else { &self.rest[..letters] };
        self.rest = &self.rest[name.len()..];
        match name {
            "frac" | "dfrac" | "tfrac" => {
                let (above, below) = (self.argument()?, self.argument()?);
                let product = !above.is_empty()
                    && above.chars().all(|character| character.is_alphanumeric() || character == '∂');
                let above = if product { above } else { closed(&above) };
                let differential = below.strip_prefix(['d', '∂']).filter(|letter| letter.chars().count() == 1);
                let below = if differential.is_some() { below } else { closed(&below) };
                let whole = format!("{above}/{below}");
                self.factor(&whole, &format!("({whole})"), true);
            }
            "sqrt" => {
                self.skip_blanks();
                let mut sign = "√";
                if let Some(rest) = self.rest.strip_prefix('[') {
                    self.rest = rest;
                    sign = match self.group(']')?.as_str() {
                        "2" => "√",
                        "3" => "∛",
                        "4" => "∜",
                        _ => return None,
                    };
                }
                let whole = format!("{sign}{}", closed(&self.argument()?));
                self.factor(&whole, &format!("({whole})"), false);
            }
            "text" | "textrm" | "textit" | "textbf" | "texttt" | "mbox" | "mathrm" | "mathit" | "mathbf"
            | "mathsf" | "mathtt" | "boldsymbol" | "bm" => {
                let words = self.words().map(str::to_owned);
                let words = if name.starts_with("text") || name == "mbox" {
                    words
                } else {
                    words.or_else(|| self.argument())
                };
                self.out.push_str(&words?);
            }
            "operatorname" => {
                let name = self.words()?;
                self.function(name);
            }
            "mathbb" => {
                let letter = self.argument()?;
                let at = ["R", "N", "Z", "Q", "C", "P", "H"].iter().position(|known| *known == letter)?;
                self.out.push_str(["ℝ", "ℕ", "ℤ", "ℚ", "ℂ", "ℙ", "ℍ"][at]);
            }
            "hat" | "bar" | "overline" | "vec" | "dot" | "ddot" | "tilde" => {
                let letter = self.argument()?;
                let mark = match name {
                    "hat" => '\u{302}',
                    "bar" | "overline" => '\u{304}',
                    "vec" => '\u{20D7}',
                    "dot" => '\u{307}',
                    "ddot" => '\u{308}',
                    _ => '\u{303}',
                };
                if letter.chars().count() != 1 {
                    return None;
                }
                self.out.push_str(&letter);
                self.out.push(mark);
            }
            "boxed" => {
                let inner = self.argument()?;
                self.out.push_str(&inner);
            }
            "pmod" => {
                let inner = self.argument()?;
                self.blank();
                self.out.push_str("(mod ");
                self.out.push_str(&inner);
                self.out.push(')');
            }
            "left" | "right" => {
                self.skip_blanks();
                if name == "right" {
                    self.out.truncate(self.out.trim_end().len());
                }
                match self.next()? {
                    '.' => {}
                    '\\' => self.command()?,
                    delimiter => self.out.push(delimiter),
                }
            }
            "big" | "Big" | "bigl" | "bigr" | "Bigl" | "Bigr" | "limits" | "nolimits" | "displaystyle"
            | "textstyle" | "!" => {}
            "," | ";" | ":" | " " | ">" | "quad" | "qquad" => self.blank(),
            "{" | "}" | "%" | "$" | "#" | "_" => self.out.push_str(name),
            "&" => self.out.push('&'),
            "|" => self.out.push('‖'),
            _ => self.symbol(name)?,
        }
        Some(())
    }

    fn symbol(&mut self, name: &str) -> Option<()> {
        let row = SYMBOLS.lines().find_map(|row| row.strip_prefix(name)?.strip_prefix('\t'))?;
        match row.split_once('\t') {
            None => {
                self.out.push_str(row);
                // The sign belongs to the name after it.
                if name == "partial" {
                    self.skip_blanks();
                }
            }
            Some((shown, "f")) => self.function(shown),
            Some((shown, _)) => {
                self.blank();
                self.out.push_str(shown);
                self.skip_blanks();
                if !self.rest.is_empty() && !self.rest.starts_with('}') {
                    self.out.push(' ');
                }
            }
        }
        Some(())
    }

    /// Separates a name of several letters from the letters beside it.
    fn function(&mut self, name: &str) {
        if self.out.ends_with(char::is_alphanumeric) {
            self.out.push(' ');
        }
        self.out.push_str(name);
        if self.rest.starts_with(|character: char| character.is_alphanumeric() || character == '\\') {
            self.out.push(' ');
        }
    }

    /// Appends an expression: in the form `beside` if it would read differently next to another factor.
    fn factor(&mut self, alone: &str, beside: &str, looks_back: bool) {
        let free = |character: char| "+-−=<>|,;:([{≤≥≠≈≡∼→⇒⇔∈±".contains(character);
        let before = !looks_back || self.out.trim_end().chars().next_back().is_none_or(free);
        let next = self.rest.trim_start();
        let closes =
            |character: char| free(character) && !"([{".contains(character) || ")]}.!?".contains(character);
        let after = match next.strip_prefix('\\') {
            Some(command) => is_relation(command),
            None => next.chars().next().is_none_or(closes),
        };
        let bang = next.starts_with('!');
        self.out.push_str(if before && after && !bang { alone } else { beside });
    }
}

/// Tells whether a name of TeX ends a product.
fn is_relation(command: &str) -> bool {
    let letters = command.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(command.len());
    let name = &command[..letters];
    let row = SYMBOLS.lines().find_map(|row| row.strip_prefix(name)?.strip_prefix('\t'));
    matches!(name, "right" | "quad" | "qquad" | "text") || row.is_some_and(|row| row.ends_with("\tr"))
}

/// Puts the text in parentheses, unless it is one number, one letter with its marks, or in parentheses already.
fn closed(text: &str) -> String {
    let number = !text.is_empty() && text.chars().all(|character| character.is_ascii_digit() || character == '.');
    let mut characters = text.chars();
    let letter = characters.next().is_some_and(|first| first.is_alphabetic() || "∞⊤⊥†∗⋆+-*".contains(first))
        && characters.all(|mark| {
            matches!(mark, '\u{300}'..='\u{36F}' | '\u{20D7}' | '′')
                || BELOW.1.contains(mark) && !"₍₎".contains(mark)
        });
    if number || letter { text.to_owned() } else { format!("({text})") }
}

#[cfg(test)]
#[path = "maths_tests.rs"]
mod tests;
