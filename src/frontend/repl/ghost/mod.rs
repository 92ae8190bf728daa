//! Ghost text: what may follow on the line, from the history, this session or a model.

mod hinter;
mod session_words;
mod suggest;

pub(crate) use hinter::{LineHinter, from_history};
pub(crate) use session_words::SessionWords;
pub(crate) use suggest::Suggestions;
pub use suggest::{Exchange, Suggest, SuggestTiming, Wanted};
