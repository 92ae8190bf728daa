//! Edits one line of text in the middle of a turn; ESC gives up.
//!
//! dialoguer's own input can only be left by a signal, and miscounts long lines.

use std::io::{self, Write as _};

use crossterm::event::{KeyCode, KeyModifiers};
use reedline::{EditCommand, Emacs, Reedline, ReedlineEvent, Signal, default_emacs_keybindings};

use crate::frontend::prompt::{LinePrompt, PromptParts, columns};
use crate::terminal::{Output, Theme};

/// The host command of the key that suspends.
const SUSPEND: &str = "suspend";

/// Asks `question` and reads a line; `None` when the person gave up (ESC, Ctrl+C, Ctrl+D). `suspend` stops the job and
/// returns when it goes on.
///
/// # Errors
/// When standard input is no terminal, or is gone.
pub(super) fn read_words(question: &str, color: bool, suspend: impl Fn()) -> io::Result<Option<String>> {
    let theme = if color { Theme::ansi() } else { Theme::plain() };
    let mut typed = String::new();
    loop {
        let mut keys = default_emacs_keybindings();
        keys.add_binding(KeyModifiers::NONE, KeyCode::Esc, ReedlineEvent::CtrlC);
        let stop = ReedlineEvent::ExecuteHostCommand(SUSPEND.to_owned());
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('z'), stop);
        // A new reader after each stop, because the rows of the old one are somewhere above by then.
        let mut line = Reedline::create()
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .with_ansi_colors(color)
            .use_bracketed_paste(true);
        line.run_edit_commands(&[EditCommand::InsertString(std::mem::take(&mut typed))]);
        let parts = PromptParts { directory: question.to_owned(), ..PromptParts::default() };
        match line.read_line(&LinePrompt { parts, width: columns(), theme, color })? {
            Signal::Success(words) => return Ok(Some(words)),
            Signal::HostCommand(command) if command == SUSPEND => {
                line.current_buffer_contents().clone_into(&mut typed);
                Output::new().write_all(b"\r\n")?;
                suspend();
            }
            // `Signal` is non-exhaustive: anything else that ends a line counts as giving up.
            _ => return Ok(None),
        }
    }
}
