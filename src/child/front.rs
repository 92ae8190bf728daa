//! The terminal of a command in a trial: it gets it as a foreground job, and whoever had it takes it back.

use std::process::{Child, Command};

use crate::platform::process::{Pid, Signal, getpgrp, kill_process_group};
use crate::platform::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};

use super::modes::FRONT;

/// Starts the rest of its arguments, which a signal for writing from the background does not stop: what is ignored
/// stays so in what it becomes.
const UNSTOPPED: &str = "trap '' TTOU; exec \"$@\"";

/// The terminal, while a job has it. Dropped, this process has it again, as it was.
#[derive(Debug)]
pub struct Lent {
    own: Pid,
    before: Termios,
}

impl Lent {
    /// Remembers the terminal, which is about to be lent; `None` if this process does not have it.
    #[must_use]
    pub fn about_to_be() -> Option<Self> {
        let (terminal, own) = (crate::platform::stdio::stdin(), getpgrp());
        // With its output in a pipe there is somebody beside it who may need the keys.
        if !isatty(terminal) || !isatty(crate::platform::stdio::stdout()) || tcgetpgrp(terminal).ok()? != own {
            return None;
        }
        Some(Self { own, before: tcgetattr(terminal).ok()? })
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let terminal = crate::platform::stdio::stdin();
        let back = std::env::current_exe().and_then(|program| {
            let mut command = Command::new("sh");
            command.args(["-c", UNSTOPPED, "sh"]).arg(program).arg(FRONT);
            command.arg(self.own.as_raw_nonzero().get().to_string()).status()
        });
        if let Err(error) = back {
            tracing::warn!(%error, "the terminal is not taken back");
        }
        // If the terminal is gone, the next read notices it.
        let _ = tcsetattr(terminal, OptionalActions::Drain, &self.before);
    }
}

/// Gives the terminal, which this process has, to a child that leads a group of its own.
pub(super) fn lend(child: &Child) {
    let Some(job) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    // Without it the command is stopped as soon as it reads, which ends it.
    let _ = tcsetpgrp(crate::platform::stdio::stdin(), job);
    // It may have read before it was in front.
    let _ = kill_process_group(job, Signal::CONT);
}
