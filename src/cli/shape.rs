//! The shape of the command line: names, flags and values, with the user's words.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, value_parser};

use crate::locale::Word;
use crate::locale::word::cli::{self, argument, option};
use crate::shell;

/// Looks a text up.
pub type Words<'a> = &'a dyn Fn(Word) -> &'static str;

/// Makes a command with its help, which looks the same for all.
type Sub<'a> = &'a dyn Fn(&'static str, Word) -> Command;

/// The commands: a line without any of these words is a conversation.
pub(super) const COMMANDS: &[&str] = &[
    "render",
    "init",
    "acp",
    "login",
    "logout",
    "models",
    "usage",
    "tools",
    "mcp",
    "sessions",
    "recall",
    "script",
    "replay",
    "try",
    "config",
    "local",
    "doctor",
    "self-check",
    "completions",
    "man",
    "handoff",
];

/// The shells that `axi completions` writes for: those that `clap_complete` knows.
const COMPLETED: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// Builds the command line's shape with what only the hook and axi itself give.
pub(super) fn whole(words: Words<'_>) -> Command {
    let handoff = Command::new("handoff").about(words(cli::command::HANDOFF)).hide(true).disable_help_flag(true);
    let handoff = handoff.arg(flag("rewrite", option::REWRITE, words)).arg(help_flag(words));
    let hidden = |name| flag(name, cli::command::HANDOFF, words).hide(true);
    let paths = hidden("also").action(ArgAction::Append).value_parser(value_parser!(PathBuf));
    let of_try = [
        hidden("ask").conflicts_with_all(["json", "patch", "apply"]),
        hidden("no-network"),
        hidden("session").action(ArgAction::Set),
        paths,
    ];
    command(words)
        .subcommand(handoff)
        .mut_subcommand("try", |tried| tried.args(of_try))
        .mut_subcommand("replay", |replay| replay.arg(hidden("inside")))
        .mut_subcommand("init", |init| init.arg(hidden("keys").action(ArgAction::Set)))
}

/// Builds the command line's shape, as help, completions and the manual show it.
#[must_use]
pub fn command(words: Words<'_>) -> Command {
    let template =
        format!("{{about-with-newline}}\n{} {{usage}}\n\n{{all-args}}{{after-help}}", words(cli::USAGE_HEADING));
    let sub: Sub<'_> = &|name, about| {
        Command::new(name)
            .about(words(about))
            .help_template(template.clone())
            .disable_help_flag(true)
            .disable_help_subcommand(true)
            .subcommand_help_heading(words(cli::COMMANDS_HEADING))
            .arg(help_flag(words))
    };
    let positional = |name, help| positional(name, help, words);
    conversation(words)
        .about(words(cli::ABOUT))
        .after_help(words(cli::AFTER_HELP))
        .help_template(template.clone())
        .args_conflicts_with_subcommands(true)
        .subcommand_precedence_over_arg(true)
        .subcommand_help_heading(words(cli::COMMANDS_HEADING))
        .subcommands([
            sub("render", cli::command::RENDER)
                .arg(positional("file", argument::FILE).value_parser(value_parser!(PathBuf)))
                .arg(valued("width", "N", option::WIDTH, words).value_parser(value_parser!(u16).range(1..)))
                .arg(valued("wrap", "MODE", option::WRAP, words).value_parser(["word", "soft"])),
            init(sub, words),
            sub("acp", cli::command::ACP).arg(flag("login", option::LOGIN, words)),
            sub("login", cli::command::LOGIN)
                .arg(positional("provider", argument::PROVIDER).required(true))
                .arg(flag("file", option::FILE, words)),
            sub("logout", cli::command::LOGOUT).arg(positional("provider", argument::PROVIDER).required(true)),
            sub("models", cli::command::MODELS).arg(positional("provider", argument::PROVIDER)).arg(flag(
                "json",
                option::JSON,
                words,
            )),
            sub("usage", cli::command::USAGE)
                .arg(valued("since", "TIME", option::SINCE, words).value_parser(since))
                .arg(flag("json", option::JSON, words)),
            tools(sub, words),
            mcp(sub, words),
            sessions(sub, words),
            sub("recall", cli::command::RECALL)
                .arg(positional("text", argument::TEXT).required(true).num_args(1..))
                .arg(flag("json", option::JSON, words)),
            sub("script", cli::command::SCRIPT).arg(positional("session", argument::SESSION)).arg(
                valued("as", "FORM", option::SCRIPT_FORM, words)
                    .value_parser(["sh", "makefile", "justfile", "task"]),
            ),
            sub("replay", cli::command::REPLAY).arg(positional("session", argument::REPLAYED).required(true)),
            sub("try", cli::command::TRY)
                .arg(flag("apply", option::TRY_APPLY, words))
                .arg(flag("json", option::JSON, words))
                .arg(flag("patch", option::TRY_PATCH, words).conflicts_with("json"))
                .arg(flag("copy", option::TRY_COPY, words))
                .arg(
                    positional("command", argument::TRIED)
                        .required(true)
                        .num_args(1..)
                        .last(true)
                        .value_parser(value_parser!(std::ffi::OsString)),
                ),
            config(sub, words),
            local(sub, words),
            doctor(sub, words),
            sub("self-check", cli::command::SELF_CHECK),
            sub("completions", cli::command::COMPLETIONS)
                .arg(one_of(positional("shell", argument::SHELL), COMPLETED)),
            sub("man", cli::command::MAN),
        ])
}

