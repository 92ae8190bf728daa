//! Conversations: the REPL, print mode and hand-offs, and the code that builds them.

mod acp;
mod agent;
mod first_run;
mod ghost;
mod handoff;
mod human;
mod mend;
mod menu_lists;
mod piped;
mod prewarm;
mod print;
mod reload;
mod remember;
mod repl;
mod rewrite;
mod rules;
mod secrets;
mod serve;
mod session;
mod stage;
mod throwaway;
mod trials;
mod tries;
mod world;

use std::io::IsTerminal;
use std::rc::Rc;

use super::console::Console;
use super::context::App;
use super::failed::Failed;
use super::hooks::tell_mistakes;
use super::servers::{settle_servers, tell_unagreed};
use super::trust::{settle_trust, tell_untrusted};
use crate::cli::RunOptions;
use crate::frontend::exit::Exit;
pub(super) use acp::acp;
pub(super) use agent::first_request;
pub(super) use handoff::handoff;
pub(super) use serve::serve_tools;
use throwaway::Throwaway;

/// Runs the REPL, or one turn in print mode.
pub(super) fn run(mut app: App, options: RunOptions) -> Exit {
    // Before anything is started, and before anybody is asked anything.
    if let Some(exit) = tries::enter(&app, &options) {
        return exit;
    }
    let stdin_terminal = std::io::stdin().is_terminal();
    let printing = options.print || !stdin_terminal || !std::io::stdout().is_terminal();
    if printing {
        tell_untrusted(&app);
        tell_unagreed(&app);
    } else if let Err(exit) = settle_trust(&mut app).and_then(|()| settle_servers(&app)) {
        return exit;
    }
    tell_mistakes(&app);
    if let Some(exit) = tries::copy(&mut app, &options, !printing) {
        return exit;
    }
    let throwaway =
        options.no_session.then(|| Throwaway::beside(&app.paths.outputs().unwrap_or_else(std::env::temp_dir)));
    app.throwaway = throwaway.as_ref().map(|throwaway| throwaway.0.clone());
    let app = Rc::new(app);
    let result = if printing { print::print(&app, &options, stdin_terminal) } else { repl::repl(&app, options) };
    result.unwrap_or_else(|Failed { problem, exit }| {
        Console::new(&app.locale).fail(&problem);
        exit
    })
}
