//! What the integration tests share: hermetic homes, a scripted server, pseudo-terminals, screens.

pub(crate) mod paths;
pub(crate) mod rust_source;
