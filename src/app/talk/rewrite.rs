//! `axi handoff --rewrite`: a line editor waits for one command on standard output.
//!
//! Nothing else may be written there. If something goes wrong, one line on standard error says so, and the hook
//! shows it. What was typed meanwhile is sent to nobody: it is told in the same way, and behind a command after
//! [`UNSENT`].

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::super::console::Console;
use super::super::context::App;
use super::super::failed::{Failed, runtime};
use super::super::models::{self, Missing, choose};
use super::secrets::stand_ins;
use crate::agent::TurnEnd;
use crate::approval::command::judge;
use crate::command::Problem;
use crate::file::may_be_there;
use crate::frontend::exit::Exit;
use crate::frontend::handoff::{Facts, NoCommand, meant, paint, rewrite_line, rewrite_prompt, unsent};
use crate::frontend::signals::Signals;
use crate::frontend::words;
use crate::locale::word;
use crate::terminal::{Guest, KeyWatch, Pending, escape_wait, sanitize_line};

/// Stands between the command and what is told of what was typed meanwhile (RS of ASCII): no command has one.
const UNSENT: char = '\x1e';

/// Rewrites the line.
pub(super) fn run(app: &App, facts: &Facts) -> Exit {
    let console = Console::new(&app.locale);
    let pending = Pending::default();
    let found = command(app, facts, &pending);
    let typed = unsent(&pending.snapshot());
    let typed = typed.iter().map(|text| sanitize_line(text));
    match found {
        Ok(command) if facts.shows_unsent => {
            let told: Vec<String> =
                typed.map(|text| app.locale.with(word::handoff::Unsent { text: &text })).collect();
            let behind = if told.is_empty() { String::new() } else { format!("{UNSENT}{}", told.join("\n")) };
            console.print(&format!("{command}{behind}"))
        }
        Ok(command) => console.print(&command),
        Err(Failed { problem, exit }) => {
            // Who interrupted it knows that.
            if exit != Exit::Interrupted {
                console.note(&format!("axi: {}", problem.what));
            }
            typed.for_each(|text| console.note(&app.locale.with(word::handoff::UnsentStopped { text: &text })));
            exit
        }
    }
}

fn command(app: &App, facts: &Facts, pending: &Pending) -> Result<String, Failed> {
    let failed = |what: String, exit| Failed::new(Problem { what, hint: String::new() }, exit);
    let line = facts.message();
    if line.is_empty() {
        return Err(failed(app.locale.text(word::handoff::rewrite::EMPTY).to_owned(), Exit::Usage));
    }
    let runtime = runtime(&app.locale)?;
    let client = models::client(&app.config(), &app.process.variables);
    let config = app.config();
    let own = config.handoff.rewrite_model.as_deref();
    let (provider, _) = choose(app, own, &client, &runtime, Missing::Offer(&|| None))?;
    let limit = Duration::from_secs(app.config().handoff.rewrite_timeout);
    let directory = app.paths.shown(&app.project.cwd);
    let system = rewrite_prompt(facts, &directory, &app.known_secrets());

    let cancel = CancellationToken::new();
    let signals = Signals::start(None);
    signals.watch(Some(cancel.clone()));
    // Without a terminal nobody can press a key, and nothing can be shown.
    let mut guest = Guest::open().ok();
    let keys = guest.as_ref().and_then(|guest| {
        KeyWatch::on(guest.keys().ok()?, cancel.clone(), pending.clone(), escape_wait(app.display().is_remote()))
            .ok()
    });
    let plain = app.options.linear
        || (app.process.variables)("TERM").is_none_or(|term| matches!(term.as_str(), "" | "dumb"));
    let secrets = stand_ins(app, true);
    let hidden = secrets.hide(&line).map_or_else(|| line.clone(), |(hidden, _)| hidden);
    let words = app.locale.with(word::handoff::rewrite::Asking { model: &provider.model().id() });
    let words = format!("{words} · {}", app.locale.text(word::status::STOP));
    let found = runtime.block_on(rewrite_line(provider.as_ref(), &system, &hidden, limit, &cancel, |elapsed| {
        if let Some(guest) = guest.as_mut().filter(|_| !plain) {
            paint(guest, &words, elapsed);
        }
    }));
    signals.watch(None);
    if let Some(guest) = guest.as_mut().filter(|_| !plain) {
        guest.row("");
    }
    drop(keys);
    drop(guest);
    let found = found.and_then(|command| secrets.reveal(&command).map_err(|_stand_in| NoCommand::NotGiven));
    let is_small = provider.model().small;
    let mend = |command: String| meant(&line, &command).map_or(command, |(meant, _)| meant);
    let found = found.map(|command| if is_small { mend(command) } else { command });
    if let Some(command) = found.as_ref().ok().filter(|_| is_small) {
        let place = app.project.surroundings(app.sandbox().secret_files(), app.shell.definitions());
        if !judge(command, &place).names_its_losses(&line, &place.cwd, &may_be_there) {
            let command = &sanitize_line(command);
            return Err(failed(app.locale.with(word::handoff::Unnamed { command }), Exit::Failed));
        }
    }
    found.map_err(|error| match error {
        NoCommand::Interrupted => Failed::interrupted(),
        NoCommand::TimedOut => {
            let seconds = limit.as_secs().to_string();
            failed(app.locale.with(word::handoff::rewrite::Timeout { seconds: &seconds }), Exit::Provider)
        }
        NoCommand::Failed(error) => {
            let what = words::failure(&app.locale, &error, words::Speaking::ByFlags).what;
            failed(what, Exit::from(&TurnEnd::Failed { error }))
        }
        NoCommand::NotGiven => failed(app.locale.text(word::handoff::rewrite::NONE).to_owned(), Exit::Failed),
    })
}
