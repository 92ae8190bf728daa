//! The files of hooks that hold here, and what is wrong with them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::context::App;
use super::findings::{Diagnostic, tell};
use crate::agent::{HookFault, HookFile, HookMistake, ReadHooks};
use crate::config::Spot;
use crate::locale::{Locale, word};

/// The files of hooks: the person's own, and the place's as they were shown, where the person trusts them.
pub(super) fn reader(app: &App) -> ReadHooks {
    let (own, of_place) = (own(app), of_place(app));
    Box::new(move || read(own.as_deref()).into_iter().chain(of_place).collect())
}

fn own(app: &App) -> Option<PathBuf> {
    app.paths.config.as_ref().map(|config| config.join("hooks.json"))
}

fn of_place(app: &App) -> Vec<HookFile> {
    let files = app.project.files.hooks().filter(|_| app.project.trusted());
    files.map(|file| HookFile { path: file.path.clone(), text: Ok(file.text.clone()) }).collect()
}

/// Reads the person's own file, if there is one.
fn read(own: Option<&Path>) -> Option<HookFile> {
    let path = own?;
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        read => read.map_err(|error| error.to_string()),
    };
    Some(HookFile { path: path.to_owned(), text })
}

/// Words what is wrong with the files.
pub(super) fn mistakes(app: &App) -> Vec<Diagnostic> {
    let files = read(own(app).as_deref()).into_iter().chain(of_place(app));
    files.filter_map(|file| Some(worded(&app.locale, &file, &file.mistake()?))).collect()
}

/// Says what is wrong with the files.
pub(super) fn tell_mistakes(app: &App) {
    tell(&app.locale, &app.paths, &mistakes(app));
}

fn worded(locale: &Locale, file: &HookFile, mistake: &HookMistake) -> Diagnostic {
    let source = file.text.as_deref().unwrap_or_default();
    let before: usize = source.split_inclusive('\n').take(mistake.line - 1).map(str::len).sum();
    let at = before + mistake.column - 1;
    let problem = match &mistake.fault {
        HookFault::Unreadable { cause } | HookFault::Syntax { cause } => {
            locale.with(word::finding::Hooks { cause })
        }
        HookFault::Event { name, meant } => locale.with(word::finding::HookEvent { name, meant }),
        HookFault::NoCommand { kind } if kind.is_empty() => locale.text(word::finding::HOOK_NO_TYPE).to_owned(),
        HookFault::NoCommand { kind } => locale.with(word::finding::HookNoCommand { kind }),
    };
    Diagnostic {
        spot: Spot::new(&file.path, source, Some(at..at)),
        key: "hooks".to_owned(),
        problem,
        hint: locale.text(word::finding::HOOKS_HINT).to_owned(),
    }
}
