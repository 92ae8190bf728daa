//! What all wires share: the loop around a request, and ids of calls. Knows no protocol.

mod connection;
mod ids;
mod learnt;
mod messages;
mod sources;
mod turns;
mod window;

pub(crate) use connection::{Connection, Wire};
pub(crate) use ids::{WireIds, tool_name};
pub(crate) use learnt::{Dialect, Feature, Learnt};
pub(crate) use messages::Messages;
pub(crate) use sources::Sources;
pub(crate) use turns::{NO_ANSWER, Order, Part, Turn, has_words, invalid_input, output, turns};
pub(crate) use window::ServerWindow;

#[cfg(test)]
mod sleep_tests;
