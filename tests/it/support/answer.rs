//! Ready-made answers for the scripted server, in each wire's own words.

use serde_json::{Value, json};

use super::server::Answer;

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "fake",
           "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    .to_string()
}

fn chat_end() -> [String; 2] {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    [json!({"choices": [], "usage": usage}).to_string(), "[DONE]".to_owned()]
}

/// openai-chat: an answer of one text, a delta a word.
pub(crate) fn chat_text(text: &str) -> Answer {
    let mut payloads = vec![chunk(&json!({"role": "assistant", "content": ""}), None)];
    payloads.extend(text.split_inclusive(' ').map(|word| chunk(&json!({"content": word}), None)));
    payloads.push(chunk(&json!({}), Some("stop")));
    payloads.extend(chat_end());
    Answer::sse(payloads)
}

/// openai-chat: one tool call, its arguments cut in two.
pub(crate) fn chat_call(id: &str, name: &str, arguments: &str) -> Answer {
    chat_calls(&[(id, name, arguments)])
}

/// openai-chat: several tool calls in one message.
pub(crate) fn chat_calls(calls: &[(&str, &str, &str)]) -> Answer {
    let mut payloads = Vec::new();
    for (index, (id, name, arguments)) in calls.iter().enumerate() {
        let half = arguments.char_indices().nth(arguments.chars().count() / 2).map_or(0, |(at, _)| at);
        let start = json!({"index": index, "id": id, "type": "function",
                           "function": {"name": name, "arguments": arguments[..half]}});
        payloads.push(chunk(&json!({"tool_calls": [start]}), None));
        let rest = json!({"index": index, "function": {"arguments": arguments[half..]}});
        payloads.push(chunk(&json!({"tool_calls": [rest]}), None));
    }
    payloads.push(chunk(&json!({}), Some("tool_calls")));
    payloads.extend(chat_end());
    Answer::sse(payloads)
}

/// openai-responses: what stands between its first and its last event.
pub(crate) fn responses(mut events: Vec<Value>) -> Answer {
    let usage = json!({"input_tokens": 10, "output_tokens": 5, "total_tokens": 15});
    events.insert(0, json!({"type": "response.created", "response": {"id": "resp_1", "output": []}}));
    events.push(json!({"type": "response.completed",
                       "response": {"id": "resp_1", "status": "completed", "output": [], "usage": usage}}));
    Answer::named_sse(events)
}

/// openai-responses: an answer of one text, a delta a word.
pub(crate) fn responses_text(text: &str) -> Answer {
    let item = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []});
    let mut events = vec![json!({"type": "response.output_item.added", "output_index": 0, "item": item})];
    for word in text.split_inclusive(' ') {
        events.push(json!({"type": "response.output_text.delta", "output_index": 0, "delta": word}));
    }
    let item = json!({"id": "msg_2", "type": "message", "role": "assistant",
                      "content": [{"type": "output_text", "text": text}]});
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    responses(events)
}

/// openai-responses: one tool call, whose item has another id each time.
pub(crate) fn responses_call(id: &str, name: &str, arguments: &str) -> Answer {
    let item = |number: u32, arguments: &str| {
        json!({"id": format!("fc_{number}"), "type": "function_call", "call_id": id, "name": name,
               "arguments": arguments})
    };
    let half = arguments.len() / 2;
    responses(vec![
        json!({"type": "response.output_item.added", "output_index": 0, "item": item(1, "")}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": arguments[..half]}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item(2, arguments)}),
    ])
}

/// gemini: one chunk a part.
pub(crate) fn gemini(parts: Vec<Value>) -> Answer {
    let mut chunks: Vec<Value> = parts
        .into_iter()
        .map(|part| json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}))
        .collect();
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15});
    chunks.push(json!({"candidates": [{"finishReason": "STOP", "index": 0}], "usageMetadata": usage}));
    Answer::sse(chunks.iter().map(Value::to_string))
}

/// gemini: an answer of one text, a chunk a word.
pub(crate) fn gemini_text(text: &str) -> Answer {
    gemini(text.split_inclusive(' ').map(|word| json!({"text": word})).collect())
}

/// gemini: one tool call, signed.
pub(crate) fn gemini_call(name: &str, arguments: &Value) -> Answer {
    gemini(vec![json!({"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "c2ln"})])
}

/// Anthropic: events of blocks, and why it stopped.
pub(crate) fn anthropic(blocks: Vec<Value>, stop: &str) -> Answer {
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let mut events = vec![json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant",
                                 "content": [], "model": "fake", "usage": usage}})];
    events.extend(blocks);
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop},
                       "usage": {"output_tokens": 5}}));
    events.push(json!({"type": "message_stop"}));
    Answer::named_sse(events)
}

