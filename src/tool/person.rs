//! The way from a running tool to the person: it wishes, the agent's loop has the front end fulfil it.

use tokio::sync::{mpsc, oneshot};

use crate::conversation::{Answer, Question};

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
}

/// A tool's line to the person; clones are the same line.
#[derive(Debug, Clone)]
pub struct Person {
    wishes: Option<mpsc::Sender<Wish>>,
}

impl Person {
    /// Makes a line; the agent listens at the other end of `wishes`.
    #[must_use]
    pub const fn new(wishes: mpsc::Sender<Wish>) -> Self {
        Self { wishes: Some(wishes) }
    }

    /// Makes a line at whose end there is nobody.
    #[must_use]
    pub const fn nobody() -> Self {
        Self { wishes: None }
    }

    /// Asks and waits for the answer: [`Answer::Unavailable`] when there is nobody, [`Answer::Aborted`] when the
    /// turn was stopped meanwhile.
    ///
    /// # Cancel safety
    /// Dropped, the question may still be put; its answer is lost.
    pub async fn ask(&self, question: Question) -> Answer {
        let Some(wishes) = &self.wishes else { return Answer::Unavailable };
        let (reply, answer) = oneshot::channel();
        if wishes.send(Wish::Ask { question, reply }).await.is_err() {
            return Answer::Unavailable;
        }
        answer.await.unwrap_or(Answer::Aborted)
    }
}
