//! The first start in a directory that has files for axi: they are shown, and trusted only after a yes.

use super::console::Console;
use super::context::App;
use super::findings::{diagnostics, tell};
use super::project::trust_store;
use crate::config::{self, PlaceFile, Trust};
use crate::frontend::dialog::NoChoice;
use crate::frontend::exit::Exit;
use crate::locale::word;
use crate::terminal::sanitize_line;

/// How many files are shown with their first lines, and how many lines of each.
const SHOWN_FILES: usize = 6;
const SHOWN_LINES: usize = 6;

/// Asks about this directory's files if nobody was asked yet; after a yes they take effect.
///
/// # Errors
/// The exit code if the person wants neither answer: [`Exit::Interrupted`].
pub(super) fn settle_trust(app: &mut App) -> Result<(), Exit> {
    let changed = match app.project.standing {
        Trust::Unknown => false,
        Trust::Changed => true,
        Trust::Nothing | Trust::Trusted | Trust::Refused => return Ok(()),
    };
    let console = Console::new(&app.locale);
    let place = &app.paths.shown(app.project.files.root());
    console.note(&if changed {
        app.locale.with(word::trust::Changed { place })
    } else {
        app.locale.with(word::trust::First { place })
    });
    show_place(app, SHOWN_FILES, SHOWN_LINES);
    console.note(app.locale.text(word::trust::WHY));
    let Some(trusted) = ask_trust(app)? else { return Ok(()) };
    if let Some(store) = trust_store(&app.paths)
        && let Err(error) = store.remember(&app.project.files, trusted)
    {
        Console::new(&app.locale).warn(&app.locale.with(word::trust::NotKept { cause: &error.to_string() }));
    }
    if !trusted {
        app.project.standing = Trust::Refused;
        return Ok(());
    }
    app.project.standing = Trust::Trusted;
    // The files as they were shown, not as they are by now.
    let loaded = |trusted| {
        config::load(app.paths.settings().as_deref(), &app.project.files, trusted, &app.process.variables)
    };
    match loaded(true) {
        Ok(held) => {
            // What was wrong before that was told at the start.
            let before =
                loaded(false).map(|before| diagnostics(&app.locale, &app.paths, &before.findings, &before.given));
            let before = before.unwrap_or_default();
            let mut wrong = diagnostics(&app.locale, &app.paths, &held.findings, &held.given);
            wrong.retain(|diagnostic| !before.contains(diagnostic));
            app.set_settings(held);
            tell(&app.locale, &app.paths, &wrong);
        }
        Err(error) => tracing::warn!(%error, "the settings were read before and cannot be read now"),
    }
    Ok(())
}

/// Returns yes, no, or `None` for neither: then the next start asks again.
fn ask_trust(app: &App) -> Result<Option<bool>, Exit> {
    let text = |key| app.locale.text(key).to_owned();
    let items = [('n', text(word::trust::NO)), ('y', text(word::trust::YES)), ('v', text(word::trust::SHOW))];
    loop {
        match app.asker().decide(app.locale.text(word::trust::QUESTION), app.locale.text(word::trust::HINT), &items)
        {
            Ok(0) => return Ok(Some(false)),
            Ok(1) => return Ok(Some(true)),
            Ok(_) => show_place(app, usize::MAX, usize::MAX),
            Err(NoChoice::Escaped) => return Ok(None),
            Err(NoChoice::Interrupted) => return Err(Exit::Interrupted),
        }
    }
}

fn show_place(app: &App, files: usize, lines: usize) {
    let console = Console::new(&app.locale);
    for (index, PlaceFile { path, text }) in app.project.files.wanting().iter().enumerate() {
        console.note(&format!("  {}", sanitize_line(&app.project.roots().shown(path).display().to_string())));
        if index >= files {
            continue;
        }
        let rows: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        for row in rows.iter().take(lines) {
            console.note(&format!("    {}", sanitize_line(row)));
        }
        if let Some(more) = rows.len().checked_sub(lines).filter(|more| *more > 0) {
            let more = app.locale.with(word::approve::TooLong { count: &more.to_string() });
            console.note(&format!("    {more}"));
        }
    }
}

/// Reports what is left out when nobody can be asked.
pub(super) fn tell_untrusted(app: &App) {
    match app.project.standing {
        Trust::Unknown | Trust::Changed => {}
        Trust::Nothing | Trust::Trusted | Trust::Refused => return,
    }
    let names: Vec<String> = app
        .project
        .files
        .wanting()
        .iter()
        .map(|file| sanitize_line(&app.project.roots().shown(&file.path).display().to_string()).into_owned())
        .collect();
    let files = match names.as_slice() {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second}, {third} +{}", rest.len())
        }
        names => names.join(", "),
    };
    Console::new(&app.locale).warn(&app.locale.with(word::trust::Ignored { files: &files }));
}
