//! `axi acp`: builds the sessions of an editor. Each has its own settings, project and agent, because it may work
//! in any directory, wherever the editor was started.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use tokio::runtime::Runtime;

use super::super::context::{App, Need};
use super::super::failed::{Failed, runtime};
use super::super::hooks::tell_mistakes;
use super::super::models::{self, Missing, choose};
use super::super::process::Process;
use super::super::trust::tell_untrusted;
use super::ghost::GhostUsage;
use super::session::FrontendKind;

use super::world::Outside;
use super::{agent, menu_lists, rules};
use crate::cli::{CommonOptions, RunOptions};
use crate::config::Paths;
use crate::frontend::acp::{Ended, Opened, Opener, Wanted, serve};
use crate::frontend::exit::Exit;
use crate::frontend::signals::Signals;
use crate::json_rpc::{Fault, RpcError};
use crate::locale::{Locale, word};
use crate::session::SessionStore;

/// Talks to an editor on standard input and output until the editor ends.
pub(in crate::app) fn acp(app: App) -> Exit {
    let store = app.sessions();
    let opener = Editor { process: app.process, paths: app.paths, locale: app.locale, store };
    let signals = Signals::start(None);
    // The editor cancels turns itself; Ctrl+C is for axi.
    signals.end_at_interrupt();
    let ended = serve(Arc::new(opener), std::io::stdin(), Box::new(std::io::stdout()), signals);
    match ended {
        Ended::Closed => Exit::Done,
        Ended::Nonsense => Exit::Failed,
    }
}

/// Opens sessions, on any thread.
struct Editor {
    process: Process,
    paths: Paths,
    locale: Locale,
    store: Option<SessionStore>,
}

impl Editor {
    /// Reads settings and project of a directory.
    fn app(&self, cwd: &Path) -> Result<App, RpcError> {
        let gone = |cause: &std::io::Error| {
            let what =
                self.locale.with(word::error::Cwd { path: &cwd.display().to_string(), cause: &cause.to_string() });
            RpcError::new(Fault::Parameters, what)
        };
        let directory = crate::platform::canonicalize(cwd).map_err(|error| gone(&error))?;
        if !directory.is_dir() {
            return Err(gone(&std::io::ErrorKind::NotADirectory.into()));
        }
        let (process, paths, locale) = (self.process.clone(), self.paths.clone(), self.locale.clone());
        let read = App::at(directory, process, paths, locale, None, CommonOptions::default(), Need::Everything);
        let (app, findings) = read.map_err(|failed| {
            let (_, problem, _) = *failed;
            RpcError::new(Fault::Internal, format!("{}\n{}", problem.what, problem.hint).trim_end())
        })?;
        if !findings.is_empty() {
            tracing::warn!(count = findings.len(), "the settings have mistakes; `axi config check` names them");
        }
        Ok(app)
    }
}

/// Converts a failure for the client; if a model or a key is missing, the client may let the person log in.
fn refused(failed: &Failed) -> RpcError {
    let fault = match failed.exit {
        Exit::NotConfigured => Fault::Authentication,
        Exit::Done
        | Exit::Failed
        | Exit::Usage
        | Exit::Provider
        | Exit::ApprovalNeeded
        | Exit::Limit
        | Exit::Interrupted
        | Exit::AsBefore(_) => Fault::Internal,
    };
    let problem = &failed.problem;
    RpcError::new(fault, format!("{}\n{}", problem.what, problem.hint).trim_end())
}

impl Opener for Editor {
    fn open(&self, wanted: &Wanted) -> Result<Opened, RpcError> {
        let mut app = self.app(&wanted.cwd)?;
        app.handed.clone_from(&wanted.servers);
        if let Some(session) = &wanted.resume {
            let store = self.store.as_ref();
            let found = store.and_then(|store| store.find(session).ok());
            if found.is_none_or(|(id, _)| id.as_str() != session) {
                return Err(RpcError::new(Fault::NotFound, format!("there is no session `{session}`")));
            }
        }
        tell_untrusted(&app);
        tell_mistakes(&app);
        let runtime = Rc::new(runtime(&app.locale).map_err(|failed| refused(&failed))?);
        let client = models::client(&app.config(), &app.process.variables);
        let (provider, _) =
            choose(&app, None, &client, &runtime, Missing::Offer(&|| None)).map_err(|failed| refused(&failed))?;
        let options = RunOptions { resume: wanted.resume.clone().map(Some), ..RunOptions::default() };
        let made = agent::make(&app, &options, provider, FrontendKind::Editor);
        let (agent, _) = made.map_err(|failed| refused(&failed))?;
        let app = Rc::new(app);
        Ok(Opened {
            agent,
            world: Box::new(Outside::new(
                Rc::clone(&app),
                client,
                Rc::clone(&runtime),
                GhostUsage::default(),
                RunOptions::default(),
            )),
            runtime,
            locale: app.locale.clone(),
            commands: menu_lists::user_commands(&app),
            keep: rules::offer(&app).keep,
        })
    }

    fn authenticate(&self) -> Result<(), RpcError> {
        let root = self.paths.home.clone().unwrap_or_else(|| "/".into());
        let app = self.app(&root)?;
        let runtime = runtime(&app.locale).map_err(|failed| refused(&failed))?;
        choose(
            &app,
            None,
            &models::client(&app.config(), &app.process.variables),
            &runtime,
            Missing::Offer(&|| None),
        )
        .map(drop)
        .map_err(|failed| refused(&failed))
    }

    fn models(&self, cwd: &Path) -> Vec<(String, String)> {
        let Ok(app) = self.app(cwd) else { return Vec::new() };
        let Ok(runtime): Result<Runtime, _> = runtime(&app.locale) else { return Vec::new() };
        let listed = models::all(&app, &models::client(&app.config(), &app.process.variables), &runtime);
        listed
            .into_iter()
            .map(|listed| (listed.words(&app.locale), listed.id))
            .map(|(says, id)| (id, says))
            .collect()
    }

    fn sessions(&self) -> Option<SessionStore> {
        self.store.clone()
    }

    fn locale(&self) -> &Locale {
        &self.locale
    }
}
