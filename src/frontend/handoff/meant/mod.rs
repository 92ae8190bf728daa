//! Where a line says how old a file is, or that directories below are left out, and the command says something else. A
//! small model writes `-mtime -2` for two hours, which is two days, and forgets `-maxdepth 1`: what it then deletes is more than
//! was meant. Only what can be read without a doubt is changed, and what cannot be right whatever was meant.

mod asked;
mod change;
mod find;
mod piped;
mod text;

pub(crate) use change::Change;

/// Changes a command to what the line says; lists what was changed.
#[must_use]
pub(crate) fn meant(line: &str, command: &str) -> Option<(String, Vec<Change>)> {
    let mut command = command.to_owned();
    let changes = [
        find::age(line, &mut command),
        find::size(line, &mut command),
        find::depth(line, &mut command),
        find::grouped(&mut command),
        asked::kept(line, &mut command),
        asked::printed(line, &mut command),
        asked::plain_archive(line, &mut command),
        asked::cased(line, &mut command),
        asked::streamed(line, &mut command),
        asked::all_files(line, &mut command),
        piped::once(&mut command),
        piped::heard(&mut command),
        piped::shown(line, &mut command),
        piped::compared(&mut command),
    ];
    let changes: Vec<Change> = changes.into_iter().flatten().collect();
    (!changes.is_empty()).then_some((command, changes))
}

#[cfg(test)]
#[path = "meant_tests.rs"]
mod tests;
