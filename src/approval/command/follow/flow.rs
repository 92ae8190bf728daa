//! What a command is given on the way, and what is known behind it.

use std::sync::Arc;

use super::super::effect::Input;
use super::super::known::State;

pub(super) const UNKNOWN: Input = Input::Unknown { unseen: false };

/// What is known after a command, by how it ended, and what it printed.
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
    /// The text a person saw.
    pub(crate) text: String,
    /// Whether they saw all of it.
    pub(crate) hidden: bool,
    /// Whether it may come to it or not.
    pub(crate) perhaps: bool,
}

impl Around {
    /// The same for what may not be reached.
    pub(super) fn perhaps(&self) -> Self {
        Self { perhaps: true, ..self.clone() }
    }
}
