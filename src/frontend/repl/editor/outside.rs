//! Opens the line in the person's own editor.

use std::io::{self, Write as _};
use std::process::Command;

use super::line_editor::Foreground;

/// Why the line could not be edited outside.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) command: String,
    pub(super) error: io::Error,
}

/// Writes the line to a file only this person can read, runs the editor on it, and reads it back.
pub(super) fn edit(line: &str, editor: Option<&str>, run: &mut Foreground) -> Result<String, Failed> {
    let command = editor.map(str::trim).filter(|command| !command.is_empty()).unwrap_or("vi");
    edit_with(line, command, run).map_err(|error| Failed { command: command.to_owned(), error })
}

fn edit_with(line: &str, command: &str, run: &mut Foreground) -> io::Result<String> {
    let mut words = shlex::split(command).unwrap_or_default().into_iter();
    let program = words.next().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut file = tempfile::Builder::new().prefix("axi-").suffix(".md").tempfile()?;
    file.write_all(line.as_bytes())?;
    file.flush()?;
    let status = run(Command::new(program).args(words).arg(file.path()))?;
    if !status.success() {
        return Err(io::Error::other(status.to_string()));
    }
    // By name: many editors write a new file and rename it.
    let bytes = std::fs::read(file.path())?;
    let edited = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    Ok(edited.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Foreground {
        Box::new(Command::status)
    }

    #[test]
    fn the_line_goes_through_the_editor() {
        let edited =
            edit("one\ntwo", Some("sh -c 'printf \"%s\\nthree\\n\\n\" \"$(cat \"$0\")\" > \"$0\"'"), &mut run());
        assert_eq!(edited.unwrap(), "one\ntwo\nthree");
    }

    #[test]
    fn failures_are_told() {
        let missing = edit("x", Some("no-such-editor-anywhere --wait"), &mut run()).unwrap_err();
        assert_eq!(
            (missing.command.as_str(), missing.error.kind()),
            ("no-such-editor-anywhere --wait", io::ErrorKind::NotFound)
        );
        assert!(edit("x", Some("false"), &mut run()).is_err());
        assert!(edit("x", Some("'unbalanced"), &mut run()).is_err());
    }
}
