//! Who mends a command that failed, and what runs it again: built for a hand-off with an empty line.

use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::super::context::App;
use super::super::models::{connect, own_models};
use super::trials::can_try;
use crate::child;
use crate::frontend::handoff::{Again, Mender, Near, Rerun};
use crate::platform::ADOPTS;
use crate::provider::{self, Client, Provider};
use crate::sandbox::{Reach, WorkDirectories};

/// Turns it off.
const OFF: &str = "off";

/// How long an answer may take. A small model that has not read its prompt before needs most of it.
const LIMIT: Duration = Duration::from_mins(1);

/// Returns who mends: the model that the settings name, else one on this machine: the conversation's, that of ghost
/// text, axi's own, a server's. `None` if there is none, or if it is turned off.
pub(super) fn mender(
    app: &Rc<App>,
    conversation: &Arc<dyn Provider>,
    client: &Client,
    runtime: &Runtime,
) -> Option<Mender> {
    let config = app.config();
    let named = |name: &str| {
        let connected = connect(app, name, client, &app.locale);
        connected.inspect_err(|problem| tracing::warn!(name, problem = problem.what, "does not mend")).ok()
    };
    let provider = match config.handoff.mend_model.as_deref() {
        Some(OFF) => return None,
        Some(name) => named(name)?,
        None if conversation.model().local => Arc::clone(conversation),
        None => {
            let ghost = config.suggest_model.clone().filter(|name| name != OFF);
            let ghost = ghost.and_then(|name| named(&name)).filter(|provider| provider.model().local);
            let own = || own_models(app).first().and_then(|name| named(name));
            ghost.or_else(own).or_else(|| named(&server(app, client, runtime)?))?
        }
    };
    Some(Mender {
        provider,
        language: app.locale.tag().to_owned(),
        near: Near {
            directory: app.project.cwd.clone(),
            path: (app.process.raw_variables)("PATH").unwrap_or_default(),
        },
        limit: LIMIT,
    })
}

/// Names the first model of a server on this machine that answers at once.
fn server(app: &App, client: &Client, runtime: &Runtime) -> Option<String> {
    let cancel = CancellationToken::new();
    let search = provider::discover(&app.process.variables, client, provider::DISCOVERY_LIMIT, &cancel);
    let found = runtime.block_on(search);
    let server = found.servers.into_iter().find(|server| provider::is_loopback(&server.base_url))?;
    Some(format!("{}/{}", server.row.name, server.models.first()?.name))
}

/// Returns what runs the last command again.
pub(super) fn rerun(app: &Rc<App>) -> Rerun {
    let place = app.project.surroundings(app.sandbox().secret_files(), app.shell.definitions());
    let trials = can_try(app);
    let app = Rc::clone(app);
    // Deleted with the hand-off: a command that is held to reading writes nowhere else.
    let temporary = tempfile::tempdir().inspect_err(|error| tracing::warn!(%error, "nothing is run again")).ok();
    Rerun {
        place,
        can_try: trials,
        command: Box::new(move |again, line, words| {
            let program = app.process.program.as_ref()?;
            let mut command = Command::new(program);
            // It ends what the command leaves behind, and hands the sandbox its judge.
            if ADOPTS {
                command.arg(child::ADOPT_APART);
            }
            match again {
                Again::Reading => {
                    let (workspace, directory) = (&app.project.root, &app.project.cwd);
                    let temporary = temporary.as_ref()?.path();
                    let directories = WorkDirectories { workspace, directory, temporary, line };
                    let confinement = app.sandbox().confinement(&Reach::ReadOnly, directories)?;
                    command.arg(child::CONFINED).args(confinement.to_arguments());
                    command.env("TMPDIR", temporary).env("GIT_OPTIONAL_LOCKS", "0");
                }
                Again::Trial => {
                    command.arg(child::PLAIN).arg(program).args(["try", "--json", "--no-network", "--"]);
                }
            }
            command.args(words).current_dir(&app.project.cwd).env("TERM", "dumb").env("NO_COLOR", "1");
            for pager in ["PAGER", "GIT_PAGER", "MANPAGER"] {
                command.env(pager, "cat");
            }
            Some(command)
        }),
    }
}
