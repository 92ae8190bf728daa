//! A short answer on the row of its question: read key by key, so that ESC and Ctrl+C are answers too.

use std::io::Write as _;

use super::open::NoChoice;
use super::terminal::Terminal;
use crate::terminal::width::width;
use crate::terminal::{KeyReader, Press, Tty, escape_wait};

/// The longest answer, in characters: it stays on its row.
const LONGEST: usize = 12;

/// What a key does to the answer so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Stay,
    Add(char),
    /// Erases the last character, which is this many cells wide.
    Take(usize),
    Done,
    Leave(NoChoice),
}

impl Terminal {
    /// Reads an answer behind a question that `ask` writes to standard error, once more when axi was stopped meanwhile.
    ///
    /// # Errors
    /// [`NoChoice`] when the person gave none.
    pub fn short_answer(&self, ask: impl Fn()) -> Result<String, NoChoice> {
        if self.plain {
            ask();
            let line = self.read_line("").ok_or(NoChoice::Escaped)?;
            return if line.contains('\x1b') { Err(NoChoice::Escaped) } else { Ok(line) };
        }
        let own;
        let tty = if let Some(tty) = self.tty.as_deref() {
            tty
        } else {
            own = Tty::take().map_err(|_| NoChoice::Interrupted)?;
            // Nothing of it is changed but the mode: there is nothing else to undo.
            own.keep_plain(true);
            &own
        };
        // Not earlier: while the terminal edits lines itself, keys arrive in another form.
        ask();
        let mut keys = KeyReader::new(escape_wait(true));
        let mut answer = String::new();
        loop {
            let Some(press) = keys.press() else {
                self.signals.hold_still();
                if self.signals.is_stopped() {
                    echo("\r\n");
                    return Err(NoChoice::Interrupted);
                }
                continue;
            };
            if press == Press::Suspend {
                echo("\r\n");
                if let Err(error) = tty.suspend() {
                    tracing::warn!(%error, "the terminal did not come back");
                }
                ask();
                echo(&answer);
                continue;
            }
            match step(press, &answer) {
                Step::Stay => {}
                Step::Add(character) => {
                    answer.push(character);
                    echo(character.encode_utf8(&mut [0; 4]));
                }
                Step::Take(cells) => {
                    answer.pop();
                    echo(&"\x08 \x08".repeat(cells));
                }
                Step::Done => {
                    echo("\r\n");
                    return Ok(answer);
                }
                Step::Leave(why) => {
                    echo("\r\n");
                    return Err(why);
                }
            }
        }
    }
}

fn step(press: Press, answer: &str) -> Step {
    match press {
        Press::Enter => Step::Done,
        // Where the terminal edits lines, Ctrl+D is the end of input: no answer.
        Press::Escape | Press::End => Step::Leave(NoChoice::Escaped),
        Press::Interrupt | Press::Gone => Step::Leave(NoChoice::Interrupted),
        Press::Character(character) if answer.chars().count() < LONGEST => Step::Add(character),
        Press::Backspace => {
            let last = answer.chars().next_back();
            last.map_or(Step::Stay, |last| Step::Take(width(last.encode_utf8(&mut [0; 4]))))
        }
        Press::Character(_)
        | Press::Up
        | Press::Down
        | Press::PageUp
        | Press::PageDown
        | Press::DeleteLine
        | Press::Suspend => Step::Stay,
    }
}

/// The question is on standard error, and so is what is typed. A terminal that has gone is noticed by the next read.
fn echo(text: &str) {
    let mut error = std::io::stderr().lock();
    drop(error.write_all(text.as_bytes()).and_then(|()| error.flush()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_answer_and_two_keys_are_none() {
        assert_eq!(step(Press::Character('y'), ""), Step::Add('y'));
        assert_eq!(step(Press::Character('y'), "123456789012"), Step::Stay);
        assert_eq!(step(Press::Backspace, "y是"), Step::Take(2));
        assert_eq!(step(Press::Backspace, ""), Step::Stay);
        assert_eq!(step(Press::Enter, "y"), Step::Done);
        assert_eq!(step(Press::Escape, "y"), Step::Leave(NoChoice::Escaped));
        assert_eq!(step(Press::End, ""), Step::Leave(NoChoice::Escaped));
        assert_eq!(step(Press::Interrupt, ""), Step::Leave(NoChoice::Interrupted));
        assert_eq!(step(Press::Up, ""), Step::Stay);
    }
}
