//! Tools of servers that speak the Model Context Protocol, as tools of ours: `NAME__TOOL`.
//!
//! A server's description of its tools is untrusted: the model is told it, and it loosens nothing. From the bottom:
//! `name`, `form`, `shared`, `server_tool`, `search`, `server_tools`.

mod form;
mod name;
mod search;
mod server_tool;
mod server_tools;
mod shared;

pub use server_tools::ServerTools;
