//! Events as a person sees them: styled lines on the screen, a status row, questions.
//!
//! [`Painter`] paints rows and knows the looks and the words; the keyboard and the questions are parts of their own;
//! [`Human`] puts them together as one front end.

mod again;
mod asked;
mod attention;
mod diff;
mod explorers;
mod file_address;
mod finished;
mod keyboard;
mod lend;
mod looks;
mod painter;
mod progress;
mod propose;
mod prose;
mod question;
mod questions;
mod review;
mod rules;
mod steps;
mod tokens;
mod trial_diff;
mod turns;

pub use again::turn;
pub use attention::Notifier;
pub use file_address::directory_address;
pub use looks::{Looks, Palette};
pub use painter::{PROSE_WIDTH, Painter};
pub use propose::{mended, proposal_reach};
pub use question::{Answers, Asker, Choice, Nobody, Question};
pub use rules::{Explains, KeepRule, Matches, Rules, Tries};
pub use trial_diff::trial_diff;
pub use turns::{Human, HumanOptions};
