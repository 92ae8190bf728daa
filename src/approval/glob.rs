//! Name patterns as shells and `find` read them: `*`, `?` and bracket expressions. Parsing takes linear time and
//! compiles nothing, because a line may contain thousands.

/// A pattern for one name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Glob {
    pieces: Vec<Piece>,
    /// Whether upper and lower case are the same.
    folds_case: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Piece {
    /// Any characters, or none.
    Many,
    /// Any character.
    One,
    Is(char),
    Of(Set),
}

/// A bracket expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Set {
    negated: bool,
    /// The first and the last of each range.
    ranges: Vec<(char, char)>,
    /// Names of classes, such as `alpha`.
    classes: Vec<String>,
}

impl Set {
    fn holds(&self, character: char) -> bool {
        let found = self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&character))
            || self.classes.iter().any(|class| is_of(class, character));
        found != self.negated
    }
}

fn is_of(class: &str, character: char) -> bool {
    match class {
        "alpha" => character.is_alphabetic(),
        "digit" => character.is_ascii_digit(),
        "alnum" => character.is_alphabetic() || character.is_ascii_digit(),
        "upper" => character.is_uppercase(),
        "lower" => character.is_lowercase(),
        "space" => character.is_whitespace(),
        "blank" => matches!(character, ' ' | '\t'),
        "punct" => character.is_ascii_punctuation(),
        "cntrl" => character.is_control(),
        "xdigit" => character.is_ascii_hexdigit(),
        // An unknown class matches everything: this only makes a judgement stricter.
        _ => true,
    }
}

impl Glob {
    /// Parses characters, each with a flag that says whether it is active.
    pub(crate) fn new(characters: &[(char, bool)]) -> Self {
        let mut pieces = Vec::new();
        let mut at = 0;
        // If nothing closes the expression after one bracket, nothing closes it after a later one.
        let mut closes = true;
        while let Some((character, active)) = characters.get(at) {
            at += 1;
            pieces.push(match (character, active) {
                ('*', true) if pieces.last() == Some(&Piece::Many) => continue,
                ('*', true) => Piece::Many,
                ('?', true) => Piece::One,
                ('[', true) if closes => {
                    if let Some((set, used)) = set(&characters[at..]) {
                        at += used;
                        Piece::Of(set)
                    } else {
                        closes = false;
                        Piece::Is('[')
                    }
                }
                (character, _) => Piece::Is(*character),
            });
        }
        Self { pieces, folds_case: false }
    }

    /// Parses a pattern in which every character is active unless it follows a backslash.
    pub(crate) fn parse(text: &str) -> Self {
        let mut characters = Vec::new();
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            characters.push(match character {
                '\\' => (rest.next().unwrap_or('\\'), false),
                character => (character, true),
            });
        }
        Self::new(&characters)
    }

    /// Returns the same pattern, with upper and lower case alike.
    pub(crate) fn folding_case(self) -> Self {
        Self { folds_case: true, ..self }
    }

    /// Tells whether each name that it matches has a letter or a digit of its own.
    pub(crate) fn has_letters(&self) -> bool {
        self.letters() > 0
    }

    /// How many letters and digits each name has that it matches, at least.
    pub(crate) fn letters(&self) -> usize {
        let is_letter = |piece: &&Piece| matches!(piece, Piece::Is(character) if character.is_alphanumeric());
        self.pieces.iter().filter(is_letter).count()
    }

    /// Tells whether it restricts the names it matches at all.
    pub(crate) fn says_something(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Is(character) if character.is_alphanumeric() || *character == '.'))
    }

    /// Tells whether it matches a name in a directory; a hidden name only if the pattern itself begins with a dot.
    pub(crate) fn names(&self, name: &str) -> bool {
        (!name.starts_with('.') || self.pieces.first() == Some(&Piece::Is('.'))) && self.fits(name)
    }

    /// Tells whether it matches a text.
    pub(crate) fn fits(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        // The last `*`, and how much of the text it matches so far.
        let (mut star, mut taken) = (None, 0);
        let (mut at, mut read) = (0, 0);
        while let Some(character) = text.get(read) {
            match self.pieces.get(at) {
                Some(Piece::Many) => {
                    (star, taken) = (Some(at), read);
                    at += 1;
                }
                Some(piece) if self.is(piece, *character) => {
                    at += 1;
                    read += 1;
                }
                Some(_) | None => {
                    let Some(last) = star else { return false };
                    taken += 1;
                    (at, read) = (last + 1, taken);
                }
            }
        }
        self.pieces[at..].iter().all(|rest| *rest == Piece::Many)
    }

    fn is(&self, piece: &Piece, character: char) -> bool {
        let same = |character: char| match piece {
            Piece::Many | Piece::One => true,
            Piece::Is(wanted) => *wanted == character,
            Piece::Of(set) => set.holds(character),
        };
        let other_case = || character.to_lowercase().chain(character.to_uppercase()).any(same);
        same(character) || self.folds_case && other_case()
    }
}

