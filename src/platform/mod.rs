//! Who asks the system, outside of the sandbox and its layers: the same names on each system, and what differs between
//! them in one file a system. Whoever is above asks here and knows no system by its name. Knows no room.

#[cfg(unix)]
mod unix;

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;

#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod system;

#[cfg(unix)]
pub(crate) use unix::{
    event, fs, io, keep_files, os, pipe, process, signal, stdio, system as machine, termios, time,
};

pub(crate) use system::{
    ADOPTS, LOOKED_UP, NOTIFIER, NOTIFIES_IN_MARKUP, OPENERS, PICTURE_PROGRAMS, adopt_orphans, asleep,
    end_with_parent, next_data, pseudo_terminal, share_content, step_back, sync_below, unnamed,
};
