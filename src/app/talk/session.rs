//! Which session a conversation is kept in: a new one, the shell's, or the one that is asked for.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::SystemTime;

use super::super::console::Console;
use super::super::context::App;
use super::super::failed::Failed;
use super::super::new_session::session_in;
use crate::cli::RunOptions;
use crate::command::{self, Problem};
use crate::frontend::exit::Exit;
use crate::locale::word;
use crate::session::{self, Loaded, Origin, Session, SessionError, load};

/// Which front end a conversation begins in, and so which one it goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrontendKind {
    /// One turn for a program or a pipe: a new session, unless asked otherwise.
    Print,
    /// An editor: a new session, unless asked otherwise.
    Editor,
    /// The loop: the shell's session.
    Repl,
    /// A shell handed its line over: the shell's session, and it waits for a command.
    Handoff,
}

impl FrontendKind {
    /// What a session that begins in it is listed as.
    pub(super) const fn origin(self) -> Origin {
        match self {
            Self::Print => Origin::OneShot,
            Self::Editor => Origin::Acp,
            Self::Repl => Origin::Repl,
            Self::Handoff => Origin::HandOff,
        }
    }
}

pub(super) fn new_session(app: &App, occasion: FrontendKind, keep: bool) -> Session {
    session_in(app, app.project.cwd.clone(), keep).begun_in(occasion.origin())
}

/// Finds the session the command line asks to go on with; where it asks nothing, the shell's own.
pub(super) fn resumed(
    app: &App,
    options: &RunOptions,
    occasion: FrontendKind,
) -> Result<Option<(Loaded, PathBuf)>, Failed> {
    // What is kept nowhere has no file to take the rest from.
    let read = if options.no_session { load } else { session::open };
    let open = |path: PathBuf| read(&path).map(|loaded| (loaded, path));
    let store = app.sessions();
    // Held also where another session is asked for: it becomes the shell's.
    let is_in_shell = matches!(occasion, FrontendKind::Repl | FrontendKind::Handoff);
    let is_shells = !options.no_session && (is_in_shell || options.resume_last);
    let (shells, busy) = if is_shells { shells_session(app) } else { (None, false) };
    if busy {
        Console::new(&app.locale).note(app.locale.text(word::handoff::BUSY));
    }
    if options.resume.is_none() && shells.is_some() {
        return Ok(shells);
    }
    let found = match (&options.resume, options.resume_last, store) {
        (None, false, _) => return Ok(None),
        (_, _, None) => return Err(no_session(app)),
        (Some(Some(id)), _, Some(store)) => store.find(id).and_then(|(_, path)| open(path)),
        (Some(None), _, Some(store)) => {
            let list = store.list();
            if list.is_empty() {
                return Err(no_session(app));
            }
            // What comes through a pipe is the message, and what goes into one is the answer.
            if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
                let (what, hint) = (word::error::SESSION_UNNAMED, word::error::SESSION_UNNAMED_HINT);
                let (what, hint) = (app.locale.text(what).to_owned(), app.locale.text(hint).to_owned());
                return Err(Failed::new(Problem { what, hint }, Exit::Usage));
            }
            let now = SystemTime::now();
            let rows = command::session_rows(&app.locale, &list, now);
            let previews = command::SessionPreviews::default();
            let preview = |index: usize| list.get(index).map(|row| previews.of(&row.path)).unwrap_or_default();
            let asker = app.asker();
            let picked = asker.pick_previewed(app.locale.text(word::repl::PICK_SESSION), &rows, &preview);
            let Some(row) = picked.and_then(|index| list.into_iter().nth(index)) else {
                return Err(Failed::interrupted());
            };
            open(row.path)
        }
        (None, true, Some(store)) => match store.last_of(&app.project.cwd) {
            Some(summary) => open(summary.path),
            None => return Err(no_session(app)),
        },
    };
    found
        .map(Some)
        .map_err(|error: SessionError| Failed::new(command::session_problem(&app.locale, &error), Exit::Failed))
}

fn no_session(app: &App) -> Failed {
    let problem = Problem {
        what: app.locale.text(word::error::SESSION_NONE).to_owned(),
        hint: app.locale.text(word::error::SESSION_KEPT).to_owned(),
    };
    Failed::new(problem, Exit::Failed)
}

/// The session of the shell axi was started in.
fn shells_session(app: &App) -> (Option<(Loaded, PathBuf)>, bool) {
    let shell = app.process.variable("AXI_SESSION");
    let (Some(shell), Some(directory), Some(store)) = (shell, app.paths.shells(), app.sessions()) else {
        return (None, false);
    };
    app.shell.hold(&shell, &directory, &store)
}
