//! Wakes a stalled read of the terminal.
//!
//! crossterm learns of input by an edge-triggered notification and returns after the first event: when more than
//! its buffer is waiting and nothing new arrives, it sleeps on a full terminal (crossterm-rs/crossterm#1057).
//! Setting the terminal's attributes to what they are raises the edge again. A thread watches for bytes that
//! nobody takes; it sleeps in `poll` as long as there are none.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use rustix::pipe::pipe;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// Bytes that wait unchanged for two of these are taken for forgotten.
const PATIENCE: Duration = Duration::from_millis(30);

/// The watching thread; it ends when this is dropped.
pub(super) struct Kick {
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Kick {
    /// Starts watching standard input.
    ///
    /// # Errors
    /// When no pipe or no thread is to be had.
    pub(super) fn start() -> io::Result<Self> {
        let (stopped, stop) = pipe()?;
        let thread = std::thread::Builder::new().name("kick".to_owned()).spawn(move || watch(&stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Kick {
    fn drop(&mut self) {
        // Closing the pipe's one end wakes the thread at the other.
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // It cannot panic, and there would be nothing to do if it had.
            let _ = thread.join();
        }
    }
}

/// Raises the edge again.
pub(super) fn nudge() {
    let input = io::stdin();
    let input = input.as_fd();
    // Without the attributes there is nothing to set; the next byte will wake the reader.
    let _ = tcgetattr(input).and_then(|attributes| tcsetattr(input, OptionalActions::Now, &attributes));
}

fn watch(stopped: &OwnedFd) {
    let input = std::io::stdin();
    let pause = Timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
    loop {
        let mut both = [PollFd::new(&input, PollFlags::IN), PollFd::new(stopped, PollFlags::empty())];
        match poll(&mut both, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) => {}
        }
        let hung_up = both[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
        if !both[1].revents().is_empty() || hung_up {
            return;
        }
        let mut seen = [0_u64; 2];
        for waiting in &mut seen {
            *waiting = ioctl_fionread(&input).unwrap_or(0);
            let mut only_stop = [PollFd::new(stopped, PollFlags::empty())];
            if poll(&mut only_stop, Some(&pause)).is_ok_and(|ready| ready > 0) {
                return;
            }
        }
        let now = ioctl_fionread(&input).unwrap_or(0);
        if now > 0 && seen == [now, now] {
            nudge();
        }
    }
}