/// Makes `init`, which prints what the shell runs when it starts.
fn init(sub: Sub<'_>, words: Words<'_>) -> Command {
    let positional = |name, help| positional(name, help, words);
    sub("init", cli::command::INIT)
        .arg(one_of(
            positional("hooked", argument::HOOKED).value_name("SHELL"),
            shell::SHELLS.iter().map(|shell| shell.name),
        ))
        .arg(valued("key", "KEY", option::KEY, words).conflicts_with("no-bind"))
        .arg(flag("no-bind", option::NO_BIND, words))
        .arg(flag("keep", option::KEEP, words))
}

/// Makes `tools`, about developer tools.
fn tools(sub: Sub<'_>, words: Words<'_>) -> Command {
    sub("tools", cli::command::TOOLS)
        .subcommands([
            sub("list", cli::command::LIST),
            sub("refresh", cli::command::REFRESH),
            sub("stats", cli::command::STATS),
        ])
        .arg(flag("json", option::JSON, words).global(true))
}

/// Makes `mcp`, about servers of the Model Context Protocol.
fn mcp(sub: Sub<'_>, words: Words<'_>) -> Command {
    let positional = |name, help| positional(name, help, words);
    sub("mcp", cli::command::MCP)
        .subcommands([
            sub("list", cli::command::LIST),
            sub("test", cli::command::MCP_TEST).arg(positional("server", argument::SERVER).required(true)),
            sub("login", cli::command::MCP_LOGIN)
                .arg(positional("server", argument::SERVER).required(true))
                .arg(flag("file", option::FILE, words)),
            sub("logout", cli::command::MCP_LOGOUT).arg(positional("server", argument::SERVER).required(true)),
            sub("serve", cli::command::MCP_SERVE).arg(flag("all", option::SERVE_ALL, words)),
        ])
        .arg(flag("json", option::JSON, words).global(true))
}

/// Makes `sessions`, about what is kept of conversations.
fn sessions(sub: Sub<'_>, words: Words<'_>) -> Command {
    let positional = |name, help| positional(name, help, words);
    sub("sessions", cli::command::SESSIONS)
        .subcommands([
            sub("list", cli::command::LIST).arg(
                valued("origin", "KIND", option::ORIGIN, words)
                    .value_parser(["repl", "one-shot", "hand-off", "acp", "import"]),
            ),
            sub("show", cli::command::SHOW).arg(positional("id", argument::ID).required(true)),
            sub("export", cli::command::EXPORT)
                .arg(positional("id", argument::ID).required(true))
                .arg(valued("as", "FORM", option::AS, words).value_parser(["md", "json", "html"])),
            sub("delete", cli::command::DELETE)
                .arg(positional("id", argument::ID).required(true))
                .arg(flag("sure", option::SURE, words).long("yes").short('y')),
            sub("search", cli::command::SEARCH)
                .arg(positional("text", argument::TEXT).required(true).num_args(1..)),
            sub("import", cli::command::IMPORT)
                .arg(positional("file", argument::FOREIGN).required(true).value_parser(value_parser!(PathBuf))),
        ])
        .arg(flag("json", option::JSON, words).global(true))
}

/// Makes `config`, about the settings.
fn config(sub: Sub<'_>, words: Words<'_>) -> Command {
    sub("config", cli::command::CONFIG).subcommands([
        sub("path", cli::command::PATH),
        sub("show", cli::command::SHOW),
        sub("edit", cli::command::EDIT),
        sub("schema", cli::command::SCHEMA),
        sub("check", cli::command::CHECK).arg(flag("json", option::JSON, words)),
    ])
}

/// Makes `local`, about axi's own models.
fn local(sub: Sub<'_>, words: Words<'_>) -> Command {
    let positional = |name, help| positional(name, help, words);
    sub("local", cli::command::LOCAL).subcommands([
        sub("list", cli::command::LIST),
        sub("pull", cli::command::PULL)
            .arg(positional("model", argument::MODEL))
            .arg(flag("agree", option::AGREE, words).long("yes").short('y')),
        sub("remove", cli::command::REMOVE).arg(positional("model", argument::MODEL).required(true)),
        sub("path", cli::command::PATH).arg(positional("model", argument::MODEL)),
    ])
}

/// Makes `doctor`, which looks what could be wrong here.
fn doctor(sub: Sub<'_>, words: Words<'_>) -> Command {
    let positional = |name, help| positional(name, help, words);
    sub("doctor", cli::command::DOCTOR)
        .arg(flag("json", option::JSON, words))
        .arg(flag("network", option::NETWORK, words))
        .arg(flag("reset-terminal", option::RESET_TERMINAL, words))
        .subcommand(
            sub("model", cli::command::DOCTOR_MODEL)
                .arg(positional("model", argument::MODEL_NAME).value_name("PROVIDER/MODEL"))
                .arg(flag("json", option::JSON, words)),
        )
}

