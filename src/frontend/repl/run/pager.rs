//! Long things in the person's own pager.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use crate::terminal::Tty;

/// What a shell says of a program that is not there (POSIX, 2.8.2).
const NOT_FOUND: i32 = 127;

/// Shows bytes in `pager`, a command line, with the terminal as it was before axi; returns when the person is done.
///
/// # Errors
/// When it cannot be run: then nothing was shown.
pub(super) fn page(tty: &Tty, pager: &str, bytes: &[u8]) -> io::Result<()> {
    let _lent = tty.lend();
    let mut command = Command::new(crate::platform::sh()?);
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        match input.write_all(bytes) {
            Ok(()) => {}
            // Left before the end was read.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) => tracing::debug!(%error, "the pager did not take everything"),
        }
    }
    let status = child.wait()?;
    if status.code() == Some(NOT_FOUND) { Err(io::ErrorKind::NotFound.into()) } else { Ok(()) }
}
