//! Which commands were to change the person's shell. `cd build && make` only made something in a directory: a line
//! counts only if changing the shell was the last thing it did.

use crate::tool::ShellRun;

/// Commands that change the shell they run in.
const CHANGING: &[&str] = &[
    "cd",
    "pushd",
    "popd",
    "export",
    "unset",
    "source",
    ".",
    "umask",
    "alias",
    "unalias",
    "set",
    "shopt",
    "declare",
    "typeset",
    "readonly",
    "deactivate",
    "eval",
];

/// What closes a compound command.
const CLOSING: &[&str] = &["fi", "done", "esac", "}", ")"];

/// What stands before a command inside one.
const BEFORE: &[&str] = &["then", "do", "else", "{", "builtin", "command", "!"];

/// Tells whether a command was to change the shell.
pub(super) fn is_for_the_shell(run: &ShellRun) -> bool {
    let Some(parts) = parts(&run.line) else { return false };
    let Some(last) = parts.iter().rev().find(|part| !CLOSING.contains(part)) else { return false };
    let mut words = last.split_whitespace().skip_while(|word| BEFORE.contains(word));
    let Some(first) = words.next() else { return false };
    let defines =
        |state: &crate::tool::ShellState| state.functions.contains_key(first) || state.aliases.contains_key(first);
    CHANGING.contains(&first)
        || first == "function"
        || is_definition(last)
        || is_assignment(first) && words.next().is_none_or(|_| last.contains("=("))
        || defines(&run.before)
        || defines(&run.after)
}

/// `name() { …; }`.
fn is_definition(part: &str) -> bool {
    let name =
        part.split_once('(').filter(|(_, rest)| rest.trim_start().starts_with(')')).map(|(name, _)| name.trim());
    name.is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace))
}

/// `NAME=`, `NAME+=`, `NAME[1]=`.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name.trim_end_matches('+'));
    let name = name.map(|name| name.split('[').next().unwrap_or_default());
    name.is_some_and(|name| {
        name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

/// Takes a line apart at `&&`, `||`, `;` and newlines that stand in no quotes and in no brackets; `None` where the last
/// of it runs in a shell of its own: a pipe, the background, a here-document.
fn parts(line: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    let mut quote: Option<char> = None;
    let mut apart = false;
    let mut characters = line.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, character)) = characters.next() {
        match (quote, character) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some(_), _) if quote == Some('\'') => {}
            (_, '\\') => drop(characters.next()),
            (None, '\'' | '"') => quote = Some(character),
            (None, '(') => depth += 1,
            (None, '{') if before.is_whitespace() || before == ')' => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, '}') if before.is_whitespace() || before == ';' => depth = depth.saturating_sub(1),
            (None, '#') if before.is_whitespace() => {
                while characters.next_if(|(_, next)| *next != '\n').is_some() {}
                parts.push((&line[start..at], apart));
                start = characters.peek().map_or(line.len(), |(at, _)| *at);
            }
            (None, '<') if characters.peek().is_some_and(|(_, next)| *next == '<') => return None,
            (None, ';' | '\n' | '&' | '|') if depth == 0 && before != '>' && before != '<' => {
                let doubled = characters.next_if(|(_, next)| *next == character && character != '\n').is_some();
                // `&>` and `>&` are redirections.
                let redirects = character == '&' && characters.peek().is_some_and(|(_, next)| *next == '>');
                if !redirects {
                    let pipe = character == '|' && !doubled;
                    let aside = character == '&' && !doubled;
                    parts.push((&line[start..at], apart || aside || pipe));
                    apart = pipe;
                    start = characters.peek().map_or(line.len(), |(at, _)| *at);
                }
            }
            (Some(_) | None, _) => {}
        }
        before = character;
    }
    if quote.is_some() {
        return None;
    }
    parts.push((&line[start..], apart));
    let parts: Vec<(&str, bool)> =
        parts.into_iter().map(|(part, apart)| (part.trim(), apart)).filter(|(part, _)| !part.is_empty()).collect();
    if parts.last()?.1 || parts.last()?.0.starts_with('(') {
        return None;
    }
    Some(parts.into_iter().map(|(part, _)| part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ShellState;

    fn meant(line: &str) -> bool {
        let mut run = ShellRun { line: line.into(), before: ShellState::default(), after: ShellState::default() };
        run.before.functions.insert("nvm".into(), None);
        is_for_the_shell(&run)
    }

    #[test]
    fn what_was_meant_for_the_shell_is_kept_and_work_done_elsewhere_is_not() {
        for line in [
            "cd /tmp && export FOO='a b'",
            "mkdir -p x && cd x",
            "source venv/bin/activate",
            "export A=$(date)",
            "A=(1 '2 3')",
            "A=1",
            "alias g='git status'",
            "greet() { echo hi; cd x; }",
            "function greet { echo hi; }",
            "nvm use 20",
            "python3 -m venv v && . v/bin/activate",
            "if true; then source venv/bin/activate; fi",
            "set -o pipefail",
            "shopt -s globstar # for **",
            "export A=1 2>&1",
        ] {
            assert!(meant(line), "{line}");
        }
        for line in [
            "cd build && make",
            "(cd x)",
            "cd x &",
            "cat a | export B",
            "export CC=clang; make",
            "A=1 make",
            "echo cd",
            "cdx",
            "export A='open",
            "cat <<E\nexport A=1\nE",
            "for i in a b; do echo $i; done",
            "",
        ] {
            assert!(!meant(line), "{line}");
        }
    }
}
