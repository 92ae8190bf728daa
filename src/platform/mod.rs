//! Who asks the system, outside of the sandbox and its layers: the same names on each system, and what differs between
//! them in one file a system. Whoever is above asks here and knows no system by its name. Knows no room.

use std::path::{Path, PathBuf};

#[cfg(any(windows, test))]
mod git_bash;
#[cfg(unix)]
mod unix;
#[cfg(any(windows, test))]
mod verbatim;

#[cfg(windows)]
#[expect(
    dead_code,
    clippy::unnecessary_wraps,
    clippy::trivially_copy_pass_by_ref,
    clippy::needless_pass_by_value,
    reason = "the names, the errors and the arguments are those that a Unix has"
)]
mod windows;

#[cfg(windows)]
use windows as system;

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;

#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod system;

#[cfg(unix)]
use unix as names;
#[cfg(windows)]
use windows as names;

pub(crate) use names::{
    bash, canonicalize, event, fs, home, io, is_output_closed, keep_files, machine, os, pipe, process, runtime, sh,
    signal, stdio, termios, variable,
};

#[cfg(target_os = "linux")]
pub(crate) use system::time;
pub(crate) use system::{
    ADOPTS, LOOKED_UP, NOTIFIER, NOTIFIES_IN_MARKUP, OPENERS, PICTURE_PROGRAMS, adopt_orphans, asleep,
    end_with_parent, next_data, pseudo_terminal, share_content, step_back, sync_below, unnamed,
};

/// A path as the system itself has it.
pub(crate) trait RealPath {
    /// Without links, whole, and in the form that every program takes.
    ///
    /// # Errors
    /// If there is nothing there, or it cannot be looked up.
    fn real_path(&self) -> std::io::Result<PathBuf>;
}

impl RealPath for Path {
    fn real_path(&self) -> std::io::Result<PathBuf> {
        canonicalize(self)
    }
}
