//! The loop: read a line, do what it says, until the person leaves. It knows the agent and its commands.

mod hear;
mod outcomes;
mod pager;
mod plain;
mod plan;
mod repl;
mod shell_guess;
mod shell_line;
mod show;
mod turns;
mod user_commands;

pub use repl::{NewSession, Repl, ResumeSession};
pub use show::{editor_words, title};
pub use user_commands::UserCommands;
