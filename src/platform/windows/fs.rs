//! Calls on files. A directory that is open cannot be renamed or removed here, so that a name below it means the same
//! until it is closed.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{FileTimes, Metadata, OpenOptions};
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsRawHandle as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_LIST_DIRECTORY, FILE_SHARE_READ, FILE_SHARE_WRITE, GetDiskFreeSpaceExW,
    GetFinalPathNameByHandleW, VOLUME_NAME_DOS,
};

pub(crate) use super::event::Timespec;
use super::io::{Errno, Result, file};
use super::os::fd::{AsFd, OwnedFd};
use super::os::fs::{MetadataExt as _, system_flags};
pub(crate) use super::process::{Owner as Gid, Owner as Uid};

super::flags::flags! {
    /// How to open a file.
    OFlags: u32 {
        RDONLY = 0, WRONLY = 1, RDWR = 2, CREATE = 4, EXCL = 8, TRUNC = 16, NOFOLLOW = 32, DIRECTORY = 64,
        NONBLOCK = 128, NOCTTY = 0, CLOEXEC = 0, PATH = 256,
    }
}

super::flags::flags! {
    /// How a name is taken.
    AtFlags: u32 { SYMLINK_NOFOLLOW = 1, SYMLINK_FOLLOW = 2, EACCESS = 0 }
}

super::flags::flags! {
    /// What one may do with a file.
    Access: u32 { EXISTS = 0, READ_OK = 4, WRITE_OK = 2, EXEC_OK = 1 }
}

super::flags::flags! {
    /// How an attribute is set.
    XattrFlags: u32 { CREATE = 1 }
}

super::flags::flags! {
    /// The mode of a file.
    Mode: u32 { RWXU = 0o700 }
}

impl Mode {
    pub(crate) const fn from_raw_mode(mode: u32) -> Self {
        Self::from_bits_retain(mode)
    }
}

/// What locks a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlockOperation {
    LockExclusive,
    NonBlockingLockExclusive,
    Unlock,
}

/// What is made by its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileType {
    Fifo,
    RegularFile,
    Socket,
    CharacterDevice,
    BlockDevice,
}

impl FileType {
    pub(crate) const fn from_raw_mode(_: u32) -> Self {
        Self::RegularFile
    }
}

/// What `stat(2)` tells, as far as somebody asks.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the names of stat(2)")]
pub(crate) struct Stat {
    pub(crate) st_mode: u32,
    pub(crate) st_nlink: u64,
    pub(crate) st_uid: u32,
    pub(crate) st_gid: u32,
}

/// The directory of the process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cwd;
pub(crate) const CWD: Cwd = Cwd;

/// Where a name is looked up.
pub(crate) trait Below {
    fn below(&self, name: &Path) -> Result<PathBuf>;
}

impl Below for Cwd {
    fn below(&self, name: &Path) -> Result<PathBuf> {
        Ok(name.to_owned())
    }
}

impl<T: AsFd> Below for T {
    fn below(&self, name: &Path) -> Result<PathBuf> {
        let directory = path_of(self.as_fd())?;
        Ok(if name == Path::new(".") { directory } else { directory.join(name) })
    }
}

/// What can be a path.
pub(crate) trait Arg {
    fn path(&self) -> Cow<'_, Path>;
}

macro_rules! paths {
    ($($kind:ty),*) => {
        $(impl Arg for $kind {
            fn path(&self) -> Cow<'_, Path> {
                Path::new(self).into()
            }
        })*
    };
}

paths!(str, String, Path, PathBuf, OsStr, OsString);

impl Arg for CStr {
    fn path(&self) -> Cow<'_, Path> {
        PathBuf::from(self.to_string_lossy().into_owned()).into()
    }
}

impl Arg for CString {
    fn path(&self) -> Cow<'_, Path> {
        PathBuf::from(self.to_string_lossy().into_owned()).into()
    }
}

impl<T: Arg + ?Sized> Arg for &T {
    fn path(&self) -> Cow<'_, Path> {
        (**self).path()
    }
}

fn said<T>(result: std::io::Result<T>) -> Result<T> {
    result.map_err(|error| Errno::of(&error))
}

