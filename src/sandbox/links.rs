//! Second names of files in a layer of an ordinary user. There the kernel gives the new name another number than the file
//! had when somebody looked at it before (it keeps no `overlay.origin` without `CAP_DAC_READ_SEARCH`). Who compares the two
//! gives up; told that the file system has no links, they copy.

use libc::c_long;

/// The calls that give a file a second name, as listed in `syscalls(2)`.
pub(super) const CALLS: &[c_long] = &[
    libc::SYS_linkat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
];

/// Programs that compare ("hardlink different from source", git's builtin/clone.c).
const COMPARING: &[&str] = &["git"];

/// Tells whether the program of a thread is told that there are no links here.
pub(super) fn are_refused(thread: u32) -> bool {
    let program = || std::fs::read_link(format!("/proc/{thread}/exe")).ok();
    let compares = || program().is_some_and(|path| COMPARING.iter().any(|name| path.ends_with(name)));
    !rustix::process::geteuid().is_root() && compares()
}
