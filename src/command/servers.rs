//! `/mcp`, and the words for servers.

use super::{Context, Outcome, Problem};
use crate::locale::{Locale, word};
use crate::mcp::{Era, Failure, Report, ServerState};
use crate::tool::ServerTools;

/// What may follow the command.
pub(super) const WORDS: &[&str] = &["reconnect", "login", "off", "on"];

pub(super) fn mcp(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    let reports = context.agent.tools().servers().map(|tools| tools.servers().reports()).unwrap_or_default();
    let Some(tools) = context.agent.tools().servers().filter(|_| !reports.is_empty()) else {
        return Outcome::Fail(no_servers(locale));
    };
    let (verb, name) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let name = name.trim();
    if verb.is_empty() {
        return Outcome::List(rows(locale, tools, &reports));
    }
    if !WORDS.contains(&verb) || name.is_empty() {
        let what = locale.with(word::said::WordUnknown { word: argument, known: locale.text(word::server::USAGE) });
        return Outcome::Fail(Problem { what, hint: String::new() });
    }
    let servers = tools.servers();
    let (found, done) = match verb {
        // The command asks on the terminal; it needs a process of its own.
        "login" => (servers.has(name), Outcome::Edit(format!("!axi mcp login {name}"))),
        "reconnect" => (servers.reconnect(name), Outcome::Say(locale.with(word::server::Reconnecting { name }))),
        "off" => (servers.switch(name, false), Outcome::Say(locale.with(word::server::IsOff { name }))),
        _ => (servers.switch(name, true), Outcome::Say(locale.with(word::server::IsOn { name }))),
    };
    if found { done } else { Outcome::Fail(unknown_server(locale, name, &reports)) }
}

/// Says that there are no servers, and how to add one.
#[must_use]
pub fn no_servers(locale: &Locale) -> Problem {
    let text = |key| locale.text(key).to_owned();
    Problem { what: text(word::server::NONE), hint: text(word::server::NONE_HINT) }
}

/// Says that there is no server of this name.
#[must_use]
pub fn unknown_server(locale: &Locale, name: &str, reports: &[Report]) -> Problem {
    let names: Vec<&str> = reports.iter().map(|report| report.definition.name.as_str()).collect();
    Problem {
        what: locale.with(word::server::Unknown { name }),
        hint: locale.with(word::server::Known { names: &names.join(", ") }),
    }
}

/// Lists servers: their names, and what axi knows of them.
fn rows(locale: &Locale, tools: &ServerTools, reports: &[Report]) -> Vec<(String, String)> {
    reports.iter().map(|report| (report.definition.name.clone(), facts(locale, tools, report))).collect()
}

/// Words what is known of a server.
#[must_use]
pub fn facts(locale: &Locale, tools: &ServerTools, report: &Report) -> String {
    let mut parts = vec![locale.text(state(report.state)).to_owned()];
    if report.definition.of_project {
        parts.push(locale.text(word::server::OF_PROJECT).to_owned());
    }
    if report.state == ServerState::NeedsSignIn {
        parts.push(locale.with(word::server::SignInHint { name: &report.definition.name }));
    }
    if let Some(failure) = report.failure.as_ref().filter(|_| report.state == ServerState::Failed) {
        parts.push(server_failure(locale, failure));
    }
    if let Some(manifest) = &report.manifest {
        parts.push(manifest.title.clone());
        parts.push(format!("MCP {}", manifest.revision));
        parts.push(locale.count(word::server::TOOLS, manifest.tools.len() as u64));
        let tokens = tools.cost(&report.definition.name);
        parts.push(locale.with(word::server::Tokens { tokens: &tokens.to_string() }));
    }
    if let Some(ms) = report.started_ms {
        parts.push(locale.with(word::server::StartedIn { ms: &ms.to_string() }));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

const fn state(state: ServerState) -> crate::locale::Word {
    use word::server::state;
    match state {
        ServerState::NotAgreed => state::NOT_AGREED,
        ServerState::Off => state::OFF,
        ServerState::Unknown => state::UNKNOWN,
        ServerState::Starting => state::STARTING,
        ServerState::Known => state::KNOWN,
        ServerState::Running => state::RUNNING,
        ServerState::NeedsSignIn => state::NEEDS_SIGN_IN,
        ServerState::Failed => state::FAILED,
    }
}

/// Names how it stands, for programs.
#[must_use]
pub const fn state_word(state: ServerState) -> &'static str {
    match state {
        ServerState::NotAgreed => "not_agreed",
        ServerState::Off => "off",
        ServerState::Unknown => "unknown",
        ServerState::Starting => "starting",
        ServerState::Known => "known",
        ServerState::Running => "running",
        ServerState::NeedsSignIn => "needs_login",
        ServerState::Failed => "failed",
    }
}

/// Names an era, for programs.
#[must_use]
pub const fn era_word(era: Era) -> &'static str {
    match era {
        Era::Session => "session",
        Era::Stateless => "stateless",
    }
}

/// Words why a server is of no use.
#[must_use]
pub fn server_failure(locale: &Locale, failure: &Failure) -> String {
    use word::server::failure::{
        CANCELLED, ENDED, EndedWith, KEY_REFUSED, NO_SUCH_PROMPT, NO_SUCH_TOOL, NOT_AGREED, NOT_MCP, NotStarted,
        OFF, Refused, Resting, SIGN_IN, Slow, Status, TooLarge, Unreached, Unset,
    };
    match failure {
        Failure::NotStarted { cause } => locale.with(NotStarted { cause }),
        Failure::Unset { variable } => locale.with(Unset { variable }),
        Failure::Unreached { cause } => locale.with(Unreached { cause }),
        Failure::Status { status } => locale.with(Status { status: &status.to_string() }),
        Failure::SignIn => locale.text(SIGN_IN).to_owned(),
        Failure::KeyRefused => locale.text(KEY_REFUSED).to_owned(),
        Failure::Ended { said, .. } if !said.is_empty() => locale.with(EndedWith { cause: said }),
        Failure::Ended { code: Some(code), .. } => locale.with(EndedWith { cause: &format!("exit {code}") }),
        Failure::Ended { .. } => locale.text(ENDED).to_owned(),
        Failure::Slow { seconds } => locale.with(Slow { seconds: &seconds.to_string() }),
        Failure::TooLarge { megabytes } => locale.with(TooLarge { megabytes: &megabytes.to_string() }),
        Failure::NotMcp => locale.text(NOT_MCP).to_owned(),
        Failure::Refused { code, message } => locale.with(Refused { code: &code.to_string(), message }),
        Failure::NoSuchTool => locale.text(NO_SUCH_TOOL).to_owned(),
        Failure::NoSuchPrompt => locale.text(NO_SUCH_PROMPT).to_owned(),
        Failure::Cancelled => locale.text(CANCELLED).to_owned(),
        Failure::NotAgreed => locale.text(NOT_AGREED).to_owned(),
        Failure::Off => locale.text(OFF).to_owned(),
        Failure::Resting { times, seconds } => {
            locale.with(Resting { times: &times.to_string(), seconds: &seconds.to_string() })
        }
    }
}
