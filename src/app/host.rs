//! What the process was started with and needs before it does anything: open files, standard output.

use crate::command::Problem;
use crate::locale::{Locale, word};
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
    output::is_closed().then(|| Problem {
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

/// Tells whether standard output was closed when the process was started.
#[expect(unsafe_code, reason = "only what is named in a section of its own runs before the standard library does")]
mod output {
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Written once, before any other code runs: the standard library then opens the null device in the place of what is
    /// closed, and nobody can tell that from the null device a parent gave (Python's `DEVNULL`, Node's `ignore`).
    static CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        CLOSED
            .store(crate::platform::io::fcntl_getfd(crate::platform::stdio::stdout()).is_err(), Ordering::Relaxed);
    }

    // SAFETY: loaders call the functions in this section, each without a result, before `main` (System V gABI, 5;
    // Mach-O, S_MOD_INIT_FUNC_POINTERS). `look` allocates nothing, cannot panic and uses nothing of the standard library
    // that `main` sets up.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;

    pub(super) fn is_closed() -> bool {
        CLOSED.load(Ordering::Relaxed)
    }
}
