//! Wakes a stalled read of the terminal.
//!
//! crossterm learns of input through an edge-triggered notification, and returns after the first event. If more
//! than its buffer is waiting and nothing new arrives, it sleeps although the terminal has input
//! (crossterm-rs/crossterm#1057). Setting the terminal's attributes to their present values triggers the edge
//! again.

use std::io;

use crate::platform::io::ioctl_fionread;
use crate::platform::os::fd::AsFd as _;
use crate::platform::termios::{OptionalActions, tcgetattr, tcsetattr};

/// Bytes that crossterm reads at once: `TTY_BUFFER_SIZE` of its `event/source/unix/mio.rs`.
const BUFFER: u64 = 1024;

/// Raises the edge again if something is waiting. To be called when the reader is about to sleep.
pub(super) fn wake_reader() {
    if waiting() > 0 {
        nudge();
    }
}

/// Tells whether more input waits than crossterm reads at once: the answer to a question to the terminal would
/// arrive behind it, where it is never seen.
pub(super) fn is_flooded() -> bool {
    waiting() > BUFFER
}

fn waiting() -> u64 {
    // If that cannot be told, the next byte wakes the reader.
    ioctl_fionread(io::stdin()).unwrap_or(0)
}

/// Raises the edge again.
pub(super) fn nudge() {
    let input = io::stdin();
    let input = input.as_fd();
    // Without the attributes there is nothing to set; the next byte will wake the reader.
    let _ = tcgetattr(input).and_then(|attributes| tcsetattr(input, OptionalActions::Now, &attributes));
}
