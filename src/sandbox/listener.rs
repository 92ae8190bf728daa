//! The kernel's side of a judged system call: a filter with a listener, and the listener's requests (`seccomp(2)`,
//! `seccomp_unotify(2)`). Knows no call by name.
#![expect(unsafe_code, reason = "no library that is used here has the system call, its requests or their layout")]

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use rustix::io::Errno;
use seccompiler::sock_filter;

/// A call that waits for its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    id: u64,
    /// The thread that made the call.
    pub(super) thread: u32,
    /// The call's number.
    pub(super) number: i32,
    pub(super) arguments: [u64; 6],
}

#[cfg(test)]
impl Asked {
    /// Makes a call that no thread made, for tests.
    pub(super) const fn made(number: i32, arguments: [u64; 6]) -> Self {
        Self { id: 0, thread: 0, number, arguments }
    }
}

/// Installs a filter with a listener on this thread, which must have given up gaining privileges.
///
/// # Errors
/// The system's error: `EBUSY` if another listener exists already.
pub(super) fn install(program: &[sock_filter]) -> io::Result<OwnedFd> {
    let Ok(length) = u16::try_from(program.len()) else { return Err(io::ErrorKind::InvalidInput.into()) };
    // Both structures are two words: `struct sock_filter` and `struct sock_fprog` of linux/filter.h.
    let filter = libc::sock_fprog { len: length, filter: program.as_ptr().cast::<libc::sock_filter>().cast_mut() };
    // Once a call is being judged, only death interrupts it: after another signal it would be judged twice.
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: the kernel reads `length` instructions behind the pointer, which live until the call returns, and
    // writes nothing.
    let listener =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter) };
    match i32::try_from(listener) {
        // SAFETY: the kernel just made this descriptor for us, and nobody else knows it.
        Ok(listener) if listener >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(listener) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Duplicates a descriptor whose number the parent process named, so that it is ours alone.
///
/// # Errors
/// The system's error: `EBADF` if nothing is open under that number.
pub fn inherited(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: the call changes nothing of any memory, and says so where the number is open nowhere.
    let own = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if own < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(own) })
}

/// Receives the next call that waits.
///
/// # Errors
/// `NOENT` when its thread was killed before it was taken.
pub(super) fn receive(listener: BorrowedFd<'_>) -> Result<Asked, Errno> {
    // SAFETY: a structure of numbers, of which all zeros is a value; the kernel asks for zeros.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `struct seccomp_notif` there: the size is part of the request's number.
    requested(unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) })?;
    Ok(Asked { id: asked.id, thread: asked.pid, number: asked.data.nr, arguments: asked.data.args })
}

/// Tells whether the call still waits: only then was the memory that was read that of its thread.
pub(super) fn waits(listener: BorrowedFd<'_>, asked: &Asked) -> bool {
    // SAFETY: the kernel reads one number of 64 bits there.
    requested(unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const asked.id) })
        .is_ok()
}

/// Answers a call: it returns 0, or fails with the error. If the thread was killed meanwhile, nothing happens.
pub(super) fn answer(listener: BorrowedFd<'_>, asked: &Asked, result: Result<(), Errno>) {
    let error = result.map_or_else(|error| -error.raw_os_error(), |()| 0);
    let response = libc::seccomp_notif_resp { id: asked.id, val: 0, error, flags: 0 };
    // SAFETY: the kernel reads one `struct seccomp_notif_resp` there.
    let _ = requested(unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response)
    });
}

/// Answers a call that opens a file with this file instead: the call returns a descriptor of it.
///
/// # Errors
/// The system's error: the caller is gone, or may open no more files.
pub(super) fn hand_in(
    listener: BorrowedFd<'_>,
    asked: &Asked,
    file: BorrowedFd<'_>,
    closes_on_exec: bool,
) -> Result<(), Errno> {
    let request = libc::seccomp_notif_addfd {
        id: asked.id,
        flags: u32::try_from(libc::SECCOMP_ADDFD_FLAG_SEND).unwrap_or(2),
        srcfd: file.as_raw_fd().cast_unsigned(),
        newfd: 0,
        newfd_flags: if closes_on_exec { libc::O_CLOEXEC.cast_unsigned() } else { 0 },
    };
    // SAFETY: the kernel reads one `struct seccomp_notif_addfd` there.
    requested(unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw const request) })
}

/// Lets a call go on into the kernel, with its arguments as they are then: changes that its thread made meanwhile
/// count.
pub(super) fn let_go(listener: BorrowedFd<'_>, asked: &Asked) {
    let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap_or(1);
    let response = libc::seccomp_notif_resp { id: asked.id, val: 0, error: 0, flags };
    // SAFETY: the kernel reads one `struct seccomp_notif_resp` there.
    let _ = requested(unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response)
    });
}

/// Makes the calling thread and the judge take turns on one processor, which halves the time. Does nothing before
/// Linux 6.6.
pub(super) fn take_turns(listener: impl AsFd) {
    /// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP` of linux/seccomp.h.
    const TOGETHER: u64 = 1;
    let listener = listener.as_fd().as_raw_fd();
    // SAFETY: the value is passed by itself and no memory is touched.
    let _ = requested(unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, TOGETHER) });
}

fn requested(returned: i32) -> Result<(), Errno> {
    if returned >= 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
}
