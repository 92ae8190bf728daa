//! How a person or a program meets the agent.

pub mod approve;
mod ask;
mod choose;
pub mod exit;
pub mod handoff;
pub mod human;
pub mod input;
pub mod json;
pub mod pipe;
pub mod print;
mod reach;
pub mod render;
pub mod repl;
#[cfg(feature = "local")]
mod short_answer;
pub mod signals;
pub mod stage;
pub mod text;
mod tool_words;
pub mod words;
