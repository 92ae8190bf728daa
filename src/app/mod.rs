//! The composition root: the only room that knows every concrete type. Takes the command line, settings and
//! environment apart and hands out pieces.
//!
//! `context` is what every command works with; `commands` are no conversation, `talk` is one, `models` finds who
//! answers, `answers` is what was answered in this run.

mod answers;
mod background;
mod browser;
mod commands;
mod console;
mod context;
mod desktop;
mod display;
mod failed;
mod findings;
mod hooks;
mod host;
mod kept;
mod keys;
mod left_out;
mod logs;
mod models;
mod new_session;
mod process;
mod project;
mod servers;
mod settings;
mod setup;
mod shell_session;
mod talk;
mod tokens;
mod trust;

use std::ffi::OsString;
use std::path::PathBuf;

use crate::cli::{
    self, CommonOptions, ConfigAction, HandoffKind, Invocation, McpAction, RunOptions, Suggestion, UsageError,
    UsageFault,
};
use crate::command::Problem;
use crate::config::{self, Finding, Form, Paths, PlaceFiles};
use crate::frontend::exit::Exit;
use crate::locale::{self, Locale, word};
use console::{Console, indented};
use context::{App, Need, Unstarted};
use findings::{diagnostics, known, tell};
use process::Process;
pub use process::{RawVariables, Variables};
use settings::settings_problem;

/// What the process was started with.
pub struct Start {
    /// The command line, program name first.
    pub arguments: Vec<OsString>,
    /// The environment.
    pub variables: Variables,
    /// The same, for what need not be UTF-8.
    pub raw_variables: RawVariables,
    /// The home directory, from the environment or the system's user table.
    pub home: Option<PathBuf>,
    /// This program, for helpers that run as children.
    pub program: Option<PathBuf>,
}

/// A variable of the environment, or what stands in its place on this system.
#[must_use]
pub fn variable(name: &str) -> Option<OsString> {
    crate::platform::variable(name)
}

/// The user's home.
#[must_use]
pub fn home() -> Option<PathBuf> {
    crate::platform::home()
}

/// Runs axi and says how the process ends.
#[must_use]
pub fn run(start: Start) -> Exit {
    let variables = start.variables;
    let flag = cli::language_flag(&start.arguments);
    let paths = Paths::new(&variables, start.home.clone());
    let tag = flag.as_deref().and_then(locale::matching).unwrap_or_else(|| locale::detect(&variables));
    let locale = Locale::new(tag);
    let (words, begun_in) = (start.arguments.iter().skip(1).cloned().collect(), std::env::current_dir().ok());
    let invocation = match cli::parse(start.arguments, &|word| locale.text(word)) {
        Ok(invocation) => invocation,
        Err(error) => {
            let problem = Problem { what: usage_fault(&locale, &error), hint: usage_hint(&locale, &error) };
            Console::new(&locale).fail(&problem);
            return Exit::Usage;
        }
    };
    if let Some(unknown) = flag.as_deref().filter(|flag| !is_language(flag)) {
        let what = locale.with(word::usage::Language { language: unknown });
        let hint = locale.with(word::usage::LanguageHint { known: &known(Form::Language).join(", ") });
        Console::new(&locale).fail(&Problem { what, hint });
        return Exit::Usage;
    }
    if matches!(invocation, Invocation::Init(_) | Invocation::Print(_))
        && let Some(problem) = host::unheard(&locale)
    {
        Console::new(&locale).fail(&problem);
        return Exit::Failed;
    }
    // A start-up file runs it: settings that cannot be read must not cost a person the shell's hook.
    if let Invocation::Init(options) = &invocation {
        let read = config::load(paths.settings().as_deref(), &PlaceFiles::default(), false, &variables);
        let comma = read.is_ok_and(|loaded| loaded.config.handoff.comma == Some(true));
        let state = paths.state.as_deref();
        return commands::init(&locale, variables, start.program.as_deref(), state, comma, options);
    }
    if let Invocation::Print(text) = &invocation {
        return Console::new(&locale).print(text);
    }
    let mut common = common(&invocation);
    // Programs for the terminal that print static text for screen readers share this variable.
    common.linear |= variables("ACCESSIBLE").is_some_and(|value| !matches!(value.as_str(), "" | "0"));
    let Start { raw_variables, program, .. } = start;
    let process = Process { variables, raw_variables, program, words, begun_in };
    let need = need(&invocation);
    let read = |need, common| App::read(process.clone(), paths.clone(), locale.clone(), flag.clone(), common, need);
    let begun = match read(need, common.clone()) {
        Err(failed) if is_repl(&invocation) && failed.2 == Exit::NotConfigured && setup::can_ask() => {
            // The process is where it was told to be: a relative directory must not be entered twice.
            let there = CommonOptions { cwd: None, ..common };
            mend(*failed, &|need| read(need, there.clone()), need)
        }
        begun => begun,
    };
    match begun {
        Ok((app, findings)) => {
            app.start_logs(matches!(&invocation, Invocation::Run(options) if options.no_session));
            if let Some(error) = app.broken.as_ref().filter(|_| need == Need::Taste) {
                let Problem { what, hint } = settings_problem(&app.locale, &app.paths, error);
                Console::new(&app.locale).warn(&format!("{}\n{hint}", indented(&what)));
            }
            // A line editor may take everything a rewrite says for its answer, and a check says it itself.
            let is_told = !matches!(
                invocation,
                Invocation::Handoff(HandoffKind::Rewrite)
                    | Invocation::Config(
                        ConfigAction::Check { .. } | ConfigAction::Edit | ConfigAction::Path | ConfigAction::Schema
                    )
            );
            if is_told {
                let wrong = diagnostics(&app.locale, &app.paths, &findings, &app.settings().given);
                tell(&app.locale, &app.paths, &wrong);
            }
            // A hand-off's line goes back to the shell whatever is wrong.
            if !matches!(invocation, Invocation::Handoff(_))
                && let Some(problem) = host::unfit(&app.locale)
            {
                Console::new(&app.locale).fail(&problem);
                return Exit::Failed;
            }
            dispatch(app, invocation)
        }
        Err(failed) => {
            let (locale, problem, exit) = *failed;
            Console::new(&locale).fail(&problem);
            exit
        }
    }
}

