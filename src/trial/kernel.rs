//! The calls of the kernel that a trial's mounts need and no library here has, each behind a safe face.

#![expect(unsafe_code, reason = "no library that is used here has mount_setattr, or calls unshare safe")]

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::thread::UnshareFlags;

/// `struct mount_attr` (`mount_setattr(2)`).
#[repr(C)]
#[derive(Default)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// `MOUNT_ATTR_RDONLY` (linux/mount.h).
const READ_ONLY: u64 = 1;
/// `AT_RECURSIVE` (linux/fcntl.h).
const RECURSIVE: libc::c_uint = 0x8000;

/// Makes all mounts at a path and below it read-only for this namespace.
///
/// # Errors
/// The system's error; `ENOSYS` before Linux 5.12.
pub(super) fn read_only_below(path: &Path) -> io::Result<()> {
    set(path, RECURSIVE, &MountAttributes { set: READ_ONLY, ..MountAttributes::default() })
}

/// Makes the mount at a path writable again.
///
/// # Errors
/// The system's error.
pub(super) fn writable(path: &Path) -> io::Result<()> {
    set(path, 0, &MountAttributes { clear: READ_ONLY, ..MountAttributes::default() })
}

fn set(path: &Path, flags: libc::c_uint, attributes: &MountAttributes) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path ends with a zero byte and both live until the call is over; the size is the structure's own.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            std::ptr::from_ref(attributes),
            size_of::<MountAttributes>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives this process namespaces of its own.
///
/// # Errors
/// The system's error.
pub(super) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    debug_assert!(!flags.contains(UnshareFlags::FILES), "descriptors stay shared");
    // SAFETY: unsafe only with the flag that the line above excludes; every caller names its flags.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(io::Error::from)
}
