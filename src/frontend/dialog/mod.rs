//! Questions in the middle of things: menus, numbers, words, secrets. The only room that asks a person outside the line.

mod ask;
mod asker;
mod choose;
#[cfg(feature = "local")]
mod short_answer;
mod terminal;
mod words;

pub use choose::NoChoice;
pub use terminal::Terminal;
