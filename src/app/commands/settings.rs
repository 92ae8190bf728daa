//! `axi config`: works even if the settings file is wrong.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use super::super::console::Console;
use super::super::context::App;
use super::super::findings::Diagnostic;
use super::super::hooks;
use super::super::models;
use super::super::process::Variables;
use super::super::servers;
use super::super::settings::{begin, schema, settings_problem};
use crate::cli::ConfigAction;
use crate::command::Problem;
use crate::config::{self, Config, ConfigError, Form, Given, Origin, Spot};
use crate::frontend::exit::Exit;
use crate::locale::word;
use crate::terminal::sanitize;

/// Editors to try if the person has named none; the easiest one to leave comes first (as in Debian's
/// sensible-editor).
const EDITORS: &[&str] = &["editor", "nano", "vim", "vi"];

pub(in crate::app) fn config(app: &App, action: ConfigAction) -> Exit {
    let console = Console::new(&app.locale);
    let Some(path) = app.paths.settings() else {
        console
            .fail(&Problem { what: app.locale.text(word::error::NO_CONFIG_DIR).to_owned(), hint: String::new() });
        return Exit::Failed;
    };
    match action {
        ConfigAction::Path => console.print(&path.display().to_string()),
        ConfigAction::Show => show(app, &path),
        ConfigAction::Edit => edit(app, &path),
        ConfigAction::Schema => console.print(&schema(&app.locale)),
        ConfigAction::Check { json } => check(app, &path, json),
    }
}

