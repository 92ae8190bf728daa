//! The calls that open a file for reading, which Landlock cannot forbid for some files of a directory: the filter that
//! hands them to a judge, and what each names.

use std::ffi::CString;
use std::fs::File;

use libc::c_long;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;
use seccompiler::sock_filter;
use std::os::fd::OwnedFd;

use super::filter::{LONGEST_PATH, PROCESSOR, jump, load, ret, text, unless_equal, word};
use super::listener::Asked;

/// The calls, and which of their arguments are the flags; the path stands before them.
const CALLS: &[(c_long, u32)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// With any of these no content is read: what writes is held by Landlock, and the others give a name or a list.
const NO_CONTENT: i32 = libc::O_ACCMODE | libc::O_PATH | libc::O_DIRECTORY;

/// The filter: what opens a file to read it goes to the listener, all else is as it is. `openat2` does not exist: its
/// flags lie in memory, and who uses it takes the others then. Programs of another processor are the other filter's.
pub(super) fn program() -> Vec<sock_filter> {
    let absent = ret(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs());
    let (allowed, judged) = (ret(libc::SECCOMP_RET_ALLOW), ret(libc::SECCOMP_RET_USER_NOTIF));
    let and = |mask: i32| sock_filter { code: 0x54, jt: 0, jf: 0, k: mask.cast_unsigned() };
    let mut program = vec![load(4), unless_other(PROCESSOR), allowed.clone(), load(0)];
    for (number, flags) in CALLS {
        let Ok(number) = u32::try_from(*number) else { continue };
        // `struct seccomp_data`: the arguments begin at 16, eight bytes each; the lower half of the flags is all there is.
        let tests = [load(16 + 8 * flags), and(NO_CONTENT), unless_equal(0, 1), judged.clone(), allowed.clone()];
        program.push(unless_equal(number, 5));
        program.extend(tests);
    }
    if let Ok(number) = u32::try_from(libc::SYS_openat2) {
        program.extend([unless_equal(number, 1), absent]);
    }
    program.push(allowed);
    program
}

/// Skips the next instruction if the loaded word is this one.
const fn unless_other(value: u32) -> sock_filter {
    jump(0x15, value, 1, 0)
}

/// Opens what a call names, to be named and nothing more; `memory` is that of its thread. `None` for what is made by
/// opening it.
///
/// # Errors
/// What the kernel would answer. The call must not go on then: where a link of the workspace leads through
/// `/proc/self`, nothing may lie there for the judge and a secret for the thread.
pub(super) fn named(asked: &Asked, memory: &File) -> Result<Option<OwnedFd>, Errno> {
    let thread = asked.thread;
    let at = flags_at(asked).ok_or(Errno::NOSYS)?;
    let [first, second, ..] = asked.arguments;
    let (directory, address) = if at == 1 { (libc::AT_FDCWD, first) } else { (word(first), second) };
    let path = text(memory, address, LONGEST_PATH, Errno::NAMETOOLONG)?;
    if path.is_empty() {
        return Err(Errno::NOENT);
    }
    let flags = flags(asked);
    let follow = if flags & libc::O_NOFOLLOW == 0 { OFlags::empty() } else { OFlags::NOFOLLOW };
    let looks = OFlags::PATH | OFlags::CLOEXEC | follow;
    let path = if path.as_bytes().starts_with(b"/") {
        own_of(thread, &path)
    } else {
        let start = if directory == libc::AT_FDCWD {
            format!("/proc/{thread}/cwd/")
        } else {
            format!("/proc/{thread}/fd/{directory}/")
        };
        CString::new([start.as_bytes(), path.as_bytes()].concat()).map_err(|_| Errno::INVAL)?
    };
    let (start, rest) = of_the_thread(thread, path.as_bytes());
    let opened = match start {
        Some(start) if rest.is_empty() => open(start, looks, Mode::empty()),
        Some(start) => open(start, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .and_then(|start| openat2(start, rest, looks, Mode::empty(), ResolveFlags::NO_MAGICLINKS)),
        None => openat2(CWD, rest, looks, Mode::empty(), ResolveFlags::NO_MAGICLINKS),
    };
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOENT) if flags & libc::O_CREAT != 0 => Ok(None),
        // A link to what is each process's own (`/proc/self/cwd`) leads elsewhere for the judge.
        Err(Errno::LOOP) => Err(Errno::ACCESS),
        Err(error) => Err(error),
    }
}

