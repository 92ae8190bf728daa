//! `axi mcp serve`: the developer tools of this machine for another program.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::super::commands::machine;
use super::super::console::Console;
use super::super::context::App;
use super::super::failed::{Failed, runtime};
use super::super::hooks::tell_mistakes;
use super::super::trust::tell_untrusted;
use super::agent;
use super::throwaway::Throwaway;
use crate::conversation::Effect;
use crate::frontend::exit::Exit;
use crate::frontend::mcp_server::{Offer, Offers, serve};
use crate::frontend::signals::Signals;
use crate::tool::Tool;
use crate::tool::devtool::{ActionTool, actions, here};

/// Serves until the client ends; offers the tools that only read, and with `all` the others, too.
pub(in crate::app) fn serve_tools(mut app: App, all: bool) -> Exit {
    tell_untrusted(&app);
    tell_mistakes(&app);
    let throwaway = Throwaway::beside(&app.paths.outputs().unwrap_or_else(std::env::temp_dir));
    app.throwaway = Some(throwaway.0.clone());
    let served = serve_with(&app, all);
    served.unwrap_or_else(|Failed { problem, exit }| {
        Console::new(&app.locale).fail(&problem);
        exit
    })
}

fn serve_with(app: &App, all: bool) -> Result<Exit, Failed> {
    let mut found = here(&machine(app));
    // The workspace's own programs are untrusted: they are not offered to another program.
    found.retain(|found| found.path.as_ref().is_some_and(|path| !path.starts_with(&app.project.root)));
    let tools: Vec<Arc<ActionTool>> =
        found.iter().flat_map(|found| actions(found, app.process.program.as_ref())).collect();
    let (offered, held_back): (Vec<_>, Vec<_>) =
        tools.into_iter().partition(|tool| all || tool.declared() == Effect::Read);
    let offers = Offers {
        tools: offered.iter().map(|tool| Offer { spec: tool.spec(), effect: tool.declared() }).collect(),
        held_back: held_back.iter().map(|tool| tool.spec().name).collect(),
    };
    let tools = offered.into_iter().map(|tool| -> Arc<dyn Tool> { tool }).collect();
    let mut agent = agent::for_tools(app, tools)?;
    let runtime = runtime(&app.locale)?;
    let cancel = CancellationToken::new();
    let signals = Signals::start(None);
    signals.watch(Some(cancel.clone()));
    runtime.block_on(serve(&mut agent, offers, (std::io::stdin(), Box::new(std::io::stdout())), &cancel));
    signals.watch(None);
    Ok(Exit::Done)
}
