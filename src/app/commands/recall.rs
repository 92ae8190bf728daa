//! `axi recall`: finds what was typed at shells and said in sessions.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::super::console::Console;
use super::super::context::App;
use crate::agent::{self, Line, Recalled};
use crate::command::recalled_row;
use crate::frontend::exit::Exit;
use crate::frontend::repl::{SentLine, sent_lines};
use crate::locale::word;
use crate::session::SessionId;
use crate::shell;
use crate::terminal::sanitize;

pub(in crate::app) fn recall(app: &App, text: &str, json: bool) -> Exit {
    let console = Console::new(&app.locale);
    let found = recalled(app, text, None);
    if json {
        return console.json(&serde_json::json!(found));
    }
    if found.is_empty() {
        console.note(app.locale.text(word::said::RECALL_NOWHERE));
        return Exit::Done;
    }
    let now = SystemTime::now();
    let rows = found.iter().map(|found| sanitize(&recalled_row(&app.locale, found, now)).into_owned());
    console.print(&rows.collect::<Vec<_>>().join("\n"))
}

/// Searches the histories of the shells and of axi, and all sessions except `without`.
pub(in crate::app) fn recalled(app: &App, text: &str, without: Option<&SessionId>) -> Vec<Recalled> {
    let variable = |name: &str| app.process.variable(name);
    let histories = shell::Histories::read(app.paths.home.as_deref(), &variable);
    let typed = histories.typed();
    let of_shells = typed.iter().map(|typed| Line {
        text: &typed.text,
        when: typed.when.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds))),
        cwd: typed.cwd.as_deref(),
        exit: typed.exit,
        source: typed.shell,
    });
    let sent = app.paths.history().map(|path: PathBuf| sent_lines(&path)).unwrap_or_default();
    // An earlier search for something does not count as a mention of it.
    let own = sent.iter().filter(|sent| !sent.line.starts_with("/recall"));
    let own = own.map(|SentLine { line, time, directory }| Line {
        text: line,
        when: (*time > 0).then(|| UNIX_EPOCH + Duration::from_millis(*time)),
        cwd: Some(directory.as_str()).filter(|directory| !directory.is_empty()),
        exit: None,
        source: "axi",
    });
    let here = app.project.cwd.to_string_lossy();
    let mut found = agent::recalled(text, Some(&here), of_shells.chain(own), app.sessions().as_ref(), without);
    // Sessions are kept without secrets; shells keep what was typed.
    let redactor = app.redactor();
    for found in &mut found {
        found.text = redactor.text(&found.text);
    }
    found
}
