//! The menu under the line: what it offers, where the rows come from, how it is painted.

mod arguments;
mod commands;
mod fetched;
mod line_menu;
mod servers;
mod sources;

pub(crate) use arguments::arguments_of;
pub use commands::{Arguments, Candidate, Candidates, CommandEntry, CommandMenu};
pub use fetched::{ListedModel, ListedSession, MenuLists, MenuSources, ModelGroup};
pub(crate) use line_menu::{LineMenu, Source};
pub use servers::ServerMenu;
pub(crate) use sources::{HistorySource, WordSource};
