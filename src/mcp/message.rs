//! One message of JSON-RPC 2.0 as MCP uses it. Pure.

use serde_json::{Map, Value, json};

use super::failure::Failure;

/// The most of an error's words that are kept, in characters.
const MOST_WORDS: usize = 400;

/// What a server sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Incoming {
    /// The answer to one of our requests.
    Answer {
        /// The request's number.
        id: u64,
        /// What it came to.
        result: Result<Value, Failure>,
    },
    /// It asks for something.
    Request {
        /// Its own name for the request.
        id: Value,
        /// What for.
        method: String,
        /// With what.
        params: Value,
    },
    /// It tells something.
    Notification {
        /// What.
        method: String,
        /// With what.
        params: Value,
    },
}

/// Reads messages; nothing where it is none. Revision 2025-03-26 allows several in an array.
pub(super) fn read(text: &[u8]) -> Vec<Incoming> {
    match serde_json::from_slice(text) {
        Ok(Value::Array(list)) => list.into_iter().filter_map(one).collect(),
        Ok(value) => one(value).into_iter().collect(),
        Err(_) => Vec::new(),
    }
}

fn one(value: Value) -> Option<Incoming> {
    let Value::Object(mut fields) = value else { return None };
    let params = fields.remove("params").unwrap_or(Value::Null);
    let id = fields.remove("id").filter(|id| !id.is_null());
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Some(Incoming::Request { id, method, params }),
        (Some(Value::String(method)), None) => Some(Incoming::Notification { method, params }),
        (Some(_), _) | (None, None) => None,
        (None, Some(id)) => {
            // Some servers give a number back as text.
            let id = id.as_u64().or_else(|| id.as_str()?.parse().ok())?;
            let result = match (fields.remove("result"), fields.remove("error")) {
                (_, Some(error)) if !error.is_null() => Err(refused(&error)),
                (Some(result), _) => Ok(result),
                (None, _) => return None,
            };
            Some(Incoming::Answer { id, result })
        }
    }
}

/// The error in a body that answers no request by its number.
pub(super) fn error_in(body: &[u8]) -> Option<Failure> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let error = value.get("error").filter(|error| error.get("code").is_some())?;
    Some(refused(error))
}

fn refused(error: &Value) -> Failure {
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let message = message.chars().filter(|letter| !letter.is_control()).take(MOST_WORDS).collect();
    Failure::Refused { code: error.get("code").and_then(Value::as_i64).unwrap_or_default(), message }
}

/// Writes a request.
pub(super) fn request(id: u64, method: &str, params: Map<String, Value>) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": Value::Object(params)})
}

/// Writes a notification.
pub(super) fn notification(method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

/// Writes the answer to a server's request.
pub(super) fn answer(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Says that there is no such method here.
pub(super) fn no_such_method(id: &Value, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": format!("no method {method} here")}})
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
        let failure = Failure::Refused { code: -32603, message: "]0;xnoway".to_owned() };
        assert_eq!(read, [Incoming::Answer { id: 1, result: Err(failure) }]);
    }
}
