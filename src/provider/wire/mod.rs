//! What all wires share: the loop around a request, and ids of calls. Knows no protocol.

mod connection;
mod ids;

pub(crate) use connection::{Connection, Wire};
pub(crate) use ids::{WireIds, tool_name};
