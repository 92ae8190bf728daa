//! Servers that speak the Model Context Protocol: what they are, whether the person agreed to them, what is known of
//! their tools, and the lines to them.
//!
//! Knows no tool, approval, terminal or locale: it reports facts. From the bottom: `failure`, `plain`, `message`, `spoken`, `given_client`, then
//! `definition`, `agreed`, `manifest` and `answer`, then `connection`, `sign_in`, `process` and `http`, `opening`, `task`, `thread`, `state`, `servers` above them, and `taken`.
//!
//! Our own JSON-RPC and not the crate rmcp: see `connection`.

mod agreed;
mod answer;
mod connection;
mod definition;
mod failure;
mod given_client;
mod http;
mod manifest;
mod message;
mod opening;
mod plain;
mod process;
mod servers;
mod sign_in;
mod spoken;
mod starting;
mod state;
mod taken;
mod task;
mod thread;

pub use agreed::{Agreed, AgreedStore};
pub use answer::{Answer, Part};
pub use connection::{Asking, Call};
pub use definition::{Definition, DefinitionError, Definitions, Unset, Way, filled, read_project};
pub use failure::Failure;
pub use given_client::GivenClient;
pub use manifest::{Era, Manifest, PromptEntry, ResourceEntry, ToolEntry};
pub use servers::Servers;
pub use sign_in::{Forgotten, Pages, SignIn, SignInError, TokenStore};
pub use state::{Offered, Report, ServerState, Setup, Trouble};
