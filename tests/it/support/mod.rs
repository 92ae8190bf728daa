//! What the integration tests share: hermetic homes, a scripted server, pseudo-terminals, screens.

#[allow(dead_code, reason = "a vocabulary for tests still to come; which words are used changes with each of them")]
pub(crate) mod answer;
pub(crate) mod authority;
pub(crate) mod changes;
pub(crate) mod editor;
pub(crate) mod emulator;
pub(crate) mod file_graph;
pub(crate) mod home;
pub(crate) mod invariant;
pub(crate) mod lifeline;
pub(crate) mod paths;
pub(crate) mod pty;
pub(crate) mod recorded;
pub(crate) mod reflow;
pub(crate) mod rust_source;
pub(crate) mod server;
pub(crate) mod shells;
pub(crate) mod skip;
pub(crate) mod streams;
pub(crate) mod svg;
pub(crate) mod talk;
#[cfg(feature = "local")]
pub(crate) mod tiny_model;
pub(crate) mod tmux;
pub(crate) mod tool_bench;
