//! One line of JSON-RPC 2.0 as a message, and the errors of it.

use serde::Serialize;
use serde_json::{Value, json};

/// What went wrong with a request, as the protocol numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is no JSON.
    Parse,
    /// It is no request, or none that can be made now.
    Invalid,
    /// There is no such method.
    Method,
    /// The parameters are not the method's.
    Parameters,
    /// It failed here.
    Internal,
    /// A key, or a model, is missing.
    Authentication,
    /// There is no such session.
    NotFound,
}

impl Fault {
    const fn code(self) -> i32 {
        match self {
            Self::Parse => -32700,
            Self::Invalid => -32600,
            Self::Method => -32601,
            Self::Parameters => -32602,
            Self::Internal => -32603,
            Self::Authentication => -32000,
            Self::NotFound => -32002,
        }
    }
}

/// Why a request is not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RpcError {
    code: i32,
    message: String,
}

impl RpcError {
    /// Makes one; the message is read by a person.
    #[must_use]
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Self { code: fault.code(), message: message.into() }
    }

    /// Says which parameter is not what the method wants.
    pub(in crate::frontend) fn parameter(name: &str, wanted: &str) -> Self {
        Self::new(Fault::Parameters, format!("`{name}` must be {wanted}"))
    }
}

/// A line from the client.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::frontend) enum Incoming {
    /// Wants an answer.
    Request { id: Value, method: String, parameters: Value },
    /// Wants none.
    Notification { method: String, parameters: Value },
    /// Answers a request of ours; the result, or nothing where it is an error.
    Answer { id: u64, result: Option<Value> },
}

/// Reads a line.
///
/// # Errors
/// The id to answer to, null where none can be read, and what is wrong.
pub(in crate::frontend) fn read(line: &[u8]) -> Result<Incoming, (Value, RpcError)> {
    let message: Value = serde_json::from_slice(line)
        .map_err(|error| (Value::Null, RpcError::new(Fault::Parse, format!("this line is no JSON: {error}"))))?;
    let Value::Object(mut fields) = message else {
        return Err((Value::Null, RpcError::new(Fault::Invalid, "a message is one JSON object a line")));
    };
    let id = fields.remove("id");
    let known = id.clone().filter(|id| id.is_string() || id.is_number());
    let parameters = fields.remove("params").unwrap_or_else(|| json!({}));
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, parameters }),
        (Some(Value::String(method)), Some(id)) if id.is_string() || id.is_number() || id.is_null() => {
            Ok(Incoming::Request { id, method, parameters })
        }
        (None, Some(id)) if fields.contains_key("result") || fields.contains_key("error") => match id.as_u64() {
            Some(id) => Ok(Incoming::Answer { id, result: fields.remove("result") }),
            None => Err((Value::Null, RpcError::new(Fault::Invalid, "no request of this id was made"))),
        },
        (Some(_) | None, _) => {
            let what =
                RpcError::new(Fault::Invalid, "a request has a `method`, and an `id` that is a text or a number");
            Err((known.unwrap_or_default(), what))
        }
    }
}

/// A text among the parameters.
pub(in crate::frontend) fn text<'a>(parameters: &'a Value, name: &str) -> Result<&'a str, RpcError> {
    parameters.get(name).and_then(Value::as_str).ok_or_else(|| RpcError::parameter(name, "a text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> (Value, i32) {
        let (id, error) = read(line.as_bytes()).unwrap_err();
        (id, error.code)
    }

    #[test]
    fn a_line_is_a_request_a_notification_or_an_answer() {
        let request = |id: Value| Incoming::Request { id, method: "a".into(), parameters: json!({"b": 1}) };
        assert_eq!(read(br#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"b":1}}"#), Ok(request(json!(7))));
        assert_eq!(read(br#"{"id":"x","method":"a","params":{"b":1}}"#), Ok(request(json!("x"))));
        let notification = Incoming::Notification { method: "a".into(), parameters: json!({}) };
        assert_eq!(read(br#"{"method":"a"}"#), Ok(notification));
        let answer = |result| Ok(Incoming::Answer { id: 3, result });
        assert_eq!(read(br#"{"id":3,"result":null}"#), answer(Some(Value::Null)));
        assert_eq!(read(br#"{"id":3,"error":{"code":-32601,"message":"no"}}"#), answer(None));
    }

    #[test]
    fn what_is_none_of_them_is_named_with_the_id_it_has() {
        assert_eq!(code("{"), (Value::Null, -32700));
        assert_eq!(code("\u{0}"), (Value::Null, -32700));
        assert_eq!(read(b"\xff\xfe").unwrap_err().1.code, -32700);
        assert_eq!(code("[]"), (Value::Null, -32600));
        assert_eq!(code(r#"{"id":1}"#), (json!(1), -32600));
        assert_eq!(code(r#"{"id":1,"method":2}"#), (json!(1), -32600));
        assert_eq!(code(r#"{"id":{},"method":"a"}"#), (Value::Null, -32600));
        assert_eq!(code(r#"{"id":"x","result":1}"#), (Value::Null, -32600));
    }
}
