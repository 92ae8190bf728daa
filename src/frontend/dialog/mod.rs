//! Questions in the middle of things: menus, numbers, words, secrets. The only room that asks a person outside the line.

mod ask;
mod asker;
mod choose;
mod open;
mod search;
mod secret;
#[cfg(feature = "local")]
mod short_answer;
mod terminal;
mod words;

pub use open::NoChoice;
pub use terminal::Terminal;
