//! A named pipe that a command line and all that it starts hold open: whether they have begun, and whether all are gone,
//! is told by the kernel.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags};

use super::pty::PATIENCE;

/// See the module.
pub(crate) struct Lifeline {
    path: PathBuf,
    pipe: File,
}

impl Lifeline {
    /// Makes the pipe.
    pub(crate) fn new(path: PathBuf) -> Self {
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
        let pipe = OpenOptions::new().read(true).custom_flags(flags).open(&path).unwrap();
        Self { path, pipe }
    }

    /// A line that holds it from its beginning to the end of the last process.
    pub(crate) fn held_by(&self, line: &str) -> String {
        format!("exec 9>'{}'; echo >&9; {line}", self.path.display())
    }

    /// Waits until the line has begun.
    #[track_caller]
    pub(crate) fn begins(&self) {
        assert!(self.told(PATIENCE).contains(PollFlags::IN), "the line did not begin");
    }

    /// Waits until the last process that holds it is gone.
    #[track_caller]
    pub(crate) fn ends(&self) {
        self.begins();
        let read = (&self.pipe).read(&mut [0; 64]).unwrap();
        let told = self.told(PATIENCE);
        assert!(read > 0 && told.contains(PollFlags::HUP), "something of the line still runs");
    }

    /// Tells whether a process holds it now.
    pub(crate) fn is_held(&self) -> bool {
        !self.told(std::time::Duration::ZERO).contains(PollFlags::HUP)
    }

    fn told(&self, limit: std::time::Duration) -> PollFlags {
        let mut polled = [PollFd::new(&self.pipe, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec::try_from(limit).unwrap())).unwrap();
        polled[0].revents()
    }
}
