//! `axi mcp list`, `axi mcp test NAME`, and the way to the others.

use serde_json::{Value, json};

use super::super::console::Console;
use super::super::context::App;
use super::super::servers::{Unused, servers, unused};
use super::super::tokens::Keeping;
use super::mcp_found::{report, usable, waiting};
use super::mcp_login::{sign_in, sign_out};
use crate::cli::McpAction;
use crate::command::{self, Problem, era_word, facts, server_failure, state_word};
use crate::frontend::exit::Exit;
use crate::locale::word;
use crate::mcp::{Report, ServerState, Way};
use crate::terminal::sanitize_line;
use crate::tool::ServerTools;

pub(in crate::app) fn mcp(app: &App, action: &McpAction, json: bool) -> Exit {
    let console = Console::new(&app.locale);
    match action {
        McpAction::List => {
            let Some(tools) = servers(app, Keeping::AsBefore) else {
                let unused = unused(app);
                if json {
                    return console.json(&unused.iter().map(unused_row).collect::<Value>());
                }
                if !unused.is_empty() {
                    return console.print(&unused.iter().map(unused_line).collect::<Vec<_>>().join("\n"));
                }
                let Problem { what, hint } = command::no_servers(&app.locale);
                console.note(&format!("{what} · {hint}"));
                return Exit::Done;
            };
            list(app, &tools, json)
        }
        McpAction::Test(name) => test(app, name, json).unwrap_or_else(|exit| exit),
        McpAction::Login { server, in_file } => sign_in(app, server, *in_file).unwrap_or_else(|exit| exit),
        McpAction::Logout(name) => sign_out(app, name).unwrap_or_else(|exit| exit),
        // A conversation of its own kind: see `talk`.
        McpAction::Serve { .. } => Exit::Done,
    }
}

fn list(app: &App, tools: &ServerTools, json: bool) -> Exit {
    let console = Console::new(&app.locale);
    let reports = tools.servers().reports();
    if json {
        let rows = reports.iter().map(|report| row(app, tools, report));
        return console.json(&rows.chain(unused(app).iter().map(unused_row)).collect::<Value>());
    }
    let mut rows = Vec::new();
    for report in &reports {
        rows.push(format!("{}  {}", report.definition.name, sanitize_line(&facts(&app.locale, tools, report))));
        rows.push(format!("  {}", sanitize_line(&report.definition.line().replace(['\n', '\r'], "⏎"))));
    }
    rows.extend(unused(app).iter().map(unused_line));
    console.print(&rows.join("\n"))
}

/// A definition that is not used, and why, on one line.
fn unused_line(unused: &Unused) -> String {
    let Unused { file, name, cause, .. } = unused;
    let name = if name.is_empty() { file } else { name };
    sanitize_line(&format!("{name}  {cause} · {file}")).into_owned()
}

fn unused_row(unused: &Unused) -> Value {
    let source = if unused.of_project { "project" } else { "user" };
    json!({
        "name": unused.name, "source": source, "state": "unused", "file": unused.file, "failure": unused.cause,
    })
}

/// What programs are told of a server. Values of variables and headers stay out: they may be secrets.
fn row(app: &App, tools: &ServerTools, report: &Report) -> Value {
    let definition = &report.definition;
    let mut row = json!({
        "name": definition.name,
        "source": if definition.of_project { "project" } else { "user" },
        "state": state_word(report.state),
    });
    let more = match &definition.way {
        Way::Process { command, args, env } => {
            let names: Vec<&String> = env.keys().collect();
            json!({"transport": "stdio", "command": command, "args": args, "env": names})
        }
        Way::Address { url, headers } => {
            let names: Vec<&String> = headers.keys().collect();
            json!({"transport": "http", "url": url, "headers": names})
        }
    };
    let known = report.manifest.as_ref().map(|manifest| {
        json!({
            "era": era_word(manifest.era),
            "revision": manifest.revision,
            "server": manifest.title,
            "tools": manifest.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
            "tokens": tools.cost(&definition.name),
        })
    });
    let failure = report.failure.as_ref().map(|failure| server_failure(&app.locale, failure));
    let last = json!({"started_ms": report.started_ms, "failure": failure});
    for fields in [Some(more), known, Some(last)].into_iter().flatten() {
        if let (Some(row), Value::Object(fields)) = (row.as_object_mut(), fields) {
            row.extend(fields);
        }
    }
    row
}

/// Starts a server and says what came of it.
fn test(app: &App, name: &str, json: bool) -> Result<Exit, Exit> {
    let console = Console::new(&app.locale);
    let tools = usable(app, name, Keeping::AsBefore)?;
    let runtime = waiting(app)?;
    tools.servers().reconnect(name);
    runtime.block_on(tools.servers().settled());
    let Some(report) = report(&tools, name) else { return Err(Exit::Failed) };
    if json {
        let printed = console.json(&row(app, &tools, &report));
        return Ok(if report.failure.is_some() { Exit::Failed } else { printed });
    }
    if let Some(failure) = &report.failure {
        let cause = &server_failure(&app.locale, failure);
        let log = app.paths.logs().map(|logs| app.paths.shown(&logs)).unwrap_or_default();
        let hint = if report.state == ServerState::NeedsSignIn {
            app.locale.with(word::server::SignInHint { name })
        } else {
            match &report.definition.way {
                Way::Process { .. } => app.locale.with(word::server::FailsHint { log: &log }),
                // Nobody keeps what it prints elsewhere.
                Way::Address { url, .. } => {
                    app.locale.with(word::server::FailsAddressHint { url: &sanitize_line(url) })
                }
            }
        };
        console.fail(&Problem { what: app.locale.with(word::server::Fails { name, cause }), hint });
        return Ok(Exit::Failed);
    }
    let facts = facts(&app.locale, &tools, &report);
    let mut rows = vec![app.locale.with(word::server::Works { name, facts: &facts })];
    let entries = report.manifest.iter().flat_map(|manifest| manifest.tools.iter());
    rows.extend(entries.map(|tool| {
        let first = tool.description.lines().next().unwrap_or_default();
        let first = first.split(". ").next().unwrap_or_default().trim_end_matches('.');
        format!("  {name}__{}  {first}", tool.name).trim_end().to_owned()
    }));
    let rows: Vec<String> = rows.iter().map(|row| sanitize_line(row).into_owned()).collect();
    Ok(console.print(&rows.join("\n")))
}
