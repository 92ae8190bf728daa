//! How a person or a program meets the agent.

pub mod repl;
