//! One row a command. Help, completion and locale keys come from the row.

use super::{Argument, ReasoningView, SlashCommand, ThemeChoice, bodies, jobs, modes, permissions, sessions, undo};

/// Every slash command.
pub const COMMANDS: &[SlashCommand] = &[
    row("help", &["?"], Argument::None, bodies::help),
    row("model", &[], Argument::Model, bodies::model),
    row("language", &["lang"], Argument::Language, bodies::language),
    row("agent", &[], Argument::Word(modes::WORDS), modes::agent),
    row("plan", &[], Argument::None, modes::plan),
    row("new", &[], Argument::None, bodies::new),
    row("clear", &[], Argument::None, bodies::clear),
    row("retry", &[], Argument::None, bodies::retry),
    row("undo", &[], Argument::None, undo::undo),
    row("rewind", &[], Argument::None, undo::rewind),
    row("copy", &[], Argument::None, bodies::copy),
    row("show", &[], Argument::None, bodies::show),
    row("think", &[], Argument::Word(ReasoningView::WORDS), bodies::think),
    row("theme", &[], Argument::Word(ThemeChoice::WORDS), bodies::theme),
    row("session", &[], Argument::Session, sessions::session),
    row("resume", &[], Argument::SessionId, sessions::resume),
    row("permissions", &[], Argument::Word(permissions::WORDS), permissions::permissions),
    row("tools", &[], Argument::None, bodies::tools),
    row("jobs", &[], Argument::None, jobs::jobs),
    row("usage", &[], Argument::None, bodies::usage),
    row("login", &[], Argument::Provider, bodies::login),
    row("logout", &[], Argument::Provider, bodies::logout),
    row("doctor", &[], Argument::None, bodies::doctor),
    row("stop", &[], Argument::None, bodies::stop),
    row("exit", &["quit"], Argument::None, bodies::exit),
];

const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    argument: Argument,
    run: fn(&mut super::Context<'_>, &str) -> super::Outcome,
) -> SlashCommand {
    SlashCommand { name, aliases, argument, run }
}
