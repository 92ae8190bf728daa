//! Fetching pages and making them text.

mod address;
mod fetch_tool;
mod html_tokens;
mod markdown;
mod page;

pub use fetch_tool::WebFetchTool;
