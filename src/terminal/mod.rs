//! Rows and keys: the screen, the markdown that is printed on it, the keyboard while a turn runs.
//!
//! This room knows no agent, provider, tool or locale.

mod line;
mod theme;

pub use line::{Line, Span};
pub use theme::Theme;
