//! What the process was started with, before anything is done with it: open files, standard output.

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, major, minor};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::command::Problem;
use crate::locale::{Locale, word};

/// So many files a turn with its connection, its session and a command holds open at once, and as many again.
const FILES: u64 = 64;
/// The character device that takes everything and gives nothing (Linux, admin-guide/devices.txt).
const NULL: (u32, u32) = (1, 3);

/// Tells what axi cannot work with; `None` where all is well.
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

/// How many files may be open at once, raised where that is too few and may be raised.
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

/// Whether standard output was closed at the start. The standard library has opened the null device in its place by now,
/// for reading too, which `>/dev/null` does not.
fn is_output_closed() -> bool {
    let output = rustix::stdio::stdout();
    let (Ok(found), Ok(flags)) = (fstat(output), fcntl_getfl(output)) else { return true };
    let is_null = FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice
        && (major(found.st_rdev), minor(found.st_rdev)) == NULL;
    is_null && flags.contains(OFlags::RDWR)
}
