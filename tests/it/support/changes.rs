//! Waits for what another process does to files or for its end: the kernel tells, nobody looks again and again.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::pty::PATIENCE;

/// The files directly in a directory, watched.
pub(crate) struct Changes(OwnedFd);

impl Changes {
    /// Watches a directory from now on; makes it if there is none yet.
    pub(crate) fn of(directory: &Path) -> Self {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).unwrap();
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        let each = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE | WatchFlags::MODIFY;
        inotify::add_watch(&queue, directory, each).unwrap();
        Self(queue)
    }

    /// Waits until `holds`; looks at every change.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let limit = Instant::now() + PATIENCE;
        let mut events = [0; 4096];
        while !holds() {
            assert!(is_told(&self.0, limit), "did not come: {what}");
            // How many there were and which does not matter.
            while rustix::io::read(&self.0, &mut events).is_ok_and(|count| count > 0) {}
        }
    }
}

/// The processes but this one whose directory in /proc fits.
pub(crate) fn processes(fits: impl Fn(&Path) -> bool) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers =
        entries.filter(|entry| fits(&entry.path())).filter_map(|entry| entry.file_name().into_string().ok());
    let all = numbers.filter_map(|number| Pid::from_raw(number.parse().ok()?));
    all.filter(|process| *process != rustix::process::getpid()).collect()
}

/// The command line of a process, its words between blanks; empty for one that has ended.
pub(crate) fn command_line(process: &Path) -> String {
    let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}

/// Waits until no process fits.
#[track_caller]
pub(crate) fn all_end(what: &str, fits: impl Fn(&Path) -> bool) {
    let limit = Instant::now() + PATIENCE;
    while let Some(process) = processes(&fits).first().copied() {
        // One that cannot be opened has ended since.
        if let Ok(end) = pidfd_open(process, PidfdFlags::empty()) {
            let line = command_line(Path::new(&format!("/proc/{}", process.as_raw_nonzero())));
            assert!(is_told(&end, limit), "{what}: {line:?} still runs");
        }
    }
}

/// Waits until a descriptor has something to tell, or until the limit.
fn is_told(descriptor: &impl AsFd, limit: Instant) -> bool {
    let left = Timespec::try_from(limit.saturating_duration_since(Instant::now())).unwrap();
    poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&left)).unwrap() > 0
}
