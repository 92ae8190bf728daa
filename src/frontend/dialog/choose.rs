//! A menu of a few choices, drawn by dialoguer's theme, with keys of our own.
//!
//! dialoguer's `Select` has no letters, takes space and j for keys, leaves at q, takes an arrow that arrives in two
//! pieces for ESC, and counts bytes of an item for cells. Here arrows and Enter work, digits, and each choice's own
//! letter; ESC and Ctrl+C leave; anything else is nothing.

use std::io::Write as _;
use std::time::Duration;

use dialoguer::theme::Theme;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::frontend::signals::Signals;
use crate::terminal::width::{cluster_width, width as width_of};
use crate::terminal::{KeyReader, Output, Press, Size, Tty, escape_wait};

/// How long a signal may take to tell what it ends, and how often that is looked at.
const SIGNAL_STEP: Duration = Duration::from_millis(20);
const SIGNAL_STEPS: u32 = 10;
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
}

impl Menu {
    /// The question, and what ESC does.
    pub(super) fn asks(&self) -> String {
        if self.hint.is_empty() { self.prompt.clone() } else { format!("{} ({})", self.prompt, self.hint) }
    }
}

/// Why nothing was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoChoice {
    /// ESC, which the question may have said what it does.
    Escaped,
    /// Ctrl+C, a key to stop that was pressed before the question was there, a signal, or a terminal that has gone.
    Interrupted,
}

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Stay,
    Move(usize),
    Take(usize),
    Leave(NoChoice),
}

/// Shows a menu until something is chosen. Leaves one row that says what was.
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
    let mut presses = KeyReader::new(escape_wait(true)).one_at_a_time();
    let mut output = Output::new();
    if presses.discard() {
        return Err(NoChoice::Interrupted);
    }
    let mut chosen = menu.start;
    let mut painted = Painted::default();
    let mut woken = 0;
    let picked = loop {
        painted.paint(menu, theme, chosen, &mut output);
        let press = presses.press_within((woken > 0).then_some(SIGNAL_STEP));
        signals.hold_still();
        let Some(press) = press else {
            // A signal that stops the turn is told by another thread, a moment later.
            if signals.is_stopped() {
                break Err(NoChoice::Interrupted);
            }
            woken = if woken == 0 { SIGNAL_STEPS } else { woken - 1 };
            continue;
        };
        if press == Press::Suspend {
            painted.erase(&mut output);
            if let Err(error) = tty.suspend() {
                tracing::warn!(%error, "the terminal did not come back");
            }
            continue;
        }
        match step(press, chosen, &menu.items) {
            Step::Stay => {}
            Step::Move(index) => chosen = index,
            Step::Take(index) => break Ok(index),
            Step::Leave(why) => break Err(why),
        }
    };
    painted.erase(&mut output);
    if let Ok(index) = picked {
        report(menu, theme, index, &mut output);
    }
    picked
}

fn step(press: Press, chosen: usize, items: &[(char, String)]) -> Step {
    let count = items.len();
    match press {
        Press::Up => Step::Move((chosen + count - 1) % count.max(1)),
        Press::Down => Step::Move((chosen + 1) % count.max(1)),
        Press::Enter => Step::Take(chosen),
        Press::Escape => Step::Leave(NoChoice::Escaped),
        Press::Interrupt | Press::Gone => Step::Leave(NoChoice::Interrupted),
        Press::Character(character) => named(character, items).map_or(Step::Stay, Step::Take),
        Press::Backspace | Press::Suspend | Press::End => Step::Stay,
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

/// The rows a menu stands on: how many cells each takes.
#[derive(Debug, Default)]
struct Painted {
    cells: Vec<usize>,
    chosen: Option<usize>,
    columns: usize,
}

impl Painted {
    fn paint(&mut self, menu: &Menu, theme: &dyn Theme, chosen: usize, output: &mut Output) {
        let columns = columns();
        if self.chosen == Some(chosen) && self.columns == columns {
            return;
        }
        self.erase(output);
        let mut frame = String::from("\x1b[?25l");
        let prompt = menu.asks();
        // The marks of the theme around it take four cells.
        let rows = in_rows(&prompt, columns.saturating_sub(6), MARK);
        self.cells.extend(rows.lines().map(|row| width_of(row) + 4));
        add(&mut frame, |text| theme.format_select_prompt(text, &rows));
        for (index, (letter, text)) in menu.items.iter().enumerate() {
            let rows = in_rows(&format!("{letter}  {text}"), columns.saturating_sub(MARK + 1), MARK + 3);
            self.cells.extend(rows.lines().map(|row| width_of(row) + MARK));
            add(&mut frame, |text| theme.format_select_prompt_item(text, &rows, index == chosen));
        }
        (self.chosen, self.columns) = (Some(chosen), columns);
        // A terminal that has gone is noticed by the next read.
        drop(output.write_all(frame.replace('\n', "\r\n").as_bytes()));
    }

    /// Takes the rows back, however the terminal has wrapped them since.
    fn erase(&mut self, output: &mut Output) {
        let columns = columns();
        let rows: usize = self.cells.drain(..).map(|cells| cells.max(1).div_ceil(columns)).sum();
        self.chosen = None;
        let up = if rows > 0 { format!("\x1b[{rows}A") } else { String::new() };
        drop(output.write_all(format!("{up}\r\x1b[J\x1b[?25h").as_bytes()));
    }
}

/// Leaves one row: the question and its answer.
fn report(menu: &Menu, theme: &dyn Theme, index: usize, output: &mut Output) {
    let Some((_, text)) = menu.items.get(index) else { return };
    let room = columns().saturating_sub(width_of(&menu.prompt) + 7);
    let answer = in_rows(text, room.max(8), 0);
    let first = answer.lines().next().unwrap_or_default();
    let cut = if first.len() < answer.trim_end().len() { "…" } else { "" };
    let mut row = String::new();
    add(&mut row, |text| theme.format_select_prompt_selection(text, &menu.prompt, &format!("{first}{cut}")));
    drop(output.write_all(row.replace('\n', "\r\n").as_bytes()));
}

fn add(frame: &mut String, format: impl Fn(&mut String) -> std::fmt::Result) {
    // Writing to a String cannot fail.
    let _ = format(frame);
    frame.push('\n');
}

fn columns() -> usize {
    usize::from(Size::of_terminal(None, None).columns).max(16)
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
