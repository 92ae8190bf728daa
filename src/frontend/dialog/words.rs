//! One line of words in the middle of a turn: edited as any line, given up by ESC.
//!
//! dialoguer's own input knows no way out but a signal, and loses count of long lines.

use std::io;

use crossterm::event::{KeyCode, KeyModifiers};
use reedline::{Emacs, Reedline, ReedlineEvent, Signal, default_emacs_keybindings};

use crate::frontend::prompt::{LinePrompt, PromptParts, columns};
use crate::terminal::Theme;

/// Asks `question` and reads a line; `None` when the person gave up (ESC, Ctrl+C, Ctrl+D).
///
/// # Errors
/// When standard input is no terminal, or is gone.
pub(super) fn read_words(question: &str, color: bool) -> io::Result<Option<String>> {
    let mut keys = default_emacs_keybindings();
    keys.add_binding(KeyModifiers::NONE, KeyCode::Esc, ReedlineEvent::CtrlC);
    let mut line = Reedline::create()
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_ansi_colors(color)
        .use_bracketed_paste(true);
    let theme = if color { Theme::ansi() } else { Theme::plain() };
    let parts = PromptParts { directory: question.to_owned(), ..PromptParts::default() };
    let signal = line.read_line(&LinePrompt { parts, width: columns(), theme, color })?;
    Ok(match signal {
        Signal::Success(words) => Some(words),
        // Signal is non-exhaustive: whatever else ends a line gives it up.
        _ => None,
    })
}
