//! Where the agent's commands of a hand-off are remembered: nowhere, in the shell's history, in atuin's.

use std::process::{Command, Stdio};
use std::rc::Rc;

use super::super::context::App;
use crate::config::AgentCommands;
use crate::frontend::handoff::{Facts, RanCommand, Remember, write_ran};
use crate::locale::word;
use crate::secret::{self, Level};
use crate::tool::HANDOFF_VARIABLES;

/// The longest intent, in characters.
const INTENT: usize = 200;

/// Returns what remembers the commands, where the settings ask for it.
pub(super) fn remember(app: &Rc<App>, facts: &Facts) -> Option<Remember> {
    let config = app.config();
    let reply = facts.reply.clone();
    let app = Rc::clone(app);
    match config.history.agent_commands {
        AgentCommands::Off => None,
        AgentCommands::Shell => {
            let reply = reply?;
            Some(Box::new(move |ran| {
                let written = write_ran(&reply, ran.iter().map(|ran| ran.line.as_str()));
                let cause = written.err()?.to_string();
                let path = &reply.with_extension("ran").display().to_string();
                Some(app.locale.with(word::error::Io { path, cause: &cause }))
            }))
        }
        AgentCommands::Atuin => {
            let (intent, _) = secret::redact(&facts.message(), &app.known_secrets(), Level::Sent);
            let intent: String = intent.lines().next().unwrap_or_default().chars().take(INTENT).collect();
            Some(Box::new(move |ran| {
                let told = ran.iter().try_for_each(|ran| tell_atuin(&app, ran, &intent));
                Some(app.locale.with(word::handoff::Atuin { cause: &told.err()? }))
            }))
        }
    }
}

/// Has atuin begin and end an entry, with axi as its author. An atuin that knows no authors is not told: the command
/// would be the person's own there.
fn tell_atuin(app: &App, ran: &RanCommand, intent: &str) -> Result<(), String> {
    let atuin = || {
        let mut command = Command::new("atuin");
        for name in HANDOFF_VARIABLES {
            command.env_remove(name);
        }
        command.arg("history").current_dir(&app.project.cwd).stdin(Stdio::null());
        command
    };
    let start = |kind: &[&str]| {
        let mut command = atuin();
        command.args(["start", "--author", "axi"]).args(kind).args(["--intent", intent, "--", &ran.line]);
        command.output().map_err(|error| error.to_string())
    };
    let mut begun = start(&["--author-kind", "agent"])?;
    if !begun.status.success() {
        // Before it told kinds of authors apart.
        begun = start(&[])?;
    }
    if !begun.status.success() {
        let said = String::from_utf8_lossy(&begun.stderr);
        return Err(said.lines().next().unwrap_or("atuin history start").to_owned());
    }
    let id = String::from_utf8_lossy(&begun.stdout).trim().to_owned();
    if id.is_empty() {
        // A filter of the person's own keeps it out.
        return Ok(());
    }
    let nanoseconds = u128::from(ran.milliseconds) * 1_000_000;
    let mut end = atuin();
    end.args(["end", "--exit", &ran.code.to_string(), "--duration", &nanoseconds.to_string(), "--", &id]);
    // It may speak with a server: nobody waits for that.
    end.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop).map_err(|error| error.to_string())
}
