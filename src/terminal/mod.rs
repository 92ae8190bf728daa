//! Rows and keys: the screen, the markdown that is printed on it, the keyboard while a turn runs.
//!
//! This room knows no agent, provider, tool or locale.

mod asked;
mod environment;
mod guest;
mod inline_picture;
mod keys;
mod layout;
mod line;
mod loan;
mod markdown;
mod marks;
mod relay;
mod reset;
mod sanitize;
mod screen;
mod sgr;
mod skin;
mod status;
mod theme;
mod tty;
pub mod width;

pub use asked::{SaidOfItself, ask_terminal};
pub use environment::{Background, ColorChoice, Depth, TerminalEnvironment, background_of_answer};
pub use guest::Guest;
pub use inline_picture::{InlinePicture, PictureProtocol};
pub use keys::{
    KeyReader, KeyWatch, Pending, Press, Pressed, TWICE, Unsent, cooked_lines, drain_crossterm, escape_wait,
};
pub use layout::cut;
pub use line::{Line, Span};
pub use loan::Loan;
pub use markdown::{Highlighter, Layout, MarkdownStream, Reasoning, Wrap, in_rows};
pub use marks::{Mark, NotifyBy, Progress};
pub use relay::{Relayed, relay};
pub use reset::reset_terminal;
pub use sanitize::{Breaks, clean, concealed, escape_json, sanitize, sanitize_line};
pub use screen::{Capabilities, Screen};
pub use skin::SkinError;
pub use status::{FRAME, Status, spinner, status_line};
pub use theme::Theme;
pub use tty::{Lent, Output, Restorer, Size, Tty, cell_pixels};