/// The shape without commands: what is said to a model, and with which options.
pub(super) fn conversation(words: Words<'_>) -> Command {
    Command::new("axi")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        // The last one holds: an alias has its own, and somebody types another.
        .args_override_self(true)
        .arg(positional("message", argument::MESSAGE, words).num_args(0..).trailing_var_arg(false))
        .args(run_flags(words))
        .args(common_flags(words))
        .arg(help_flag(words))
        .arg(flag("version", option::VERSION, words).short('V').action(ArgAction::Version))
}

/// The options that all commands take, and behind them any word.
pub(super) fn options_of_all() -> Command {
    let words: Words<'_> = &|_| "";
    Command::new("axi")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .args_override_self(true)
        .allow_external_subcommands(true)
        .args(common_flags(words))
}

/// Dollars, nothing below zero.
fn dollars(text: &str) -> Result<String, String> {
    let amount = text.parse::<f64>().ok().filter(|dollars| dollars.is_finite() && *dollars >= 0.0);
    amount.map(|_| text.to_owned()).ok_or_else(|| "5, 0.50".to_owned())
}

/// So many minutes, hours, days or weeks.
fn since(text: &str) -> Result<String, String> {
    let number = text.strip_suffix(['m', 'h', 'd', 'w']).and_then(|number| number.parse::<u32>().ok());
    number.map(|_| text.to_owned()).ok_or_else(|| "30m, 12h, 7d, 4w".to_owned())
}

fn positional(name: &'static str, help: Word, words: Words<'_>) -> Arg {
    let heading = words(cli::ARGUMENTS_HEADING);
    // As those of the options below.
    Arg::new(name)
        .value_name(name.to_uppercase())
        .help(words(help))
        .help_heading(heading)
        .hide_possible_values(true)
}

/// Makes an argument take one of these names only, which its help lists.
fn one_of(argument: Arg, names: impl IntoIterator<Item = &'static str>) -> Arg {
    let names: Vec<&str> = names.into_iter().collect();
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    argument
        .help(format!("{help}: {}", names.join(", ")))
        .required(true)
        .value_parser(PossibleValuesParser::new(names))
}

fn flag(name: &'static str, help: Word, words: Words<'_>) -> Arg {
    Arg::new(name).long(name).help(words(help)).help_heading(words(cli::OPTIONS_HEADING)).action(ArgAction::SetTrue)
}

fn valued(name: &'static str, value: &'static str, help: Word, words: Words<'_>) -> Arg {
    // The help text names the values, in the user's language.
    flag(name, help, words).action(ArgAction::Set).value_name(value).hide_possible_values(true)
}

fn help_flag(words: Words<'_>) -> Arg {
    flag("help", option::HELP, words).short('h').action(ArgAction::Help)
}

fn run_flags(words: Words<'_>) -> Vec<Arg> {
    vec![
        flag("print", option::PRINT, words).short('p'),
        valued("output", "FORMAT", option::OUTPUT, words).value_parser(["text", "json", "stream-json"]),
        flag("continue", option::CONTINUE, words).short('c').conflicts_with("resume"),
        valued("resume", "ID", option::RESUME, words).short('r').num_args(0..=1).require_equals(false),
        valued("model", "PROVIDER/MODEL", option::MODEL, words).short('m'),
        valued("fallback-model", "MODELS", option::FALLBACK_MODEL, words),
        valued("agent", "NAME", option::AGENT, words).value_parser(["build", "plan", "explore"]),
        flag("yes", option::YES, words).short('y'),
        flag("try", option::TRY, words),
        flag("apply", option::APPLY, words).requires("try"),
        flag("json", option::TRY_JSON, words).requires("try").conflicts_with("output"),
        valued("allow", "RULE", option::ALLOW, words).action(ArgAction::Append),
        valued("deny", "RULE", option::DENY, words).action(ArgAction::Append),
        valued("max-steps", "N", option::MAX_STEPS, words).value_parser(value_parser!(u32).range(1..)),
        valued("budget", "USD", option::BUDGET, words).value_parser(dollars),
        flag("no-session", option::NO_SESSION, words),
        flag("no-history", option::NO_HISTORY, words),
    ]
}

fn common_flags(words: Words<'_>) -> Vec<Arg> {
    vec![
        valued("cwd", "DIR", option::CWD, words).value_parser(value_parser!(PathBuf)).global(true),
        valued("lang", "LANG", option::LANG, words).global(true),
        valued("color", "WHEN", option::COLOR, words).value_parser(["auto", "always", "never"]).global(true),
        flag("linear", option::LINEAR, words).global(true),
        flag("verbose", option::VERBOSE, words).short('v').action(ArgAction::Count).global(true),
    ]
}
