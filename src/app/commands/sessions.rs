//! `axi sessions`: list, show, export, search, delete, import.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::SystemTime;

use serde_json::json;

use super::super::console::Console;
use super::super::context::App;
use super::super::new_session::session_in;
use crate::agent::timestamp;
use crate::cli::{SessionsAction, SessionsOptions};
use crate::command::{self, ExportForm, Problem, export};
use crate::conversation::{Role, Totals};
use crate::frontend::exit::Exit;
use crate::locale::word;
use crate::session::{
    EntryKind, Foreign, ImportError, Loaded, Origin, SessionError, SessionStore, Summary, import, load,
};
use crate::terminal::{escape_json, sanitize, sanitize_line};

/// What a command came to: what is printed, or why it failed.
type Done = Result<String, Problem>;

pub(in crate::app) fn sessions(app: &App, options: &SessionsOptions) -> Exit {
    let SessionsOptions { action, json } = options;
    let console = Console::new(&app.locale);
    let Some(store) = app.sessions() else {
        console
            .fail(&Problem { what: app.locale.text(word::error::NO_CONFIG_DIR).to_owned(), hint: String::new() });
        return Exit::Failed;
    };
    let problem = |error: &SessionError| command::session_problem(&app.locale, error);
    let open = |id: &str| -> Result<Loaded, Problem> {
        let found = store.find(id).and_then(|(_, path)| load(&path));
        let loaded = found.map_err(|error| problem(&error))?;
        if let Some(damage) = command::session_damage(&app.locale, &loaded) {
            console.warn(&damage);
        }
        Ok(loaded)
    };
    let done = match action {
        SessionsAction::List { origin: None } => Ok(rows(app, &store.list(), *json)),
        SessionsAction::List { origin: Some(origin) } => {
            let mut list = store.list();
            list.retain(|row| row.origin.is_some_and(|has| has.word() == origin));
            if list.is_empty() && !json {
                console.note(&app.locale.with(word::said::SessionsNoneOf { origin }));
                return Exit::Done;
            }
            Ok(rows(app, &list, *json))
        }
        SessionsAction::Search(text) => {
            let found = store.search(text);
            if found.is_empty() && !json && !store.is_empty() {
                console.note(&app.locale.with(word::said::SessionsNotFound { text }));
                return Exit::Done;
            }
            Ok(rows(app, &found, *json))
        }
        SessionsAction::Show(id) if *json => open(id).map(|loaded| export(&loaded, ExportForm::Json)),
        SessionsAction::Show(id) => {
            open(id).map(|loaded| sanitize(&export(&loaded, ExportForm::Markdown)).into_owned())
        }
        SessionsAction::Export { id, form } => {
            let form = ExportForm::parse(if *json { "json" } else { form }).unwrap_or(ExportForm::Markdown);
            open(id).map(|loaded| export(&loaded, form))
        }
        SessionsAction::Delete { id, sure } => match if *sure { Wish::Delete } else { wish(app, &store, id) } {
            Wish::Delete => match store.delete(id) {
                Ok(id) if *json => Ok(json!({ "deleted": id }).to_string()),
                Ok(id) => Ok(app.locale.with(word::said::SessionDeleted { id: id.as_str() })),
                Err(error) => Err(problem(&error)),
            },
            Wish::Keep => {
                console.note(app.locale.text(word::said::SESSION_KEPT));
                return Exit::Interrupted;
            }
            Wish::Unasked => {
                let what = app.locale.text(word::said::SESSION_DELETE_UNASKED).to_owned();
                console.fail(&Problem { what, hint: app.locale.with(word::said::SessionDeleteYes { id }) });
                return Exit::ApprovalNeeded;
            }
        },
        SessionsAction::Import(path) => imported(app, path, *json),
    };
    match done {
        Ok(text) if text.is_empty() => {
            console.note(app.locale.text(word::said::SESSIONS_NONE));
            Exit::Done
        }
        Ok(text) => console.print(&text),
        Err(problem) => {
            console.fail(&problem);
            Exit::Failed
        }
    }
}

/// What becomes of a session that is named to be deleted.
enum Wish {
    Delete,
    Keep,
    /// There is nobody to ask.
    Unasked,
}

/// Asks whether a session is to be deleted. What cannot be found needs no question: it fails as it is.
fn wish(app: &App, store: &SessionStore, id: &str) -> Wish {
    let Ok((id, _)) = store.find_surely(id) else { return Wish::Delete };
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Wish::Unasked;
    }
    let list = store.list();
    let title = list.iter().find(|row| row.id == id).map_or(id.as_str(), |row| &row.title);
    let items = [('n', word::said::SESSION_KEEP), ('y', word::said::SESSION_DELETE_IT)];
    let items = items.map(|(key, says)| (key, app.locale.text(says).to_owned()));
    let question = app.locale.with(word::said::SessionDeleteSure { title });
    let answer = app.asker().decide(&question, "", &items);
    if answer.is_ok_and(|picked| picked == 1) { Wish::Delete } else { Wish::Keep }
}

fn rows(app: &App, list: &[Summary], json: bool) -> String {
    if json {
        let list: Vec<_> = list.iter().map(as_json).collect();
        return escape_json(format!("{:#}", serde_json::Value::from(list)));
    }
    let lines = command::session_lines(&app.locale, list, SystemTime::now());
    let lines =
        lines.zip(list).map(|(line, row)| format!("{line}  {}  {}", app.paths.shown(&row.directory), row.title));
    lines.map(|line| sanitize_line(&line).into_owned()).collect::<Vec<_>>().join("\n")
}

fn as_json(row: &Summary) -> serde_json::Value {
    json!({
        "id": row.id,
        "title": row.title,
        "named": row.named,
        "directory": row.directory.to_string_lossy(),
        "model": row.model,
        "origin": row.origin,
        "turns": row.turns,
        "usage": Totals::from(row.usage),
        "usd": row.spent,
        "bytes": row.bytes,
        "modified": timestamp(row.modified),
        "forked_from": row.forked_from,
    })
}

/// Writes what another agent's session says into a session of our own; that one's file stays as it is.
fn imported(app: &App, path: &Path, json: bool) -> Done {
    let shown = path.display().to_string();
    let failed = |cause: &str| Problem {
        what: app.locale.with(word::error::SessionImport { path: &shown, cause }),
        hint: String::new(),
    };
    let read = import(path).map_err(|error| match error {
        ImportError::Io(cause) => failed(&cause.to_string()),
        ImportError::Unknown => failed(app.locale.text(word::error::SESSION_IMPORT_UNKNOWN)),
    })?;
    let mut session = session_in(app, read.directory, true).begun_in(Origin::Import);
    let now = SystemTime::now();
    let messages = read.conversation.messages();
    for (index, message) in messages.iter().enumerate() {
        session.append_message(&read.model, message, now).map_err(|error| failed(&error.to_string()))?;
        let next = messages.get(index + 1);
        if next.is_none_or(|next| next.role == Role::User && !next.has_results()) {
            let ended = EntryKind::TurnEnded { end: "imported".to_owned() };
            session.append(ended, now).map_err(|error| failed(&error.to_string()))?;
        }
    }
    let from = match read.from {
        Foreign::ClaudeCode => "Claude Code",
        Foreign::Codex => "codex",
    };
    if json {
        return Ok(json!({ "imported": session.id(), "from": from, "messages": messages.len() }).to_string());
    }
    let (messages, id) = (&messages.len().to_string(), session.id().as_str());
    Ok(app.locale.with(word::said::SessionImported { from, messages, id }))
}
