//! `axi config`, and what is said of a settings file that cannot be used. None of it needs the file to be right.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use super::{Base, Variables};
use crate::app::console::Console;
use crate::cli::ConfigAction;
use crate::command::Problem;
use crate::config::ConfigError;
use crate::frontend::exit::Exit;
use crate::locale::{Locale, word};

/// Editors that are looked for where the person named none, the easiest to leave first (Debian's sensible-editor).
const EDITORS: &[&str] = &["editor", "nano", "vim", "vi"];

/// Says why the settings cannot be used and what to do about it.
pub(super) fn problem(locale: &Locale, error: &ConfigError) -> Problem {
    let (path, cause) = match error {
        ConfigError::Io { path, cause } => (path, cause.to_string()),
        ConfigError::Syntax { path, cause } => (path, cause.trim_end().to_owned()),
    };
    let path = path.display().to_string();
    let hint = match error {
        ConfigError::Syntax { .. } => locale.text(word::error::CONFIG_HINT).to_owned(),
        ConfigError::Io { cause, .. } => match cause.kind() {
            ErrorKind::IsADirectory => locale.with(word::error::ConfigDirectoryHint { path: &path }),
            ErrorKind::InvalidData => locale.text(word::error::CONFIG_ENCODING_HINT).to_owned(),
            ErrorKind::PermissionDenied => locale.with(word::error::ConfigPermissionHint { path: &path }),
            _ => locale.text(word::error::CONFIG_HINT).to_owned(),
        },
    };
    Problem { what: locale.with(word::error::Config { path: &path, cause: &cause }), hint }
}

/// For the doctor: what is wrong with the settings, `None` where nothing is.
pub(super) fn standing(base: &Base, locale: &Locale) -> Option<String> {
    let Problem { what, hint } = problem(locale, base.broken.as_ref()?);
    Some(format!("{}\n  {} {hint}", super::indented(&what), locale.text(word::error::HINT)))
}

pub(super) fn config(base: &Base, action: ConfigAction) -> Exit {
    let console = Console::new(&base.locale);
    let Some(path) = base.paths.settings() else {
        console
            .fail(&Problem { what: base.locale.text(word::error::NO_CONFIG_DIR).to_owned(), hint: String::new() });
        return Exit::Failed;
    };
    match action {
        ConfigAction::Path => console.print(&path.display().to_string()),
        ConfigAction::Show => show(base, &path),
        ConfigAction::Edit => edit(base, &path),
    }
}

fn show(base: &Base, path: &Path) -> Exit {
    let console = Console::new(&base.locale);
    match std::fs::read(path) {
        Ok(bytes) => console.print(&String::from_utf8_lossy(&bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            console.note(&base.locale.with(word::said::ConfigNone { path: &base.paths.shown(path) }));
            Exit::Done
        }
        Err(cause) => {
            console.fail(&problem(&base.locale, &ConfigError::Io { path: path.to_owned(), cause }));
            Exit::Failed
        }
    }
}

fn edit(base: &Base, path: &Path) -> Exit {
    let console = Console::new(&base.locale);
    let Some(editor) = editor(base.variables) else {
        console.fail(&Problem {
            what: base.locale.text(word::error::NO_EDITOR).to_owned(),
            hint: base.locale.with(word::error::NoEditorHint { path: &path.display().to_string() }),
        });
        return Exit::Failed;
    };
    let words = shlex::split(&editor).unwrap_or_else(|| vec![editor.clone()]);
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let (program, arguments) =
        words.split_first().map_or((editor.as_str(), [].as_slice()), |(first, rest)| (first.as_str(), rest));
    match made.and_then(|()| Command::new(program).args(arguments).arg(path).status()) {
        Ok(status) if status.success() => Exit::Done,
        Ok(status) => failed_editor(base, &editor, &status.to_string()),
        Err(error) => failed_editor(base, &editor, &error.to_string()),
    }
}

/// The person's editor, else one that is here.
fn editor(variables: Variables) -> Option<String> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| variables(name).filter(|value| !value.is_empty()));
    named.or_else(|| {
        let path = variables("PATH")?;
        let is_there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        EDITORS.iter().find(is_there).map(|name| (*name).to_owned())
    })
}

fn failed_editor(base: &Base, editor: &str, cause: &str) -> Exit {
    let what = base.locale.with(word::error::EditorFailed { editor, cause });
    let hint = base.locale.text(word::error::EDITOR_FAILED_HINT).to_owned();
    Console::new(&base.locale).fail(&Problem { what, hint });
    Exit::Failed
}
