//! `axi sessions`: list, show, export, search, delete.

use super::super::console::Console;
use super::super::context::App;
use crate::cli::SessionsAction;
use crate::command::{self, Problem};
use crate::conversation::{ContentBlock, Conversation, Role};
use crate::frontend::exit::Exit;
use crate::locale::word;
use crate::session::{Loaded, SessionError, Summary, load};
use crate::terminal::sanitize;

pub(in crate::app) fn sessions(app: &App, action: &SessionsAction) -> Exit {
    let console = Console::new(&app.locale);
    let Some(store) = app.sessions() else {
        console
            .fail(&Problem { what: app.locale.text(word::error::NO_CONFIG_DIR).to_owned(), hint: String::new() });
        return Exit::Failed;
    };
    let open = |id: &str| {
        let loaded = store.find(id).and_then(|(_, path)| load(&path))?;
        if let Some(damage) = command::session_damage(&app.locale, &loaded) {
            console.warn(&damage);
        }
        Ok(loaded)
    };
    let result: Result<String, SessionError> = match action {
        SessionsAction::List => Ok(rows(app, store.list())),
        SessionsAction::Search(text) => {
            let found = store.search(text);
            if found.is_empty() && !store.list().is_empty() {
                console.note(&app.locale.with(word::said::SessionsNotFound { text }));
                return Exit::Done;
            }
            Ok(rows(app, found))
        }
        SessionsAction::Show(id) => open(id).map(|loaded| sanitize(&markdown(&loaded)).into_owned()),
        SessionsAction::Export(id) => open(id).map(|loaded| markdown(&loaded)),
        SessionsAction::Delete(id) => {
            store.delete(id).map(|id| app.locale.with(word::said::SessionDeleted { id: id.as_str() }))
        }
    };
    match result {
        Ok(text) if text.is_empty() => {
            console.note(app.locale.text(word::said::SESSIONS_NONE));
            Exit::Done
        }
        Ok(text) => console.print(&text),
        Err(error) => {
            console.fail(&command::session_problem(&app.locale, &error));
            Exit::Failed
        }
    }
}

fn rows(app: &App, list: Vec<Summary>) -> String {
    let lines =
        list.into_iter().map(|row| format!("{}  {}  {}", row.id, app.paths.shown(&row.directory), row.title));
    lines.map(|line| sanitize(&line).into_owned()).collect::<Vec<_>>().join("\n")
}

/// Writes a session as markdown: who said what, tools by their names.
fn markdown(loaded: &Loaded) -> String {
    let mut parts = vec![format!("# {}\n\n{} · {}", loaded.id, loaded.model, loaded.directory.display())];
    parts.extend(conversation_parts(&loaded.conversation));
    parts.join("\n\n")
}

fn conversation_parts(conversation: &Conversation) -> Vec<String> {
    let mut parts = Vec::new();
    for message in conversation.messages() {
        for block in &message.content {
            match block {
                ContentBlock::Text { text } if message.role == Role::User => {
                    let quoted: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
                    parts.push(quoted.join("\n"));
                }
                ContentBlock::Text { text } => parts.push(text.trim_end().to_owned()),
                ContentBlock::ToolCall(call) => parts.push(format!("`{}` `{}`", call.name, call.input)),
                ContentBlock::ToolResult(result) => {
                    parts.push(format!("````\n{}\n````", result.content.trim_end()));
                }
                ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => {}
            }
        }
    }
    parts
}
