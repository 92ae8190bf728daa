//! Turns what clap parsed into an [`Invocation`], and says what is wrong with a line that it refused.

use std::ffi::OsString;

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{
    AgentKind, ColorChoice, CommonOptions, ConfigAction, HandoffKind, InitOptions, Invocation, LocalAction,
    McpAction, Output, RenderOptions, RunOptions, SessionsAction, SessionsOptions, Suggestion, ToolsAction,
    TryOptions, TryOutput, UsageError, UsageFault,
};

/// Says what the command line asks for.
pub(super) fn interpret(matches: &ArgMatches) -> Invocation {
    let Some((name, inner)) = matches.subcommand() else {
        return Invocation::Run(Box::new(run_options(matches)));
    };
    let text = |id: &str| inner.get_one::<String>(id).cloned();
    match name {
        "render" => Invocation::Render(RenderOptions {
            file: inner.get_one("file").cloned(),
            width: inner.get_one("width").copied(),
            soft_wrap: text("wrap").as_deref() == Some("soft"),
            common: common_options(inner),
        }),
        "handoff" => {
            Invocation::Handoff(if inner.get_flag("rewrite") { HandoffKind::Rewrite } else { HandoffKind::Job })
        }
        "init" => Invocation::Init(InitOptions {
            shell: text("hooked").unwrap_or_default(),
            key: text("key"),
            no_bind: inner.get_flag("no-bind"),
            keep: inner.get_flag("keep"),
            keys: text("keys"),
        }),
        "acp" => Invocation::Acp { login: inner.get_flag("login") },
        "login" => {
            Invocation::Login { provider: text("provider").unwrap_or_default(), in_file: inner.get_flag("file") }
        }
        "logout" => Invocation::Logout(text("provider").unwrap_or_default()),
        "models" => Invocation::Models { provider: text("provider"), json: inner.get_flag("json") },
        "usage" => Invocation::Usage { since: text("since"), json: inner.get_flag("json") },
        "tools" => Invocation::Tools {
            action: match inner.subcommand_name() {
                Some("refresh") => ToolsAction::Refresh,
                Some("stats") => ToolsAction::Stats,
                Some(_) | None => ToolsAction::List,
            },
            json: inner.get_flag("json"),
        },
        "mcp" => Invocation::Mcp {
            action: match inner.subcommand() {
                Some(("test", inner)) => {
                    McpAction::Test(inner.get_one::<String>("server").cloned().unwrap_or_default())
                }
                Some(("login", inner)) => McpAction::Login {
                    server: inner.get_one::<String>("server").cloned().unwrap_or_default(),
                    in_file: inner.get_flag("file"),
                },
                Some(("logout", inner)) => {
                    McpAction::Logout(inner.get_one::<String>("server").cloned().unwrap_or_default())
                }
                Some(("serve", inner)) => McpAction::Serve { all: inner.get_flag("all") },
                Some(_) | None => McpAction::List,
            },
            json: inner.get_flag("json"),
        },
        "sessions" => {
            Invocation::Sessions(SessionsOptions { action: sessions_action(inner), json: inner.get_flag("json") })
        }
        "recall" => {
            let words = inner.get_many::<String>("text").into_iter().flatten().cloned().collect::<Vec<_>>();
            Invocation::Recall { text: words.join(" "), json: inner.get_flag("json") }
        }
        "try" => Invocation::Try(try_options(inner)),
        "script" => Invocation::Script { session: text("session"), form: text("as") },
        "replay" => {
            Invocation::Replay { session: text("session").unwrap_or_default(), inside: inner.get_flag("inside") }
        }
        "config" => Invocation::Config(match inner.subcommand() {
            Some(("path", _)) => ConfigAction::Path,
            Some(("edit", _)) => ConfigAction::Edit,
            Some(("schema", _)) => ConfigAction::Schema,
            Some(("check", inner)) => ConfigAction::Check { json: inner.get_flag("json") },
            Some(_) | None => ConfigAction::Show,
        }),
        "local" => Invocation::Local(local_action(inner)),
        "doctor" if inner.get_flag("reset-terminal") => Invocation::ResetTerminal,
        "doctor" => match inner.subcommand() {
            Some((_, inner)) => Invocation::DoctorModel {
                model: inner.get_one::<String>("model").cloned(),
                json: inner.get_flag("json"),
            },
            None => Invocation::Doctor { json: inner.get_flag("json"), network: inner.get_flag("network") },
        },
        "self-check" => Invocation::SelfCheck,
        "completions" => {
            let shell = text("shell").and_then(|shell| shell.parse().ok());
            Invocation::Completions(shell.unwrap_or(clap_complete::Shell::Bash))
        }
        _ => Invocation::Manual,
    }
}