/// Parses what follows the `[` of a bracket expression; returns its length as well. `None` if the expression is not
/// closed.
fn set(characters: &[(char, bool)]) -> Option<(Set, usize)> {
    let is = |at: usize, wanted: char| characters.get(at).is_some_and(|(character, _)| *character == wanted);
    let mut set = Set { negated: false, ranges: Vec::new(), classes: Vec::new() };
    let mut at = 0;
    if is(0, '!') || is(0, '^') {
        set.negated = true;
        at = 1;
    }
    let first = at;
    loop {
        let (character, active) = *characters.get(at)?;
        at += 1;
        match character {
            ']' if active && at - 1 > first => return Some((set, at)),
            '[' if is(at, ':') => {
                let length = characters[at + 1..].iter().position(|(character, _)| *character == ':')?;
                set.classes
                    .push(characters[at + 1..at + 1 + length].iter().map(|(character, _)| *character).collect());
                at += length + 3;
            }
            _ if is(at, '-') && !is(at + 1, ']') && at + 1 < characters.len() => {
                set.ranges.push((character, characters[at + 1].0));
                at += 2;
            }
            _ => set.ranges.push((character, character)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_what_a_shell_takes_it_for() {
        for (pattern, fits, others) in [
            ("*.log", &["1.log", ".log", "a.log.log"][..], &["1.LOG", "log", "1.log~"][..]),
            ("a*b*c", &["abc", "axbxc", "abbcc"], &["ab", "acb", "abcd"]),
            ("?x", &["ax", "中x"], &["x", "aax"]),
            ("[ab]x", &["ax", "bx"], &["cx", "x", "[x"]),
            ("[!ab]x", &["cx", "!x"], &["ax", "bx"]),
            ("[^0-9]*", &["a", "a1"], &["1", ""]),
            ("[a-c-]", &["b", "-"], &["d"]),
            ("[]a]", &["]", "a"], &["b"]),
            ("[[:digit:]_]x", &["1x", "_x"], &["ax", ":x"]),
            ("[ab", &["[ab"], &["a", "b"]),
            ("\\*", &["*"], &["a", "\\*"]),
            ("**", &["", "abc"], &[]),
            ("", &[""], &["a"]),
        ] {
            let glob = Glob::parse(pattern);
            assert!(fits.iter().all(|text| glob.fits(text)), "{pattern} {fits:?}");
            assert!(!others.iter().any(|text| glob.fits(text)), "{pattern} {others:?}");
        }
        assert!(Glob::parse("*.LOG").folding_case().fits("a.log") && Glob::parse("[A-C]").folding_case().fits("b"));
        assert!(
            !Glob::parse("*").names(".env")
                && Glob::parse(".*").names(".env")
                && !Glob::parse("[.]*").names(".env")
        );
    }
}
