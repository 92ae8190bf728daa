//! dialoguer, wrapped: the only place that asks a person in the middle of things.
//!
//! Each prompt runs in the baseline mode of the terminal (in raw mode dialoguer's rows would form stairs), erases
//! itself, and leaves one line. dialoguer hides the cursor and leaves it hidden when it is interrupted
//! (console-rs/dialoguer#77): it is always shown again here.

use std::io::{BufRead as _, Read as _, Write};
use std::rc::Rc;

use dialoguer::console::Term;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{FuzzySelect, Password};
use unicode_segmentation::UnicodeSegmentation as _;

use super::choose::NoChoice;
use super::choose::{Menu, choose, in_rows, named};
use super::words::read_words;
use crate::frontend::signals::Signals;
use crate::terminal::{Output, Size, Tty, sanitize_line};

/// So many choices have a digit each; more are searched.
const DIGITS: usize = 9;
/// A longer choice is cut: the others have to be seen beside it.
const MOST_ROWS: usize = 3;

/// Asks on the terminal.
#[derive(Debug, Clone)]
pub struct Terminal {
    /// Whether colours may be used.
    pub color: bool,
    /// Whether the terminal gets no escape sequence: choices are numbered, and lines are read as it edits them.
    pub plain: bool,
    /// The terminal, when it is not in the person's own mode.
    pub tty: Option<Rc<Tty>>,
    /// What may end axi while it asks: a signal also ends dialoguer's wait for a key.
    pub signals: Signals,
}

impl Terminal {
    fn theme(&self) -> Box<dyn Theme> {
        if self.color { Box::new(ColorfulTheme::default()) } else { Box::new(SimpleTheme) }
    }

    /// Lets the person pick one of `items`; `None` when they would not.
    #[must_use]
    pub fn pick(&self, question: &str, items: &[String]) -> Option<usize> {
        let items: Vec<String> = items.iter().map(|item| sanitize_line(item).into_owned()).collect();
        if self.plain {
            return self.pick_number(question, &items);
        }
        if items.len() <= DIGITS {
            let items = items.iter().map(|item| one_row(item, MOST_ROWS * room()));
            let items: Vec<(char, String)> = ('1'..='9').zip(items).collect();
            return self.decide(question, "", &items).ok();
        }
        let items: Vec<String> = items.iter().map(|item| one_row(item, room())).collect();
        let term = Term::stdout();
        let theme = self.theme();
        let select =
            FuzzySelect::with_theme(theme.as_ref()).with_prompt(in_rows(question, room(), 2)).items(&items);
        let picked = select.default(0).max_length(12).interact_on_opt(&term);
        self.signals.hold_still();
        show_cursor(&term);
        picked.ok().flatten()
    }

    /// Asks for a secret without echo; `None` when nothing was given.
    #[must_use]
    pub fn secret(&self, question: &str) -> Option<String> {
        if self.plain && self.tty.is_some() {
            return read_hidden(question);
        }
        let term = Term::stdout();
        let theme = self.theme();
        let password = Password::with_theme(theme.as_ref()).with_prompt(question).allow_empty_password(true);
        let given = password.interact_on(&term);
        self.signals.hold_still();
        show_cursor(&term);
        given.ok().filter(|secret| !secret.trim().is_empty())
    }

    pub(super) fn feedback(&self, question: &str) -> Option<String> {
        if self.plain {
            return self.read_line(&format!("{question} "));
        }
        read_words(question, self.color).ok().flatten()
    }

    /// Asks for the number of an item until there is one; ESC, or the end of input, is none.
    fn pick_number<T: AsRef<str>>(&self, question: &str, items: &[T]) -> Option<usize> {
        let rows = items.iter().enumerate().map(|(index, item)| format!("{}) {}\n", index + 1, item.as_ref()));
        let mut prompt = format!("{question}\n{}1-{}: ", rows.collect::<String>(), items.len());
        loop {
            let answer = self.read_line(&prompt)?;
            if answer.contains('\x1b') {
                return None;
            }
            match answer.trim().parse::<usize>() {
                Ok(number) if (1..=items.len()).contains(&number) => return Some(number - 1),
                Ok(_) | Err(_) => prompt = format!("1-{}: ", items.len()),
            }
        }
    }

