//! A secret in one hidden line, read key by key.
//!
//! dialoguer's own waits for the line the terminal would edit, and that never ends while the terminal is in axi's mode.

use std::io::Write as _;

use dialoguer::theme::Theme;

use super::choose::in_rows;
use super::open::{Dialog, NoChoice, leave, open};
use crate::frontend::signals::Signals;
use crate::terminal::{KeyReader, Output, Press, Tty, escape_wait};

/// The longest secret that is read, in bytes: a paste that is a whole file is no key.
const LONGEST: usize = 16 * 1024;

/// What is asked for, and what is typed so far.
#[derive(Debug)]
struct Hidden<'a> {
    question: &'a str,
    typed: String,
}

impl Dialog for Hidden<'_> {
    type Answer = String;

    fn frame(&self, theme: &dyn Theme, columns: usize) -> String {
        let mut row = String::new();
        // The marks of the theme around it take four cells. Writing to a String cannot fail.
        let _ = theme.format_password_prompt(&mut row, &in_rows(self.question, columns.saturating_sub(6), 2));
        row.push(' ');
        row
    }

    fn take(&mut self, press: Press) -> Option<Result<String, NoChoice>> {
        match press {
            Press::Enter => return Some(Ok(std::mem::take(&mut self.typed))),
            Press::Escape => return Some(Err(NoChoice::Escaped)),
            Press::End if self.typed.is_empty() => return Some(Err(NoChoice::Escaped)),
            Press::Interrupt | Press::Gone => return Some(Err(NoChoice::Interrupted)),
            Press::Backspace => drop(self.typed.pop()),
            Press::DeleteLine => self.typed.clear(),
            Press::Character(character) if self.typed.len() < LONGEST => self.typed.push(character),
            Press::Character(_)
            | Press::End
            | Press::Up
            | Press::Down
            | Press::PageUp
            | Press::PageDown
            | Press::Suspend => {}
        }
        None
    }
}

/// Asks for a secret; `None` when nothing was given.
pub(super) fn read_secret(
    question: &str,
    theme: &dyn Theme,
    (tty, signals): (&Tty, &Signals),
    plain: bool,
) -> Option<String> {
    let mut keys = KeyReader::new(escape_wait(true)).with_pastes();
    // The theme ends a question by itself.
    let mut hidden = Hidden { question: question.trim_end_matches([':', '：']), typed: String::new() };
    let given = if plain {
        read_plainly(question, &mut hidden, &mut keys, signals)
    } else {
        open(&mut hidden, &mut keys, theme, (tty, signals))
    };
    let secret = given.ok().filter(|secret| !secret.trim().is_empty());
    if secret.is_some() && !plain {
        leave(|row| theme.format_password_prompt_selection(row, hidden.question));
    }
    secret
}

/// The same without an escape sequence: the question stays where it is.
fn read_plainly(
    question: &str,
    hidden: &mut Hidden<'_>,
    keys: &mut KeyReader,
    signals: &Signals,
) -> Result<String, NoChoice> {
    let mut output = Output::new();
    // A terminal that has gone is noticed by the next read.
    drop(output.write_all(format!("{question} ").as_bytes()));
    let given = loop {
        let press = keys.press();
        signals.hold_still();
        if let Some(given) = press.and_then(|press| hidden.take(press)) {
            break given;
        }
    };
    drop(output.write_all(b"\n"));
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(presses: &[Press]) -> (String, Option<Result<String, NoChoice>>) {
        let mut hidden = Hidden { question: "", typed: String::new() };
        let end = presses.iter().find_map(|press| hidden.take(*press));
        (hidden.typed, end)
    }

    #[test]
    fn every_key_that_ends_a_line_ends_it() {
        let (first, second) = (Press::Character('k'), Press::Character('é'));
        let typed = || "ké".to_owned();
        assert_eq!(read(&[first, second, Press::Enter]).1, Some(Ok(typed())));
        assert_eq!(read(&[first, Press::Escape]).1, Some(Err(NoChoice::Escaped)));
        assert_eq!(read(&[first, Press::Interrupt]).1, Some(Err(NoChoice::Interrupted)));
        assert_eq!(read(&[first, Press::Gone]).1, Some(Err(NoChoice::Interrupted)));
        assert_eq!(read(&[first, second, Press::End]), (typed(), None));
        assert_eq!(read(&[first, Press::Backspace, Press::End]).1, Some(Err(NoChoice::Escaped)));
        assert_eq!(read(&[first, Press::DeleteLine, second]), ("é".to_owned(), None));
    }
}
