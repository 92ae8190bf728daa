//! What every Unix has under the same names: calls of the system and what the standard library knows of them alone.

pub(crate) use rustix::{event, fs, io, pipe, process, stdio, system, termios, time};
pub(crate) use signal_hook as signal;

/// What the standard library knows of a Unix alone.
pub(crate) mod os {
    pub(crate) use std::os::fd;
    pub(crate) use std::os::unix::{ffi, fs, net, process};
}

/// Has a program that this process becomes, or starts, get none of its open files but the three of every program.
pub(crate) fn keep_files() {
    close_fds::set_fds_cloexec(3, &[]);
}
