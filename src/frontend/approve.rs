//! dialoguer, wrapped: the only place that asks a person in the middle of things.
//!
//! Each prompt runs in the baseline mode of the terminal (in raw mode dialoguer's rows would form stairs), erases
//! itself, and leaves one line. dialoguer hides the cursor and leaves it hidden when it is interrupted
//! (console-rs/dialoguer#77): it is always shown again here.

use std::io::Write;

use dialoguer::console::Term;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{FuzzySelect, Input, Password, Select};

use super::human::{Asker, Choice, Question};
use crate::agent::Approval;
use crate::terminal::{Screen, sanitize_line};

/// Asks on the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Whether colours may be used.
    pub color: bool,
}

impl Terminal {
    fn theme(self) -> Box<dyn Theme> {
        if self.color { Box::new(ColorfulTheme::default()) } else { Box::new(SimpleTheme) }
    }

    /// Lets the person pick one of `items`; `None` when they would not.
    #[must_use]
    pub fn pick(self, question: &str, items: &[String]) -> Option<usize> {
        let items: Vec<String> = items.iter().map(|item| sanitize_line(item).into_owned()).collect();
        let term = Term::stdout();
        let theme = self.theme();
        let picked = if items.len() > 10 {
            let select = FuzzySelect::with_theme(theme.as_ref()).with_prompt(question).items(&items).default(0);
            select.max_length(12).interact_on_opt(&term)
        } else {
            let select = Select::with_theme(theme.as_ref()).with_prompt(question).items(&items).default(0);
            select.interact_on_opt(&term)
        };
        show_cursor(&term);
        picked.ok().flatten()
    }

    /// Asks for a secret without echo; `None` when nothing was given.
    #[must_use]
    pub fn secret(self, question: &str) -> Option<String> {
        let term = Term::stdout();
        let theme = self.theme();
        let password = Password::with_theme(theme.as_ref()).with_prompt(question).allow_empty_password(true);
        let given = password.interact_on(&term);
        show_cursor(&term);
        given.ok().filter(|secret| !secret.trim().is_empty())
    }

    fn feedback(self, question: &str) -> Option<String> {
        let term = Term::stdout();
        let theme = self.theme();
        let input = Input::<String>::with_theme(theme.as_ref()).with_prompt(question).allow_empty(true);
        let given = input.interact_text_on(&term);
        show_cursor(&term);
        given.ok()
    }
}

impl<W: Write> Asker<W> for Terminal {
    fn ask(&mut self, question: &Question, _: &mut Screen<W>) -> Approval {
        let term = Term::stdout();
        let items: Vec<&str> = question.choices.iter().map(|(_, text)| text.as_str()).collect();
        let theme = self.theme();
        let prompt = format!("{} ({})", question.prompt, question.hint);
        let select = Select::with_theme(theme.as_ref()).with_prompt(prompt).items(&items).default(0);
        let picked = select.interact_on_opt(&term);
        show_cursor(&term);
        let choice = match picked {
            Ok(Some(index)) => question.choices.get(index).map(|(choice, _)| *choice),
            // ESC, Ctrl+C, or a terminal that has gone.
            Ok(None) | Err(_) => None,
        };
        match choice {
            Some(Choice::Once) => Approval::Once,
            Some(Choice::Session) => Approval::ForSession,
            Some(Choice::No) => Approval::Deny(String::new()),
            Some(Choice::Feedback) => {
                self.feedback(&question.feedback_prompt).map_or(Approval::Abort, Approval::Deny)
            }
            None => Approval::Abort,
        }
    }
}

fn show_cursor(term: &Term) {
    // A terminal that has gone shows nothing anyway.
    drop(term.show_cursor());
}
