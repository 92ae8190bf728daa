//! Tools of servers that speak the Model Context Protocol, as tools of ours: `NAME__TOOL`.
//!
//! What a server says of its tools is untrusted: it is told to the model, and loosens nothing. From the bottom:
//! `name`, `form`, `shared`, `server_tool`, `search`, `server_tools`.

mod form;
mod name;
mod search;
mod server_tool;
mod server_tools;
mod shared;

pub use server_tools::ServerTools;