    /// Reads a line as the terminal edits it; `None` at the end of input.
    pub(super) fn read_line(&self, prompt: &str) -> Option<String> {
        let _lent = self.tty.as_ref().map(|tty| tty.lend());
        Output::new().write_all(prompt.as_bytes()).ok()?;
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_until(b'\n', &mut bytes).ok()?;
        (read > 0).then(|| String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned())
    }
}

/// Reads a line in the baseline mode, which shows nothing of it; `None` when it was broken off, or empty.
fn read_hidden(question: &str) -> Option<String> {
    Output::new().write_all(format!("{question} ").as_bytes()).ok()?;
    let mut typed = Vec::new();
    let ended = loop {
        match std::io::stdin().lock().bytes().next() {
            Some(Ok(b'\r' | b'\n')) => break true,
            Some(Ok(0x03 | 0x04 | 0x1b) | Err(_)) | None => break false,
            Some(Ok(0x7f | 0x08)) => drop(typed.pop()),
            Some(Ok(byte)) => typed.push(byte),
        }
    };
    Output::new().write_all(b"\n").ok()?;
    String::from_utf8(typed).ok().filter(|secret| ended && !secret.trim().is_empty())
}

impl Terminal {
    /// Lets the person choose by arrow, number or letter, the first at Enter.
    ///
    /// # Errors
    /// [`NoChoice`] when they would not.
    pub fn decide(&self, prompt: &str, hint: &str, items: &[(char, String)]) -> Result<usize, NoChoice> {
        self.open(&Menu { prompt: prompt.to_owned(), hint: hint.to_owned(), items: items.to_vec(), start: 0 })
    }

    /// Opens a menu, as this terminal can show one.
    ///
    /// # Errors
    /// [`NoChoice`] when nothing was chosen.
    pub(super) fn open(&self, menu: &Menu) -> Result<usize, NoChoice> {
        if self.plain {
            return self.choose_by_line(&menu.asks(), &menu.items).ok_or(NoChoice::Escaped);
        }
        choose(menu, self.theme().as_ref(), self.tty.as_deref(), &self.signals)
    }

    /// Asks for the number or letter of a choice until there is one; ESC, or the end of input, is none.
    fn choose_by_line(&self, question: &str, items: &[(char, String)]) -> Option<usize> {
        let rows = items.iter().enumerate().map(|(at, (letter, text))| format!("{}) {text} ({letter})\n", at + 1));
        let letters: Vec<String> = items.iter().map(|(letter, _)| letter.to_string()).collect();
        let again = format!("1-{}, {}: ", items.len(), letters.join("/"));
        let mut prompt = format!("{question}\n{}{again}", rows.collect::<String>());
        loop {
            let answer = self.read_line(&prompt)?;
            if answer.contains('\x1b') {
                return None;
            }
            let mut characters = answer.trim().chars();
            // One key is an answer, a word is not: it may have been meant for something else.
            if let (Some(character), None) = (characters.next(), characters.next())
                && let Some(index) = named(character, items)
            {
                return Some(index);
            }
            prompt.clone_from(&again);
        }
    }
}

/// How long a row of a menu may be, in bytes: what is left of the terminal's width beside dialoguer's marks.
fn room() -> usize {
    usize::from(Size::of_terminal(None, None).columns).saturating_sub(6).max(16)
}

/// Cuts a text to one row of at most `room` bytes.
fn one_row(text: &str, room: usize) -> String {
    const ELLIPSIS: &str = "…";
    if text.len() <= room {
        return text.to_owned();
    }
    let mut end = 0;
    for (start, cluster) in text.grapheme_indices(true) {
        if start + cluster.len() + ELLIPSIS.len() > room {
            break;
        }
        end = start + cluster.len();
    }
    format!("{}{ELLIPSIS}", &text[..end])
}

fn show_cursor(term: &Term) {
    // A terminal that has gone shows nothing anyway.
    drop(term.show_cursor());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cut_where_a_character_ends() {
        assert_eq!(one_row("short", 16), "short");
        assert_eq!(one_row("20260101-101010 上海的天气", 24), "20260101-101010 上…");
    }
}
