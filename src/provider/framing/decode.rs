//! What turns the bytes of an answer into events, whatever the protocol.

use crate::conversation::StreamEvent;
use crate::provider::error::ProviderError;

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It is being written.
    Open,
    /// The model has stopped and said why; token counts may follow.
    Stopped,
    /// [`StreamEvent::Done`] was given out.
    Ended,
}

impl Progress {
    /// Makes it from whether the end was given out, and whether the model said why it stopped.
    pub(crate) const fn of(ended: bool, stopped: bool) -> Self {
        match (ended, stopped) {
            (true, _) => Self::Ended,
            (false, true) => Self::Stopped,
            (false, false) => Self::Open,
        }
    }
}

/// Bytes of one answer in, events out. Pure: the same for any cutting of the bytes.
pub trait Decoder: Send {
    /// Takes the next bytes and appends the events they complete. On an error the events before it have been
    /// appended.
    ///
    /// # Errors
    /// What the server said inside the stream, or `Protocol`.
    fn push(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), ProviderError>;

    /// Tells the decoder that no more bytes come.
    ///
    /// # Errors
    /// `Broken` when the answer was not whole; else as [`Decoder::push`].
    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError>;

    /// Tells how far the answer has come.
    fn progress(&self) -> Progress;
}