fn show(app: &App, path: &Path) -> Exit {
    let console = Console::new(&app.locale);
    match std::fs::read(path) {
        Ok(bytes) => console.print(&String::from_utf8_lossy(&bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            console.note(&app.locale.with(word::said::ConfigNone { path: &app.paths.shown(path) }));
            Exit::Done
        }
        Err(cause) => {
            console.fail(&settings_problem(
                &app.locale,
                &app.paths,
                &ConfigError::Io { path: path.to_owned(), cause },
            ));
            Exit::Failed
        }
    }
}

/// Reports everything that is wrong with the settings files that apply here. The exit code is 0 if nothing is, and 2
/// otherwise. Asks nothing.
fn check(app: &App, path: &Path, json: bool) -> Exit {
    let console = Console::new(&app.locale);
    let loaded = match config::check(Some(path), &app.project.files, &app.process.variables) {
        Ok(loaded) => loaded,
        Err(error) => {
            let Problem { what, hint } = settings_problem(&app.locale, &app.paths, &error);
            if json {
                let row = row(path, (1, 1), "", &what, &hint);
                return told(console.json(&serde_json::Value::from(vec![row])));
            }
            console.fail(&Problem { what, hint });
            return Exit::Usage;
        }
    };
    let mut found: Vec<Diagnostic> =
        loaded.findings.iter().map(|finding| Diagnostic::new(&app.locale, &app.paths, finding)).collect();
    found.extend(loaded.given.iter().filter_map(|given| Diagnostic::of_text(&app.locale, given)));
    found.extend(loaded.given.iter().filter_map(|given| unknown_model(app, &loaded.config, given)));
    found.extend(hooks::mistakes(app));
    let servers = servers::unusable(&loaded.config, &app.locale).into_iter();
    let servers = servers.map(|(name, cause)| {
        let what = app.locale.with(word::finding::Server { name: &name, cause: &cause });
        ("mcp", name, Problem { what, hint: String::new() })
    });
    let providers = models::unreachable(&loaded.config, &app.locale).into_iter();
    let providers = providers.map(|(name, problem)| ("providers", name, problem));
    found.extend(servers.chain(providers).map(|(table, name, Problem { what: problem, hint })| {
        let key = format!("{table}.{name}");
        let below = loaded.held.iter().filter(|(held, _)| held.starts_with(&format!("{key}.")));
        let spot = below.flat_map(|(_, held)| &held.origins).find_map(|origin| match origin {
            Origin::File(spot) | Origin::Project(spot) => Some(spot.clone()),
            Origin::Default | Origin::Variable(_) | Origin::Flag(_) => None,
        });
        let spot = spot.or_else(|| config::section(path, &[table, &name]));
        let spot = spot.unwrap_or_else(|| Spot::new(path, "", None));
        Diagnostic { spot, key, problem, hint }
    }));
    found.sort_by(|one, other| {
        let place = |told: &Diagnostic| (told.spot.file.clone(), told.spot.line, told.spot.column);
        place(one).cmp(&place(other))
    });
    if json {
        let rows = found.iter().map(|told| {
            row(&told.spot.file, (told.spot.line, told.spot.column), &told.key, &told.problem, &told.hint)
        });
        let printed = console.json(&rows.collect::<serde_json::Value>());
        return if found.is_empty() { printed } else { told(printed) };
    }
    if found.is_empty() {
        console.note(app.locale.text(word::finding::CLEAN));
        return Exit::Done;
    }
    let mut text = String::new();
    for told in &found {
        text.push_str(&told.whole(&app.paths));
        text.push('\n');
        if !told.hint.is_empty() {
            text.extend(["  ", app.locale.text(word::error::HINT), " ", &told.hint, "\n"]);
        }
    }
    text.push_str(&app.locale.count(word::finding::COUNT, found.len() as u64));
    // The keys and lines of a project's file are untrusted.
    told(console.print(&sanitize(&text)))
}

/// Finds a model whose provider there is not.
fn unknown_model(app: &App, config: &Config, Given { setting, key, text, spot }: &Given) -> Option<Diagnostic> {
    if !matches!(setting.form, Form::Model | Form::Models | Form::GhostModel) {
        return None;
    }
    let mut providers = text.split(',').filter_map(|name| Some(name.trim().split_once('/')?.0));
    let Problem { what, hint } = providers.find_map(|provider| models::not_known(provider, config, &app.locale))?;
    Some(Diagnostic { spot: spot.clone(), key: key.clone(), problem: what, hint })
}

/// Returns the exit code for printed findings; a failure to print counts as worse.
const fn told(printed: Exit) -> Exit {
    match printed {
        Exit::Done => Exit::Usage,
        other => other,
    }
}

fn row(file: &Path, (line, column): (usize, usize), key: &str, problem: &str, hint: &str) -> serde_json::Value {
    let file = file.display().to_string();
    serde_json::json!({ "file": file, "line": line, "column": column, "key": key, "problem": problem, "hint": hint })
}

fn edit(app: &App, path: &Path) -> Exit {
    let console = Console::new(&app.locale);
    let Some(editor) = editor(app.process.variables) else {
        console.fail(&Problem {
            what: app.locale.text(word::error::NO_EDITOR).to_owned(),
            hint: app.locale.with(word::error::NoEditorHint { path: &path.display().to_string() }),
        });
        return Exit::Failed;
    };
    let words = shlex::split(&editor).unwrap_or_else(|| vec![editor.clone()]);
    begin(&app.locale, path);
    if let Some(folder) = path.parent()
        && let Err(error) = std::fs::create_dir_all(folder)
    {
        let (place, cause) = (&app.paths.shown(folder), &error.to_string());
        let what = app.locale.with(word::doctor::CannotWrite { place, cause });
        console.fail(&Problem { what, hint: String::new() });
        return Exit::Failed;
    }
    let (program, arguments) =
        words.split_first().map_or((editor.as_str(), [].as_slice()), |(first, rest)| (first.as_str(), rest));
    match Command::new(program).args(arguments).arg(path).status() {
        Ok(status) if status.success() => Exit::Done,
        Ok(status) => failed_editor(app, &editor, &status.to_string()),
        Err(error) => failed_editor(app, &editor, &error.to_string()),
    }
}

/// Returns the person's editor, or else one that is installed.
fn editor(variables: Variables) -> Option<String> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| variables(name).filter(|value| !value.is_empty()));
    named.or_else(|| {
        let path = variables("PATH")?;
        let is_there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        EDITORS.iter().find(is_there).map(|name| (*name).to_owned())
    })
}

fn failed_editor(app: &App, editor: &str, cause: &str) -> Exit {
    let what = app.locale.with(word::error::EditorFailed { editor, cause });
    let hint = app.locale.text(word::error::EDITOR_FAILED_HINT).to_owned();
    Console::new(&app.locale).fail(&Problem { what, hint });
    Exit::Failed
}
