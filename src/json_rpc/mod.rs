//! JSON-RPC 2.0: one message, read and written, and the errors of it. Pure; knows no method. The front ends for programs
//! and the servers of MCP speak it.

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
    const fn code(self) -> i64 {
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
    /// Its number in the protocol.
    pub code: i64,
    /// Its words, as the other side says them: not fit for a screen as they are.
    pub message: String,
}

impl RpcError {
    /// Makes one; the message is read by a person.
    #[must_use]
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Self { code: fault.code(), message: message.into() }
    }

    /// Reads the error of an answer; what is missing is empty.
    fn read(error: &Value) -> Self {
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { code: error.get("code").and_then(Value::as_i64).unwrap_or_default(), message }
    }

    /// Says which parameter is not what the method wants.
    pub fn parameter(name: &str, wanted: &str) -> Self {
        Self::new(Fault::Parameters, format!("`{name}` must be {wanted}"))
    }
}

/// A message from the other side.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// Wants an answer.
    Request {
        /// The other side's own name for it.
        id: Value,
        /// What is wanted.
        method: String,
        /// With what; null where nothing was said.
        parameters: Value,
    },
    /// Wants none.
    Notification {
        /// What is told.
        method: String,
        /// With what; null where nothing was said.
        parameters: Value,
    },
    /// Answers a request of ours.
    Answer {
        /// The request's number.
        id: u64,
        /// What came of it.
        result: Result<Value, RpcError>,
    },
}

/// Reads the text of one message.
///
/// # Errors
/// The id to answer to, null where none can be read, and what is wrong.
pub fn read(text: &[u8]) -> Result<Incoming, (Value, RpcError)> {
    let message = serde_json::from_slice(text)
        .map_err(|error| (Value::Null, RpcError::new(Fault::Parse, format!("this line is no JSON: {error}"))))?;
    understand(message)
}

/// Reads one message.
///
/// # Errors
/// The id to answer to, null where none can be read, and what is wrong.
pub fn understand(message: Value) -> Result<Incoming, (Value, RpcError)> {
    let Value::Object(mut fields) = message else {
        return Err((Value::Null, RpcError::new(Fault::Invalid, "a message is one JSON object a line")));
    };
    let id = fields.remove("id");
    let known = id.clone().filter(|id| id.is_string() || id.is_number());
    let parameters = fields.remove("params").unwrap_or_default();
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, parameters }),
        (Some(Value::String(method)), Some(id)) if id.is_string() || id.is_number() || id.is_null() => {
            Ok(Incoming::Request { id, method, parameters })
        }
        (None, Some(id)) if fields.contains_key("result") || fields.contains_key("error") => {
            let error = fields.remove("error");
            let result = match (fields.remove("result"), error) {
                (Some(result), None | Some(Value::Null)) => Ok(result),
                (_, error) => Err(RpcError::read(&error.unwrap_or_default())),
            };
            // Some servers give a number back as text.
            match id.as_u64().or_else(|| id.as_str()?.parse().ok()) {
                Some(id) => Ok(Incoming::Answer { id, result }),
                None => Err((Value::Null, RpcError::new(Fault::Invalid, "no request of this id was made"))),
            }
        }
        (Some(_) | None, _) => {
            let what =
                RpcError::new(Fault::Invalid, "a request has a `method`, and an `id` that is a text or a number");
            Err((known.unwrap_or_default(), what))
        }
    }
}

/// Reads the error in a message that answers no request by its number.
#[must_use]
pub fn error_in(text: &[u8]) -> Option<RpcError> {
    let message: Value = serde_json::from_slice(text).ok()?;
    message.get("error").filter(|error| error.get("code").is_some()).map(RpcError::read)
}

/// Writes a request.
#[must_use]
pub fn request(id: u64, method: &str, parameters: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})
}

/// Writes a notification; parameters that are null are left out.
#[must_use]
pub fn notification(method: &str, parameters: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !parameters.is_null() {
        message["params"] = parameters;
    }
    message
}

/// Writes the answer to a request.
#[must_use]
pub fn answer(id: &Value, result: Result<Value, RpcError>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    }
}

/// Returns a text among the parameters.
///
/// # Errors
/// Where there is none of this name.
pub fn text<'a>(parameters: &'a Value, name: &str) -> Result<&'a str, RpcError> {
    parameters.get(name).and_then(Value::as_str).ok_or_else(|| RpcError::parameter(name, "a text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> (Value, i64) {
        let (id, error) = read(line.as_bytes()).unwrap_err();
        (id, error.code)
    }

    #[test]
    fn a_line_is_a_request_a_notification_or_an_answer() {
        let request = |id: Value| Incoming::Request { id, method: "a".into(), parameters: json!({"b": 1}) };
        assert_eq!(read(br#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"b":1}}"#), Ok(request(json!(7))));
        assert_eq!(read(br#"{"id":"x","method":"a","params":{"b":1}}"#), Ok(request(json!("x"))));
        let notification = Incoming::Notification { method: "a".into(), parameters: Value::Null };
        assert_eq!(read(br#"{"method":"a"}"#), Ok(notification));
        let answer = |result| Ok(Incoming::Answer { id: 3, result });
        assert_eq!(read(br#"{"id":3,"result":null}"#), answer(Ok(Value::Null)));
        assert_eq!(read(br#"{"id":"3","result":1,"error":null}"#), answer(Ok(json!(1))));
        let refused = RpcError::new(Fault::Method, "no");
        assert_eq!(read(br#"{"id":3,"error":{"code":-32601,"message":"no"}}"#), answer(Err(refused)));
        assert_eq!(read(br#"{"id":3,"error":null}"#), answer(Err(RpcError { code: 0, message: String::new() })));
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
