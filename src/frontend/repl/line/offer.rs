//! What a menu offers for a line, and what the next key has to know about it. Plain data.

use std::ops::Range;

/// What a menu is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Slash commands.
    Command,
    /// Arguments of a slash command.
    Argument,
    /// Files and folders.
    File,
    /// Lines of the history.
    History,
}

/// The content of the visible menu, for deciding what a key does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MenuView {
    /// What it is about.
    pub(crate) subject: Subject,
    /// Whether the person moved in it.
    pub(crate) navigated: bool,
    /// Whether what is typed already names something.
    pub(crate) exact: bool,
    /// Where what is typed starts, in bytes.
    pub(crate) start: usize,
    /// Whether taking the selected row asks for more (a folder, a command with arguments).
    pub(crate) more: bool,
}

/// One row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// What is put into the line.
    pub(crate) value: String,
    /// What is shown, if not the value.
    pub(crate) label: Option<String>,
    /// What it means.
    pub(crate) description: String,
    /// Whether taking it asks for more.
    pub(crate) more: bool,
}

/// What a source has to offer at a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// What it is about.
    pub(crate) subject: Subject,
    /// The bytes of the line a row replaces.
    pub(crate) span: Range<usize>,
    /// The rows, best first.
    pub(crate) rows: Vec<Row>,
    /// Whether more may come without a key press.
    pub(crate) pending: bool,
    /// Whether what is typed already names something.
    pub(crate) exact: bool,
}
