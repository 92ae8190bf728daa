//! The system calls that change a file's mode, owner, times and extended attributes, for which Landlock has no
//! right: the filter that passes them to a judge, and the parser of what each call asks for.

use std::ffi::CString;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use libc::c_long;
use rustix::fs::{Timespec, Timestamps, UTIME_NOW, XattrFlags};
use rustix::io::Errno;
use seccompiler::sock_filter;

use super::filter::{LONGEST_PATH, PROCESSOR, jump, load, ret, text, unless_equal, word};
use super::listener::Asked;
use super::system_calls::{FCHMODAT2, FILE_SETATTR, REMOVEXATTRAT, SECOND_SET, SETXATTRAT};

/// How a call names its file.
#[derive(Debug, Clone, Copy)]
enum Named {
    /// By a path in its first argument; the value says whether a link at the end is followed.
    Path(bool),
    /// By a directory and a path; the value is the argument with the flags.
    At(Option<usize>),
    /// By a file descriptor.
    Descriptor,
}

/// What a call changes; the number is the first argument that describes the change.
#[derive(Debug, Clone, Copy)]
enum Changed {
    Mode(usize),
    Owner(usize),
    /// The second value is the unit of the sub-second part in nanoseconds, 0 if there is none.
    Times(usize, i64),
    Set(usize),
    Remove(usize),
}

/// The calls, as listed in `syscalls(2)`.
const CALLS: &[(c_long, Named, Changed)] = &[
    (libc::SYS_fchmod, Named::Descriptor, Changed::Mode(1)),
    (libc::SYS_fchmodat, Named::At(None), Changed::Mode(2)),
    (FCHMODAT2, Named::At(Some(3)), Changed::Mode(2)),
    (libc::SYS_fchown, Named::Descriptor, Changed::Owner(1)),
    (libc::SYS_fchownat, Named::At(Some(4)), Changed::Owner(2)),
    (libc::SYS_utimensat, Named::At(Some(3)), Changed::Times(2, 1)),
    (libc::SYS_setxattr, Named::Path(true), Changed::Set(1)),
    (libc::SYS_lsetxattr, Named::Path(false), Changed::Set(1)),
    (libc::SYS_fsetxattr, Named::Descriptor, Changed::Set(1)),
    (libc::SYS_removexattr, Named::Path(true), Changed::Remove(1)),
    (libc::SYS_lremovexattr, Named::Path(false), Changed::Remove(1)),
    (libc::SYS_fremovexattr, Named::Descriptor, Changed::Remove(1)),
];

/// The older names of the same; other processors never had them.
#[cfg(target_arch = "x86_64")]
const CALLS_OLD: &[(c_long, Named, Changed)] = &[
    (libc::SYS_chmod, Named::Path(true), Changed::Mode(1)),
    (libc::SYS_chown, Named::Path(true), Changed::Owner(1)),
    (libc::SYS_lchown, Named::Path(false), Changed::Owner(1)),
    (libc::SYS_utime, Named::Path(true), Changed::Times(1, 0)),
    (libc::SYS_utimes, Named::Path(true), Changed::Times(1, 1000)),
    (libc::SYS_futimesat, Named::At(None), Changed::Times(2, 1000)),
];
/// The older names of the same; this processor never had them.
#[cfg(not(target_arch = "x86_64"))]
const CALLS_OLD: &[(c_long, Named, Changed)] = &[];

/// Calls that get "does not exist" as an answer, so that programs fall back to older ones: some are too new to be
/// missed, and one (`io_uring`) would open a second way to all the others.
const ABSENT: &[c_long] = &[SETXATTRAT, REMOVEXATTRAT, FILE_SETATTR, libc::SYS_io_uring_setup];

