//! Bytes of what is open.

use std::fs::File;
use std::io::{Read as _, Write as _};

pub(crate) use super::errno::{Errno, Result};
use super::os::fd::{AsFd, OwnedFd};

super::flags::flags! {
    /// What becomes of an open file in a child.
    FdFlags: u32 { CLOEXEC = 1 }
}

/// A handle of the same file that this function may use and close.
pub(super) fn file(open: impl AsFd) -> Result<File> {
    open.as_fd().try_clone_to_owned().map(File::from).map_err(|error| Errno::of(&error))
}

/// Reads what is there, at most as much as fits.
pub(crate) fn read(open: impl AsFd, bytes: &mut [u8]) -> Result<usize> {
    file(open)?.read(bytes).map_err(|error| Errno::of(&error))
}

/// Writes what can be written at once.
pub(crate) fn write(open: impl AsFd, bytes: &[u8]) -> Result<usize> {
    file(open)?.write(bytes).map_err(|error| Errno::of(&error))
}

/// How many bytes can be read now; nobody can tell of a console.
pub(crate) fn ioctl_fionread(open: impl AsFd) -> Result<u64> {
    super::event::waiting(open.as_fd()).map(u64::from)
}

/// Pipes wait here; who would not asks first.
pub(crate) fn ioctl_fionbio(_: impl AsFd, _: bool) -> Result<()> {
    Ok(())
}

/// A second handle that no child inherits.
pub(crate) fn fcntl_dupfd_cloexec(open: impl AsFd, _: i32) -> Result<OwnedFd> {
    open.as_fd().try_clone_to_owned().map_err(|error| Errno::of(&error))
}

/// No child inherits what it is not given.
pub(crate) fn fcntl_setfd(_: impl AsFd, _: FdFlags) -> Result<()> {
    Ok(())
}
