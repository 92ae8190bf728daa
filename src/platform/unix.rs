//! What every Unix has under the same names: calls of the system and what the standard library knows of them alone.

pub(crate) use rustix::system as machine;
pub(crate) use rustix::{event, fs, io, pipe, process, stdio, termios};
pub(crate) use signal_hook as signal;

use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use output::is_output_closed;

/// What the runtime waits for.
pub(crate) mod runtime {
    pub(crate) use tokio::net::UnixStream;
    pub(crate) use tokio::net::unix::pipe::Receiver;
}

/// What the standard library knows of a Unix alone.
pub(crate) mod os {
    pub(crate) use std::os::fd;
    pub(crate) use std::os::unix::{ffi, fs, net, process};
}

/// Has a program that this process becomes, or starts, get none of its open files but the three of every program.
pub(crate) fn keep_files() {
    close_fds::set_fds_cloexec(3, &[]);
}

/// Tells whether standard output was closed when the process was started.
#[expect(unsafe_code, reason = "only what is named in a section of its own runs before the standard library does")]
mod output {
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Written once, before any other code runs: the standard library then opens the null device in the place of what is
    /// closed, and nobody can tell that from the null device a parent gave (Python's `DEVNULL`, Node's `ignore`).
    static CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        CLOSED.store(rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err(), Ordering::Relaxed);
    }

    // SAFETY: loaders call the functions in this section, each without a result, before `main` (System V gABI, 5;
    // Mach-O, S_MOD_INIT_FUNC_POINTERS). `look` allocates nothing, cannot panic and uses nothing of the standard library
    // that `main` sets up.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;

    pub(crate) fn is_output_closed() -> bool {
        CLOSED.load(Ordering::Relaxed)
    }
}

pub(crate) use std::fs::canonicalize;

/// The program that runs lines; the search path has it.
#[expect(clippy::unnecessary_wraps, reason = "Windows may have none")]
pub(crate) fn bash() -> std::io::Result<PathBuf> {
    Ok(PathBuf::from("bash"))
}

/// The shell that every system has.
#[expect(clippy::unnecessary_wraps, reason = "Windows may have none")]
pub(crate) fn sh() -> std::io::Result<PathBuf> {
    Ok(PathBuf::from("/bin/sh"))
}

/// A variable of the environment.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The user's home.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir()
}
