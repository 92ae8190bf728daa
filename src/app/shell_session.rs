//! The session of the shell axi was started in: `AXI_SESSION`, set by the shell's hook, names it.

use std::path::PathBuf;
use std::time::SystemTime;

use super::Base;
use crate::session::{Loaded, SessionId, ShellTie, Tied, load};

/// On which occasion a conversation begins, and so which one it goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// One turn for a program or a pipe: a new session, unless asked otherwise.
    Print,
    /// The loop: the shell's session.
    Repl,
    /// A shell handed its line over: the shell's session, and it waits for a command.
    Handoff,
}

impl Base {
    /// Finds the session of this shell, and holds it while axi runs. The second value says that another axi of this
    /// shell holds it.
    pub(super) fn shells_session(&self) -> (Option<(Loaded, PathBuf)>, bool) {
        let (Some(shell), Some(directory), Some(store)) = (self.shell(), self.paths.shells(), self.sessions())
        else {
            return (None, false);
        };
        let now = SystemTime::now();
        let mut tie = match ShellTie::open(&directory, &shell, now) {
            Ok(Tied::Free(tie)) => tie,
            Ok(Tied::Busy) => return (None, true),
            Err(error) => {
                tracing::warn!(%error, "the shell's session is not known");
                return (None, false);
            }
        };
        let found = tie.session(&store, now).and_then(|path| match load(&path) {
            Ok(loaded) => Some((loaded, path)),
            Err(error) => {
                tracing::warn!(%error, "the shell's session cannot be read");
                None
            }
        });
        *self.tie.borrow_mut() = Some(tie);
        (found, false)
    }

    /// Says that the shell's conversation is this one from now on.
    pub(super) fn tie(&self, session: &SessionId) {
        if let Some(tie) = self.tie.borrow_mut().as_mut()
            && let Err(error) = tie.set(session)
        {
            tracing::warn!(%error, "the shell's session is not kept");
        }
    }

    fn shell(&self) -> Option<String> {
        (self.variables)("AXI_SESSION").filter(|shell| !shell.is_empty())
    }
}
