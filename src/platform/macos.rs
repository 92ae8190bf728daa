//! macOS.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Whether a process can stay beside a command until nothing that it started is left: nothing adopts here.
pub(crate) const ADOPTS: bool = false;

/// What opens an address where nothing else is said.
pub(crate) const OPENERS: &[&str] = &["open"];

/// What shows a notification on the desktop; a title and a text follow. They are arguments of the script and no part of it.
pub(crate) const NOTIFIER: &[&str] =
    &["osascript", "-e", "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"];

/// Whether the text of a notification is markup there.
pub(crate) const NOTIFIES_IN_MARKUP: bool = false;

/// Programs that print the clipboard's picture, whatever the environment says.
pub(crate) const PICTURE_PROGRAMS: &[&[&str]] = &[&["pngpaste", "-"]];

/// Opens a directory; there is no look without the right to list it.
pub(crate) const LOOKED_UP: OFlags = OFlags::RDONLY;

/// Every file has a name here.
pub(crate) const fn unnamed(_: &OwnedFd, _: Mode) -> Option<File> {
    None
}

/// Has the system write all that is not on the disk yet.
pub(crate) fn sync_below(_: &Path) {
    rustix::fs::sync();
}

/// No two open files share their content here: APFS clones by names alone.
pub(crate) const fn share_content(_: &File, _: &File) -> bool {
    false
}

/// The rest of a file: holes are not looked for.
pub(crate) const fn next_data(_: &File, at: u64, length: u64) -> Option<(u64, u64)> {
    Some((at, length))
}

/// There is no such signal here: what is left behind is swept at the next start.
pub(crate) const fn end_with_parent(_: Signal) {}

/// Nobody is adopted here.
pub(crate) const fn adopt_orphans() {}

/// Tells how long this machine has slept since some time that stays the same.
pub(crate) fn asleep() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    // The monotonic clock goes on while the machine sleeps (clock_gettime(3)); that of an instant stops.
    static BEGUN: OnceLock<(Instant, Duration)> = OnceLock::new();
    let going = || Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default();
    let (awake, begun) = BEGUN.get_or_init(|| (Instant::now(), going()));
    going().saturating_sub(*begun).saturating_sub(awake.elapsed())
}

/// A priority would be the whole process's here.
pub(crate) const fn step_back() {}

/// Makes a pseudo-terminal: its near end, and the name of its far end. No child inherits it, but one that starts at this
/// very moment: the system cannot do both at once.
pub(crate) fn pseudo_terminal() -> io::Result<(OwnedFd, CString)> {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    fcntl_setfd(&near, FdFlags::CLOEXEC)?;
    grantpt(&near)?;
    unlockpt(&near)?;
    let name = ptsname(&near, Vec::new())?;
    Ok((near, name))
}
