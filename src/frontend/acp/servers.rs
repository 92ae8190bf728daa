//! The MCP servers that a client hands over with a session.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json_rpc::{RpcError, text};
use crate::mcp::{Definition, Way};

/// Reads them. They are the person's own: it is their editor that has them in its settings.
///
/// # Errors
/// What of the parameters is not the protocol's.
pub(super) fn handed(parameters: &Value) -> Result<Vec<Definition>, RpcError> {
    let list = match parameters.get("mcpServers") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(RpcError::parameter("mcpServers", "an array of servers")),
    };
    list.iter().map(|server| Ok(Definition::own(&name(text(server, "name")?), way(server)?))).collect()
}

/// A name that can begin the names of tools.
fn name(said: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let plain: String = said.chars().map(|letter| if fits(letter) { letter } else { '-' }).take(32).collect();
    if plain.is_empty() { "server".to_owned() } else { plain }
}

fn way(server: &Value) -> Result<Way, RpcError> {
    if let Some("http" | "sse") = server.get("type").and_then(Value::as_str) {
        let headers = pairs(server, "headers")?;
        return Ok(Way::Address { url: text(server, "url")?.to_owned(), headers });
    }
    let args = match server.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(list) => {
            let words =
                list.as_array().and_then(|list| list.iter().map(|word| Some(word.as_str()?.to_owned())).collect());
            words.ok_or_else(|| RpcError::parameter("args", "an array of texts"))?
        }
    };
    Ok(Way::Process { command: text(server, "command")?.to_owned(), args, env: pairs(server, "env")? })
}

/// A list of names and values.
fn pairs(server: &Value, list: &str) -> Result<BTreeMap<String, String>, RpcError> {
    let pairs = server.get(list).and_then(Value::as_array).into_iter().flatten();
    pairs.map(|pair| Ok((text(pair, "name")?.to_owned(), text(pair, "value")?.to_owned()))).collect()
}
