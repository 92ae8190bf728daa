//! The command line: its shape, and what a given one means. Words come in as a function, so that help and
//! errors speak the user's language.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

/// Looks up the text of a locale key.
pub type Words<'a> = &'a dyn Fn(&str) -> String;

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Invocation {
    /// The REPL, or one turn in print mode.
    Run(Box<RunOptions>),
    /// Prints markdown.
    Render(RenderOptions),
    /// Stores a provider's key.
    Login(String),
    /// Forgets a provider's key.
    Logout(String),
    /// Lists models, of one provider or of all.
    Models(Option<String>),
    /// Lists the tools.
    Tools,
    /// Works on sessions.
    Sessions(SessionsAction),
    /// Works on the settings.
    Config(ConfigAction),
    /// Says what works and what does not.
    Doctor,
    /// Prints completions for a shell.
    Completions(clap_complete::Shell),
    /// Prints the manual page.
    Manual,
    /// Prints this text and succeeds: help or version.
    Print(String),
}

/// Options of the REPL and of print mode.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunOptions {
    /// The words of the message, joined by spaces.
    pub message: Option<String>,
    /// One turn, then exit.
    pub print: bool,
    /// How the answer is printed.
    pub output: Output,
    /// Goes on with the last session of the directory.
    pub resume_last: bool,
    /// Goes on with a session: `Some(None)` picks from a list.
    pub resume: Option<Option<String>>,
    /// `PROVIDER/MODEL`.
    pub model: Option<String>,
    /// How far the agent may go.
    pub agent: AgentKind,
    /// Yes to what would be asked.
    pub yes: bool,
    /// Rules that allow.
    pub allow: Vec<String>,
    /// Rules that deny.
    pub deny: Vec<String>,
    /// The most requests a turn may make.
    pub max_steps: Option<u32>,
    /// Keeps nothing.
    pub no_session: bool,
    /// What holds for every command.
    pub common: CommonOptions,
}

/// Options that hold for every command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommonOptions {
    /// Where to work.
    pub cwd: Option<PathBuf>,
    /// When to colour.
    pub color: ColorChoice,
    /// How much is logged: 0 to 3.
    pub verbose: u8,
    /// No cursor movement at all.
    pub linear: bool,
}

/// How print mode prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// The final answer.
    #[default]
    Text,
    /// One JSON object when done.
    Json,
    /// One JSON object an event.
    StreamJson,
}

/// Which agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentKind {
    /// All tools.
    #[default]
    Build,
    /// Reads only, ends in a plan.
    Plan,
    /// Reads only.
    Explore,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Options of `axi render`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RenderOptions {
    /// The file; standard input when there is none, or when it is `-`.
    pub file: Option<PathBuf>,
    /// Columns.
    pub width: Option<u16>,
    /// Whether the terminal wraps.
    pub soft_wrap: bool,
    /// What holds for every command.
    pub common: CommonOptions,
}

/// What `axi sessions` does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionsAction {
    /// Lists them.
    List,
    /// Prints one.
    Show(String),
    /// Prints one as markdown.
    Export(String),
    /// Deletes one.
    Delete(String),
    /// Lists those that contain a text.
    Search(String),
}

/// What `axi config` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigAction {
    /// Prints where the settings file is.
    Path,
    /// Prints the settings in force.
    Show,
    /// Opens the settings file in the editor.
    Edit,
}

/// A command line that means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// The locale key of what is wrong.
    pub key: &'static str,
    /// The argument it is about.
    pub argument: String,
    /// What it could have been, if anything is near.
    pub suggestion: Option<String>,
}

/// Commands of the contract that this version does not have: they must not be sent to a model as a message.
const RESERVED: &[&str] = &["init", "handoff", "mcp"];

