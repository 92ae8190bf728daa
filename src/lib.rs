//! axi: an AI agent that lives in the shell.
//!
//! # The map
//! ```text
//! floor 6  main, app      arguments, composition root
//! floor 5  frontend       how a person or a program meets the agent
//! floor 4  command        slash commands
//! floor 3  agent          the turn
//! floor 2  provider  tool  approval  session  context
//! floor 1  conversation  terminal  sandbox  journal  trial  config  locale  shell  cli  child  mcp
//! floor 0  secret  character  file  fingerprint  cause  sse  json_rpc  http_client
//!          platform
//! ```
//! The floor rule: a room imports only from floors below its own, and never from a room beside it. So the five
//! rooms of floor 2 do not know each other. A room of floor 1 uses at most those of floor 0, except that
//! `config` and `cli` use `locale`, `child` uses the `sandbox` and the `trial` that it enters, and `mcp` uses the `child` that
//! becomes a server.
//! `tests/it/floors.rs` checks it.

pub mod agent;
pub mod app;
pub mod approval;
pub mod cause;
pub mod character;
pub mod child;
pub mod cli;
pub mod command;
pub mod config;
pub mod context;
pub mod conversation;
pub mod file;
pub mod fingerprint;
pub mod frontend;
pub mod http_client;
pub mod journal;
pub mod json_rpc;
pub mod locale;
pub mod mcp;
pub(crate) mod platform;
pub mod provider;
pub mod sandbox;
pub mod secret;
pub mod session;
pub mod shell;
#[cfg(test)]
pub(crate) mod skip;
pub mod sse;
pub mod terminal;
pub mod tool;
pub mod trial;
