//! What a provider's stream is made of, whatever its wire looks like.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One step of a model's answer as it arrives.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// The model is being loaded; only one in this process tells.
    Loading,
    /// The request is being read; only a model in this process tells. Unit: tokens.
    Reading {
        /// So many are read, or were known.
        read: u64,
        /// All of them.
        all: u64,
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
    /// A tool call begins. `slot` is unique within the message and given by the protocol's file, which
    /// alone knows how its wire tells calls apart.
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
    /// More of a call's arguments: a piece of JSON text.
    ToolCallDelta {
        /// The call it belongs to.
        slot: usize,
        /// Raw JSON text, cut anywhere.
        arguments: String,
    },
    /// Token counts so far; later ones replace the fields they carry.
    Usage(Usage),
    /// The answer is whole. Nothing follows but `Usage`.
    Done(StopReason),
}

/// Token counts of one request, as the provider reported them. Unit: tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All tokens read, cached ones included.
    pub input_tokens: u64,
    /// All tokens written, reasoning included.
    pub output_tokens: u64,
    /// Of the input: read from the provider's cache.
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Of the input: written to the provider's cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Of the output: reasoning.
    #[serde(default)]
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Takes over what a later report carries: the larger count of each field.
    pub fn merge(&mut self, later: Self) {
        self.input_tokens = self.input_tokens.max(later.input_tokens);
        self.output_tokens = self.output_tokens.max(later.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.max(later.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.max(later.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.max(later.reasoning_tokens);
    }

    /// Adds another request's counts.
    pub const fn add(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
    }
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
    /// The provider's filter cut it.
    ContentFilter,
    /// It refused.
    Refusal,
    /// The stream ended properly without saying why.
    Missing,
    /// A word we do not know; treated as [`StopReason::EndTurn`] and logged.
    Other(String),
}

impl StopReason {
    /// Reads a wire's word, whichever protocol it comes from.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "" => Self::Missing,
            "stop" | "end_turn" | "eos" | "end" | "stop_sequence" | "completed" => Self::EndTurn,
            "tool_calls" | "tool_use" | "function_call" | "tool_call" => Self::ToolUse,
            "length" | "max_tokens" | "max_output_tokens" | "model_context_window_exceeded" => Self::Length,
            "content_filter" | "safety" | "recitation" | "prohibited_content" | "blocklist" | "spii" => {
                Self::ContentFilter
            }
            "refusal" => Self::Refusal,
            _ => Self::Other(word.to_owned()),
        }
    }
}
