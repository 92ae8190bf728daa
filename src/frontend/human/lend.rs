//! Lends the terminal to a command, and takes it back.

use std::io::Write;

use super::attention::Attention;
use super::keyboard::Keyboard;
use super::painter::{Painter, Section};
use crate::locale::word;
use crate::platform::os::fd::OwnedFd;
use crate::terminal::{Line, Loan, sanitize_line};

/// The terminal while it is a command's.
#[derive(Default)]
pub(super) struct Lent(Option<Loan>);

impl Lent {
    pub(super) const fn is_out(&self) -> bool {
        self.0.is_some()
    }

    /// Says that `command` wants the terminal and gives it away; false when it cannot be.
    pub(super) fn begin<W: Write>(
        &mut self,
        painter: &mut Painter<W>,
        keyboard: &mut Keyboard,
        attention: &Attention,
        command: &str,
        (near, pressed): (OwnedFd, OwnedFd),
    ) -> bool {
        painter.begin(Section::Notice);
        if !command.is_empty() {
            // The step of the request is shown only when it is over, because nothing else can be seen meanwhile.
            let row = format!("$ {}", sanitize_line(command));
            painter.commit_rows(&Line::styled(row, painter.theme().strong), 2);
        }
        let text = painter.locale().text(word::loan::BEGINS).to_owned();
        painter.commit_rows(&Line::styled(text, painter.theme().warning), 0);
        attention.call_for_answer(painter, keyboard);
        painter.screen().end_live();
        // Keys typed before that was said are not meant for the command.
        keyboard.settle();
        keyboard.pause();
        keyboard.forget_focus();
        painter.screen().listen(false);
        painter.screen().flush();
        match Loan::start(near, pressed, painter.is_linear()) {
            Ok(loan) => self.0 = Some(loan),
            Err(error) => {
                tracing::warn!(%error, "the terminal cannot be lent");
                painter.screen().listen(true);
                keyboard.resume();
            }
        }
        self.is_out()
    }

    /// Takes the terminal back, and says so; false when it was not lent.
    pub(super) fn end<W: Write>(&mut self, painter: &mut Painter<W>, keyboard: &mut Keyboard) -> bool {
        let Some(loan) = self.0.take() else { return false };
        loan.stop();
        painter.screen().forget();
        painter.screen().listen(true);
        keyboard.resume();
        Attention::answered(painter);
        painter.resize();
        let text = painter.locale().text(word::loan::OVER).to_owned();
        painter.commit_rows(&Line::styled(text, painter.theme().dim), 0);
        true
    }
}
