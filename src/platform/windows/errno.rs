//! What the system says of a failure.

use std::io;

use windows_sys::Win32::Foundation as system;
use windows_sys::Win32::Networking::WinSock as net;

/// A failure by the system's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(u32);

pub(crate) type Result<T> = std::result::Result<T, Errno>;

impl Errno {
    pub(crate) const ACCESS: Self = Self(system::ERROR_ACCESS_DENIED);
    pub(crate) const AGAIN: Self = Self::WOULDBLOCK;
    pub(crate) const BADF: Self = Self(system::ERROR_INVALID_HANDLE);
    pub(crate) const CHILD: Self = Self(system::ERROR_WAIT_NO_CHILDREN);
    pub(crate) const EXIST: Self = Self(system::ERROR_ALREADY_EXISTS);
    pub(crate) const INTR: Self = Self(net::WSAEINTR.cast_unsigned());
    pub(crate) const INVAL: Self = Self(system::ERROR_INVALID_PARAMETER);
    pub(crate) const IO: Self = Self(system::ERROR_IO_DEVICE);
    pub(crate) const LOOP: Self = Self(system::ERROR_CANT_RESOLVE_FILENAME);
    pub(crate) const MFILE: Self = Self(system::ERROR_TOO_MANY_OPEN_FILES);
    pub(crate) const NAMETOOLONG: Self = Self(system::ERROR_FILENAME_EXCED_RANGE);
    pub(crate) const NFILE: Self = Self(system::ERROR_TOO_MANY_OPEN_FILES);
    pub(crate) const NODATA: Self = Self(system::ERROR_NO_DATA);
    pub(crate) const NODEV: Self = Self(system::ERROR_DEV_NOT_EXIST);
    pub(crate) const NOENT: Self = Self(system::ERROR_FILE_NOT_FOUND);
    pub(crate) const NOEXEC: Self = Self(system::ERROR_BAD_EXE_FORMAT);
    pub(crate) const NOLCK: Self = Self(system::ERROR_LOCK_FAILED);
    pub(crate) const NOSYS: Self = Self(system::ERROR_CALL_NOT_IMPLEMENTED);
    pub(crate) const NOTSUP: Self = Self(system::ERROR_NOT_SUPPORTED);
    pub(crate) const NOTTY: Self = Self(system::ERROR_INVALID_FUNCTION);
    pub(crate) const NXIO: Self = Self(system::ERROR_BAD_UNIT);
    pub(crate) const PERM: Self = Self(system::ERROR_PRIVILEGE_NOT_HELD);
    pub(crate) const PIPE: Self = Self(system::ERROR_BROKEN_PIPE);
    pub(crate) const RANGE: Self = Self(system::ERROR_INSUFFICIENT_BUFFER);
    pub(crate) const SRCH: Self = Self(system::ERROR_NOT_FOUND);
    pub(crate) const WOULDBLOCK: Self = Self(net::WSAEWOULDBLOCK.cast_unsigned());
    pub(crate) const XDEV: Self = Self(system::ERROR_NOT_SAME_DEVICE);

    pub(crate) const fn raw_os_error(self) -> i32 {
        self.0.cast_signed()
    }

    /// What the system said last on this thread.
    pub(super) fn last() -> Self {
        Self::of(&io::Error::last_os_error())
    }

    /// One number for each kind of failure that the callers tell apart, whatever number the system has for it.
    pub(super) fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NOENT,
            io::ErrorKind::AlreadyExists => Self::EXIST,
            io::ErrorKind::PermissionDenied => Self::ACCESS,
            io::ErrorKind::WouldBlock => Self::AGAIN,
            io::ErrorKind::BrokenPipe => Self::PIPE,
            io::ErrorKind::Interrupted => Self::INTR,
            _ => error.raw_os_error().map_or(Self::IO, |number| Self(number.cast_unsigned())),
        }
    }
}

impl From<Errno> for io::Error {
    fn from(error: Errno) -> Self {
        Self::from_raw_os_error(error.raw_os_error())
    }
}

impl std::fmt::Display for Errno {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        io::Error::from(*self).fmt(formatter)
    }
}

impl std::error::Error for Errno {}
