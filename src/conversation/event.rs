//! The events of a provider's stream, in one form for all wires.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::usage::Usage;

/// One step of a model's answer as it arrives.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// The model is being loaded; only a model in this process reports it.
    Loading,
    /// The request is being read; only a model in this process reports it. Unit: tokens.
    Reading {
        /// How many have been read, or were in its cache.
        read: u64,
        /// All of them.
        all: u64,
    },
    /// Nothing has arrived for this long; the answer may still come. Unit: seconds.
    Silent {
        /// Whole seconds; each report has more.
        seconds: u64,
    },
    /// More words of the answer.
    TextDelta(String),
    /// More words of reasoning.
    ReasoningDelta(String),
    /// The open reasoning block ends here and is signed with these opaque bytes; the next
    /// `ReasoningDelta` opens a new block. Legal without any reasoning text.
    ReasoningSignature(String),
    /// A whole reasoning block the provider encrypted.
    RedactedReasoning(String),
    /// A tool call begins. `slot` is unique within the message. The protocol's file assigns it, because only that
    /// knows how its wire tells calls apart.
    ToolCallStart {
        /// Which call later deltas belong to.
        slot: usize,
        /// The wire's id; empty when it gave none (the builder then makes one).
        id: String,
        /// The tool's name.
        name: String,
        /// Unknown fields of the call, kept verbatim.
        extra: Map<String, Value>,
    },
    /// More unknown fields of a call that has begun.
    ToolCallExtra {
        /// The call they belong to.
        slot: usize,
        /// Kept verbatim; a field that is given again replaces the first.
        extra: Map<String, Value>,
    },
    /// More of a call's arguments: a piece of JSON text.
    ToolCallDelta {
        /// The call it belongs to.
        slot: usize,
        /// Raw JSON text, cut anywhere.
        arguments: String,
    },
    /// The provider searched the web itself, for these words.
    Searched(String),
    /// An item that only this model's wire can read; it is sent back unchanged, at this place.
    WireItem(Value),
    /// All token counts so far; they replace the earlier ones.
    Usage(Usage),
    /// The answer is whole. Nothing follows but `Usage`.
    Done(StopReason),
}

/// Why the model stopped. Calls are recognised by their presence, never by this word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said everything (`stop`, `end_turn`, `eos`, `end`, `stop_sequence`).
    EndTurn,
    /// It waits for tools (`tool_calls`, `tool_use`, `function_call`).
    ToolUse,
    /// Its output limit cut it (`length`, `max_tokens`).
    Length,
    /// It said the same again and again, and axi ended it (its own model).
    Repeating,
    /// The model's context is full (`model_context_window_exceeded`).
    ContextFull,
    /// The provider paused a long answer: sent back unchanged, it goes on (`pause_turn`).
    Pause,
    /// The provider's filter cut it.
    ContentFilter,
    /// It refused.
    Refusal,
    /// The stream ended properly, but gave no reason.
    Missing,
    /// A word we do not know; treated as [`StopReason::EndTurn`] and logged.
    Other(String),
}

impl StopReason {
    /// Parses a wire's word, whichever protocol it comes from.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "" => Self::Missing,
            "stop" | "end_turn" | "eos" | "end" | "stop_sequence" | "completed" => Self::EndTurn,
            "tool_calls" | "tool_use" | "function_call" | "tool_call" => Self::ToolUse,
            "length" | "max_tokens" | "max_output_tokens" | "model_length" => Self::Length,
            "model_context_window_exceeded" => Self::ContextFull,
            "pause_turn" => Self::Pause,
            "content_filter"
            | "content_filtered"
            | "guardrail_intervened"
            | "sensitive"
            | "safety"
            | "recitation"
            | "prohibited_content"
            | "blocklist"
            | "spii" => Self::ContentFilter,
            "refusal" => Self::Refusal,
            _ => Self::Other(word.to_owned()),
        }
    }
}
