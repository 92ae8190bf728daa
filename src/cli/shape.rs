//! The shape of the command line: names, flags and values, with the user's words.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, value_parser};

use super::Words;

/// The commands: a line without any of these words is a conversation.
pub(super) const COMMANDS: &[&str] = &[
    "render",
    "handoff",
    "init",
    "login",
    "logout",
    "models",
    "tools",
    "sessions",
    "config",
    "local",
    "doctor",
    "completions",
    "man",
];

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
    let positional = |name| positional(name, words);
    let shells = PossibleValuesParser::new(["bash", "elvish", "fish", "powershell", "zsh"]);
    let sessions = sub("sessions").subcommands([
        sub("list"),
        sub("show").arg(positional("id").required(true)),
        sub("export").arg(positional("id").required(true)),
        sub("delete").arg(positional("id").required(true)),
        sub("search").arg(positional("text").required(true)),
    ]);
    conversation(words)
        .about(words("cli.about"))
        .after_help(words("cli.after_help"))
        .help_template(template.clone())
        .args_conflicts_with_subcommands(true)
        .subcommand_precedence_over_arg(true)
        .subcommand_help_heading(words("cli.commands_heading"))
        .subcommands([
            sub("render")
                .arg(positional("file").value_parser(value_parser!(PathBuf)))
                .arg(valued("width", "N", words).value_parser(value_parser!(u16).range(1..)))
                .arg(valued("wrap", "MODE", words).value_parser(["word", "soft"])),
            sub("handoff").hide(true).arg(flag("rewrite", words)),
            sub("init")
                .arg(positional("hooked").value_name("SHELL").required(true).value_parser(["zsh", "bash", "fish"]))
                .arg(valued("key", "KEY", words).conflicts_with("no-bind"))
                .arg(flag("no-bind", words))
                .arg(valued("keys", "VERSION", words).hide(true)),
            sub("login").arg(positional("provider").required(true)),
            sub("logout").arg(positional("provider").required(true)),
            sub("models").arg(positional("provider")),
            sub("tools").subcommand(sub("list")),
            sessions,
            sub("config").subcommands([sub("path"), sub("show"), sub("edit")]),
            sub("local").subcommands([
                sub("list"),
                sub("pull").arg(positional("model")).arg(flag("agree", words).long("yes").short('y')),
                sub("remove").arg(positional("model").required(true)),
                sub("path").arg(positional("model")),
            ]),
            sub("doctor").arg(flag("reset-terminal", words)),
            sub("completions").arg(positional("shell").required(true).value_parser(shells)),
            sub("man"),
        ])
}

/// The shape without commands: what is said to a model, and with which options.
pub(super) fn conversation(words: Words<'_>) -> Command {
    Command::new("axi")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .arg(positional("message", words).num_args(0..).trailing_var_arg(false))
        .args(run_flags(words))
        .args(common_flags(words))
        .arg(help_flag(words))
        .arg(flag("version", words).short('V').action(ArgAction::Version))
}

fn positional(name: &'static str, words: Words<'_>) -> Arg {
    Arg::new(name)
        .value_name(name.to_uppercase())
        .help(words(&format!("cli.argument.{name}")))
        .help_heading(words("cli.arguments_heading"))
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
        flag("no-history", words),
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
