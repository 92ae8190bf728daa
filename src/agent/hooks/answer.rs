//! What a hook answers.

use serde_json::Value;

use super::form::Event;
use super::run::End;

/// What a hook says of what it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    Ask(String),
    Deny(String),
}

/// An answer, read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) word: Option<Word>,
    /// What the model is told.
    pub(super) told: Option<String>,
    /// Why it is no proper one.
    pub(super) failed: Option<String>,
}

impl Answer {
    /// Reads an end: exit code 2 holds back with what stands on standard error, 0 may have JSON on standard output, any
    /// other is a failure that holds nothing back. That a hook allows something is passed over.
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

    /// Plain text is for the model where a session starts; elsewhere it is nobody's.
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
            // Where the model would stop anyway, that it is to stop is no news.
            _ if stops && event == Event::PreToolUse => Some(Word::Deny(why)),
            Some(_) | None => None,
        };
        let told = text("/hookSpecificOutput/additionalContext").filter(|text| !text.trim().is_empty());
        Self { word, told, failed: None }
    }
}
