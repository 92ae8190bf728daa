//! `axi script`: the commands of a session that worked, as a script.

use super::super::console::Console;
use super::super::context::App;
use crate::command::{self, Problem, Recorded, ScriptForm};
use crate::frontend::exit::Exit;
use crate::journal::{Journal, taken_back};
use crate::locale::word;
use crate::session::{SessionError, load};
use crate::tool::{Roots, Toolbox, table};

pub(in crate::app) fn script(app: &App, session: Option<&str>, form: Option<&str>) -> Exit {
    let console = Console::new(&app.locale);
    let fail = |problem: &Problem| {
        console.fail(problem);
        Exit::Failed
    };
    let none =
        |hint: &str| Problem { what: app.locale.text(word::error::SESSION_NONE).to_owned(), hint: hint.to_owned() };
    let Some(store) = app.sessions() else { return fail(&none("")) };
    let found = match session {
        Some(id) => store.find(id),
        None => match store.last_of(&app.project.cwd) {
            Some(summary) => Ok((summary.id, summary.path)),
            None => return fail(&none(app.locale.text(word::error::SESSION_KEPT))),
        },
    };
    let loaded = match found.and_then(|(_, path)| load(&path)) {
        Ok(loaded) => loaded,
        Err(error) => return fail(&said(app, &error)),
    };
    if let Some(damage) = command::session_damage(&app.locale, &loaded) {
        console.warn(&damage);
    }
    let journal = app.paths.journal().map(|root| taken_back(&Journal::new(root, loaded.id.as_str())));
    let taken_back: Vec<u64> = match journal.transpose() {
        Ok(turns) => turns.unwrap_or_default().iter().map(|turn| turn.messages).collect::<Vec<_>>(),
        Err(error) => {
            let (path, cause) = (&error.path.display().to_string(), &error.cause.to_string());
            return fail(&Problem { what: app.locale.with(word::error::Io { path, cause }), hint: String::new() });
        }
    };
    let directory = loaded.directory.clone();
    let roots = Roots { cwd: directory.clone(), workspace: directory, home: app.paths.home.clone() };
    let redactor = app.redactor();
    let recorded = Recorded {
        id: loaded.id.as_str(),
        conversation: &loaded.conversation,
        tools: &Toolbox::new(table::standard(app.process.program.clone(), None)),
        roots: &roots,
        taken_back: &taken_back,
        redact: &|text| redactor.text(text),
    };
    let form = form.and_then(ScriptForm::parse).unwrap_or(ScriptForm::Shell);
    match command::script(&recorded, form, &app.locale) {
        Some(text) => console.print(text.trim_end()),
        None => fail(&Problem { what: app.locale.text(word::script::NONE).to_owned(), hint: String::new() }),
    }
}

fn said(app: &App, error: &SessionError) -> Problem {
    command::session_problem(&app.locale, error)
}
