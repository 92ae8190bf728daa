//! The Agent Client Protocol on standard input and output: an editor drives axi (agentclientprotocol.com, version 1).
//!
//! One more front end beside JSON: `events` tells an editor what happens in a turn and asks it what a person would be
//! asked; nothing is approved here. A connection has many sessions, each on a thread of its own with its own agent,
//! because a question holds up the session it is asked in, and no other. From the bottom: `content`,
//! `calls`, `modes`, `commands`, `servers`; `events`, `replay`, `session`; `connection`.
//!
//! The protocol's crate is not used: it changes its major version every few months, brings its own runtime of actors
//! around the turn, and what is spoken here is some twenty small objects of JSON.

mod calls;
mod commands;
mod connection;
mod content;
mod events;
mod modes;
mod replay;
mod review;
mod servers;
mod session;

pub use connection::{Ended, serve};
pub use session::{Opened, Opener, Wanted};
