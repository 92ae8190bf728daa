//! Fetching pages and making them text.

mod address;
mod fetch_tool;
mod html_tokens;
mod markdown;
mod page;
mod search_tool;

pub use fetch_tool::WebFetchTool;
pub use search_tool::WebSearchTool;
