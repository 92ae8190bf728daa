//! Writing to a pipe that the other side may close: remembered, never an error, and the turn is stopped.

use std::io::Write;

use tokio_util::sync::CancellationToken;

/// Standard output of print mode.
pub struct Pipe<W> {
    out: W,
    cancel: CancellationToken,
    closed: bool,
    failed: Option<std::io::Error>,
}

impl<W: Write> Pipe<W> {
    /// Writes to `out`; `cancel` is cancelled when nobody reads any more.
    pub const fn new(out: W, cancel: CancellationToken) -> Self {
        Self { out, cancel, closed: false, failed: None }
    }

    /// Writes and flushes.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.closed || self.failed.is_some() || bytes.is_empty() {
            return;
        }
        match self.out.write_all(bytes).and_then(|()| self.out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                self.closed = true;
                self.cancel.cancel();
            }
            Err(error) => {
                self.failed = Some(error);
                self.cancel.cancel();
            }
        }
    }

    /// Tells whether the other side closed it.
    pub const fn closed(&self) -> bool {
        self.closed
    }

    /// Takes the error that ended writing, such as a full disk.
    pub fn take_error(&mut self) -> Option<std::io::Error> {
        self.failed.take()
    }
}