/// Reads a command line, program name first.
///
/// # Errors
/// [`UsageError`]: exit code 2.
pub fn parse(arguments: Vec<OsString>, words: Words<'_>) -> Result<Invocation, UsageError> {
    let first = arguments.get(1).and_then(|first| first.to_str()).unwrap_or_default();
    if RESERVED.contains(&first) {
        return Err(UsageError { key: "usage.reserved", argument: first.to_owned(), suggestion: None });
    }
    match command(words).try_get_matches_from(arguments) {
        Ok(matches) => Ok(interpret(&matches)),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(Invocation::Print(error.render().to_string()))
        }
        Err(error) => Err(usage_error(&error)),
    }
}

/// Finds `--lang TAG` before the command line is parsed: its help and errors depend on it.
#[must_use]
pub fn language_flag(arguments: &[OsString]) -> Option<String> {
    let mut texts = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    while let Some(text) = texts.next() {
        if text == "--" {
            return None;
        }
        if text == "--lang" {
            return texts.next().map(str::to_owned);
        }
        if let Some(tag) = text.strip_prefix("--lang=") {
            return Some(tag.to_owned());
        }
    }
    None
}

/// Builds the command line's shape; also what completions and the manual are made from.
#[must_use]
pub fn command(words: Words<'_>) -> Command {
    let template =
        format!("{{about-with-newline}}\n{} {{usage}}\n\n{{all-args}}{{after-help}}", words("cli.usage_heading"));
    let sub = |name: &'static str| {
        Command::new(name)
            .about(words(&format!("cli.command.{}", name.replace('-', "_"))))
            .help_template(template.clone())
            .disable_help_flag(true)
            .disable_help_subcommand(true)
            .subcommand_help_heading(words("cli.commands_heading"))
            .arg(help_flag(words))
    };
    let positional = |name: &'static str| {
        Arg::new(name)
            .value_name(name.to_uppercase())
            .help(words(&format!("cli.argument.{name}")))
            .help_heading(words("cli.arguments_heading"))
    };
    let shells = PossibleValuesParser::new(["bash", "elvish", "fish", "powershell", "zsh"]);
    let sessions = sub("sessions").subcommands([
        sub("list"),
        sub("show").arg(positional("id").required(true)),
        sub("export").arg(positional("id").required(true)),
        sub("delete").arg(positional("id").required(true)),
        sub("search").arg(positional("text").required(true)),
    ]);
    Command::new("axi")
        .version(env!("CARGO_PKG_VERSION"))
        .about(words("cli.about"))
        .after_help(words("cli.after_help"))
        .help_template(template.clone())
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .args_conflicts_with_subcommands(true)
        .subcommand_precedence_over_arg(true)
        .subcommand_help_heading(words("cli.commands_heading"))
        .arg(positional("message").num_args(0..).trailing_var_arg(false))
        .args(run_flags(words))
        .args(common_flags(words))
        .arg(help_flag(words))
        .arg(flag("version", words).short('V').action(ArgAction::Version))
        .subcommands([
            sub("render")
                .arg(positional("file").value_parser(value_parser!(PathBuf)))
                .arg(valued("width", "N", words).value_parser(value_parser!(u16).range(1..)))
                .arg(valued("wrap", "MODE", words).value_parser(["word", "soft"])),
            sub("login").arg(positional("provider").required(true)),
            sub("logout").arg(positional("provider").required(true)),
            sub("models").arg(positional("provider")),
            sub("tools").subcommand(sub("list")),
            sessions,
            sub("config").subcommands([sub("path"), sub("show"), sub("edit")]),
            sub("doctor"),
            sub("completions").arg(positional("shell").required(true).value_parser(shells)),
            sub("man"),
        ])
}

fn flag(name: &'static str, words: Words<'_>) -> Arg {
    Arg::new(name)
        .long(name)
        .help(words(&format!("cli.option.{}", name.replace('-', "_"))))
        .help_heading(words("cli.options_heading"))
        .action(ArgAction::SetTrue)
}

fn valued(name: &'static str, value: &'static str, words: Words<'_>) -> Arg {
    // The help text names the values, in the user's language.
    flag(name, words).action(ArgAction::Set).value_name(value).hide_possible_values(true)
}

fn help_flag(words: Words<'_>) -> Arg {
    flag("help", words).short('h').action(ArgAction::Help)
}

