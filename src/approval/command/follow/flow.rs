//! What a command gets from the commands before it, and what is known after it.

use std::sync::Arc;

use super::super::effect::Input;
use super::super::known::State;

pub(super) const UNKNOWN: Input = Input::Unknown { unseen: false };

/// What a command printed, and what is known after it, for each way in which it can end.
pub(crate) struct Flow<'s> {
    pub(crate) success: State<'s>,
    pub(crate) failure: State<'s>,
    pub(crate) output: Input,
}

impl<'s> Flow<'s> {
    pub(crate) fn same(state: State<'s>, output: Input) -> Self {
        Self { success: state.clone(), failure: state, output }
    }

    pub(super) fn joined(self) -> State<'s> {
        self.success.merge(self.failure)
    }
}

/// What surrounds a command.
#[derive(Clone, Default)]
pub(crate) struct Around {
    pub(crate) input: Input,
    /// The words of the wrappers around it.
    pub(crate) outer: Vec<Arc<Vec<Option<String>>>>,
    /// The text that a person saw.
    pub(crate) text: String,
    /// Whether a part of the text was hidden from them.
    pub(crate) hidden: bool,
    /// Whether it is uncertain that the command is reached.
    pub(crate) perhaps: bool,
}

impl Around {
    /// Returns the same for a command that may not be reached.
    pub(super) fn perhaps(&self) -> Self {
        Self { perhaps: true, ..self.clone() }
    }
}
