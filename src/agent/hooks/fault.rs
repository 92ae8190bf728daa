//! What is wrong with a file of hooks.

/// The first thing in a file of hooks that is wrong. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookMistake {
    /// The line.
    pub line: usize,
    /// The byte in it.
    pub column: usize,
    /// What.
    pub fault: HookFault,
}

/// What is wrong with a file of hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookFault {
    /// It cannot be read.
    Unreadable {
        /// Why, from the system.
        cause: String,
    },
    /// It is no JSON, or has another shape.
    Syntax {
        /// What, from the parser.
        cause: String,
    },
    /// A name of no event, nearly that of one.
    Event {
        /// The name.
        name: String,
        /// The event.
        meant: &'static str,
    },
    /// An entry that is not a command.
    NoCommand {
        /// Its type; empty if it has none.
        kind: String,
    },
}

impl std::fmt::Display for HookFault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable { cause } | Self::Syntax { cause } => out.write_str(cause),
            Self::Event { name, meant } => write!(out, "no event is called {name}; {meant}?"),
            Self::NoCommand { kind } => write!(out, "an entry of type {kind:?} has no command"),
        }
    }
}

impl HookMistake {
    /// A mistake at the first place where a text has this word in quotes, else at its beginning.
    pub(super) fn at(text: &str, word: &str, fault: HookFault) -> Self {
        let quoted = serde_json::Value::from(word).to_string();
        let start = text.find(&quoted).unwrap_or_default();
        let line = text[..start].matches('\n').count() + 1;
        let column = start - text[..start].rfind('\n').map_or(0, |newline| newline + 1) + 1;
        Self { line, column, fault }
    }
}
