//! Windows. What it has not, each of these says as an error; the names are those of a Unix.
//!
//! Nothing holds what runs here: there is no sandbox. A command and what it starts end together (`process`).

mod errno;
pub(crate) mod event;
mod flags;
pub(crate) mod fs;
pub(crate) mod io;
pub(crate) mod net;
pub(crate) mod os;
pub(crate) mod process;
pub(crate) mod signal;
pub(crate) mod stdio;
pub(crate) mod termios;

use std::ffi::{CString, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windows_sys::Win32::System::SystemInformation::GetTickCount64;
use windows_sys::Win32::System::WindowsProgramming::QueryUnbiasedInterruptTime;

use fs::{Mode, OFlags};
use os::fd::OwnedFd;
use process::Signal;
pub(crate) use stdio::is_output_closed;

/// Whether a process can stay beside a command until nothing that it started is left: a job does that without one.
pub(crate) const ADOPTS: bool = false;

/// What opens an address where nothing else is said.
pub(crate) const OPENERS: &[&str] = &["rundll32 url.dll,FileProtocolHandler"];

/// No program of the system shows a notification.
pub(crate) const NOTIFIER: &[&str] = &[];

/// Whether the text of a notification is markup there.
pub(crate) const NOTIFIES_IN_MARKUP: bool = false;

/// Programs that print the clipboard's picture: none comes with the system.
pub(crate) const PICTURE_PROGRAMS: &[&[&str]] = &[];

/// Opens a directory; there is no look without the right to list it.
pub(crate) const LOOKED_UP: OFlags = OFlags::RDONLY;

/// Every file has a name here.
pub(crate) const fn unnamed(_: &OwnedFd, _: Mode) -> Option<File> {
    None
}

/// Only single files are synced here.
pub(crate) const fn sync_below(_: &Path) {}

/// No two files share their content.
pub(crate) const fn share_content(_: &File, _: &File) -> bool {
    false
}

/// The rest of a file: holes are not looked for.
pub(crate) const fn next_data(_: &File, at: u64, length: u64) -> Option<(u64, u64)> {
    Some((at, length))
}

/// Makes this process a job with all that it starts, which ends with it, and has it end with the one that started it.
pub(crate) fn end_with_parent(_: Signal) {
    let held = process::be_a_job().and_then(|()| process::parent().map_or(Ok(()), process::end_with));
    if let Err(error) = held {
        tracing::warn!(%error, "what this starts may outlive it");
    }
}

/// The path without links. The standard library gives it the prefix of paths that the system takes as they are, which many
/// programs do not know; it is kept where nothing else leads there.
pub(crate) fn canonicalize(path: impl AsRef<Path>) -> std::io::Result<PathBuf> {
    let real = std::fs::canonicalize(path)?;
    Ok(super::verbatim::plain(&real).unwrap_or(real))
}

/// The bash of Git for Windows.
pub(crate) fn bash() -> std::io::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    super::git_bash::find(variable, std::env::split_paths(&path), |place| place.is_file())
}

/// The same: it reads all that `sh` reads.
pub(crate) fn sh() -> std::io::Result<PathBuf> {
    bash()
}

/// A variable of the environment. Settings and what is kept lie where Windows has such files, unless the environment
/// names places as on other systems.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    let instead = match name {
        "HOME" => return home().map(PathBuf::into_os_string),
        "XDG_CONFIG_HOME" => "APPDATA",
        "XDG_STATE_HOME" | "XDG_CACHE_HOME" => "LOCALAPPDATA",
        _ => return std::env::var_os(name),
    };
    std::env::var_os(name).or_else(|| std::env::var_os(instead))
}

/// The user's home: what `HOME` says, as in a shell of Git, otherwise the profile.
pub(crate) fn home() -> Option<PathBuf> {
    let said = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    said.or_else(std::env::home_dir)
}

/// A job needs no adopter.
pub(crate) const fn adopt_orphans() {}

/// A child gets no handle that it is not given.
pub(crate) const fn keep_files() {}

/// Tells how long this machine has slept since some time that stays the same.
pub(crate) fn asleep() -> Duration {
    let mut awake = 0;
    #[expect(unsafe_code, reason = "the standard library's clock goes on while the machine sleeps")]
    // SAFETY: the time goes into a value of its type; the other call takes nothing.
    let (told, all) = unsafe { (QueryUnbiasedInterruptTime(&raw mut awake), GetTickCount64()) };
    if told == 0 {
        return Duration::ZERO;
    }
    // In steps of 100 ns.
    Duration::from_millis(all).saturating_sub(Duration::from_nanos(awake.saturating_mul(100)))
}

/// A priority would be the whole process's here.
pub(crate) const fn step_back() {}

/// A terminal of its own cannot be made for a command here yet.
pub(crate) fn pseudo_terminal() -> std::io::Result<(OwnedFd, CString)> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// The machine.
pub(crate) mod machine {
    use std::ffi::{CStr, CString};

    /// What `uname(2)` tells, as far as somebody asks.
    pub(crate) struct Uname(CString);

    pub(crate) fn uname() -> Uname {
        Uname(CString::new(std::env::var("COMPUTERNAME").unwrap_or_default()).unwrap_or_default())
    }

    impl Uname {
        pub(crate) fn nodename(&self) -> &CStr {
            &self.0
        }

        pub(crate) fn release(&self) -> &CStr {
            c""
        }
    }
}

/// Pipes.
pub(crate) mod pipe {
    use super::io::{Errno, Result};
    use super::os::fd::OwnedFd;

    pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd)> {
        let (reader, writer) = std::io::pipe().map_err(|error| Errno::of(&error))?;
        Ok((reader.into(), writer.into()))
    }
}

/// What the runtime waits for.
pub(crate) mod runtime {
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    use super::os::fd::OwnedFd;

    /// One end of a pair of sockets.
    #[derive(Debug)]
    pub(crate) struct UnixStream(tokio::net::TcpStream);

    impl UnixStream {
        pub(crate) fn from_std(stream: super::net::UnixStream) -> io::Result<Self> {
            tokio::net::TcpStream::from_std(stream.into_stream()).map(Self)
        }
    }

    impl AsyncRead for UnixStream {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(context, bytes)
        }
    }

    impl AsyncWrite for UnixStream {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(context)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(context)
        }
    }

    /// The reading end of a pipe. A thread of the runtime reads: the system waits for no pipe.
    #[derive(Debug)]
    pub(crate) struct Receiver(tokio::process::ChildStdout);

    impl Receiver {
        pub(crate) fn from_owned_fd(reader: OwnedFd) -> io::Result<Self> {
            tokio::process::ChildStdout::from_std(std::process::ChildStdout::from(reader)).map(Self)
        }
    }

    impl AsyncRead for Receiver {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(context, bytes)
        }
    }
}
