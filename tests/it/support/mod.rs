//! What the integration tests share: hermetic homes, a scripted server, pseudo-terminals, screens.

pub(crate) mod paths;
pub(crate) mod rust_source;
#[allow(dead_code, reason = "a vocabulary for tests still to come; which words are used changes with each of them")]
pub(crate) mod answer;
pub(crate) mod invariant;
pub(crate) mod server;