/// Anthropic: an answer of one text, a delta a word.
pub(crate) fn messages_text(text: &str) -> Answer {
    let mut events = vec![json!({"type": "content_block_start", "index": 0,
                                 "content_block": {"type": "text", "text": ""}})];
    for word in text.split_inclusive(' ') {
        events.push(json!({"type": "content_block_delta", "index": 0,
                           "delta": {"type": "text_delta", "text": word}}));
    }
    events.push(json!({"type": "content_block_stop", "index": 0}));
    anthropic(events, "end_turn")
}

/// Anthropic: one tool call.
pub(crate) fn messages_call(id: &str, name: &str, arguments: &str) -> Answer {
    let events = vec![
        json!({"type": "content_block_start", "index": 0,
               "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}}),
        json!({"type": "content_block_delta", "index": 0,
               "delta": {"type": "input_json_delta", "partial_json": arguments}}),
        json!({"type": "content_block_stop", "index": 0}),
    ];
    anthropic(events, "tool_use")
}

fn ollama_end() -> Value {
    json!({"model": "fake", "message": {"role": "assistant", "content": ""}, "done": true,
           "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 5})
}

/// Ollama: an answer of one text, a line a word.
pub(crate) fn ollama_text(text: &str) -> Answer {
    let words = text
        .split_inclusive(' ')
        .map(|word| json!({"model": "fake", "message": {"role": "assistant", "content": word}, "done": false}));
    Answer::ndjson(words.chain([ollama_end()]))
}

/// Ollama: one tool call.
pub(crate) fn ollama_call(name: &str, arguments: &Value) -> Answer {
    let call = json!({"function": {"name": name, "arguments": arguments}});
    let line = json!({"model": "fake", "message": {"role": "assistant", "content": "", "tool_calls": [call]},
                      "done": false});
    Answer::ndjson([line, ollama_end()])
}

/// A frame of Amazon's event stream: lengths, checksum, headers, payload, checksum.
pub(crate) fn frame(kind: &str, name: &str, payload: &Value) -> Vec<u8> {
    let named = if kind == "event" { ":event-type" } else { ":exception-type" };
    let mut headers = Vec::new();
    for (name, value) in [(named, name), (":content-type", "application/json"), (":message-type", kind)] {
        headers.push(u8::try_from(name.len()).unwrap());
        headers.extend(name.bytes());
        headers.push(7);
        headers.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend(value.bytes());
    }
    let payload = payload.to_string();
    let length = u32::try_from(16 + headers.len() + payload.len()).unwrap();
    let mut bytes = [length.to_be_bytes(), u32::try_from(headers.len()).unwrap().to_be_bytes()].concat();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend(headers);
    bytes.extend(payload.bytes());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

fn bedrock(events: Vec<(&str, Value)>, stop: &str) -> Answer {
    let usage = json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15});
    let end = [("messageStop", json!({"stopReason": stop})), ("metadata", json!({"usage": usage}))];
    let start = [("messageStart", json!({"role": "assistant"}))];
    let events = start.into_iter().chain(events).chain(end);
    let made = Answer::new(200, "application/vnd.amazon.eventstream");
    events.fold(made, |made, (name, payload)| made.bytes(frame("event", name, &payload)))
}

/// bedrock: an answer of one text, a delta a word.
pub(crate) fn bedrock_text(text: &str) -> Answer {
    let words = text.split_inclusive(' ');
    let deltas = words.map(|word| ("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": {"text": word}})));
    bedrock(deltas.chain([("contentBlockStop", json!({"contentBlockIndex": 0}))]).collect(), "end_turn")
}

/// bedrock: one tool call, its arguments cut in two.
pub(crate) fn bedrock_call(id: &str, name: &str, arguments: &str) -> Answer {
    let start = json!({"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": id, "name": name}}});
    let (first, last) = arguments.split_at(arguments.len() / 2);
    let mut events = vec![("contentBlockStart", start)];
    for half in [first, last] {
        let delta = json!({"contentBlockIndex": 0, "delta": {"toolUse": {"input": half}}});
        events.push(("contentBlockDelta", delta));
    }
    events.push(("contentBlockStop", json!({"contentBlockIndex": 0})));
    bedrock(events, "tool_use")
}