/// The same calls by the numbers that 32-bit programs use on this processor
/// (arch/x86/entry/syscalls/syscall_32.tbl). They are refused, because their arguments are laid out differently.
#[cfg(target_arch = "x86_64")]
const OF_32_BITS: &[u32] = &[
    15, 16, 30, 94, 95, 182, 198, 207, 212, 226, 227, 228, 235, 236, 237, 271, 298, 299, 306, 320, 412, 425, 452,
    463, 466, 469,
];
/// As above (arch/arm/tools/syscall.tbl).
#[cfg(not(target_arch = "x86_64"))]
const OF_32_BITS: &[u32] = &[
    15, 16, 30, 94, 95, 182, 198, 207, 212, 226, 227, 228, 235, 236, 237, 269, 325, 326, 333, 348, 412, 425, 452,
    463, 466, 469,
];

/// Builds the filter: passes these calls to the listener, answers the absent ones with an error, and lets all
/// others through.
pub(super) fn program() -> Vec<sock_filter> {
    let refused = |error: i32| ret(libc::SECCOMP_RET_ERRNO | error.unsigned_abs());
    let mut of_32_bits = Vec::new();
    for number in OF_32_BITS {
        of_32_bits.extend([unless_equal(*number, 1), refused(libc::EPERM)]);
    }
    of_32_bits.push(ret(libc::SECCOMP_RET_ALLOW));
    let behind = u8::try_from(of_32_bits.len() + 1).unwrap_or(u8::MAX);
    // The offsets of the processor and of the call's number in `struct seccomp_data` (linux/seccomp.h).
    let mut program = vec![load(4), jump(0x15, PROCESSOR, behind, 0), load(0)];
    program.extend(of_32_bits);
    program.push(load(0));
    if let Some(second) = SECOND_SET {
        program.extend([jump(0x35, second, 0, 1), refused(libc::ENOSYS)]);
    }
    let judged = CALLS.iter().chain(CALLS_OLD).map(|(number, ..)| (number, ret(libc::SECCOMP_RET_USER_NOTIF)));
    for (number, answer) in judged.chain(ABSENT.iter().map(|number| (number, refused(libc::ENOSYS)))) {
        let Ok(number) = u32::try_from(*number) else { continue };
        program.extend([unless_equal(number, 1), answer]);
    }
    program.push(ret(libc::SECCOMP_RET_ALLOW));
    program
}

/// The file of a call, as the calling thread names it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object {
    /// The descriptor where the path starts, or that of the file itself; `None` for the working directory.
    pub(super) descriptor: Option<i32>,
    pub(super) path: Option<CString>,
    /// Whether a link at the end is followed.
    pub(super) follow: bool,
}

/// The change that a call asks for.
#[derive(Debug)]
pub(super) enum Change {
    Mode(u32),
    /// User and group; `None` leaves it as it is.
    Owner(Option<u32>, Option<u32>),
    Times(Timestamps),
    Set(CString, Vec<u8>, XattrFlags),
    Remove(CString),
}

/// The longest name and the longest value of an extended attribute (linux/limits.h).
const LONGEST_NAME: usize = 255;
const LONGEST_VALUE: u64 = 65536;
/// Reads what a call asks for; `memory` is the memory of the calling thread.
///
/// # Errors
/// The error with which the kernel would answer.
pub(super) fn read(asked: &Asked, memory: &File) -> Result<(Object, Change), Errno> {
    let number = c_long::from(asked.number);
    let known = CALLS.iter().chain(CALLS_OLD).find(|(known, ..)| *known == number);
    let Some((_, named, changed)) = known else { return Err(Errno::NOSYS) };
    Ok((object(asked, memory, *named, *changed)?, change(asked, memory, *changed)?))
}

