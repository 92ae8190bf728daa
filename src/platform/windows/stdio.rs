//! The three files of every program.

use std::os::windows::io::{AsRawHandle as _, BorrowedHandle, IntoRawHandle as _};

use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_ERROR_HANDLE, STD_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle,
};

use super::io::{Errno, Result};
use super::os::fd::{AsFd, OwnedFd};

#[expect(unsafe_code, reason = "the standard library lends no handle that lives as long as the program")]
fn lent(which: STD_HANDLE) -> BorrowedHandle<'static> {
    // SAFETY: the call takes a number and gives a handle, or none, which may be borrowed, too (BorrowedHandle); nothing
    // closes it.
    unsafe { BorrowedHandle::borrow_raw(GetStdHandle(which)) }
}

pub(crate) fn stdin() -> BorrowedHandle<'static> {
    lent(STD_INPUT_HANDLE)
}

pub(crate) fn stdout() -> BorrowedHandle<'static> {
    lent(STD_OUTPUT_HANDLE)
}

pub(crate) fn stderr() -> BorrowedHandle<'static> {
    lent(STD_ERROR_HANDLE)
}

/// A handle of one's own.
pub(crate) fn dup(open: impl AsFd) -> Result<OwnedFd> {
    open.as_fd().try_clone_to_owned().map_err(|error| Errno::of(&error))
}

fn replace(which: STD_HANDLE, open: impl AsFd) -> Result<()> {
    // It stays open for good, as the place it takes does.
    let handle = dup(open)?.into_raw_handle();
    #[expect(unsafe_code, reason = "the standard library replaces none of them")]
    // SAFETY: the handle is open and never closed.
    let done = unsafe { SetStdHandle(which, handle) };
    if done == 0 { Err(Errno::last()) } else { Ok(()) }
}

pub(crate) fn dup2_stdin(open: impl AsFd) -> Result<()> {
    replace(STD_INPUT_HANDLE, open)
}

pub(crate) fn dup2_stdout(open: impl AsFd) -> Result<()> {
    replace(STD_OUTPUT_HANDLE, open)
}

pub(crate) fn dup2_stderr(open: impl AsFd) -> Result<()> {
    replace(STD_ERROR_HANDLE, open)
}

/// Tells whether nobody can read what this program prints.
pub(crate) fn is_output_closed() -> bool {
    stdout().as_raw_handle().is_null()
}
