//! What a hook answers.

use serde_json::Value;

use super::form::Event;
use super::run::End;

/// The decision of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    Ask(String),
    Deny(String),
}

/// The answer of a hook.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) word: Option<Word>,
    /// Its message for the model.
    pub(super) told: Option<String>,
    /// Why the answer is not a proper one.
    pub(super) failed: Option<String>,
}

impl Answer {
    /// Reads how a hook ended. Exit code 2 holds the call back, with the text on standard error as the reason; with
    /// 0, standard output may have JSON; any other code is a failure and holds nothing back. An answer that allows
    /// the call is ignored.
    pub(super) fn read(event: Event, end: &End) -> Self {
        let (out, err) = (end.out.trim(), end.err.trim());
        match end.code {
            Some(2) => {
                let why = if err.is_empty() { "no reason given" } else { err };
                Self { word: Some(Word::Deny(why.to_owned())), ..Self::default() }
            }
            Some(0) => match serde_json::from_str::<Value>(out) {
                Ok(value) if value.is_object() => Self::of_json(event, &value),
                Ok(_) | Err(_) => Self::of_text(event, out),
            },
            code => {
                let code = code.map_or_else(|| "signal".to_owned(), |code| code.to_string());
                let words = err.lines().next().unwrap_or_default();
                Self { failed: Some(format!("exit {code} {words}").trim_end().to_owned()), ..Self::default() }
            }
        }
    }

    /// Plain text goes to the model when a session starts; at other events it is ignored.
    fn of_text(event: Event, out: &str) -> Self {
        let told = (event == Event::SessionStart && !out.is_empty()).then(|| out.to_owned());
        Self { told, ..Self::default() }
    }

    fn of_json(event: Event, value: &Value) -> Self {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let why = text("/hookSpecificOutput/permissionDecisionReason")
            .or_else(|| text("/reason"))
            .or_else(|| text("/stopReason"))
            .unwrap_or_else(|| "no reason given".to_owned());
        let decision = text("/hookSpecificOutput/permissionDecision").or_else(|| text("/decision"));
        let stops = value.get("continue").and_then(Value::as_bool) == Some(false);
        let word = match decision.as_deref() {
            Some("deny" | "block") => Some(Word::Deny(why)),
            Some("ask") => Some(Word::Ask(why)),
            // At an event where the model stops anyway, an order to stop means nothing.
            _ if stops && event == Event::PreToolUse => Some(Word::Deny(why)),
            Some(_) | None => None,
        };
        let told = text("/hookSpecificOutput/additionalContext").filter(|text| !text.trim().is_empty());
        Self { word, told, failed: None }
    }
}
