//! What recorded streams hold, found by a naive reading of their JSON: the fields of the deltas, joined.

use axi::conversation::{StopReason, Totals, Usage};
use axi::provider::ProviderError;
use serde_json::Value;

/// What an answer came to.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) signatures: Vec<String>,
    pub(crate) redacted: Vec<String>,
    /// id, name, arguments.
    pub(crate) calls: Vec<(String, String, String)>,
    pub(crate) items: Vec<Value>,
    pub(crate) usage: Usage,
    pub(crate) stop: Option<StopReason>,
    pub(crate) error: Option<ProviderError>,
}

/// The payloads of a recording, read line by line.
pub(crate) fn payloads(text: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

pub(crate) fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// The texts in Mistral's nested parts.
pub(crate) fn parts(value: &Value, into: &mut Heard) {
    for part in value.as_array().into_iter().flatten() {
        into.text.push_str(text(part, "text"));
        for thought in part["thinking"].as_array().into_iter().flatten() {
            into.reasoning.push_str(text(thought, "text"));
        }
    }
}

pub(crate) fn expect_chat(payloads: &[Value]) -> Heard {
    let mut expected = Heard::default();
    let mut stop = None;
    for payload in payloads {
        let choice = &payload["choices"][0];
        let delta = &choice["delta"];
        expected.text.push_str(text(delta, "content"));
        parts(&delta["content"], &mut expected);
        let spoken = [text(delta, "reasoning_content"), text(delta, "reasoning")].concat();
        expected.reasoning.push_str(&spoken);
        for detail in delta["reasoning_details"].as_array().into_iter().flatten().filter(|_| spoken.is_empty()) {
            expected.reasoning.push_str(text(detail, "text"));
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            // Without an index each piece of these recordings is a whole call.
            let index = call["index"].as_u64().map(|index| usize::try_from(index).unwrap());
            let at = index.unwrap_or(expected.calls.len());
            if at == expected.calls.len() {
                expected.calls.push((
                    text(call, "id").into(),
                    text(&call["function"], "name").into(),
                    String::new(),
                ));
            }
            expected.calls[at].2.push_str(text(&call["function"], "arguments"));
        }
        if let Some(word) = choice["finish_reason"].as_str() {
            stop = Some(StopReason::parse(word));
        }
        let usage = [&payload["usage"], &payload["x_groq"]["usage"]].into_iter().find(|usage| usage.is_object());
        if let Some(usage) = usage {
            let reasoning = number(usage, "/completion_tokens_details/reasoning_tokens");
            let beside = number(usage, "/total_tokens")
                == number(usage, "/prompt_tokens") + number(usage, "/completion_tokens") + reasoning;
            expected.usage = Usage::from(Totals {
                input_tokens: number(usage, "/prompt_tokens"),
                output_tokens: number(usage, "/completion_tokens") + if beside { reasoning } else { 0 },
                cache_read_tokens: number(usage, "/prompt_tokens_details/cached_tokens"),
                cache_write_tokens: number(usage, "/prompt_tokens_details/cache_write_tokens"),
                reasoning_tokens: reasoning,
                searches: 0,
            });
        }
    }
    expected.stop = stop.or(Some(StopReason::Missing));
    expected
}

/// Texts and calls of the parts; arguments that come field by field are put together here for the flat ones of the
/// recordings.
pub(crate) fn expect_gemini(payloads: &[Value]) -> Heard {
    let mut expected = Heard::default();
    let mut stop = None;
    for payload in payloads {
        let candidate = &payload["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            let call = &part["functionCall"];
            if let Some(name) = call["name"].as_str() {
                let arguments = if call["args"].is_null() { String::new() } else { call["args"].to_string() };
                expected.calls.push((text(call, "id").into(), name.into(), arguments));
            } else if part["thought"] == true {
                expected.reasoning.push_str(text(part, "text"));
            } else {
                expected.text.push_str(text(part, "text"));
            }
        }
        let usage = &payload["usageMetadata"];
        if usage["promptTokenCount"].is_u64() {
            let thoughts = number(usage, "/thoughtsTokenCount");
            expected.usage = Usage::from(Totals {
                input_tokens: number(usage, "/promptTokenCount") + number(usage, "/toolUsePromptTokenCount"),
                output_tokens: number(usage, "/candidatesTokenCount") + thoughts,
                cache_read_tokens: number(usage, "/cachedContentTokenCount"),
                reasoning_tokens: thoughts,
                ..Totals::default()
            });
        }
        stop = candidate["finishReason"].as_str().map(StopReason::parse).or(stop);
    }
    let called = !expected.calls.is_empty();
    expected.stop = stop.map(|stop| if called && stop == StopReason::EndTurn { StopReason::ToolUse } else { stop });
    expected
}

/// The deltas of a response, and its calls as their items say they are.
pub(crate) fn expect_responses(payloads: &[Value]) -> Heard {
    let mut expected = Heard::default();
    let mut part = (Value::Null, Value::Null);
    for payload in payloads {
        let item = &payload["item"];
        match text(payload, "type") {
            "response.output_text.delta" | "response.refusal.delta" => {
                expected.text.push_str(text(payload, "delta"));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let place = if payload["summary_index"].is_u64() { "summary_index" } else { "content_index" };
                let now = (payload["output_index"].clone(), payload[place].clone());
                // Paragraphs of one thought stand apart.
                if part.0 == now.0 && part.1 != now.1 && !expected.reasoning.is_empty() {
                    expected.reasoning.push_str("\n\n");
                }
                part = now;
                expected.reasoning.push_str(text(payload, "delta"));
            }
            "response.output_item.done" if text(item, "type") == "function_call" => {
                let arguments: Value = serde_json::from_str(text(item, "arguments")).unwrap_or_default();
                let wrapped = arguments["tool_uses"].as_array().filter(|_| text(item, "name") == "parallel");
                match wrapped {
                    Some(wrapped) => expected.calls.extend(wrapped.iter().enumerate().map(|(number, call)| {
                        let name = text(call, "recipient_name").replace("functions.", "");
                        (format!("{}_{number}", text(item, "call_id")), name, call["parameters"].to_string())
                    })),
                    None => expected.calls.push((
                        text(item, "call_id").into(),
                        text(item, "name").into(),
                        text(item, "arguments").into(),
                    )),
                }
            }
            "response.output_item.done" if text(item, "type") == "custom_tool_call" => expected.calls.push((
                text(item, "call_id").into(),
                text(item, "name").into(),
                serde_json::json!({"input": item["input"]}).to_string(),
            )),
            "response.output_item.done" => {
                expected.usage.searches += u64::from(text(item, "type") == "web_search_call");
            }
            "response.completed" | "response.incomplete" => {
                let response = &payload["response"];
                let usage = &response["usage"];
                let searches =
                    expected.usage.searches.max(number(usage, "/server_side_tool_usage_details/web_search_calls"));
                let output = number(usage, "/output_tokens");
                let reasoning = number(usage, "/output_tokens_details/reasoning_tokens");
                let beside = number(usage, "/total_tokens") == number(usage, "/input_tokens") + output + reasoning;
                expected.usage = Usage::from(Totals {
                    input_tokens: number(usage, "/input_tokens"),
                    output_tokens: output + if beside { reasoning } else { 0 },
                    cache_read_tokens: number(usage, "/input_tokens_details/cached_tokens"),
                    cache_write_tokens: number(usage, "/input_tokens_details/cache_write_tokens"),
                    reasoning_tokens: reasoning,
                    searches,
                });
                expected.stop = Some(match (response["status"].as_str(), expected.calls.is_empty()) {
                    (Some("incomplete"), _) => StopReason::Length,
                    (_, false) => StopReason::ToolUse,
                    (_, true) => StopReason::EndTurn,
                });
            }
            _ => {}
        }
    }
    expected
}

pub(crate) fn expect_messages(payloads: &[Value]) -> Heard {
    let mut expected = Heard::default();
    let mut own_call = false;
    let mut counts = [0; 4];
    let mut stop = None;
    // One file holds several answers, one after the other: the first counts.
    let end = payloads.iter().position(|payload| payload["type"] == "message_stop").unwrap_or(payloads.len());
    for payload in &payloads[..end] {
        let block = &payload["content_block"];
        match (text(payload, "type"), text(block, "type")) {
            ("content_block_start", kind) => {
                own_call = kind == "tool_use";
                match kind {
                    "tool_use" => {
                        let input = Some(&block["input"])
                            .filter(|input| input.as_object().is_some_and(|object| !object.is_empty()));
                        let input = input.map(Value::to_string).unwrap_or_default();
                        expected.calls.push((text(block, "id").into(), text(block, "name").into(), input));
                    }
                    "redacted_thinking" => expected.redacted.push(text(block, "data").into()),
                    "thinking" => {
                        expected.reasoning.push_str(text(block, "thinking"));
                        expected.signatures.push(text(block, "signature").into());
                    }
                    "text" => expected.text.push_str(text(block, "text")),
                    _ => {}
                }
            }
            ("content_block_delta", _) => {
                let delta = &payload["delta"];
                expected.text.push_str(text(delta, "text"));
                expected.reasoning.push_str(text(delta, "thinking"));
                if let Some(signature) = expected.signatures.last_mut() {
                    signature.push_str(text(delta, "signature"));
                }
                if own_call {
                    expected.calls.last_mut().unwrap().2.push_str(text(delta, "partial_json"));
                }
            }
            ("message_start" | "message_delta", _) => {
                let usage =
                    if payload["usage"].is_object() { &payload["usage"] } else { &payload["message"]["usage"] };
                let names =
                    ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
                for (count, name) in counts.iter_mut().zip(names) {
                    *count = usage[name].as_u64().unwrap_or(*count);
                }
                expected.usage = Usage::from(Totals {
                    input_tokens: counts[0] + counts[2] + counts[3],
                    output_tokens: counts[1],
                    cache_read_tokens: counts[2],
                    cache_write_tokens: counts[3],
                    reasoning_tokens: number(usage, "/output_tokens_details/thinking_tokens"),
                    searches: number(usage, "/server_tool_use/web_search_requests").max(expected.usage.searches),
                });
                if let Some(word) = payload["delta"]["stop_reason"].as_str() {
                    stop = Some(StopReason::parse(word));
                }
            }
            _ => {}
        }
    }
    expected.signatures.retain(|signature| !signature.is_empty());
    expected.stop = stop;
    expected
}

/// A gateway that answered without streaming.
pub(crate) fn expect_whole_message(message: &Value) -> Heard {
    let mut expected = Heard { stop: message["stop_reason"].as_str().map(StopReason::parse), ..Heard::default() };
    parts(&message["content"], &mut expected);
    expected.usage.input = number(message, "/usage/input_tokens");
    expected.usage.output = number(message, "/usage/output_tokens");
    expected
}

pub(crate) fn expect_ollama(payloads: &[Value]) -> Heard {
    let mut expected = Heard::default();
    for payload in payloads {
        let message = &payload["message"];
        expected.text.push_str(text(message, "content"));
        expected.reasoning.push_str(text(message, "thinking"));
        expected.reasoning.push_str(text(message, "reasoning_content"));
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            expected.calls.push((
                text(call, "id").into(),
                text(function, "name").into(),
                function["arguments"].to_string(),
            ));
        }
        if payload["done"] == true {
            expected.usage.input = number(payload, "/prompt_eval_count");
            expected.usage.output = number(payload, "/eval_count");
            expected.stop = Some(StopReason::parse(text(payload, "done_reason")));
        }
    }
    expected
}