/// Tells whether the descriptor is to be closed when the caller becomes another program.
pub(super) fn closes_on_exec(asked: &Asked) -> bool {
    flags(asked) & libc::O_CLOEXEC != 0
}

/// Which argument of a call holds its flags.
fn flags_at(asked: &Asked) -> Option<u32> {
    CALLS.iter().find(|(number, _)| *number == c_long::from(asked.number)).map(|(_, at)| *at)
}

fn flags(asked: &Asked) -> i32 {
    let at = flags_at(asked).and_then(|at| usize::try_from(at).ok());
    at.and_then(|at| asked.arguments.get(at)).map_or(0, |flags| word(*flags))
}

/// Takes a path apart behind the link at its beginning that leads to what the thread has open or works in; such links are
/// followed there and nowhere else.
fn of_the_thread(thread: u32, path: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let prefix = format!("/proc/{thread}/");
    let Some(own) = path.strip_prefix(prefix.as_bytes()) else { return (None, path) };
    let mut parts = own.splitn(3, |byte| *byte == b'/');
    let of_number = match parts.next() {
        Some(b"fd") => parts.next().map_or(0, |number| 1 + number.len()),
        Some(b"cwd" | b"root") => 0,
        _ => return (None, path),
    };
    let name = own.iter().position(|byte| *byte == b'/').unwrap_or(own.len());
    let end = prefix.len() + name + of_number;
    let rest = &path[end..];
    let slashes = rest.iter().take_while(|byte| **byte == b'/').count();
    (Some(&path[..end]), &rest[slashes..])
}

/// A path that is each process's own, as the thread has it and not the judge.
pub(super) fn own_of(thread: u32, path: &CString) -> CString {
    let bytes = path.as_bytes();
    let owns = [
        ("/proc/self", ""),
        ("/proc/thread-self", ""),
        ("/dev/fd", "/fd"),
        ("/dev/stdin", "/fd/0"),
        ("/dev/stdout", "/fd/1"),
        ("/dev/stderr", "/fd/2"),
    ];
    let own = owns.iter().find_map(|(own, place)| {
        let rest = bytes.strip_prefix(own.as_bytes())?;
        (rest.is_empty() || rest.starts_with(b"/"))
            .then(|| [format!("/proc/{thread}{place}").as_bytes(), rest].concat())
    });
    // No zero can have come into it.
    own.and_then(|own| CString::new(own).ok()).unwrap_or_else(|| path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_link_at_the_beginning_is_the_threads_own() {
        for (path, start, rest) in [
            ("/proc/7/cwd/a/b", Some("/proc/7/cwd"), "a/b"),
            ("/proc/7/cwd//a", Some("/proc/7/cwd"), "a"),
            ("/proc/7/cwd", Some("/proc/7/cwd"), ""),
            ("/proc/7/fd/12", Some("/proc/7/fd/12"), ""),
            ("/proc/7/fd/12/a", Some("/proc/7/fd/12"), "a"),
            ("/proc/7/fd", Some("/proc/7/fd"), ""),
            ("/proc/7/status", None, "/proc/7/status"),
            ("/proc/8/cwd/a", None, "/proc/8/cwd/a"),
            ("/proc/7", None, "/proc/7"),
            ("/w/a", None, "/w/a"),
        ] {
            let (start, rest) = (start.map(str::as_bytes), rest.as_bytes());
            assert_eq!(of_the_thread(7, path.as_bytes()), (start, rest), "{path}");
        }
    }

    #[test]
    fn the_filter_looks_at_the_processor_first_and_ends_with_a_yes() {
        let program = program();
        assert_eq!((program[0].k, program[1].k), (4, PROCESSOR));
        assert_eq!(program.last().map(|last| last.k), Some(libc::SECCOMP_RET_ALLOW));
        let judged = program.iter().filter(|step| step.k == libc::SECCOMP_RET_USER_NOTIF).count();
        assert_eq!(judged, CALLS.len());
    }
}
