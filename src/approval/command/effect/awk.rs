//! Reads awk programs: tells whether they only print. A program that is not certainly harmless counts as harmful.

use crate::approval::program::lists;

/// Names that awk writes to without creating a file.
const STREAMS: &[&str] = &["/dev/stderr", "/dev/stdout"];

#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    /// A whole regular expression.
    Pattern,
    Mark(char),
    /// The end of a statement, where a newline is one.
    Line,
}

/// Tells whether an awk program only prints.
pub(crate) fn only_looks(program: &str) -> bool {
    let Some(tokens) = tokens(program) else { return false };
    let (mut printing, mut round) = (false, 0_i32);
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) if lists::AWK_MORE.contains(word.as_str()) => return false,
            Token::Word(word) if word == "print" || word == "printf" => (printing, round) = (true, 0),
            Token::Line | Token::Mark(';' | '{' | '}') => printing = false,
            Token::Mark('(') => round += 1,
            Token::Mark(')') => round -= 1,
            // `||` is a token of its own by now, so this is a pipe. `@` calls a function whose name is made at run
            // time.
            Token::Mark('|' | '@') => return false,
            // Outside of parentheses `>` writes to a file after a print, and compares elsewhere.
            Token::Mark('>') if printing && round <= 0 => {
                if !is_stream(tokens.get(index + 1..).unwrap_or_default()) {
                    return false;
                }
            }
            Token::Word(_) | Token::Text(_) | Token::Pattern | Token::Mark(_) => {}
        }
    }
    true
}

fn is_stream(rest: &[Token]) -> bool {
    let rest = if rest.first() == Some(&Token::Mark('>')) { &rest[1..] } else { rest };
    let ended = matches!(rest.get(1), None | Some(Token::Line | Token::Mark(';' | '}')));
    matches!(rest.first(), Some(Token::Text(name)) if STREAMS.contains(&name.as_str())) && ended
}

/// Splits the program into tokens; `None` if they are not certain.
fn tokens(program: &str) -> Option<Vec<Token>> {
    // The meaning of a slash after a closing bracket depends on that bracket: both readings must be harmless. In the
    // other one, what stands in strings and patterns here may run.
    let may_do_more =
        program.contains(['>', '|', '@']) || lists::AWK_MORE.iter().any(|word| program.contains(word));
    let characters: Vec<char> = program.chars().collect();
    let peek = |at: usize| characters.get(at).copied();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(character) = peek(at) {
        at += 1;
        match character {
            ' ' | '\t' => {}
            '\n' => tokens.push(Token::Line),
            '\\' if peek(at) == Some('\n') => at += 1,
            '\\' => return None,
            '#' => {
                while peek(at).is_some_and(|c| c != '\n') {
                    at += 1;
                }
            }
            '"' => {
                let mut text = String::new();
                loop {
                    match peek(at)? {
                        '"' => break,
                        '\n' => return None,
                        '\\' => {
                            text.push('\\');
                            at += 1;
                            text.push(peek(at)?);
                        }
                        other => text.push(other),
                    }
                    at += 1;
                }
                at += 1;
                tokens.push(Token::Text(text));
            }
            '/' => match divides(&tokens) {
                Some(false) => {
                    at = pattern_end(&characters, at)?;
                    tokens.push(Token::Pattern);
                }
                None if may_do_more => return None,
                Some(true) | None => tokens.push(Token::Mark('/')),
            },
            '|' | '>' if peek(at) == Some(if character == '|' { '|' } else { '=' }) => {
                at += 1;
                tokens.push(Token::Mark('='));
            }
            _ if character.is_ascii_digit() => {
                let end = number_end(&characters, at)?;
                tokens.push(Token::Word(characters[at - 1..end].iter().collect()));
                at = end;
            }
            _ if character.is_ascii_alphabetic() || character == '_' => {
                let mut word = String::from(character);
                while let Some(next) = peek(at).filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    word.push(next);
                    at += 1;
                }
                tokens.push(Token::Word(word));
            }
            _ => tokens.push(Token::Mark(character)),
        }
    }
    Some(tokens)
}

