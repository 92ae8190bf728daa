//! Finds what the commands of a turn were to change in the person's shell, and changed only in their own: directory
//! and variables. Pure.
//!
//! It is read from the commands themselves, and not from the shells they ran in: `source venv/bin/activate` belongs
//! on the prompt line as it is, and not as the forty variables it sets. `cd build && make` only made something in a
//! directory: a line counts only if changing the shell was the last thing it did.

/// Commands that change the shell they run in.
const CHANGING: &[&str] = &["cd", "pushd", "popd", "export", "unset", "source", ".", "umask"];

/// Those among them that say where it is.
const MOVING: &[&str] = &["cd", "pushd", "popd"];

/// Finds the one line that brings a shell to where these commands left theirs; all of them succeeded.
pub(super) fn left_behind<'a>(lines: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut kept: Vec<String> = Vec::new();
    for line in lines {
        let Some(parts) = parts(line) else { continue };
        if !parts.last().is_some_and(|part| is_one_of(part, CHANGING)) {
            continue;
        }
        // Every command began in the shell's own directory: where an earlier one went no longer counts.
        if parts.iter().any(|part| is_one_of(part, MOVING)) {
            kept.retain(|part| !is_one_of(part, MOVING));
        }
        for part in parts.into_iter().filter(|part| is_one_of(part, CHANGING)) {
            kept.retain(|known| known != part);
            kept.push(part.to_owned());
        }
    }
    (!kept.is_empty()).then(|| kept.join(" && "))
}

fn is_one_of(part: &str, names: &[&str]) -> bool {
    part.split_whitespace().next().is_some_and(|word| names.contains(&word))
}

/// Takes a line apart at `&&`, `;` and newlines; `None` when it is more than commands one after the other.
fn parts(line: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut quote: Option<char> = None;
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match (quote, character) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None | Some('"'), '\\') => {
                characters.next();
            }
            (None, '\'' | '"') => quote = Some(character),
            (None, ';' | '\n') => {
                parts.push(&line[start..at]);
                start = at + 1;
            }
            (None, '&') => {
                let (second, _) = characters.next_if(|(_, next)| *next == '&')?;
                parts.push(&line[start..at]);
                start = second + 1;
            }
            (None, '|' | '(' | ')' | '{' | '}' | '`' | '<' | '>' | '#') => return None,
            (Some(_) | None, _) => {}
        }
    }
    if quote.is_some() {
        return None;
    }
    parts.push(&line[start..]);
    Some(parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(lines: &[&str]) -> Option<String> {
        left_behind(lines.iter().copied())
    }

    #[test]
    fn what_was_meant_for_the_shell_is_kept_and_work_done_elsewhere_is_not() {
        assert_eq!(left(&["cd /tmp && export FOO='a b'"]).as_deref(), Some("cd /tmp && export FOO='a b'"));
        assert_eq!(left(&["mkdir -p x && cd x"]).as_deref(), Some("cd x"));
        assert_eq!(left(&["cd build && make"]), None);
        assert_eq!(left(&["source venv/bin/activate"]).as_deref(), Some("source venv/bin/activate"));
        assert_eq!(
            left(&["export A=1", "ls", "export B=\"x; y\""]).as_deref(),
            Some("export A=1 && export B=\"x; y\"")
        );
        assert_eq!(left(&["cd a", "cd b && export A=1"]).as_deref(), Some("cd b && export A=1"));
        assert_eq!(left(&["export A=1", "export A=1"]).as_deref(), Some("export A=1"));
        assert_eq!(left(&[]), None);
    }

    #[test]
    fn what_is_more_than_commands_in_a_row_is_left_alone() {
        for line in [
            "if true; then cd x; fi | cat",
            "(cd x)",
            "cd x &",
            "cat a | export B",
            "export A=$(curl x)",
            "export A=`date`",
            "cd x > log",
            "export A='open",
            "echo cd",
            "cdx",
        ] {
            assert_eq!(left(&[line]), None, "{line}");
        }
    }
}
