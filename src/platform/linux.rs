//! Linux.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
pub(crate) use rustix::time;

/// Whether a process can stay beside a command until nothing that it started is left.
pub(crate) const ADOPTS: bool = true;

/// What opens an address where nothing else is said.
pub(crate) const OPENERS: &[&str] = &["xdg-open", "wslview", "gio open"];

/// What shows a notification on the desktop; a title and a text follow.
pub(crate) const NOTIFIER: &[&str] = &["notify-send", "--app-name=axi", "--"];

/// Whether the text of a notification is markup there.
pub(crate) const NOTIFIES_IN_MARKUP: bool = true;

/// Programs that print the clipboard's picture, whatever the environment says.
pub(crate) const PICTURE_PROGRAMS: &[&[&str]] = &[];

/// Looks a directory up, and needs no right to list it.
pub(crate) const LOOKED_UP: OFlags = OFlags::PATH;

/// Makes a file that has no name yet: if axi is killed before it is complete, nothing is left. Not every file
/// system can do that.
pub(crate) fn unnamed(parent: &OwnedFd, mode: Mode) -> Option<File> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    rustix::fs::openat(parent, ".", flags, mode).ok().map(File::from)
}

/// Has all that was written to the file system of this directory be on the disk; a disk that cannot sync is no reason to
/// stop.
pub(crate) fn sync_below(directory: &Path) {
    drop(File::open(directory).map(rustix::fs::syncfs));
}

/// Makes a new file share its content with another until one of them is written; tells whether it does.
pub(crate) fn share_content(source: &File, target: &File) -> bool {
    rustix::fs::ioctl_ficlone(target, source).is_ok()
}

/// Finds the next piece of a file with data from a place on; `None` if only a hole follows.
pub(crate) fn next_data(file: &File, at: u64, length: u64) -> Option<(u64, u64)> {
    use rustix::fs::{SeekFrom, seek};
    match seek(file, SeekFrom::Data(at)) {
        Ok(from) => Some((from, seek(file, SeekFrom::Hole(from)).unwrap_or(length))),
        Err(rustix::io::Errno::NXIO) => None,
        Err(_) => Some((at, length)),
    }
}

/// Has this process be sent a signal when the one that started it ends.
pub(crate) fn end_with_parent(signal: Signal) {
    let _ = rustix::process::set_parent_process_death_signal(Some(signal));
}

/// Has what the children of this process leave behind be its own children.
pub(crate) fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Tells how long this machine has slept since some time that stays the same.
pub(crate) fn asleep() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    // One clock goes on while the machine sleeps, the other stops (clock_gettime(2)). Nobody can set either.
    let at = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
    let awake = at(ClockId::Monotonic);
    at(ClockId::Boottime).saturating_sub(awake)
}

/// Lowers the priority of this thread, and of those it starts, behind keys and lists.
pub(crate) fn step_back() {
    if let Err(error) = rustix::process::nice(10) {
        tracing::debug!(%error, "the walk goes as fast as the keys");
    }
}

/// Makes a pseudo-terminal: its near end, and the name of its far end. No child inherits it.
pub(crate) fn pseudo_terminal() -> io::Result<(OwnedFd, CString)> {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&near)?;
    unlockpt(&near)?;
    let name = ptsname(&near, Vec::new())?;
    Ok((near, name))
}
