//! A command of a script, as it ran: what surrounds it, and what replaces its secrets.

use std::fmt::Write as _;

use super::script_forms::comment;
use crate::approval::command::judge;
use crate::approval::{Surroundings, Unparsed, is_builtin};
use crate::secret::placeholders;

/// Has shellcheck leave the next command alone: it stands as it ran (shellcheck 0.8 and newer).
const SILENT: &str = "# shellcheck disable=all\n";

/// The variables that replace the secrets.
#[derive(Default)]
pub(super) struct Secrets {
    /// The number of each stand-in. Every plain mark gets its own number: it does not say which secret it was.
    known: Vec<(String, usize)>,
    pub(super) count: usize,
}

impl Secrets {
    fn number(&mut self, placeholder: &str) -> usize {
        if placeholder != crate::secret::MARK
            && let Some((_, number)) = self.known.iter().find(|(known, _)| known == placeholder)
        {
            return *number;
        }
        self.count += 1;
        self.known.push((placeholder.to_owned(), self.count));
        self.count
    }
}

/// Writes a command as it ran, with variables for what was taken out: in a shell of its own without the script's strict
/// options, unless these make no difference. Where no variable can stand for a secret nothing is run.
pub(super) fn command(line: &str, secrets: &mut Secrets, hidden: &str, is_checked: bool) -> String {
    let line = line.trim_end();
    let is_closed = closes(line);
    let line = match with_variables(line, secrets) {
        Some(written) if is_closed || written == line => written,
        Some(_) | None => {
            let lines = std::iter::once(hidden).chain(line.lines());
            return lines.map(comment).collect::<String>().trim_end().to_owned();
        }
    };
    let silent = if is_checked { SILENT } else { "" };
    if !is_closed {
        return format!("{silent}bash -c '{}'", line.replace('\'', r"'\''"));
    }
    match (is_plain(&line), is_beyond_reproach(&line)) {
        (true, true) => line,
        (true, false) => format!("{silent}{line}"),
        (false, _) => format!("{silent}(\nset +eu +o pipefail\n{line}\n)"),
    }
}

/// Tells whether a line ends where it ends: nothing in it takes what is written below it for its own.
fn closes(line: &str) -> bool {
    let read = judge(line, &Surroundings::default());
    let is_read = |why: &Unparsed| !matches!(why, Unparsed::Syntax | Unparsed::Characters | Unparsed::TooLong);
    !line.ends_with('\\') && read.unparsed.iter().all(|(_, why)| is_read(why))
}

/// Tells whether shellcheck says nothing about a plain line: no quotes and patterns, no program with pitfalls.
fn is_beyond_reproach(line: &str) -> bool {
    const PITFALLS: &[&str] = &[
        "[", "doas", "egrep", "expr", "fgrep", "find", "printf", "rm", "su", "sudo", "tempfile", "test", "time",
        "tr", "which",
    ];
    let program = line.split(' ').next().unwrap_or_default();
    !PITFALLS.contains(&program)
        // A mode for a directory that is made with those above it is for the last one only.
        && ![" -m", " -pm"].iter().any(|flag| line.contains(flag))
        && line.chars().all(|letter| letter.is_ascii_alphanumeric() || " _./+-,:@%".contains(letter))
}

/// Builtins of bash that leave nothing behind in the shell.
const PASSING: &[&str] = &["echo", "printf", "test", "[", "true", "false", "pwd", "type", "kill"];

/// Tells whether a line is one program with plain words: it changes nothing of the shell, and no option of the shell
/// changes it.
fn is_plain(line: &str) -> bool {
    let program = line.split(' ').next().unwrap_or_default();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_./+-".contains(letter);
    let plain = |letter: char| is_word(letter) || " =,:@%*?~'\"".contains(letter) || !letter.is_ascii();
    !program.is_empty()
        && program.chars().all(is_word)
        && (PASSING.contains(&program) || !is_builtin(program) && !is_keyword(program))
        && line.chars().all(plain)
}

/// Tells whether this is a word of bash's grammar (bash 5.2, `compgen -k`).
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &str =
        " if then else elif fi case esac for select while until do done in function time { } ! [[ ]] coproc ";
    KEYWORDS.split_whitespace().any(|known| known == word)
}

/// Puts variables for what was taken out of a line; `None` where the quoting around it cannot be told for sure.
fn with_variables(line: &str, secrets: &mut Secrets) -> Option<String> {
    let found = placeholders(line);
    if found.is_empty() {
        return Some(line.to_owned());
    }
    // In each of these places quotes have another meaning.
    if ["<<", "$(", "`", "$'", "$\"", "#"].iter().any(|odd| line.contains(odd)) {
        return None;
    }
    let mut written = String::new();
    let (mut quote, mut escaped, mut at) = (None, false, 0);
    for range in found {
        for character in line[at..range.start].chars() {
            match (quote, character) {
                _ if escaped => escaped = false,
                (None | Some('"'), '\\') => escaped = true,
                (None, '\'' | '"') => quote = Some(character),
                (Some(open), close) if open == close => quote = None,
                _ => {}
            }
        }
        written.push_str(&line[at..range.start]);
        if escaped {
            return None;
        }
        let number = secrets.number(&line[range.clone()]);
        match quote {
            None => write!(written, "\"${{SECRET_{number}}}\"").ok()?,
            Some('"') => write!(written, "${{SECRET_{number}}}").ok()?,
            Some(_) => write!(written, "'\"${{SECRET_{number}}}\"'").ok()?,
        }
        at = range.end;
    }
    written.push_str(&line[at..]);
    Some(written)
}