fn object(asked: &Asked, memory: &File, named: Named, changed: Changed) -> Result<Object, Errno> {
    let [first, second, ..] = asked.arguments;
    let of_path = |address| text(memory, address, LONGEST_PATH, Errno::NAMETOOLONG);
    let flags = match named {
        Named::Descriptor => return Ok(Object { descriptor: Some(word(first)), path: None, follow: true }),
        Named::Path(follow) => {
            let path = of_path(first)?;
            return if path.is_empty() {
                Err(Errno::NOENT)
            } else {
                Ok(Object { descriptor: None, path: Some(path), follow })
            };
        }
        Named::At(None) => 0,
        Named::At(Some(place)) => word(asked.arguments[place]),
    };
    if flags & !(libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) != 0 {
        return Err(Errno::INVAL);
    }
    let descriptor = Some(word(first)).filter(|descriptor| *descriptor != libc::AT_FDCWD);
    let follow = flags & libc::AT_SYMLINK_NOFOLLOW == 0;
    if second == 0 && matches!(changed, Changed::Times(..)) && descriptor.is_some() {
        return Ok(Object { descriptor, path: None, follow });
    }
    let path = of_path(second)?;
    match (path.is_empty(), flags & libc::AT_EMPTY_PATH != 0) {
        (true, false) => Err(Errno::NOENT),
        (true, true) => Ok(Object { descriptor, path: None, follow }),
        (false, _) => Ok(Object { descriptor, path: Some(path), follow }),
    }
}

fn change(asked: &Asked, memory: &File, changed: Changed) -> Result<Change, Errno> {
    let argument = |place: usize| asked.arguments.get(place).copied().unwrap_or_default();
    let name = |address| {
        let name = text(memory, address, LONGEST_NAME + 1, Errno::RANGE)?;
        if name.is_empty() { Err(Errno::RANGE) } else { Ok(name) }
    };
    match changed {
        Changed::Mode(place) => Ok(Change::Mode(word(argument(place)).cast_unsigned() & 0o7777)),
        Changed::Owner(place) => {
            let id = |value| Some(word(value).cast_unsigned()).filter(|id| *id != u32::MAX);
            Ok(Change::Owner(id(argument(place)), id(argument(place + 1))))
        }
        Changed::Times(place, unit) => times(memory, argument(place), unit).map(Change::Times),
        Changed::Set(place) => {
            let (size, flags) = (argument(place + 2), word(argument(place + 3)).cast_unsigned());
            // The kernel itself rejects unknown flags.
            let flags = XattrFlags::from_bits_retain(flags);
            let name = name(argument(place))?;
            let size = Some(size).filter(|size| *size <= LONGEST_VALUE).and_then(|size| usize::try_from(size).ok());
            let mut value = vec![0; size.ok_or(Errno::TOOBIG)?];
            memory.read_exact_at(&mut value, argument(place + 1)).map_err(|_| Errno::FAULT)?;
            Ok(Change::Set(name, value, flags))
        }
        Changed::Remove(place) => Ok(Change::Remove(name(argument(place))?)),
    }
}

/// Reads two times, in seconds alone or with a sub-second part.
fn times(memory: &File, address: u64, unit: i64) -> Result<Timestamps, Errno> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    if address == 0 {
        return Ok(Timestamps { last_access: now, last_modification: now });
    }
    let mut bytes = [0; 32];
    let bytes = &mut bytes[..if unit == 0 { 16 } else { 32 }];
    memory.read_exact_at(bytes, address).map_err(|_| Errno::FAULT)?;
    let numbers: Vec<i64> =
        bytes.chunks_exact(8).filter_map(|bytes| Some(i64::from_ne_bytes(bytes.try_into().ok()?))).collect();
    let time = |seconds: i64, part: i64| match unit {
        // The kernel does the same: the value that means "now" in the newer call is invalid in the older one.
        1000 if !(0..1_000_000).contains(&part) => Err(Errno::INVAL),
        _ => Ok(Timespec { tv_sec: seconds, tv_nsec: part * unit.max(1) }),
    };
    match numbers[..] {
        [access, modification] => {
            Ok(Timestamps { last_access: time(access, 0)?, last_modification: time(modification, 0)? })
        }
        [access, access_part, modification, modification_part] => Ok(Timestamps {
            last_access: time(access, access_part)?,
            last_modification: time(modification, modification_part)?,
        }),
        _ => Err(Errno::FAULT),
    }
}

#[cfg(test)]
#[path = "attributes_tests.rs"]
mod tests;
