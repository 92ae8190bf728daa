//! `axi handoff`: what a shell's hook runs. Puts the pieces of a hand-off together and writes its reply.

use std::io::IsTerminal;
use std::rc::Rc;

use super::console::Console;
use super::run::{human_options, prewarm, repl, screen};
use super::setup::Failed;
use super::shell_session::Occasion;
use super::stage::stage;
use super::{Base, rewrite};
use crate::cli::{HandoffKind, RunOptions};
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::frontend::handoff::{Facts, Handoff, OutputConsent, OutputSource, Put, is_secret_name, write_reply};
use crate::frontend::human::Human;
use crate::locale::word;
use crate::provider::Client;
use crate::session::Redactor;
use crate::terminal::sanitize;

/// Runs what the hook asks for.
pub(super) fn run(mut base: Base, kind: HandoffKind) -> Exit {
    let facts = Facts::read(&base.raw_variables);
    match kind {
        HandoffKind::Job => {}
        HandoffKind::Rewrite => return rewrite::run(&base, &facts),
    }
    let asked = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let settled = if asked { base.settle_trust() } else { Ok(()) };
    let base = Rc::new(base);
    let (exit, put) = match settled {
        Ok(()) => job(&base, &facts).unwrap_or_else(|Failed { problem, exit }| {
            Console::new(&base.locale).fail(&problem);
            (exit, Put::Line)
        }),
        Err(exit) => (exit, Put::Line),
    };
    give_back(&base, &facts, &put);
    exit
}

/// Leaves word for the next prompt line. Where that cannot be, what belongs there is printed: the line itself the
/// shell still has.
fn give_back(base: &Base, facts: &Facts, put: &Put) {
    let console = Console::new(&base.locale);
    let kept = match &facts.reply {
        Some(path) => write_reply(path, put, &facts.line).map_err(|error| {
            let hint = base.locale.text(word::handoff::UNWRITTEN_HINT).to_owned();
            console.fail(&Problem {
                what: base
                    .locale
                    .with(word::error::Io { path: &path.display().to_string(), cause: &error.to_string() }),
                hint,
            });
        }),
        None => Err(()),
    };
    if let (Err(()), Put::Text(text)) = (kept, put) {
        console.note(base.locale.text(word::handoff::UNWRITTEN));
        // Not broken into rows: it is there to be copied.
        console.print(&sanitize(text));
    }
}

fn no_terminal(base: &Base) -> Failed {
    let problem = Problem {
        what: base.locale.text(word::handoff::NO_TERMINAL).to_owned(),
        hint: base.locale.text(word::handoff::NO_TERMINAL_HINT).to_owned(),
    };
    Failed::new(problem, Exit::Usage)
}

/// Knows more secrets than a session's file does: values whose variables say so.
fn output_source(base: &Base) -> OutputSource {
    let secrets = std::env::vars_os().filter_map(|(name, value)| {
        let named = name.to_str().is_some_and(is_secret_name);
        value.into_string().ok().filter(|_| named)
    });
    let redactor = Redactor::new(base.keys().chain(secrets));
    let variables = base.raw_variables;
    OutputSource {
        variable: Box::new(variables),
        known: Box::new(move |text| redactor.text(text)),
        consent: base.paths.output_consent().map(OutputConsent::new),
        workspace: base.workspace.clone(),
        shown_workspace: base.paths.shown(&base.workspace),
    }
}

fn job(base: &Rc<Base>, facts: &Facts) -> Result<(Exit, Put), Failed> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(no_terminal(base));
    }
    let options = RunOptions::default();
    if facts.message().is_empty() && facts.failed().is_none() {
        return Ok((repl(base, options)?, Put::Nothing));
    }
    let runtime = Rc::new(base.runtime()?);
    let client = Client::default();
    let (provider, found) = base.provider(None, &client, &runtime)?;
    if !provider.model().local {
        prewarm(&client);
    }
    let (agent, _) = base.agent(&options, provider, Occasion::Handoff)?;
    let stage = stage(base, &runtime)?;
    let looks = base.looks();
    let screen = screen(base, &looks);
    let mut human = Human::new(screen, human_options(base, &agent, looks, Box::new(stage.terminal.clone())));
    human.trust_known_background();
    let handoff = Handoff { agent, human, stage, output: output_source(base), found };
    Ok(handoff.run(facts))
}