fn try_options(inner: &ArgMatches) -> TryOptions {
    TryOptions {
        command: inner.get_many::<OsString>("command").into_iter().flatten().cloned().collect(),
        output: match (inner.get_flag("json"), inner.get_flag("patch")) {
            (true, _) => TryOutput::Json,
            (false, true) => TryOutput::Patch,
            (false, false) => TryOutput::Page,
        },
        apply: inner.get_flag("apply"),
        copy: inner.get_flag("copy"),
        ask: inner.get_flag("ask"),
        offline: inner.get_flag("no-network"),
        session: inner.get_one::<String>("session").cloned(),
        also: inner.get_many("also").into_iter().flatten().cloned().collect(),
        common: common_options(inner),
    }
}

fn local_action(matches: &ArgMatches) -> LocalAction {
    let Some((name, inner)) = matches.subcommand() else { return LocalAction::List };
    let model = || inner.get_one::<String>("model").cloned();
    match name {
        "pull" => LocalAction::Pull { model: model(), yes: inner.get_flag("agree") },
        "remove" => LocalAction::Remove(model().unwrap_or_default()),
        "path" => LocalAction::Path(model()),
        _ => LocalAction::List,
    }
}

fn sessions_action(matches: &ArgMatches) -> SessionsAction {
    let Some((name, inner)) = matches.subcommand() else { return SessionsAction::List { origin: None } };
    let text = |id: &str| inner.get_one::<String>(id).cloned().unwrap_or_default();
    match name {
        "show" => SessionsAction::Show(text("id")),
        "export" => {
            let form = inner.get_one::<String>("as").cloned().unwrap_or_else(|| "md".to_owned());
            SessionsAction::Export { id: text("id"), form }
        }
        "import" => SessionsAction::Import(inner.get_one("file").cloned().unwrap_or_default()),
        "delete" => SessionsAction::Delete { id: text("id"), sure: inner.get_flag("sure") },
        "search" => {
            let words = inner.get_many::<String>("text").into_iter().flatten().cloned().collect::<Vec<_>>();
            SessionsAction::Search(words.join(" "))
        }
        _ => SessionsAction::List { origin: inner.get_one("origin").cloned() },
    }
}

fn run_options(matches: &ArgMatches) -> RunOptions {
    let text = |id: &str| matches.get_one::<String>(id).cloned();
    let many = |id: &str| matches.get_many::<String>(id).into_iter().flatten().cloned().collect::<Vec<_>>();
    let message = many("message").join(" ");
    RunOptions {
        message: (!message.trim().is_empty()).then_some(message),
        print: matches.get_flag("print"),
        output: match text("output").as_deref() {
            Some("json") => Output::Json,
            Some("stream-json") => Output::StreamJson,
            Some(_) | None => Output::Text,
        },
        resume_last: matches.get_flag("continue"),
        resume: matches.contains_id("resume").then(|| text("resume")),
        model: text("model"),
        fallback_model: text("fallback-model"),
        agent: match text("agent").as_deref() {
            Some("plan") => AgentKind::Plan,
            Some("explore") => AgentKind::Explore,
            Some(_) | None => AgentKind::Build,
        },
        yes: matches.get_flag("yes"),
        tries: matches.get_flag("try"),
        apply: matches.get_flag("apply"),
        json: matches.get_flag("json"),
        allow: many("allow"),
        deny: many("deny"),
        max_steps: matches.get_one("max-steps").copied(),
        budget: text("budget"),
        no_session: matches.get_flag("no-session"),
        no_history: matches.get_flag("no-history"),
        common: common_options(matches),
    }
}

fn common_options(matches: &ArgMatches) -> CommonOptions {
    CommonOptions {
        cwd: matches.get_one("cwd").cloned(),
        color: match matches.get_one::<String>("color").map(String::as_str) {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            Some(_) | None => ColorChoice::Auto,
        },
        verbose: matches.get_count("verbose"),
        linear: matches.get_flag("linear"),
    }
}

/// Says what is wrong with a command line that clap refused.
pub(super) fn usage_error(error: &clap::Error) -> UsageError {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(" ")),
        Some(other) => Some(other.to_string()),
        None => None,
    };
    let argument = text(ContextKind::InvalidArg).or_else(|| text(ContextKind::InvalidSubcommand));
    let value = text(ContextKind::InvalidValue).filter(|value| !value.is_empty());
    let fault = match error.kind() {
        ErrorKind::UnknownArgument => UsageFault::Unknown,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if value.is_none() => UsageFault::MissingValue,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => UsageFault::InvalidValue,
        ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => UsageFault::Missing,
        ErrorKind::ArgumentConflict => UsageFault::Conflict,
        _ => UsageFault::Other,
    };
    let mut argument = argument.unwrap_or_default();
    if let Some(value) = value {
        argument = format!("{argument}: {value}");
    }
    if let Some(other) = text(ContextKind::PriorArg) {
        argument = format!("{argument}, {other}");
    }
    let similar = [ContextKind::SuggestedArg, ContextKind::SuggestedValue].into_iter().find_map(text);
    let meant = similar.filter(|similar| !similar.is_empty()).map(Suggestion::Meant);
    let suggestion = meant.or_else(|| match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(words)) if !words.is_empty() => Some(Suggestion::OneOf(words.clone())),
        _ => None,
    });
    UsageError { fault, argument, suggestion }
}
