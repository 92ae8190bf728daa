//! The terminal in a command's hands, and back.

use std::io::Write;
use std::os::fd::OwnedFd;

use super::{Human, QUIET, QUIET_LIMIT, Section};
use crate::locale::word;
use crate::terminal::{Line, Loan};

impl<W: Write> Human<W> {
    /// Says that a command wants the terminal and gives it away; false when it cannot be.
    pub(super) fn begin_loan(&mut self, near: OwnedFd, pressed: OwnedFd) -> bool {
        if self.keyboard.is_none() {
            return false;
        }
        self.end_stream();
        self.begin(Section::Notice);
        let text = self.locale.text(word::loan::BEGINS).to_owned();
        self.commit_rows(&Line::styled(text, self.looks.theme.warning), 0);
        self.call_for_answer();
        self.screen.end_live();
        let Some(keyboard) = &mut self.keyboard else { return false };
        // Keys typed before it was said are not the command's.
        keyboard.keys.settle(QUIET, QUIET_LIMIT);
        keyboard.keys.pause();
        self.screen.listen(false);
        self.screen.flush();
        match Loan::start(near, pressed, self.screen.is_linear()) {
            Ok(loan) => self.lent = Some(loan),
            Err(error) => {
                tracing::warn!(%error, "the terminal cannot be lent");
                self.listen_again();
            }
        }
        self.lent.is_some()
    }

    /// Takes the terminal back, and says so.
    pub(super) fn end_loan(&mut self) {
        let Some(loan) = self.lent.take() else { return };
        loan.stop();
        self.screen.forget();
        self.listen_again();
        self.resized();
        let text = self.locale.text(word::loan::OVER).to_owned();
        self.commit_rows(&Line::styled(text, self.looks.theme.dim), 0);
        self.paint_live();
    }

    fn listen_again(&mut self) {
        self.screen.listen(true);
        let resumed = self.keyboard.as_mut().map(|keyboard| keyboard.keys.resume());
        if let Some(Err(error)) = resumed {
            tracing::warn!(%error, "the keyboard cannot be watched");
        }
    }
}
