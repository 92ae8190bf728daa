//! The messages of MCP: JSON-RPC, several in an array where a revision allows it, and a server's words made harmless. Pure.

use serde_json::Value;

use super::failure::Failure;
use crate::json_rpc::{Incoming, RpcError, understand};

/// The most megabytes of one message: an answer of pictures is some megabytes.
pub(super) const MOST_MEGABYTES: u64 = 16;
/// The same in bytes.
pub(super) const MOST: usize = 16 << 20;

/// The most of an error's words that are kept, in characters.
const MOST_WORDS: usize = 400;

/// Reads messages; nothing where it is none. Revision 2025-03-26 allows several in an array.
pub(super) fn read(text: &[u8]) -> Vec<Incoming> {
    match serde_json::from_slice(text) {
        Ok(Value::Array(list)) => list.into_iter().filter_map(one).collect(),
        Ok(value) => one(value).into_iter().collect(),
        Err(_) => Vec::new(),
    }
}

fn one(value: Value) -> Option<Incoming> {
    match understand(value).ok()? {
        // There is no id to answer to.
        Incoming::Request { id: Value::Null, method, parameters } => {
            Some(Incoming::Notification { method, parameters })
        }
        incoming => Some(incoming),
    }
}

/// Says that a server refused, in words that command no terminal.
pub(super) fn refused(error: &RpcError) -> Failure {
    let message = error.message.chars().filter(|letter| !letter.is_control()).take(MOST_WORDS).collect();
    Failure::Refused { code: error.code, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart_and_noise_is_none() {
        let kinds = [
            (r#"{"jsonrpc":"2.0","id":3,"result":{"a":1}}"#, "answer"),
            (r#"{"jsonrpc":"2.0","id":"3","result":null}"#, "answer"),
            (r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"x\u001b[2J"}}"#, "answer"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, "request"),
            (r#"{"jsonrpc":"2.0","method":"notifications/x","params":{}}"#, "notification"),
            ("Server listening on stdio", "none"),
            ("42", "none"),
            (r#"{"level":"info","msg":"started"}"#, "none"),
            (r#"{"id":3,"result":"#, "none"),
        ];
        for (text, kind) in kinds {
            let found = match read(text.as_bytes()).first() {
                Some(Incoming::Answer { id, .. }) => {
                    assert_eq!(*id, 3);
                    "answer"
                }
                Some(Incoming::Request { .. }) => "request",
                Some(Incoming::Notification { .. }) => "notification",
                None => "none",
            };
            assert_eq!(found, kind, "{text}");
        }
        let several = br#"[{"id":1,"result":1},{"method":"a"},7]"#;
        assert_eq!(read(several).len(), 2);
    }

    #[test]
    fn a_server_s_words_of_an_error_command_no_terminal() {
        let read = read(br#"{"id":1,"error":{"code":-32603,"message":"\u001b]0;x\u0007no\nway"}}"#);
        let [Incoming::Answer { id: 1, result: Err(error) }] = read.as_slice() else { panic!("{read:?}") };
        let failure = Failure::Refused { code: -32603, message: "]0;xnoway".to_owned() };
        assert_eq!(refused(error), failure);
    }
}
