//! What the process was started with and needs before it does anything: open files, standard output.

use crate::command::Problem;
use crate::locale::{Locale, word};
use crate::platform::is_output_closed;
use crate::platform::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many open files axi needs: twice what a turn needs for its connection, its session and a command.
const FILES: u64 = 64;

/// Reports a condition under which axi cannot work; `None` if there is none.
pub(super) fn unfit(locale: &Locale) -> Option<Problem> {
    let files = open_files();
    if files < FILES {
        return Some(Problem {
            what: locale.with(word::error::OpenFiles { count: &files.to_string() }),
            hint: locale.with(word::error::OpenFilesHint { count: &FILES.to_string() }),
        });
    }
    unheard(locale)
}

/// Reports that nobody can read what axi prints; `None` if somebody may.
pub(super) fn unheard(locale: &Locale) -> Option<Problem> {
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