/// Tells whether a slash after these tokens means division; `None` if it may also begin a regular expression.
fn divides(tokens: &[Token]) -> Option<bool> {
    match tokens.last() {
        Some(Token::Text(_) | Token::Pattern | Token::Mark(']')) => Some(true),
        Some(Token::Mark(')' | '+' | '-')) => None,
        None | Some(Token::Line | Token::Mark(_)) => Some(false),
        // `length` without parentheses is the length of the line, and a regular expression may follow it.
        Some(Token::Word(word)) if word == "length" => None,
        Some(Token::Word(word)) => Some(!lists::AWK_BEFORE_PATTERN.contains(word.as_str())),
    }
}

/// Returns where a number ends; `None` if letters follow, which may belong to it or be a word of their own.
fn number_end(characters: &[char], from: usize) -> Option<usize> {
    let digits = |at: usize, more: &[char]| {
        let is_one = |c: &&char| c.is_ascii_digit() || more.contains(c);
        at + characters.get(at..).unwrap_or_default().iter().take_while(is_one).count()
    };
    let mut end = digits(from, &['.']);
    if matches!(characters.get(end), Some('e' | 'E')) {
        let sign = usize::from(matches!(characters.get(end + 1), Some('+' | '-')));
        let exponent = digits(end + 1 + sign, &[]);
        end = if exponent > end + 1 + sign { exponent } else { return None };
    }
    let follows = characters.get(end).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    (!follows).then_some(end)
}

/// Returns where a regular expression ends; `None` if awk versions disagree about it.
fn pattern_end(characters: &[char], from: usize) -> Option<usize> {
    let (mut at, mut inside) = (from, false);
    loop {
        let character = *characters.get(at)?;
        at += 1;
        match character {
            '\n' => return None,
            '\\' => at += 1,
            '[' if !inside => {
                inside = true;
                let first = characters.get(at).copied();
                let first = if first == Some('^') { characters.get(at + 1).copied() } else { first };
                if first == Some(']') {
                    return None;
                }
            }
            ']' => inside = false,
            '/' if inside => return None,
            '/' => return Some(at),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_prints_is_told_from_what_writes() {
        for looks in [
            "{print $1}",
            "{print $1 \" -> \" $2}",
            "{print \"a>b | c\"}",
            "$3 > 100 {print $1}",
            "{if ($2 > 5) print $1}",
            "{print ($1 > 2)}",
            "/a\\/b/ || /c|d/ {n++} END {print n / 2}",
            "{print \"x\" > \"/dev/stderr\"}",
            "/[^}]/ {print}",
            "{print \"system\"}",
            "$1 > 1e6 || $2 < 2.5E-3 {print $10 * 1.5}",
            "{print ($1 + $2) / 2}",
        ] {
            assert!(only_looks(looks), "{looks}");
        }
        for more in [
            "/}/{print > \"out\"}",
            "BEGIN{x=\"}\"; print \"a\" > \"out\"; x=\"{\"}",
            "BEGIN { # }\nprint \"a\" > \"out\" # {\n}",
            "{print $1 > 2}",
            "{print(1)(2) > \"x\"}",
            "{if (x) /\"/; print \"a\" > \"out\"; y = \"/\"}",
            "{print | \"sh\"}",
            "{system(\"x\")}",
            "{\"date\" | getline}",
            "{print > \"/dev/stderr\" \"x\"}",
            "/[/]/ {print > \"x/\"}",
            "{print > \"/dev/stderr.x\"}",
            "{f=\"a\"; @f(1)}",
            "BEGIN{print 1system(\"rm k1\")}",
            "BEGIN{print 1e5system(\"x\")}",
            "BEGIN{print .5system(\"x\")}",
            "BEGIN{x=2; print x.5system(\"x\")}",
            "BEGIN{print 0x1system(\"x\")}",
            "BEGIN{if (1) /\"/; system(\"touch x\"); if (1) /\"/}",
            "BEGIN{if (1) /\"/; while (\"id\" | getline) n++; if (1) /\"/}",
        ] {
            assert!(!only_looks(more), "{more}");
        }
    }
}
