//! Estimates tokens without a tokenizer: for context budgets, never for billing.

use super::{ContentBlock, Message};

/// Estimates how many tokens `text` costs: four bytes a token for ASCII, one token a character above that.
///
/// The rule of four comes from the providers' own guides (OpenAI "What are tokens"); CJK text costs about one
/// token a character. Errs on the high side for prose.
#[must_use]
pub fn estimate(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let wide = text.chars().filter(|character| !character.is_ascii()).count() as u64;
    ascii.div_ceil(4) + wide
}

/// Estimates the tokens of a whole message, its calls and results included.
#[must_use]
pub fn estimate_message(message: &Message) -> u64 {
    message.content.iter().map(estimate_block).sum::<u64>() + 4
}

/// Estimates the tokens of a piece of a message.
#[must_use]
pub fn estimate_block(block: &ContentBlock) -> u64 {
    match block {
        ContentBlock::Text { text } => estimate(text),
        ContentBlock::Reasoning(reasoning) => estimate(&reasoning.text),
        ContentBlock::ToolCall(call) => estimate(&call.name) + estimate(&call.input.to_string()),
        ContentBlock::ToolResult(result) => estimate(&result.content),
        // Anthropic documents a cost of about 1,600 tokens for a full-size picture.
        ContentBlock::Image(_) => 1_600,
        ContentBlock::WireItem(made) => estimate(&made.item.to_string()),
    }
}
