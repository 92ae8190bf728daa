//! What a running tool asks the person, and what comes back.

use serde::{Deserialize, Serialize};

/// A question in the words of whoever asks: the model, or a tool. Sanitise before showing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Question {
    /// What is asked; may have several lines.
    pub text: String,
    /// What can be chosen, in order; empty for an open question.
    pub choices: Vec<String>,
    /// Whether more than one of them may be chosen.
    pub several: bool,
    /// Whether words of one's own are an answer, too. Without choices they always are.
    pub free_text: bool,
    /// What an answer without anything stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Who asks.
    #[serde(default, skip_serializing_if = "Asker::is_model")]
    pub asker: Asker,
}

/// Who asks the person something.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Asker {
    /// The model.
    #[default]
    Model,
    /// A server, which gets the answer; the model does not.
    Server {
        /// Its name.
        name: String,
        /// Whether it seems to want a secret.
        secret: bool,
        /// Whether it wants an address to be opened: a yes is choice 0, a no choice 1, and it names no choices.
        url: bool,
    },
}

impl Asker {
    const fn is_model(&self) -> bool {
        matches!(self, Self::Model)
    }
}

/// What a person said to a [`Question`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// They answered.
    Given {
        /// Indices into the question's choices, ascending, each once.
        chosen: Vec<usize>,
        /// Words of their own; empty for none.
        text: String,
    },
    /// ESC or Ctrl+C: the turn ends.
    Aborted,
    /// There is nobody to ask (print mode).
    Unavailable,
}
