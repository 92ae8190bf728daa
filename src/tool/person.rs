//! Connects a running tool with the person: the tool sends a request, and the agent's loop has the front end fulfil
//! it.

use tokio::sync::{mpsc, oneshot};

use crate::conversation::{Answer, Question};
use crate::platform::os::fd::OwnedFd;

/// What a running tool wants of the person. The agent receives it while the tool runs.
#[derive(Debug)]
pub enum Wish {
    /// An answer to a question.
    Ask {
        /// The question.
        question: Question,
        /// Takes the answer; dropped when the turn is stopped instead.
        reply: oneshot::Sender<Answer>,
    },
    /// Their terminal, for a command that wants to talk to them.
    Lend {
        /// The near end of the command's own terminal: what is typed goes in, what comes out is shown. Kept nowhere.
        near: OwnedFd,
        /// Gets a byte each time that Ctrl+Z is typed where it asks to stop.
        pressed: OwnedFd,
        /// Takes whether it is lent now.
        reply: oneshot::Sender<bool>,
    },
    /// The terminal is axi's again.
    TakeBack {
        /// Told when it is.
        reply: oneshot::Sender<()>,
    },
}

/// A tool's line to the person; clones are the same line.
#[derive(Debug, Clone)]
pub struct Person {
    wishes: Option<mpsc::Sender<Wish>>,
    can_lend: bool,
}

impl Person {
    /// Makes a connection; the agent receives at the other end of `wishes`. `can_lend` says whether there is a
    /// terminal.
    #[must_use]
    pub const fn new(wishes: mpsc::Sender<Wish>, can_lend: bool) -> Self {
        Self { wishes: Some(wishes), can_lend }
    }

    /// Makes a line at whose end there is nobody.
    #[must_use]
    pub const fn nobody() -> Self {
        Self { wishes: None, can_lend: false }
    }

    /// Asks and waits for the answer: [`Answer::Unavailable`] when there is nobody, [`Answer::Aborted`] when the
    /// turn was stopped meanwhile.
    ///
    /// # Cancel safety
    /// If it is dropped, the question may still be asked; its answer is lost.
    pub async fn ask(&self, question: Question) -> Answer {
        let Some(wishes) = &self.wishes else { return Answer::Unavailable };
        let (reply, answer) = oneshot::channel();
        if wishes.send(Wish::Ask { question, reply }).await.is_err() {
            return Answer::Unavailable;
        }
        answer.await.unwrap_or(Answer::Aborted)
    }

    /// Tells whether there is a terminal that could be lent.
    #[must_use]
    pub const fn can_lend(&self) -> bool {
        self.can_lend
    }

    /// Has the person's terminal connected to `near` until [`Person::take_back`]; false when it cannot be. `pressed`
    /// gets a byte for each Ctrl+Z. It is taken back in any case when the tool ends.
    ///
    /// # Cancel safety
    /// If it is dropped, the terminal may stay lent until the tool ends.
    pub async fn lend(&self, near: OwnedFd, pressed: OwnedFd) -> bool {
        let Some(wishes) = self.wishes.as_ref().filter(|_| self.can_lend) else { return false };
        let (reply, lent) = oneshot::channel();
        wishes.send(Wish::Lend { near, pressed, reply }).await.is_ok() && lent.await.unwrap_or(false)
    }

    /// Says that the command needs the terminal no more, and waits until it is axi's again.
    ///
    /// # Cancel safety
    /// As [`Person::lend`].
    pub async fn take_back(&self) {
        let Some(wishes) = &self.wishes else { return };
        let (reply, back) = oneshot::channel();
        if wishes.send(Wish::TakeBack { reply }).await.is_ok() {
            // After a stopped turn the terminal comes back by itself.
            let _ = back.await;
        }
    }
}
