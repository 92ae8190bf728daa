//! dialoguer, wrapped: the only place that asks a person in the middle of things.
//!
//! What is asked may quote a server, a file or an argument: it is sanitised here, whoever asks.
//! Each prompt runs in the baseline mode of the terminal, erases itself, and leaves one line. Only dialoguer's themes
//! are used: its prompts read keys and lines as a terminal in its usual mode has them.

use std::io::{BufRead as _, Write};
use std::rc::Rc;

use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};

use super::choose::{Menu, choose, named};
use super::open::{NoChoice, columns, leave, one_row, open};
use super::search::{Preview, Search, name};
use super::secret::read_secret;
use super::words::read_words;
use crate::frontend::signals::Signals;
use crate::terminal::width::{ends, width};
use crate::terminal::{KeyReader, Output, Size, Tty, escape_wait, sanitize, sanitize_line};

/// So many choices have a digit each; more are searched.
const DIGITS: usize = 9;
/// A longer choice is cut: the others have to be seen beside it.
const MOST_ROWS: usize = 3;
/// Cells that dialoguer's marks take beside a choice.
const MARKS: usize = 6;

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
        self.pick_one(question, items).ok()
    }

    /// The same, telling how they would not.
    ///
    /// # Errors
    /// [`NoChoice`].
    pub fn pick_one(&self, question: &str, items: &[String]) -> Result<usize, NoChoice> {
        let question = &sanitize(question);
        let items: Vec<String> = items.iter().map(|item| sanitize_line(item).into_owned()).collect();
        if self.plain {
            return self.pick_number(question, &items).ok_or(NoChoice::Escaped);
        }
        if items.len() <= DIGITS {
            let room = MOST_ROWS * (columns() - MARKS).max(16);
            let items = items.iter().map(|item| one_row(item, room));
            let items: Vec<(char, String)> = ('1'..='9').zip(items).collect();
            return self.decide(question, "", &items);
        }
        self.search(question, &items, None)
    }

    /// The same, with details of the selected item.
    #[must_use]
    pub fn pick_previewed(&self, question: &str, items: &[String], preview: Preview<'_>) -> Option<usize> {
        let question = &sanitize(question);
        let items: Vec<String> = items.iter().map(|item| sanitize_line(item).into_owned()).collect();
        if self.plain {
            self.pick_number(question, &items)
        } else {
            self.search(question, &items, Some(preview)).ok()
        }
    }

    /// Lets the person find one of many items.
    fn search(&self, question: &str, items: &[String], preview: Option<Preview<'_>>) -> Result<usize, NoChoice> {
        let theme = self.theme();
        let mut keys = KeyReader::new(escape_wait(true));
        let found = self.with_tty(|tty| {
            if keys.discard() {
                return Some(Err(NoChoice::Interrupted));
            }
            let rows = usize::from(Size::of_terminal(None, None).rows);
            let mut search = Search::new(question, items, rows, preview);
            Some(open(&mut search, &mut keys, theme.as_ref(), (tty, &self.signals)))
        });
        let index = found.unwrap_or(Err(NoChoice::Interrupted))?;
        // What was said of it has been read; the name alone stays.
        let room = columns().saturating_sub(width(question) + MARKS).max(16);
        let chosen = ends(name(items[index].trim()), room);
        leave(|row| theme.format_select_prompt_selection(row, question, &chosen));
        Ok(index)
    }

    /// Asks for a secret without echo; `None` when nothing was given.
    #[must_use]
    pub fn secret(&self, question: &str) -> Option<String> {
        let (theme, question) = (self.theme(), &sanitize(question));
        self.with_tty(|tty| read_secret(question, theme.as_ref(), (tty, &self.signals), self.plain))
    }

    /// Asks on the terminal in axi's mode: the one that is held, or for as long as this takes.
    fn with_tty<T>(&self, ask: impl FnOnce(&Tty) -> Option<T>) -> Option<T> {
        if let Some(tty) = self.tty.as_deref() {
            return ask(tty);
        }
        let tty = Tty::take().ok()?;
        tty.keep_plain(self.plain);
        ask(&tty)
    }

    /// Asks for a line of words; `None` when they would not.
    #[must_use]
    pub fn feedback(&self, question: &str) -> Option<String> {
        let question = &sanitize_line(question);
        if self.plain {
            return self.read_line(&format!("{question} "));
        }
        read_words(question, self.color, || self.suspend()).ok().flatten()
    }

    /// Stops this job as Ctrl+Z does, and returns when it goes on.
    pub(super) fn suspend(&self) {
        if let Some(Err(error)) = self.tty.as_ref().map(|tty| tty.suspend()) {
            tracing::warn!(%error, "the terminal did not come back");
        }
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

impl Terminal {
    /// Lets the person choose by arrow, number or letter, the first at Enter.
    ///
    /// # Errors
    /// [`NoChoice`] when they would not.
    pub fn decide(&self, prompt: &str, hint: &str, items: &[(char, String)]) -> Result<usize, NoChoice> {
        self.decide_from(prompt, hint, items, 0)
    }

    /// The same with another choice at Enter.
    ///
    /// # Errors
    /// As [`Terminal::decide`].
    pub fn decide_from(
        &self,
        prompt: &str,
        hint: &str,
        items: &[(char, String)],
        start: usize,
    ) -> Result<usize, NoChoice> {
        let (prompt, hint) = (prompt.to_owned(), hint.to_owned());
        self.open(Menu { prompt, hint, items: items.to_vec(), start, leaves_answer: true })
    }

    /// Opens a menu, as this terminal can show one.
    ///
    /// # Errors
    /// [`NoChoice`] when nothing was chosen.
    pub(super) fn open(&self, menu: Menu) -> Result<usize, NoChoice> {
        let menu = menu.sanitized();
        if self.plain {
            return self.choose_by_line(&menu.asks(), &menu.items).ok_or(NoChoice::Escaped);
        }
        choose(&menu, self.theme().as_ref(), self.tty.as_deref(), &self.signals)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cut_where_a_character_ends() {
        assert_eq!(one_row("short", 16), "short");
        assert_eq!(one_row("20260101-101010 上海的天气", 20), "20260101-101010 上…");
    }
}
