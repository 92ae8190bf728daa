//! The loop: read a line, do what it says, until the person leaves. It knows the agent and its commands.

mod exchange;
mod outcomes;
mod pager;
mod plain;
mod plan;
mod repl;
mod servers;
mod settings;
mod shell_guess;
mod shell_line;
mod show;
mod turns;
mod user_commands;

pub use repl::{NewSession, Repl, ReplParts, ResumeSession};
pub use settings::{ReloadSettings, Reloaded, SetUpAgain};
pub use shell_line::ShellLines;
pub use show::editor_words;
pub use user_commands::UserCommands;
