//! The line being typed, as the parts of the editor share it: its state, its pastes, its mentions.
//!
//! It knows no menu, no history and no file.

mod late_up;
mod letters;
mod mention;
mod offer;
mod paste;
mod state;

pub(super) use late_up::LateUp;
pub(super) use letters::{LONGEST_FUZZY, MOST_FOUND, has_letters, may_have_letters};
pub(super) use mention::{Mention, mention_path, mentions, open_mention, write_mention};
pub(super) use offer::{MenuView, Offer, Row, Subject};
pub(super) use paste::{MARK, PasteStore, Piece, is_long_paste, paste_pieces, sanitise_paste};
pub(super) use state::{Ended, SharedState};