/// Tells whether a person at a terminal means to talk.
fn is_repl(invocation: &Invocation) -> bool {
    matches!(invocation, Invocation::Run(options) if !options.print)
}

/// Has the person mend settings that cannot be used, as often as it takes, or leave it.
fn mend(
    (mut locale, mut problem, mut exit): (Locale, Problem, Exit),
    read: &dyn Fn(Need) -> Result<(App, Vec<Finding>), Unstarted>,
    need: Need,
) -> Result<(App, Vec<Finding>), Unstarted> {
    loop {
        Console::new(&locale).fail(&problem);
        let silent = |locale| Box::new((locale, Problem { what: String::new(), hint: String::new() }, exit));
        let Ok((app, _)) = read(Need::Nothing) else { return Err(silent(locale)) };
        match setup::ask_mend(&app.locale, &app.asker()) {
            setup::Mend::NotNow => return Err(silent(locale)),
            setup::Mend::Edit => {
                if commands::config(&app, ConfigAction::Edit) != Exit::Done {
                    return Err(silent(locale));
                }
            }
        }
        match read(need) {
            Err(again) if again.2 == Exit::NotConfigured => (locale, problem, exit) = *again,
            begun => return begun,
        }
    }
}

fn is_language(tag: &str) -> bool {
    tag == "auto" || locale::matching(tag).is_some()
}

const fn need(invocation: &Invocation) -> Need {
    match invocation {
        Invocation::Run(_) | Invocation::Handoff(_) | Invocation::Mcp { action: McpAction::Serve { .. }, .. } => {
            Need::Everything
        }
        Invocation::Models { .. } | Invocation::DoctorModel { .. } | Invocation::Mcp { .. } => Need::Settings,
        // Each session of an editor reads them anew, where it works.
        Invocation::Acp { .. }
        | Invocation::Render(_)
        | Invocation::Login { .. }
        | Invocation::Logout(_)
        | Invocation::Usage { .. }
        | Invocation::Tools { .. }
        | Invocation::Sessions(_)
        | Invocation::Recall { .. }
        | Invocation::Script { .. }
        | Invocation::Local(_) => Need::Taste,
        // What it is held to is a setting.
        Invocation::Try(_) | Invocation::Replay { .. } => Need::Everything,
        Invocation::Config(_)
        | Invocation::Doctor { .. }
        | Invocation::SelfCheck
        | Invocation::ResetTerminal
        | Invocation::Completions(_)
        | Invocation::Manual
        | Invocation::Init(_)
        | Invocation::Print(_) => Need::Nothing,
    }
}

