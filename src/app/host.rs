//! What the process was started with and needs before it does anything: open files, standard output.

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, major, minor};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::command::Problem;
use crate::locale::{Locale, word};

/// How many open files axi needs: twice what a turn needs for its connection, its session and a command.
const FILES: u64 = 64;
/// The character device that takes everything and gives nothing (Linux, admin-guide/devices.txt).
const NULL: (u32, u32) = (1, 3);

/// Reports a condition under which axi cannot work; `None` if there is none.
pub(super) fn unfit(locale: &Locale) -> Option<Problem> {
    let files = open_files();
    if files < FILES {
        return Some(Problem {
            what: locale.with(word::error::OpenFiles { count: &files.to_string() }),
            hint: locale.with(word::error::OpenFilesHint { count: &FILES.to_string() }),
        });
    }
    is_output_closed().then(|| Problem {
        what: locale.text(word::error::OUTPUT_CLOSED).to_owned(),
        hint: locale.text(word::error::OUTPUT_CLOSED_HINT).to_owned(),
    })
}

/// Returns how many files may be open at once, after raising the limit if it is too low and may be raised.
fn open_files() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let (now, most) = (current.unwrap_or(u64::MAX), maximum.unwrap_or(u64::MAX));
    if now >= FILES || most < FILES {
        return now;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(FILES), maximum }) {
        Ok(()) => FILES,
        Err(_) => now,
    }
}

/// Tells whether standard output was closed at the start. By now the standard library has opened the null device in
/// its place: for reading as well, which `>/dev/null` does not do.
fn is_output_closed() -> bool {
    let output = rustix::stdio::stdout();
    let (Ok(found), Ok(flags)) = (fstat(output), fcntl_getfl(output)) else { return true };
    let is_null = FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice
        && (major(found.st_rdev), minor(found.st_rdev)) == NULL;
    is_null && flags.contains(OFlags::RDWR)
}
