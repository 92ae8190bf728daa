//! A server that the command line names.

use std::io::IsTerminal as _;

use super::super::console::Console;
use super::super::context::App;
use super::super::failed::{Failed, runtime};
use super::super::servers::{servers, settle_servers};
use super::super::tokens::Keeping;
use crate::command::{self, Problem, server_failure};
use crate::frontend::exit::Exit;
use crate::locale::word;
use crate::mcp::{Report, ServerState};
use crate::tool::ServerTools;

/// Finds the servers, where one of this name may be used; the person is asked first where one must be.
///
/// # Errors
/// How axi ends where it may not, after it was said.
pub(super) fn usable(app: &App, name: &str, tokens: Keeping) -> Result<ServerTools, Exit> {
    let console = Console::new(&app.locale);
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        settle_servers(app)?;
    }
    let tools = servers(app, tokens);
    let Some((tools, known)) = tools.as_ref().and_then(|tools| Some((tools, report(tools, name)?))) else {
        let reports = tools.map(|tools| tools.servers().reports()).unwrap_or_default();
        console.fail(&if reports.is_empty() {
            command::no_servers(&app.locale)
        } else {
            command::unknown_server(&app.locale, name, &reports)
        });
        return Err(Exit::Usage);
    };
    if known.state == ServerState::NotAgreed {
        let cause = &server_failure(&app.locale, &crate::mcp::Failure::NotAgreed);
        let what = app.locale.with(word::server::Fails { name, cause });
        console.fail(&Problem { what, hint: app.locale.text(word::server::NOT_AGREED_HINT).to_owned() });
        return Err(Exit::ApprovalNeeded);
    }
    Ok(tools.clone())
}

/// The runtime on which servers are waited for.
///
/// # Errors
/// How axi ends without one, after it was said.
pub(super) fn waiting(app: &App) -> Result<tokio::runtime::Runtime, Exit> {
    runtime(&app.locale).map_err(|Failed { problem, exit }| {
        Console::new(&app.locale).fail(&problem);
        exit
    })
}

/// What is known of a server.
pub(super) fn report(tools: &ServerTools, name: &str) -> Option<Report> {
    tools.servers().reports().into_iter().find(|report| report.definition.name == name)
}
