//! What holds the messages of a session's file while its lines are read.

use std::path::Path;

use crate::conversation::Message;

/// Where a line stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) path: &'a Path,
    pub(super) offset: u64,
    /// With its newline, in bytes.
    pub(super) length: u64,
}

/// What holds the messages of a file while it is read.
pub(super) trait Holder: Default {
    /// Takes in a line that is a message, as it stands; false where the line must be read whole.
    fn line(&mut self, line: &[u8], place: Place<'_>) -> bool;
    /// Takes in a message that was read.
    fn message(&mut self, message: Message, place: Place<'_>);
    /// Answers the calls that are open: a crash left them so.
    fn close(&mut self);
    /// Goes back to so many messages, as [`crate::conversation::Conversation::rewind`] does.
    fn rewind(&mut self, messages: usize);
    /// How many messages there are.
    fn count(&self) -> usize;
}