/// The path of what is open, as the system has it now.
fn path_of(open: impl AsFd) -> Result<PathBuf> {
    let mut text = vec![0_u16; 32_768];
    // PROOF: that is less than `u32` holds.
    let size = u32::try_from(text.len()).unwrap_or_default();
    let handle = open.as_fd().as_raw_handle();
    #[expect(unsafe_code, reason = "the standard library does not tell the path of what is open")]
    // SAFETY: the handle is open as long as it is borrowed; the text has as much room as is told.
    let length = unsafe { GetFinalPathNameByHandleW(handle, text.as_mut_ptr(), size, VOLUME_NAME_DOS) };
    if length == 0 || length >= size {
        return Err(Errno::last());
    }
    text.truncate(length as usize);
    Ok(PathBuf::from(OsString::from_wide(&text)))
}

pub(crate) fn open(path: impl Arg, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    openat(CWD, path, flags, mode)
}

pub(crate) fn openat(directory: impl Below, name: impl Arg, flags: OFlags, _: Mode) -> Result<OwnedFd> {
    let path = directory.below(&name.path())?;
    let mut options = OpenOptions::new();
    let is_directory = flags.contains(OFlags::DIRECTORY);
    if is_directory || path.is_dir() {
        if flags.contains(OFlags::NOFOLLOW) && said(path.symlink_metadata())?.is_symlink() {
            return Err(Errno::LOOP);
        }
        // Without the right to share its removal nobody renames it while it is open.
        options.access_mode(FILE_LIST_DIRECTORY).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
        options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
        let opened = said(options.open(&path))?;
        return if said(opened.metadata())?.is_dir() { Ok(opened.into()) } else { Err(Errno::INVAL) };
    }
    let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
    options.read(!flags.contains(OFlags::WRONLY)).write(writes);
    if writes {
        options.create_new(flags.contains(OFlags::CREATE | OFlags::EXCL));
        options.create(flags.contains(OFlags::CREATE)).truncate(flags.contains(OFlags::TRUNC));
    }
    options.custom_flags(system_flags(flags));
    let opened = said(options.open(&path))?;
    if flags.contains(OFlags::NOFOLLOW) && said(opened.metadata())?.is_symlink() {
        return Err(Errno::LOOP);
    }
    Ok(opened.into())
}

pub(crate) fn mkdirat(directory: impl Below, name: impl Arg, _: Mode) -> Result<()> {
    said(std::fs::create_dir(directory.below(&name.path())?))
}

pub(crate) fn renameat(from: impl Below, old: impl Arg, to: impl Below, new: impl Arg) -> Result<()> {
    said(std::fs::rename(from.below(&old.path())?, to.below(&new.path())?))
}

pub(crate) fn unlinkat(directory: impl Below, name: impl Arg, _: AtFlags) -> Result<()> {
    said(std::fs::remove_file(directory.below(&name.path())?))
}

/// Files without a name are not made here, so that none gets one.
pub(crate) fn linkat(_: impl Below, _: impl Arg, _: impl Below, _: impl Arg, _: AtFlags) -> Result<()> {
    Err(Errno::NOTSUP)
}

pub(crate) fn statat(directory: impl Below, name: impl Arg, flags: AtFlags) -> Result<Stat> {
    let path = directory.below(&name.path())?;
    let follows = !flags.contains(AtFlags::SYMLINK_NOFOLLOW);
    let found: Metadata = said(if follows { path.metadata() } else { path.symlink_metadata() })?;
    Ok(Stat { st_mode: found.mode(), st_nlink: found.nlink(), st_uid: found.uid(), st_gid: found.gid() })
}

/// Only that it is not to be written can be said of a file.
pub(crate) fn fchmod(open: impl AsFd, mode: Mode) -> Result<()> {
    if mode.bits() & 0o222 != 0 {
        return Ok(());
    }
    let file = file(open)?;
    let mut permissions = said(file.metadata())?.permissions();
    permissions.set_readonly(true);
    said(file.set_permissions(permissions))
}

pub(crate) fn access(path: impl Arg, wanted: Access) -> Result<()> {
    accessat(CWD, path, wanted, AtFlags::empty())
}

/// What the list of those who may says is asked by opening the file; a directory by its being there.
pub(crate) fn accessat(directory: impl Below, name: impl Arg, wanted: Access, _: AtFlags) -> Result<()> {
    let path = directory.below(&name.path())?;
    let found = said(path.metadata())?;
    if found.is_dir() {
        return Ok(());
    }
    if wanted.contains(Access::EXEC_OK) && !is_program(&path) {
        return Err(Errno::ACCESS);
    }
    let reads = wanted.intersects(Access::READ_OK | Access::EXEC_OK);
    let writes = wanted.contains(Access::WRITE_OK);
    if !reads && !writes {
        return Ok(());
    }
    said(OpenOptions::new().read(reads).write(writes).open(path)).map(drop)
}

