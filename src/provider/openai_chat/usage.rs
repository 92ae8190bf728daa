//! Token counts in the spellings of OpenAI and its imitators. Pure.

use serde_json::Value;

use crate::conversation::{Totals, Usage};
use crate::provider::framing::count;

/// Reads token counts as OpenAI, DeepSeek, OpenRouter, LiteLLM and xAI write them.
///
/// All of them include cached tokens in the prompt's count. All but xAI include reasoning in the output's count.
pub(crate) fn read_usage(usage: &Value) -> Usage {
    let first = |paths: &[&str]| {
        paths.iter().filter_map(|path| count(usage.pointer(path)?)).find(|count| *count > 0).unwrap_or(0)
    };
    let input_tokens = first(&["/prompt_tokens", "/input_tokens"]);
    let mut output_tokens = first(&["/completion_tokens", "/output_tokens"]);
    let reasoning_tokens = first(&[
        "/completion_tokens_details/reasoning_tokens",
        "/output_tokens_details/reasoning_tokens",
        "/reasoning_tokens",
    ]);
    // The total shows that reasoning is not included in the output.
    if reasoning_tokens > 0 && first(&["/total_tokens"]) == input_tokens + output_tokens + reasoning_tokens {
        output_tokens += reasoning_tokens;
    }
    Usage::from(Totals {
        input_tokens,
        output_tokens,
        cache_read_tokens: first(&[
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cache_read_input_tokens",
            "/cached_tokens",
        ]),
        cache_write_tokens: first(&[
            "/prompt_tokens_details/cache_write_tokens",
            "/input_tokens_details/cache_write_tokens",
            "/cache_creation_input_tokens",
        ]),
        reasoning_tokens,
        searches: first(&["/server_side_tool_usage_details/web_search_calls"]),
    })
}