fn common(invocation: &Invocation) -> CommonOptions {
    match invocation {
        Invocation::Run(options) => options.common.clone(),
        Invocation::Render(options) => options.common.clone(),
        Invocation::Try(options) => options.common.clone(),
        Invocation::Handoff(_)
        | Invocation::Acp { .. }
        | Invocation::Init(_)
        | Invocation::Login { .. }
        | Invocation::Logout(_)
        | Invocation::Models { .. }
        | Invocation::Usage { .. }
        | Invocation::Tools { .. }
        | Invocation::Mcp { .. }
        | Invocation::Sessions(_)
        | Invocation::Recall { .. }
        | Invocation::Script { .. }
        | Invocation::Replay { .. }
        | Invocation::Config(_)
        | Invocation::Local(_)
        | Invocation::Doctor { .. }
        | Invocation::SelfCheck
        | Invocation::DoctorModel { .. }
        | Invocation::ResetTerminal
        | Invocation::Completions(_)
        | Invocation::Manual
        | Invocation::Print(_) => CommonOptions::default(),
    }
}

fn dispatch(app: App, invocation: Invocation) -> Exit {
    match invocation {
        Invocation::Run(options) => talk::run(app, *options),
        Invocation::Handoff(kind) => talk::handoff(app, kind),
        Invocation::Acp { login: true } => commands::login_any(&app),
        Invocation::Acp { login: false } => talk::acp(app),
        // Answered before there are settings.
        Invocation::Init(_) => Exit::Done,
        Invocation::Render(options) => commands::render(&app, &options),
        Invocation::Login { provider, in_file } => commands::login(&app, &provider, in_file),
        Invocation::Logout(provider) => commands::logout(&app, &provider),
        Invocation::Models { provider, json } => commands::models(&app, provider.as_deref(), json),
        Invocation::Usage { since, json } => commands::usage(&app, since.as_deref(), json),
        Invocation::Tools { action, json } => commands::tools(&app, action, json),
        Invocation::Mcp { action: McpAction::Serve { all }, .. } => talk::serve_tools(app, all),
        Invocation::Mcp { action, json } => commands::mcp(&app, &action, json),
        Invocation::Sessions(options) => commands::sessions(&app, &options),
        Invocation::Recall { text, json } => commands::recall(&app, &text, json),
        Invocation::Script { session, form } => commands::script(&app, session.as_deref(), form.as_deref()),
        Invocation::Replay { session, inside } => commands::replay(&app, &session, inside),
        Invocation::Try(options) => commands::trial(&app, &options),
        Invocation::Config(action) => commands::config(&app, action),
        Invocation::Local(action) => {
            commands::local(&app, &action, &|app| talk::first_request(app, &RunOptions::default()))
        }
        Invocation::Doctor { json, network } => commands::doctor(&app, json, network),
        Invocation::SelfCheck => commands::self_check(&app),
        Invocation::DoctorModel { model, json } => commands::doctor_model(&app, model.as_deref(), json),
        Invocation::ResetTerminal => commands::reset_terminal(&app),
        Invocation::Completions(shell) => commands::completions(&app, shell),
        Invocation::Manual => commands::manual(&app),
        Invocation::Print(text) => Console::new(&app.locale).print(&text),
    }
}

/// Says that axi itself failed; the terminal was restored by the panic hook.
#[must_use]
pub fn panicked() -> Exit {
    let variables: Variables = |name| std::env::var(name).ok();
    let locale = Locale::new(locale::detect(&variables));
    let what = locale.text(word::error::PANIC).to_owned();
    Console::new(&locale).fail(&Problem { what, hint: locale.text(word::error::PANIC_HINT).to_owned() });
    Exit::Failed
}

/// Says what is wrong with a command line.
fn usage_hint(locale: &Locale, error: &UsageError) -> String {
    match &error.suggestion {
        Some(Suggestion::Meant(suggestion)) => locale.with(word::usage::Suggestion { suggestion }),
        Some(Suggestion::OneOf(words)) => locale.with(word::usage::OneOf { words: &words.join(", ") }),
        None if error.fault == UsageFault::BehindOptions => {
            locale.with(word::usage::BehindOptionsHint { argument: &error.argument })
        }
        None => locale.text(word::usage::HELP).to_owned(),
    }
}

fn usage_fault(locale: &Locale, error: &UsageError) -> String {
    let argument = &error.argument;
    match error.fault {
        UsageFault::Unknown => locale.with(word::usage::Unknown { argument }),
        UsageFault::MissingValue => locale.with(word::usage::MissingValue { argument }),
        UsageFault::InvalidValue => locale.with(word::usage::InvalidValue { argument }),
        UsageFault::Missing => locale.with(word::usage::Missing { argument }),
        UsageFault::Conflict => locale.with(word::usage::Conflict { argument }),
        UsageFault::BehindOptions => locale.with(word::usage::BehindOptions { argument }),
        UsageFault::NoText => locale.with(word::usage::NoText { argument }),
        UsageFault::Other => locale.with(word::usage::Other { argument }),
    }
}
