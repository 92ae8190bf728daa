//! What holds commands back, and what can be taken back: tried, not read off a list.

use std::time::SystemTime;

use super::super::super::commands::why_not;
use super::super::super::context::App;
use super::super::super::servers::standing;
use super::super::check::Check;
use super::machine::existing;
use crate::frontend::words;
use crate::journal::{Foreign, How, Journal, Touch};
use crate::locale::{Locale, word};
use crate::mcp::Agreed;
use crate::sandbox::SandboxState;

pub(super) fn checks(app: &App, locale: &Locale) -> Vec<Check> {
    let sandbox = app.sandbox();
    let found = words::sandbox(locale, &sandbox);
    let name = locale.text(word::doctor::SANDBOX);
    let held = match sandbox.state() {
        SandboxState::On(_) | SandboxState::Off => Check::good(name, found),
        SandboxState::Unsupported(_) => Check::bad(name, found, locale.text(word::doctor::SANDBOX_HINT)),
    };
    let mut checks = vec![held, undo(app, locale), trials(app, locale)];
    checks.extend(standing(app).into_iter().map(|(name, agreed, of_project)| {
        let said = match agreed {
            Agreed::Yes => word::doctor::SERVER_YES,
            Agreed::No => word::doctor::SERVER_NO,
            Agreed::Unknown => word::doctor::SERVER_UNKNOWN,
        };
        let whose = if of_project { word::permissions::PROJECT } else { word::permissions::USER };
        Check::good(&format!("MCP {name}"), format!("{} · {}", locale.text(said), locale.text(whose)))
    }));
    checks
}

/// Makes a trial and runs nothing in it.
fn trials(app: &App, locale: &Locale) -> Check {
    let name = locale.text(word::doctor::TRIALS);
    match why_not(app, locale) {
        None => Check::good(name, locale.text(word::doctor::TRIALS_WORK)),
        // Everything else works without: commands are asked about.
        Some(why) => Check::good(name, why),
    }
}

/// Changes a file where journals are kept, and takes that back.
fn undo(app: &App, locale: &Locale) -> Check {
    let name = locale.text(word::doctor::UNDO);
    let Some(journal) = app.paths.journal() else {
        return Check::bad(name, locale.text(word::doctor::MISSING), locale.text(word::doctor::NO_HOME));
    };
    let place = existing(&journal);
    match try_undo(place) {
        Ok(true) => Check::good(name, locale.with(word::doctor::UndoWorks { place: &app.paths.shown(&journal) })),
        Ok(false) => Check::bad(name, locale.text(word::doctor::UNDO_FAILED), locale.text(word::doctor::UNDO_HINT)),
        Err(cause) => {
            let place = &app.paths.shown(place);
            let todo = locale.with(word::doctor::CannotWrite { place, cause: &cause.to_string() });
            Check::bad(name, locale.text(word::doctor::UNDO_FAILED), todo)
        }
    }
}

fn try_undo(place: &std::path::Path) -> std::io::Result<bool> {
    let failed = |error: crate::journal::JournalError| error.cause;
    let folder = tempfile::Builder::new().prefix(".axi-doctor-").tempdir_in(place)?;
    let file = folder.path().join("file");
    std::fs::write(&file, "before")?;
    let mut journal = Journal::new(folder.path().join("journal"), "doctor");
    journal.begin_turn(0, 0, SystemTime::now());
    journal.before(&[Touch { path: file.clone(), tree: false, how: How::Any }]).map_err(failed)?;
    std::fs::write(&file, "after")?;
    journal.after().map_err(failed)?;
    let first = journal.turns().map_err(failed)?.first().map_or(0, |turn| turn.number);
    let plan = journal.plan(first).map_err(failed)?;
    journal.take_back(&plan, Foreign::Leave).map_err(failed)?;
    Ok(std::fs::read_to_string(&file)? == "before")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trial_of_undo_takes_a_change_back_and_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        assert!(try_undo(home.path()).unwrap());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
        assert!(try_undo(&home.path().join("nowhere")).is_err());
    }
}
