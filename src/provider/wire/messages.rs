//! The messages of a request whose content is a list of blocks: Anthropic's and Bedrock's. Pure.

use serde_json::{Value, json};

/// The messages so far, each with its role and its blocks.
#[derive(Default)]
pub(crate) struct Messages(Vec<(&'static str, Vec<Value>)>);

impl Messages {
    /// Adds what a person said, or what their tools answered.
    pub(crate) fn of_user(&mut self, blocks: Vec<Value>) {
        self.add("user", blocks);
    }

    /// Adds what the model said.
    pub(crate) fn of_model(&mut self, blocks: Vec<Value>) {
        self.add("assistant", blocks);
    }

    /// A paused answer and its rest are one message, as the wire that paused it wants them.
    fn add(&mut self, role: &'static str, blocks: Vec<Value>) {
        match self.0.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ => self.0.push((role, blocks)),
        }
    }

    /// The last messages of the user, at most so many, the newest first.
    pub(crate) fn last_of_user(&mut self, most: usize) -> impl Iterator<Item = &mut Vec<Value>> {
        let of_user = self.0.iter_mut().rev().filter(|(role, _)| *role == "user");
        of_user.take(most).map(|(_, blocks)| blocks)
    }

    /// Writes them as the wire wants them.
    pub(crate) fn written(self) -> Value {
        self.0.into_iter().map(|(role, blocks)| json!({"role": role, "content": blocks})).collect()
    }
}
