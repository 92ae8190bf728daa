//! JSON-RPC 2.0, a line a message, as the front ends for programs speak it: reading lines, messages, and the line to the
//! client. Knows no method. From the bottom: `message`, `lines`, `client`.

mod client;
mod lines;
mod message;

pub(super) use client::{Client, Lines, Reply, wait};
pub(super) use lines::{Heard, read_lines};
pub use message::{Fault, RpcError};
pub(super) use message::{Incoming, read, text};
