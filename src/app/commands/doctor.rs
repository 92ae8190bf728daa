//! `axi doctor`: what works here and what does not.

use std::io::IsTerminal;

use super::super::console::{Console, indented};
use super::super::context::App;
use super::super::models::find_key;
use super::super::settings::settings_problem;
use super::hook;
use super::login::keychain_cause;
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::frontend::words;
use crate::locale::{Locale, word};
use crate::provider;
use crate::terminal::{Size, sanitize};

pub(in crate::app) fn doctor(app: &App) -> Exit {
    Console::new(&app.locale).print(&doctor_text(app, None, &app.locale))
}

/// Reports what works here and what does not, one line each; `model` is the one in use, if there is one.
pub(in crate::app) fn doctor_text(app: &App, model: Option<&str>, locale: &Locale) -> String {
    let there = |path: Option<std::path::PathBuf>| match path {
        Some(path) if path.exists() => app.paths.shown(&path),
        Some(path) => format!("{} ({})", app.paths.shown(&path), locale.text(word::doctor::NOT_THERE_YET)),
        None => locale.text(word::doctor::MISSING).to_owned(),
    };
    let terminal = if std::io::stdout().is_terminal() {
        let size = Size::of_terminal(None, None);
        let term = (app.process.variables)("TERM").unwrap_or_default();
        locale.with(word::doctor::Size {
            columns: &size.columns.to_string(),
            rows: &size.rows.to_string(),
            term: &term,
        })
    } else {
        locale.text(word::doctor::NOT_A_TERMINAL).to_owned()
    };
    let keychain = match find_key("axi-doctor") {
        Ok(_) => locale.text(word::doctor::WORKS).to_owned(),
        Err(error) => keychain_cause(locale, &error),
    };
    let sandbox = app.sandbox();
    let model = model.map(str::to_owned).or_else(|| app.config.model.clone()).or_else(|| {
        let keys = provider::keys_in_environment(&app.process.variables);
        keys.first().map(|found| format!("{}/{} ({})", found.row.name, found.row.default_model, found.variable))
    });
    let mut rows = vec![
        (word::doctor::VERSION, env!("CARGO_PKG_VERSION").to_owned()),
        (word::doctor::MODEL, model.unwrap_or_else(|| locale.text(word::doctor::MISSING).to_owned())),
        (word::doctor::CONFIG, settings_standing(app, locale).unwrap_or_else(|| there(app.paths.settings()))),
        (word::doctor::SESSIONS, there(app.paths.sessions())),
        (word::doctor::LANGUAGE, locale.tag().to_owned()),
        (word::doctor::TERMINAL, terminal),
        (word::doctor::KEYCHAIN, keychain),
        (word::doctor::SANDBOX, words::sandbox(locale, &sandbox)),
    ];
    rows.extend(hook::doctor_rows(locale, app.process.variables));
    let lines = rows.into_iter().map(|(key, value)| format!("- {}: {}", locale.text(key), sanitize(&value)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Says what is wrong with the settings, for the doctor; `None` if nothing is.
fn settings_standing(app: &App, locale: &Locale) -> Option<String> {
    let Problem { what, hint } = settings_problem(locale, &app.paths, app.broken.as_ref()?);
    Some(format!("{}\n  {} {hint}", indented(&what), locale.text(word::error::HINT)))
}
