//! A call with the secrets that its stand-ins stand for. Pure.

use std::borrow::Cow;

use serde_json::Value;

use crate::conversation::{Effect, ToolCall};
use crate::secret::StandIns;

/// Replaces the stand-ins in a call by their secrets. A call that leaves the machine keeps the stand-ins, and so does a
/// proposal: it is seen on the screen, and its line may go anywhere. An error is a stand-in whose secret is not known.
pub(super) fn revealed<'a>(
    call: &'a ToolCall,
    secrets: &StandIns,
    effect: Effect,
    is_proposal: bool,
) -> Result<Cow<'a, ToolCall>, String> {
    if effect == Effect::Network {
        return Ok(Cow::Borrowed(call));
    }
    let input = with_secrets(&call.input, secrets)?;
    Ok(if is_proposal || input == call.input {
        Cow::Borrowed(call)
    } else {
        Cow::Owned(ToolCall { input, ..call.clone() })
    })
}

fn with_secrets(value: &Value, secrets: &StandIns) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(secrets.reveal(text)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| with_secrets(item, secrets)).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => {
            let field = |(name, field): (&String, &Value)| Ok((name.clone(), with_secrets(field, secrets)?));
            Value::Object(fields.iter().map(field).collect::<Result<_, String>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}
