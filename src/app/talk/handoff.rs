//! `axi handoff`: a shell's hook runs this. It builds the parts of a hand-off and writes its reply.

use std::io::IsTerminal;
use std::rc::Rc;

use super::super::console::Console;
use super::super::context::App;
use super::super::failed::{Failed, runtime};
use super::super::hooks::tell_mistakes;
use super::super::models::{self, Missing, choose};
use super::super::trust::settle_trust;
use super::human::human_options;
use super::prewarm::prewarm;
use super::remember::remember;
use super::repl::repl;
use super::session::FrontendKind;
use super::stage::stage;
use super::world::left;
use super::{agent, mend, rewrite};
use crate::cli::{HandoffKind, RunOptions};
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::frontend::explain::{Installed, Pages};
use crate::frontend::handoff::{Check, Facts, Handoff, OutputConsent, OutputSource, Put, write_reply};
use crate::frontend::human::Human;
use crate::locale::word;
use crate::terminal::sanitize;

/// Runs what the hook asks for.
pub(in crate::app) fn handoff(mut app: App, kind: HandoffKind) -> Exit {
    let facts = Facts::read(&app.process.raw_variables);
    match kind {
        HandoffKind::Job => {
            if let Some(reply) = &facts.reply {
                app.shell.meet(&facts.shell, reply);
            }
        }
        HandoffKind::Rewrite => return rewrite::run(&app, &facts),
    }
    let asked = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let settled = if asked { settle_trust(&mut app) } else { Ok(()) };
    tell_mistakes(&app);
    let app = Rc::new(app);
    let (exit, put) = match settled {
        Ok(()) => job(&app, &facts).unwrap_or_else(|Failed { problem, exit }| {
            Console::new(&app.locale).fail(&problem);
            (exit, Put::Line)
        }),
        Err(exit) => (exit, Put::Line),
    };
    match (give_back(&app, &facts, exit, &put), facts.status) {
        (Ok(()), Some(status)) => Exit::AsBefore(status),
        // The shell has no other exit code to use.
        (Ok(()), None) | (Err(()), _) => exit,
    }
}

/// Leaves text for the next prompt line. If that is not possible, the text is printed; the shell still has its own
/// line.
fn give_back(app: &App, facts: &Facts, exit: Exit, put: &Put) -> Result<(), ()> {
    let console = Console::new(&app.locale);
    let kept = match &facts.reply {
        Some(path) => write_reply(path, facts.status.map(|_| exit.code()), put, &facts.line).map_err(|error| {
            let hint = app.locale.text(word::handoff::UNWRITTEN_HINT).to_owned();
            console.fail(&Problem {
                what: app
                    .locale
                    .with(word::error::Io { path: &path.display().to_string(), cause: &error.to_string() }),
                hint,
            });
        }),
        None => Err(()),
    };
    if let (Err(()), Put::Text(text)) = (kept, put) {
        console.note(app.locale.text(word::handoff::UNWRITTEN));
        // Not broken into rows, so that it can be copied.
        console.print(&sanitize(text));
    }
    kept
}

fn no_terminal(app: &App) -> Failed {
    let problem = Problem {
        what: app.locale.text(word::handoff::NO_TERMINAL).to_owned(),
        hint: app.locale.text(word::handoff::NO_TERMINAL_HINT).to_owned(),
    };
    Failed::new(problem, Exit::Usage)
}

fn output_source(app: &App) -> OutputSource {
    let variables = app.process.raw_variables;
    OutputSource {
        variable: Box::new(variables),
        known: app.known_secrets(),
        consent: app.paths.output_consent().map(OutputConsent::new),
        workspace: app.project.root.clone(),
        shown_workspace: app.paths.shown(&app.project.root),
    }
}

fn job(app: &Rc<App>, facts: &Facts) -> Result<(Exit, Put), Failed> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(no_terminal(app));
    }
    let options = RunOptions::default();
    if facts.message().is_empty() && facts.failed().is_none() {
        let exit = repl(app, options)?;
        let left = left(app);
        let console = Console::new(&app.locale);
        left.left_out(&app.locale).iter().for_each(|said| console.note(said));
        if left.line.is_some() {
            console.note(app.locale.text(word::handoff::LEFT));
        }
        return Ok((exit, left.line.map_or(Put::Nothing, Put::Text)));
    }
    let runtime = Rc::new(runtime(&app.locale)?);
    let client = models::client(&app.config(), &app.process.variables);
    let first = || Some(agent::beginning(app, &options, FrontendKind::Handoff));
    let (provider, found) = choose(app, None, &client, &runtime, Missing::Offer(&first))?;
    if !provider.model().local {
        prewarm(&client);
    }
    let is_empty = facts.message().is_empty();
    let mender = if is_empty { mend::mender(app, &provider, &client, &runtime) } else { None };
    let rerun = (mender.is_some() || provider.model().small).then(|| mend::rerun(app));
    let (agent, _) = agent::make(app, &options, provider, FrontendKind::Handoff)?;
    let stage = stage(app, &runtime)?;
    let looks = app.display().looks();
    let screen = app.display().screen(&looks);
    let mut human = Human::new(screen, human_options(app, &agent, looks, Box::new(stage.terminal.clone())));
    human.leave_background_unasked();
    let check =
        Check { path: app.process.variable("PATH").unwrap_or_default().into(), directory: app.project.cwd.clone() };
    let beside = Rc::clone(app);
    let left = Box::new(move || left(&beside));
    let remember = remember(app, facts);
    let output = output_source(app);
    let pages = rerun.as_ref().map(|_| Box::new(Installed::new(app.sandbox(), app.process.program.clone())));
    let pages = pages.map(|pages| pages as Box<dyn Pages>);
    let handoff = Handoff { left, remember, agent, human, stage, output, mender, rerun, found, check, pages };
    Ok(handoff.run(facts))
}