fn run_flags(words: Words<'_>) -> Vec<Arg> {
    vec![
        flag("print", words).short('p'),
        valued("output", "FORMAT", words).value_parser(["text", "json", "stream-json"]),
        flag("continue", words).short('c').conflicts_with("resume"),
        valued("resume", "ID", words).short('r').num_args(0..=1).require_equals(false),
        valued("model", "PROVIDER/MODEL", words).short('m'),
        valued("agent", "NAME", words).value_parser(["build", "plan", "explore"]),
        flag("yes", words).short('y'),
        valued("allow", "RULE", words).action(ArgAction::Append),
        valued("deny", "RULE", words).action(ArgAction::Append),
        valued("max-steps", "N", words).value_parser(value_parser!(u32).range(1..)),
        flag("no-session", words),
    ]
}

fn common_flags(words: Words<'_>) -> Vec<Arg> {
    vec![
        valued("cwd", "DIR", words).value_parser(value_parser!(PathBuf)).global(true),
        valued("lang", "LANG", words).global(true),
        valued("color", "WHEN", words).value_parser(["auto", "always", "never"]).global(true),
        flag("linear", words).global(true),
        flag("verbose", words).short('v').action(ArgAction::Count).global(true),
    ]
}

fn interpret(matches: &ArgMatches) -> Invocation {
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
        "login" => Invocation::Login(text("provider").unwrap_or_default()),
        "logout" => Invocation::Logout(text("provider").unwrap_or_default()),
        "models" => Invocation::Models(text("provider")),
        "tools" => Invocation::Tools,
        "sessions" => Invocation::Sessions(sessions_action(inner)),
        "config" => Invocation::Config(match inner.subcommand_name() {
            Some("path") => ConfigAction::Path,
            Some("edit") => ConfigAction::Edit,
            Some(_) | None => ConfigAction::Show,
        }),
        "doctor" => Invocation::Doctor,
        "completions" => {
            let shell = text("shell").and_then(|shell| shell.parse().ok());
            Invocation::Completions(shell.unwrap_or(clap_complete::Shell::Bash))
        }
        _ => Invocation::Manual,
    }
}

fn sessions_action(matches: &ArgMatches) -> SessionsAction {
    let Some((name, inner)) = matches.subcommand() else { return SessionsAction::List };
    let text = |id: &str| inner.get_one::<String>(id).cloned().unwrap_or_default();
    match name {
        "show" => SessionsAction::Show(text("id")),
        "export" => SessionsAction::Export(text("id")),
        "delete" => SessionsAction::Delete(text("id")),
        "search" => SessionsAction::Search(text("text")),
        _ => SessionsAction::List,
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
        agent: match text("agent").as_deref() {
            Some("plan") => AgentKind::Plan,
            Some("explore") => AgentKind::Explore,
            Some(_) | None => AgentKind::Build,
        },
        yes: matches.get_flag("yes"),
        allow: many("allow"),
        deny: many("deny"),
        max_steps: matches.get_one("max-steps").copied(),
        no_session: matches.get_flag("no-session"),
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

fn usage_error(error: &clap::Error) -> UsageError {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(" ")),
        Some(other) => Some(other.to_string()),
        None => None,
    };
    let argument = text(ContextKind::InvalidArg).or_else(|| text(ContextKind::InvalidSubcommand));
    let value = text(ContextKind::InvalidValue).filter(|value| !value.is_empty());
    let key = match error.kind() {
        ErrorKind::UnknownArgument => "usage.unknown",
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if value.is_none() => "usage.missing_value",
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => "usage.invalid_value",
        ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => "usage.missing",
        ErrorKind::ArgumentConflict => "usage.conflict",
        _ => "usage.other",
    };
    let mut argument = argument.unwrap_or_default();
    if let Some(value) = value {
        argument = format!("{argument}: {value}");
    }
    let suggestion = [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::ValidValue]
        .into_iter()
        .find_map(text)
        .filter(|suggestion| !suggestion.is_empty());
    UsageError { key, argument, suggestion }
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
