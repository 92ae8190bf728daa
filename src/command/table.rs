//! One row a command. Help, completion and locale keys come from the row.

use super::{
    Argument, ExportForm, SlashCommand, bodies, compact, dev_tools, jobs, memory, modes, money, permissions,
    recall, script, servers, sessions, settings, shell_line, undo,
};
use crate::config::{ReasoningView, ThemeChoice};
use crate::locale::{Word, word};

/// Every slash command.
pub const COMMANDS: &[SlashCommand] = &[
    row("help", word::command::HELP, &["?"], Argument::None, bodies::help),
    row("model", word::command::MODEL, &[], Argument::Model, bodies::model),
    row("language", word::command::LANGUAGE, &["lang"], Argument::Language, bodies::language),
    row("agent", word::command::AGENT, &[], Argument::Word(modes::WORDS), modes::agent),
    row("plan", word::command::PLAN, &[], Argument::None, modes::plan),
    row("new", word::command::NEW, &[], Argument::None, bodies::new),
    row("clear", word::command::CLEAR, &[], Argument::None, bodies::clear),
    row("retry", word::command::RETRY, &[], Argument::None, bodies::retry),
    row("undo", word::command::UNDO, &[], Argument::None, undo::undo),
    row("rewind", word::command::REWIND, &[], Argument::None, undo::rewind),
    row("compact", word::command::COMPACT, &[], Argument::Word(compact::WORDS), compact::compact),
    row("context", word::command::CONTEXT, &[], Argument::None, compact::context),
    row("recall", word::command::RECALL, &[], Argument::None, recall::recall),
    row("pin", word::command::PIN, &[], Argument::None, compact::pin),
    row("copy", word::command::COPY, &[], Argument::None, bodies::copy),
    row("show", word::command::SHOW, &[], Argument::None, bodies::show),
    row("raw", word::command::RAW, &[], Argument::None, bodies::raw),
    row("think", word::command::THINK, &[], Argument::Word(ReasoningView::WORDS), bodies::think),
    row("theme", word::command::THEME, &[], Argument::Word(ThemeChoice::WORDS), bodies::theme),
    row("session", word::command::SESSION, &[], Argument::Session, sessions::session),
    row("init", word::command::INIT, &[], Argument::None, memory::init),
    row("remember", word::command::REMEMBER, &[], Argument::None, memory::remember),
    row("export", word::command::EXPORT, &[], Argument::Word(ExportForm::WORDS), sessions::export),
    row("script", word::command::SCRIPT, &[], Argument::Word(script::ScriptForm::WORDS), script::run),
    row("shell", word::command::SHELL, &[], Argument::None, shell_line::shell),
    row("resume", word::command::RESUME, &[], Argument::SessionId, sessions::resume),
    row(
        "permissions",
        word::command::PERMISSIONS,
        &[],
        Argument::Word(permissions::WORDS),
        permissions::permissions,
    ),
    row("setup", word::command::SETUP, &[], Argument::None, bodies::setup),
    row("settings", word::command::SETTINGS, &[], Argument::Word(settings::WORDS), settings::settings),
    row("tools", word::command::TOOLS, &[], Argument::Word(dev_tools::WORDS), dev_tools::tools),
    row("mcp", word::command::MCP, &[], Argument::Word(servers::WORDS), servers::mcp),
    row("jobs", word::command::JOBS, &[], Argument::None, jobs::jobs),
    row("usage", word::command::USAGE, &[], Argument::None, money::usage),
    row("budget", word::command::BUDGET, &[], Argument::None, money::budget),
    row("effort", word::command::EFFORT, &[], Argument::Word(money::EFFORTS), money::effort),
    row("login", word::command::LOGIN, &[], Argument::Provider, bodies::login),
    row("logout", word::command::LOGOUT, &[], Argument::Provider, bodies::logout),
    row("doctor", word::command::DOCTOR, &[], Argument::None, bodies::doctor),
    row("log", word::command::LOG, &[], Argument::None, bodies::log),
    row("stop", word::command::STOP, &[], Argument::None, bodies::stop),
    row("exit", word::command::EXIT, &["quit"], Argument::None, bodies::exit),
];

const fn row(
    name: &'static str,
    says: Word,
    aliases: &'static [&'static str],
    argument: Argument,
    run: fn(&mut super::Context<'_>, &str) -> super::Outcome,
) -> SlashCommand {
    SlashCommand { name, says, aliases, argument, run }
}
