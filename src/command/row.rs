//! What a row of the table says of a slash command.

use super::{Context, Outcome};
use crate::locale::Word;

/// A row of the table.
pub struct SlashCommand {
    /// The name, without the slash.
    pub name: &'static str,
    /// What it does.
    pub says: Word,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What may follow it.
    pub argument: Argument,
    /// The body; takes what followed the name, trimmed.
    pub run: fn(&mut Context<'_>, &str) -> Outcome,
}

/// What may follow a command, for completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// Nothing.
    None,
    /// A model.
    Model,
    /// A language.
    Language,
    /// A word about sessions, and a session.
    Session,
    /// A session.
    SessionId,
    /// A provider.
    Provider,
    /// One of these words.
    Word(&'static [&'static str]),
}
