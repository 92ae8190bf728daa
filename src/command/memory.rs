//! `/remember` and `/init`: what the project tells every conversation.

use std::io::Write as _;
use std::path::Path;

use super::{Context, Outcome, Problem};
use crate::agent::MEMORY;
use crate::locale::word;

/// The most of the file, in bytes: it is sent with each request.
const LARGEST: u64 = 16 * 1024;

/// What the model is asked for by `/init`.
const INIT: &str = "Write AGENTS.md at the root of this project: what an agent must know to work here. First look at the real \
    project: its manifest, build and test set-up, layout, a few typical files, and what instructions there are already \
    (AGENTS.md, CLAUDE.md, README). If there is an AGENTS.md, improve it: keep what is right, mend what is wrong or missing. \
    At most 60 lines: what it is in two lines; commands to build, test, lint and run one test; where things are; conventions \
    that the code really follows; what never to do. Invent nothing. Write it with one call of write or edit.";

/// Has the model write or improve the project's instructions.
pub(super) fn init(_: &mut Context<'_>, _: &str) -> Outcome {
    Outcome::Ask(INIT.to_owned())
}

/// Keeps a text for all conversations of this project; without one shows what is kept.
pub(super) fn remember(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    let path = context.agent.roots().workspace.join(MEMORY);
    if argument.is_empty() {
        return match std::fs::read_to_string(&path) {
            Ok(text) if !text.trim().is_empty() => Outcome::Say(format!("{MEMORY}:\n{}", text.trim_end())),
            Ok(_) | Err(_) => Outcome::Say(locale.text(word::said::REMEMBER_NONE).to_owned()),
        };
    }
    let line = argument.lines().collect::<Vec<_>>().join(" ");
    let line = format!("- {}\n", context.agent.session().redacted(&line));
    match append(&path, &line) {
        Ok(true) => {}
        Ok(false) => {
            let what = locale.with(word::said::RememberFull { path: MEMORY, most: &(LARGEST / 1024).to_string() });
            return Outcome::Fail(Problem { what, hint: String::new() });
        }
        Err(cause) => {
            let what = locale.with(word::error::Io { path: MEMORY, cause: &cause.to_string() });
            return Outcome::Fail(Problem { what, hint: String::new() });
        }
    }
    // This conversation was begun without it.
    match context.agent.pin(argument.to_owned()) {
        Ok(()) => Outcome::Say(locale.with(word::said::Remembered { path: MEMORY })),
        Err(error) => Outcome::Fail(super::session_problem(locale, &error)),
    }
}

/// Appends a line; false where the file would be too large. Nothing is written through a link: who made the project could
/// have it lead anywhere.
fn append(path: &Path, line: &str) -> std::io::Result<bool> {
    let folder = path.parent().unwrap_or(path);
    for part in [folder, path] {
        if part.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(std::io::Error::other("a symbolic link"));
        }
    }
    std::fs::create_dir_all(folder)?;
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    if file.metadata()?.len() + line.len() as u64 > LARGEST {
        return Ok(false);
    }
    file.write_all(line.as_bytes()).map(|()| true)
}
