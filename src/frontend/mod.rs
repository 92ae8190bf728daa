//! How a person or a program meets the agent.

pub mod acp;
mod diagnostic;
pub mod dialog;
mod dropped;
pub mod exit;
pub mod explain;
mod failure_words;
pub mod handoff;
pub mod human;
pub mod input;
pub mod json;
pub mod json_rpc;
pub mod mcp_server;
mod notice_words;
pub mod pipe;
pub mod print;
mod prompt;
mod reach;
pub mod render;
pub mod repl;
pub mod signals;
pub mod stage;
pub mod text;
mod tool_words;
pub mod words;
