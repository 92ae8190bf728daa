//! One binary for all integration tests: one file a behaviour, `support/` for what they share.

mod support;
