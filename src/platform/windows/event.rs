//! Waiting until something can be read.

use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::Networking::WinSock::{FIONREAD, POLLRDNORM, SOCKET, WSAPOLLFD, WSAPoll, ioctlsocket};
use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_CHAR, FILE_TYPE_PIPE, GetFileType};
use windows_sys::Win32::System::Pipes::PeekNamedPipe;
use windows_sys::Win32::System::Threading::WaitForSingleObject;

use std::os::windows::io::AsRawHandle as _;

use super::errno::{Errno, Result};
use super::os::fd::{AsFd, BorrowedFd};

/// No call waits for a console, a pipe and a socket together: looks at them are this far apart.
const LOOK: Duration = Duration::from_millis(10);

super::flags::flags! {
    /// What is waited for, and what came.
    PollFlags: u16 { IN = 1, OUT = 4, ERR = 8, HUP = 16, NVAL = 32 }
}

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Timespec {
    pub(crate) tv_sec: i64,
    pub(crate) tv_nsec: i64,
}

impl TryFrom<Duration> for Timespec {
    type Error = std::num::TryFromIntError;

    fn try_from(time: Duration) -> std::result::Result<Self, Self::Error> {
        Ok(Self { tv_sec: time.as_secs().try_into()?, tv_nsec: time.subsec_nanos().into() })
    }
}

impl From<Timespec> for Duration {
    fn from(time: Timespec) -> Self {
        let part = u32::try_from(time.tv_nsec).unwrap_or_default();
        Self::new(u64::try_from(time.tv_sec).unwrap_or_default(), part)
    }
}

/// One of those that are waited for.
#[derive(Debug)]
pub(crate) struct PollFd<'a> {
    open: BorrowedFd<'a>,
    wanted: PollFlags,
    came: PollFlags,
}

impl<'a> PollFd<'a> {
    pub(crate) fn new(open: &'a impl AsFd, wanted: PollFlags) -> Self {
        Self::from_borrowed_fd(open.as_fd(), wanted)
    }

    pub(crate) fn from_borrowed_fd(open: BorrowedFd<'a>, wanted: PollFlags) -> Self {
        Self { open, wanted, came: PollFlags::empty() }
    }

    pub(crate) fn revents(&self) -> PollFlags {
        self.came
    }

    fn look(&mut self) -> bool {
        self.came = PollFlags::empty();
        if self.wanted.contains(PollFlags::OUT) {
            self.came.insert(PollFlags::OUT);
        }
        if self.wanted.contains(PollFlags::IN) {
            match is_readable(self.open) {
                Ok(true) => self.came.insert(PollFlags::IN),
                Ok(false) => {}
                // What ended can be read, which tells that.
                Err(_) => self.came.insert(PollFlags::IN | PollFlags::HUP),
            }
        }
        !self.came.is_empty()
    }
}

/// Waits until one of them has something, for ever without a limit; tells how many have.
pub(crate) fn poll(all: &mut [PollFd<'_>], limit: Option<&Timespec>) -> Result<usize> {
    let end = limit.map(|limit| Instant::now() + Duration::from(*limit));
    if let ([one], None) = (&*all, end)
        && one.wanted == PollFlags::IN
    {
        wait(one.open);
    }
    loop {
        let count = all.iter_mut().map(PollFd::look).filter(|has| *has).count();
        let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
        if count > 0 || left.is_zero() {
            return Ok(count);
        }
        std::thread::sleep(left.min(LOOK));
    }
}

fn kind(open: BorrowedFd<'_>) -> u32 {
    #[expect(unsafe_code, reason = "the kind of what is open has no other call")]
    // SAFETY: the handle is open as long as it is borrowed; nothing is written.
    unsafe {
        GetFileType(open.as_raw_handle())
    }
}

/// Waits for a socket or a console alone, without looking again and again; a pipe cannot be waited for.
fn wait(open: BorrowedFd<'_>) {
    match kind(open) {
        FILE_TYPE_CHAR => drop(console(open, u32::MAX)),
        FILE_TYPE_PIPE if pipe(open).is_none() => drop(socket(open, -1)),
        _ => {}
    }
}

fn is_readable(open: BorrowedFd<'_>) -> Result<bool> {
    match kind(open) {
        FILE_TYPE_CHAR => console(open, 0),
        FILE_TYPE_PIPE => match pipe(open) {
            Some(count) => count.map(|count| count > 0),
            None => socket(open, 0),
        },
        // A file can always be read.
        _ => Ok(true),
    }
}

/// How many bytes wait in a pipe or a socket.
pub(super) fn waiting(open: BorrowedFd<'_>) -> Result<u32> {
    if kind(open) != FILE_TYPE_PIPE {
        return Ok(u32::from(is_readable(open)?));
    }
    pipe(open).unwrap_or_else(|| {
        let mut count = 0;
        #[expect(unsafe_code, reason = "the standard library has no such call")]
        // SAFETY: the socket is open as long as it is borrowed; the count is written into a value of its type.
        let failed = unsafe { ioctlsocket(open.as_raw_handle() as SOCKET, FIONREAD, &raw mut count) };
        if failed == 0 { Ok(count) } else { Err(Errno::last()) }
    })
}

fn console(open: BorrowedFd<'_>, limit: u32) -> Result<bool> {
    #[expect(unsafe_code, reason = "the standard library waits for no handle")]
    // SAFETY: the handle is open as long as it is borrowed.
    let ended = unsafe { WaitForSingleObject(open.as_raw_handle(), limit) };
    Ok(ended == WAIT_OBJECT_0)
}

/// How many bytes wait in a pipe; `None` for what is none. A pipe without a writer fails.
fn pipe(open: BorrowedFd<'_>) -> Option<Result<u32>> {
    let mut count = 0;
    let none = std::ptr::null_mut();
    #[expect(unsafe_code, reason = "the standard library has no such call")]
    // SAFETY: the handle is open as long as it is borrowed; no bytes are copied, the count goes into a value of its type.
    let done = unsafe {
        PeekNamedPipe(open.as_raw_handle(), none, 0, std::ptr::null_mut(), &raw mut count, std::ptr::null_mut())
    };
    if done != 0 {
        return Some(Ok(count));
    }
    match Errno::last() {
        Errno::PIPE => Some(Err(Errno::PIPE)),
        _ => None,
    }
}

fn socket(open: BorrowedFd<'_>, limit: i32) -> Result<bool> {
    let mut asked = WSAPOLLFD { fd: open.as_raw_handle() as SOCKET, events: POLLRDNORM, revents: 0 };
    #[expect(unsafe_code, reason = "the standard library waits for no socket")]
    // SAFETY: one value is told and one is there.
    let count = unsafe { WSAPoll(&raw mut asked, 1, limit) };
    if count < 0 { Err(Errno::last()) } else { Ok(count > 0) }
}
