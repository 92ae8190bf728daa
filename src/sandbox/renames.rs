//! What a call that renames names, as its thread means it: `rename(2)` and its younger forms.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use libc::c_long;
use rustix::fs::RenameFlags;
use rustix::io::Errno;

use super::filter::{LONGEST_PATH, text, word};
use super::listener::Asked;

/// The calls, as listed in `syscalls(2)`.
pub(super) const CALLS: &[c_long] = &[
    libc::SYS_renameat,
    libc::SYS_renameat2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
];

/// What is renamed to what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rename {
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
    pub(super) flags: RenameFlags,
}

/// Reads such a call; `None` for other calls, and for what cannot be read. `memory` is that of its thread.
pub(super) fn read(asked: &Asked, memory: &File) -> Option<Rename> {
    let number = c_long::from(asked.number);
    if !CALLS.contains(&number) {
        return None;
    }
    let [first, second, third, fourth, flags, _] = asked.arguments;
    let of = |directory: i32, address: u64| {
        let path = text(memory, address, LONGEST_PATH, Errno::NAMETOOLONG).ok()?;
        path_of(asked.thread, directory, &path)
    };
    if number != libc::SYS_renameat && number != libc::SYS_renameat2 {
        let (from, to) = (of(libc::AT_FDCWD, first)?, of(libc::AT_FDCWD, second)?);
        return Some(Rename { from, to, flags: RenameFlags::empty() });
    }
    let flags = if number == libc::SYS_renameat2 { word(flags).cast_unsigned() } else { 0 };
    let (from, to) = (of(word(first), second)?, of(word(third), fourth)?);
    Some(Rename { from, to, flags: RenameFlags::from_bits_retain(flags) })
}

/// The path by which another process reaches what a thread names; `None` where its root is another.
fn path_of(thread: u32, directory: i32, path: &CString) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(path.as_bytes()));
    if path.as_os_str().is_empty() {
        return None;
    }
    let root = std::fs::read_link(format!("/proc/{thread}/root")).ok()?;
    if root != Path::new("/") || path.starts_with("/proc") {
        return None;
    }
    let start = match directory {
        libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
        descriptor => format!("/proc/{thread}/fd/{descriptor}"),
    };
    // An absolute one replaces the start.
    Some(Path::new(&start).join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_threads_own_wherever_it_starts() {
        let own = std::process::id();
        let path = |directory, path: &str| path_of(own, directory, &CString::new(path).unwrap());
        assert_eq!(path(libc::AT_FDCWD, "a/b"), Some(PathBuf::from(format!("/proc/{own}/cwd/a/b"))));
        assert_eq!(path(7, "a"), Some(PathBuf::from(format!("/proc/{own}/fd/7/a"))));
        assert_eq!(path(7, "/a"), Some(PathBuf::from("/a")));
        assert_eq!(path(7, ""), None);
        assert_eq!(path(7, "/proc/self/cwd/a"), None);
    }
}
