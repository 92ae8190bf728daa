//! Reads a line on a terminal that can do nothing: with the terminal's own line editing, no colours, no menus.

use crate::frontend::repl::editor::ReadOutcome;
use std::io::{self, BufRead, Write};

/// Writes the prompt and reads a line; a trailing `\` asks for another.
///
/// The terminal must be in its usual mode, in which it edits lines itself.
///
/// # Errors
/// What reading and writing give.
pub(super) fn read_line(
    input: &mut impl BufRead,
    output: &mut impl Write,
    prompt: &str,
) -> io::Result<ReadOutcome> {
    let mut message = String::new();
    let mut sign = prompt;
    loop {
        output.write_all(sign.as_bytes())?;
        output.flush()?;
        let mut bytes = Vec::new();
        let read = input.read_until(b'\n', &mut bytes)?;
        let row = String::from_utf8_lossy(&bytes);
        let row = row.trim_end_matches(['\n', '\r']);
        match row.strip_suffix('\\').filter(|row| !row.ends_with('\\')) {
            Some(row) if read > 0 => {
                message.push_str(row);
                message.push('\n');
                sign = "> ";
            }
            Some(_) | None => {
                message.push_str(row);
                return Ok(match message.as_str() {
                    "" if read == 0 => ReadOutcome::End,
                    "?" => ReadOutcome::Help,
                    _ => ReadOutcome::Line(message),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &str) -> (Vec<ReadOutcome>, String) {
        let mut input = input.as_bytes();
        let mut output = Vec::new();
        let mut outcomes = Vec::new();
        loop {
            let outcome = read_line(&mut input, &mut output, "axi> ").unwrap();
            let last = outcome == ReadOutcome::End;
            outcomes.push(outcome);
            if last {
                return (outcomes, String::from_utf8(output).unwrap());
            }
        }
    }

    #[test]
    fn lines_are_read_until_the_end() {
        let (outcomes, output) = read("hello\r\none\\\ntwo\n?\nC:\\\\\n\nlast");
        let line = |text: &str| ReadOutcome::Line(text.to_owned());
        let expected = [
            line("hello"),
            line("one\ntwo"),
            ReadOutcome::Help,
            line("C:\\\\"),
            line(""),
            line("last"),
            ReadOutcome::End,
        ];
        assert_eq!(outcomes, expected);
        assert_eq!(output, "axi> axi> > axi> axi> axi> axi> axi> ");
    }
}