/// Whether the system starts it: the name says that here.
fn is_program(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["exe", "com", "bat", "cmd"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Locks a file against others who lock it. Whoever reads or writes what is locked fails here, too.
pub(crate) fn flock(open: impl AsFd, wanted: FlockOperation) -> Result<()> {
    let file = file(open)?;
    match wanted {
        FlockOperation::LockExclusive => said(file.lock()),
        FlockOperation::NonBlockingLockExclusive => file.try_lock().map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => Errno::WOULDBLOCK,
            std::fs::TryLockError::Error(error) => Errno::of(&error),
        }),
        FlockOperation::Unlock => said(file.unlock()),
    }
}

pub(crate) fn mknodat(_: impl Below, _: impl Arg, _: FileType, _: Mode, _: u64) -> Result<()> {
    Err(Errno::NOTSUP)
}

pub(crate) fn chownat(_: impl Below, _: impl Arg, _: Option<Uid>, _: Option<Gid>, _: AtFlags) -> Result<()> {
    Err(Errno::NOTSUP)
}

pub(crate) fn ioctl_ficlone(_: impl AsFd, _: impl AsFd) -> Result<()> {
    Err(Errno::NOTSUP)
}

pub(crate) fn fcntl_getfl(_: impl AsFd) -> Result<OFlags> {
    Ok(OFlags::empty())
}

pub(crate) fn fcntl_setfl(_: impl AsFd, _: OFlags) -> Result<()> {
    Err(Errno::NOTSUP)
}

/// A time that stays as it is.
pub(crate) const UTIME_OMIT: i64 = -2;

/// The times of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timestamps {
    pub(crate) last_access: Timespec,
    pub(crate) last_modification: Timespec,
}

pub(crate) fn utimensat(directory: impl Below, name: impl Arg, times: &Timestamps, _: AtFlags) -> Result<()> {
    let path = directory.below(&name.path())?;
    let mut set = FileTimes::new();
    for (time, is_access) in [(times.last_access, true), (times.last_modification, false)] {
        if time.tv_nsec == UTIME_OMIT {
            continue;
        }
        let at = UNIX_EPOCH.checked_add(Duration::from(time)).ok_or(Errno::INVAL)?;
        set = if is_access { set.set_accessed(at) } else { set.set_modified(at) };
    }
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    said(options.open(path).and_then(|file| file.set_times(set)))
}

/// Room of a file system.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the names of statvfs(3)")]
pub(crate) struct StatVfs {
    pub(crate) f_bavail: u64,
    pub(crate) f_frsize: u64,
}

/// Room for this user on the volume of a directory, in bytes.
pub(crate) fn statvfs(path: impl Arg) -> Result<StatVfs> {
    let path = path.path();
    let wide: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
    let mut free = 0;
    let none = std::ptr::null_mut();
    #[expect(unsafe_code, reason = "the standard library has no such call")]
    // SAFETY: the text ends with a zero; the count goes into a value of its type; the others are not asked for.
    let done = unsafe { GetDiskFreeSpaceExW(wide.as_ptr(), &raw mut free, none, none) };
    if done == 0 { Err(Errno::last()) } else { Ok(StatVfs { f_bavail: free, f_frsize: 1 }) }
}

/// Attributes with names are a matter of other systems: no file has one.
pub(crate) fn llistxattr_query(_: impl Arg) -> Result<usize> {
    Ok(0)
}

pub(crate) fn llistxattr<T>(_: impl Arg, _: T) -> Result<usize> {
    Ok(0)
}

pub(crate) fn lgetxattr_query(_: impl Arg, _: impl Arg) -> Result<usize> {
    Err(Errno::NODATA)
}

pub(crate) fn lgetxattr<T>(_: impl Arg, _: impl Arg, _: T) -> Result<usize> {
    Err(Errno::NODATA)
}

pub(crate) fn lsetxattr(_: impl Arg, _: impl Arg, _: &[u8], _: XattrFlags) -> Result<()> {
    Err(Errno::NOTSUP)
}

pub(crate) fn lremovexattr(_: impl Arg, _: impl Arg) -> Result<()> {
    Err(Errno::NODATA)
}
