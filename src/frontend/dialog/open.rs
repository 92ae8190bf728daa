//! A question on rows of its own: dialoguer's theme paints it, it is read key by key, and its rows are removed when
//! it is answered.

use std::fmt::Write;
use std::io::Write as _;
use std::time::Duration;

use dialoguer::console::strip_ansi_codes;
use dialoguer::theme::Theme;

use crate::frontend::signals::Signals;
use crate::terminal::width::width as width_of;
use crate::terminal::{KeyReader, Line, Output, Press, Size, Tty, cut};

/// How long a signal may take until its effect is known, and how often axi checks.
const SIGNAL_STEP: Duration = Duration::from_millis(20);
const SIGNAL_STEPS: u32 = 10;

/// Why nothing was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoChoice {
    /// ESC; the question may have explained what that does.
    Escaped,
    /// Ctrl+C, a stop key pressed before the question appeared, a signal, or a terminal that is gone.
    Interrupted,
}

/// A question that stands on rows until a key answers it.
pub(super) trait Dialog {
    /// What the person gives.
    type Answer;

    /// The rows, as wide as the terminal at most. A last row without its end has the cursor behind it.
    fn frame(&self, theme: &dyn Theme, columns: usize) -> String;

    /// Applies a key; tells when that was the last one. [`Press::Suspend`] never comes here.
    fn take(&mut self, press: Press) -> Option<Result<Self::Answer, NoChoice>>;
}

/// Shows a question until it is answered, and removes its rows.
///
/// # Errors
/// [`NoChoice`].
pub(super) fn open<D: Dialog>(
    dialog: &mut D,
    keys: &mut KeyReader,
    theme: &dyn Theme,
    (tty, signals): (&Tty, &Signals),
) -> Result<D::Answer, NoChoice> {
    let (mut output, mut rows, mut woken) = (Output::new(), Rows::default(), 0);
    let answer = loop {
        rows.paint(dialog.frame(theme, columns()), &mut output);
        let press = keys.press_within((woken > 0).then_some(SIGNAL_STEP));
        signals.hold_still();
        match press {
            None => {
                // Another thread reports the signal that stops the turn, a moment later.
                if signals.is_stopped() {
                    break Err(NoChoice::Interrupted);
                }
                woken = if woken == 0 { SIGNAL_STEPS } else { woken - 1 };
            }
            Some(Press::Suspend) => {
                rows.erase(&mut output);
                if let Err(error) = tty.suspend() {
                    tracing::warn!(%error, "the terminal did not come back");
                }
            }
            Some(press) => {
                if press == Press::Interrupt {
                    tty.note_interrupt();
                }
                if let Some(answer) = dialog.take(press) {
                    break answer;
                }
            }
        }
    };
    rows.erase(&mut output);
    answer
}

/// The rows on the terminal, each as its width in cells.
#[derive(Debug, Default)]
struct Rows {
    cells: Vec<usize>,
    frame: String,
    columns: usize,
}

impl Rows {
    /// Paints a frame, unless it stands there already.
    fn paint(&mut self, frame: String, output: &mut Output) {
        let columns = columns();
        if self.frame == frame && self.columns == columns {
            return;
        }
        self.erase(output);
        self.cells.extend(frame.lines().map(|row| width_of(&strip_ansi_codes(row))));
        let hide = if frame.ends_with('\n') { "\x1b[?25l" } else { "" };
        let shown = format!("{hide}{}", frame.replace('\n', "\r\n"));
        (self.frame, self.columns) = (frame, columns);
        // A terminal that has gone is noticed by the next read.
        drop(output.write_all(shown.as_bytes()));
    }

    /// Removes the rows, however the terminal has wrapped them since.
    fn erase(&mut self, output: &mut Output) {
        let columns = columns();
        let rows: usize = self.cells.drain(..).map(|cells| cells.max(1).div_ceil(columns)).sum();
        // The cursor stands in an open row, and below a closed one.
        let rows = if self.frame.ends_with('\n') { rows } else { rows.saturating_sub(1) };
        self.frame.clear();
        let up = if rows > 0 { format!("\x1b[{rows}A") } else { String::new() };
        drop(output.write_all(format!("{up}\r\x1b[J\x1b[?25h").as_bytes()));
    }
}

/// Prints a row that stays: a question and its answer.
pub(super) fn leave(format: impl Fn(&mut dyn Write) -> std::fmt::Result) {
    let mut row = String::new();
    add(&mut row, format);
    drop(Output::new().write_all(row.replace('\n', "\r\n").as_bytes()));
}

/// Adds one of the theme's rows to a frame.
pub(super) fn add(frame: &mut String, format: impl Fn(&mut dyn Write) -> std::fmt::Result) {
    // Writing to a String cannot fail.
    let _ = format(frame);
    frame.push('\n');
}

/// Columns of the terminal.
pub(super) fn columns() -> usize {
    usize::from(Size::of_terminal(None, None).columns).max(16)
}

/// Cuts a text to one row of at most `room` cells.
pub(super) fn one_row(text: &str, room: usize) -> String {
    cut(&Line::styled(text, nu_ansi_term::Style::default()), room).text()
}
