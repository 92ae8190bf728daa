//! A menu of a few choices, drawn by dialoguer's theme, with keys of our own.
//!
//! dialoguer's `Select` has no letters, takes space and j for keys, leaves at q, takes an arrow that arrives in two
//! pieces for ESC, and counts bytes of an item for cells. Here arrows and Enter work, digits, and each choice's own
//! letter; ESC, Ctrl+C and Ctrl+D leave; anything else is nothing.

use dialoguer::theme::Theme;
use unicode_segmentation::UnicodeSegmentation as _;

use super::open::{Dialog, NoChoice, add, columns, leave, open};
use crate::frontend::signals::Signals;
use crate::terminal::width::{cluster_width, width as width_of};
use crate::terminal::{KeyReader, Press, Tty, escape_wait, sanitize};

/// Cells in front of an item: the theme's mark.
const MARK: usize = 2;

/// What can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Menu {
    /// The question.
    pub(super) prompt: String,
    /// What ESC does; empty where that is plain.
    pub(super) hint: String,
    /// The choices, each with its letter.
    pub(super) items: Vec<(char, String)>,
    /// Which one Enter takes at first.
    pub(super) start: usize,
    /// Whether a row with the choice stays on the screen; if not, the caller prints one.
    pub(super) leaves_answer: bool,
}

impl Menu {
    /// The same with nothing in it that a terminal obeys.
    pub(super) fn sanitized(self) -> Self {
        let items = self.items.into_iter().map(|(letter, text)| (letter, sanitize(&text).into_owned()));
        let (prompt, hint) = (sanitize(&self.prompt).into_owned(), sanitize(&self.hint).into_owned());
        Self { prompt, hint, items: items.collect(), ..self }
    }

    /// The question, and what ESC does.
    pub(super) fn asks(&self) -> String {
        if self.hint.is_empty() { self.prompt.clone() } else { format!("{} ({})", self.prompt, self.hint) }
    }
}

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Stay,
    Move(usize),
    Take(usize),
    Leave(NoChoice),
}

/// Shows a menu until something is chosen. Leaves one row that says what was, where the menu does.
///
/// # Errors
/// [`NoChoice`].
pub(super) fn choose(
    menu: &Menu,
    theme: &dyn Theme,
    tty: Option<&Tty>,
    signals: &Signals,
) -> Result<usize, NoChoice> {
    let own;
    let tty = if let Some(tty) = tty {
        tty
    } else {
        own = Tty::take().map_err(|_| NoChoice::Interrupted)?;
        &own
    };
    let mut keys = KeyReader::new(escape_wait(true)).one_at_a_time();
    if keys.discard() {
        return Err(NoChoice::Interrupted);
    }
    let mut choosing = Choosing { menu, chosen: menu.start };
    let index = open(&mut choosing, &mut keys, theme, (tty, signals))?;
    if menu.leaves_answer {
        report(menu, theme, index);
    }
    Ok(index)
}

/// A menu, and which choice Enter takes now.
struct Choosing<'a> {
    menu: &'a Menu,
    chosen: usize,
}

impl Dialog for Choosing<'_> {
    type Answer = usize;

    fn frame(&self, theme: &dyn Theme, columns: usize) -> String {
        let mut frame = String::new();
        // The marks of the theme around it take four cells.
        let rows = in_rows(&self.menu.asks(), columns.saturating_sub(6), MARK);
        add(&mut frame, |text| theme.format_select_prompt(text, &rows));
        for (index, (letter, text)) in self.menu.items.iter().enumerate() {
            let rows = in_rows(&format!("{letter}  {text}"), columns.saturating_sub(MARK + 1), MARK + 3);
            add(&mut frame, |text| theme.format_select_prompt_item(text, &rows, index == self.chosen));
        }
        frame
    }

    fn take(&mut self, press: Press) -> Option<Result<usize, NoChoice>> {
        match step(press, self.chosen, &self.menu.items) {
            Step::Stay => None,
            Step::Move(index) => {
                self.chosen = index;
                None
            }
            Step::Take(index) => Some(Ok(index)),
            Step::Leave(why) => Some(Err(why)),
        }
    }
}

fn step(press: Press, chosen: usize, items: &[(char, String)]) -> Step {
    let count = items.len();
    match press {
        Press::PageUp => Step::Move(0),
        Press::PageDown => Step::Move(count.saturating_sub(1)),
        Press::Up => Step::Move((chosen + count - 1) % count.max(1)),
        Press::Down => Step::Move((chosen + 1) % count.max(1)),
        Press::Enter => Step::Take(chosen),
        Press::Escape | Press::End => Step::Leave(NoChoice::Escaped),
        Press::Interrupt | Press::Gone => Step::Leave(NoChoice::Interrupted),
        Press::Character(character) => named(character, items).map_or(Step::Stay, Step::Take),
        Press::Backspace | Press::DeleteLine | Press::Suspend => Step::Stay,
    }
}

/// The choice a letter or digit stands for. Wide letters of an input method are the letters they look like.
pub(super) fn named(character: char, items: &[(char, String)]) -> Option<usize> {
    let narrow = match character {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(character) - 0xFEE0).unwrap_or(character),
        other => other,
    };
    let letter = narrow.to_ascii_lowercase();
    let number = narrow.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
    items
        .iter()
        .position(|(own, _)| *own == letter)
        .or_else(|| number.and_then(|number| number.checked_sub(1)).filter(|index| *index < items.len()))
}

/// Leaves one row: the question and its answer.
fn report(menu: &Menu, theme: &dyn Theme, index: usize) {
    let Some((_, text)) = menu.items.get(index) else { return };
    let room = columns().saturating_sub(width_of(&menu.prompt) + 7);
    let answer = in_rows(text, room.max(8), 0);
    let first = answer.lines().next().unwrap_or_default();
    let cut = if first.len() < answer.trim_end().len() { "…" } else { "" };
    leave(|row| theme.format_select_prompt_selection(row, &menu.prompt, &format!("{first}{cut}")));
}

/// Breaks a text into rows of at most `room` cells, at blanks where there are some; rows after the first are set in.
pub(super) fn in_rows(text: &str, room: usize, indent: usize) -> String {
    let room = room.max(10);
    let indent = indent.min(room / 2);
    let mut rows = String::new();
    let mut used = 0;
    let break_row = |rows: &mut String, used: &mut usize| {
        rows.truncate(rows.trim_end_matches(' ').len());
        rows.push('\n');
        rows.push_str(&" ".repeat(indent));
        *used = indent;
    };
    for word in text.split_inclusive(' ') {
        let word_width = width_of(word.trim_end());
        // A word that fits no row is cut rather than left alone.
        if used > indent && used + word_width > room && (word_width <= room - indent || used + 8 > room) {
            break_row(&mut rows, &mut used);
        }
        for cluster in word.graphemes(true) {
            let width = cluster_width(cluster);
            if used + width > room && cluster != " " {
                break_row(&mut rows, &mut used);
            }
            if used + width <= room {
                rows.push_str(cluster);
                used += width;
            }
        }
    }
    rows.truncate(rows.trim_end().len());
    rows
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
