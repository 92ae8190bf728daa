//! `axi tools`: the developer tools of this machine and the agent's own.

use super::super::console::Console;
use super::super::context::App;
use crate::cli::ToolsAction;
use crate::command::{tools_json, tools_stats, tools_stats_json, tools_text};
use crate::conversation::ToolSpec;
use crate::frontend::exit::Exit;
use crate::tool::devtool::{KnownVersions, Machine, Search, find, scripts};
use crate::tool::table;

pub(in crate::app) fn tools(app: &App, action: ToolsAction, json: bool) -> Exit {
    let console = Console::new(&app.locale);
    let search = search(app, action == ToolsAction::Refresh);
    match (action, json) {
        (ToolsAction::Stats, true) => console.json(&tools_stats_json(&search)),
        (ToolsAction::Stats, false) => console.print(&tools_stats(&app.locale, &search)),
        (ToolsAction::List | ToolsAction::Refresh, true) => {
            console.json(&tools_json(&search, &scripts(&app.project.roots())))
        }
        (ToolsAction::List | ToolsAction::Refresh, false) => {
            let own: Vec<ToolSpec> = table::standard(None, None).into_iter().map(|tool| tool.spec()).collect();
            console.print(&tools_text(&app.locale, &search, &scripts(&app.project.roots()), &own))
        }
    }
}

/// What is known of the machine before the tools are looked for.
pub(in crate::app) fn machine(app: &App) -> Machine {
    let path = (app.process.raw_variables)("PATH");
    Machine::new(path.as_deref(), app.paths.home.clone(), app.project.root.clone())
}

/// Looks for the tools; versions that are known are not asked for again, but for a `refresh`.
pub(in crate::app) fn search(app: &App, refresh: bool) -> Search {
    later_search(app)(refresh)
}

/// Makes what looks for the tools, on whatever thread.
pub(in crate::app) fn later_search(app: &App) -> impl Fn(bool) -> Search + Send + use<> {
    let machine = machine(app);
    let file = app.paths.cache.as_ref().map(|cache| cache.join("tools.json"));
    move |refresh| {
        let mut kept = file.as_deref().map(KnownVersions::read).unwrap_or_default();
        if refresh {
            kept.forget();
        }
        let search = find(&machine, &mut kept);
        if let Some(file) = &file
            && let Err(error) = kept.write(file)
        {
            tracing::info!(%error, "what was found of tools is not kept");
        }
        search
    }
}
