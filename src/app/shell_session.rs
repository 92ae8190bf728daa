//! The session of the shell in which axi was started: the shell's hook sets `AXI_SESSION`, which names the shell.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::approval::Definitions;
use crate::platform::os::fs::MetadataExt as _;
use crate::session::{Loaded, SessionId, SessionStore, ShellTie, Tied, open};
use crate::shell::{MOST_OF_SNAPSHOT, found};
use crate::tool::PersonShell;

/// Holds the shell's conversation while this axi has it, and what its commands are to find of the shell.
#[derive(Default)]
pub(super) struct ShellSession {
    tie: RefCell<Option<ShellTie>>,
    person: OnceCell<Arc<PersonShell>>,
    definitions: OnceCell<Arc<Definitions>>,
}

impl ShellSession {
    /// Finds the session of a shell, and holds it while axi runs. The second value says that another axi of this
    /// shell holds it.
    pub(super) fn hold(
        &self,
        shell: &str,
        directory: &Path,
        store: &SessionStore,
    ) -> (Option<(Loaded, PathBuf)>, bool) {
        let now = SystemTime::now();
        let mut tie = match ShellTie::open(directory, shell, now) {
            Ok(Tied::Free(tie)) => tie,
            Ok(Tied::Busy) => return (None, true),
            Err(error) => {
                tracing::warn!(%error, "the shell's session is not known");
                return (None, false);
            }
        };
        let found = tie.session(store, now).and_then(|path| match open(&path) {
            Ok(loaded) => Some((loaded, path)),
            Err(error) => {
                tracing::warn!(%error, "the shell's session cannot be read");
                None
            }
        });
        *self.tie.borrow_mut() = Some(tie);
        (found, false)
    }

    /// Takes what a hook wrote of its shell at a hand-off, beside the reply: it is there once. What this process may
    /// not rely on is left where it is.
    pub(super) fn meet(&self, shell: &str, reply: &Path) {
        let path = reply.with_extension("person");
        let Some(bytes) = written(&path) else { return };
        // The next hand-off writes it anew.
        drop(std::fs::remove_file(&path));
        let found = found(shell, &bytes);
        let definitions =
            Definitions { aliases: found.aliases, functions: found.functions, foreign: found.foreign };
        // The first meeting counts: there is one hand-off a process.
        drop(self.definitions.set(Arc::new(definitions)));
        drop(self.person.set(Arc::new(PersonShell::new(found.script))));
    }

    /// The shell, as commands find it.
    pub(super) fn person(&self) -> &Arc<PersonShell> {
        self.person.get_or_init(Arc::default)
    }

    /// What names mean there.
    pub(super) fn definitions(&self) -> Arc<Definitions> {
        Arc::clone(self.definitions.get_or_init(Arc::default))
    }

    /// Makes this session the shell's conversation from now on.
    pub(super) fn set(&self, session: &SessionId) {
        if let Some(tie) = self.tie.borrow_mut().as_mut()
            && let Err(error) = tie.set(session)
        {
            tracing::warn!(%error, "the shell's session is not kept");
        }
    }
}

/// A file of this person's own.
fn written(path: &Path) -> Option<Vec<u8>> {
    let about = path.symlink_metadata().ok()?;
    let is_own = about.is_file() && about.uid() == crate::platform::process::geteuid().as_raw();
    (is_own && about.len() <= MOST_OF_SNAPSHOT).then(|| std::fs::read(path).ok())?
}
