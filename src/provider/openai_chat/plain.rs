//! A chunk that has words of the answer and nothing else: nearly all have. Pure.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Whatever says more than this is none: an unknown field may be an error, a thought, a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what a field of a chunk may be called without a meaning for axi")]
struct Chunk<'a> {
    id: Option<IgnoredAny>,
    #[serde(borrow)]
    object: Option<Cow<'a, str>>,
    created: Option<IgnoredAny>,
    model: Option<IgnoredAny>,
    system_fingerprint: Option<IgnoredAny>,
    service_tier: Option<IgnoredAny>,
    obfuscation: Option<IgnoredAny>,
    usage: Option<Nothing>,
    #[serde(borrow)]
    choices: (Choice<'a>,),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "as above")]
struct Choice<'a> {
    index: Option<IgnoredAny>,
    logprobs: Option<IgnoredAny>,
    finish_reason: Option<Nothing>,
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "as above")]
struct Delta<'a> {
    role: Option<IgnoredAny>,
    refusal: Option<Nothing>,
    reasoning: Option<Nothing>,
    reasoning_content: Option<Nothing>,
    tool_calls: Option<Nothing>,
    function_call: Option<Nothing>,
    #[serde(borrow)]
    content: Cow<'a, str>,
}

/// No value but `null`.
#[derive(Deserialize)]
enum Nothing {}

/// Returns the words of a chunk that has nothing else.
pub(super) fn words(data: &str) -> Option<Cow<'_, str>> {
    let chunk: Chunk<'_> = serde_json::from_str(data).ok()?;
    let (choice,) = chunk.choices;
    (chunk.object.as_deref() != Some("error")).then_some(choice.delta.content)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::conversation::StreamEvent;
    use crate::provider::framing::Machine as _;
    use crate::provider::http::Origin;
    use crate::provider::openai_chat::decode::ChatMachine;

    /// Of a field of a chunk: what servers write, and what they might.
    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            Just(json!("error")),
            Just(json!("chat.completion.chunk")),
            Just(json!("stop")),
            Just(json!(0)),
            Just(json!({})),
            Just(json!({"message": "no"})),
            Just(json!({"prompt_tokens": 1})),
            Just(json!([])),
            "[a-z<\"\\\\\\n é中😀]{0,6}".prop_map(Value::from),
        ]
    }

    fn object(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
        prop::collection::vec((prop::sample::select(names), value()), 0..4).prop_map(|fields| {
            Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
        })
    }

    fn with(mut holder: Value, name: &str, value: Value) -> Value {
        holder[name] = value;
        holder
    }

    prop_compose! {
        fn chunk()(
            outer in object(&["id", "object", "type", "error", "usage", "model", "x_groq", "service_tier"]),
            choice in object(&["index", "finish_reason", "logprobs", "usage", "error", "message"]),
            delta in object(&["role", "reasoning", "reasoning_content", "tool_calls", "refusal", "function_call"]),
            content in value(),
            count in 0..3_usize,
        ) -> Value {
            let choice = with(choice, "delta", with(delta, "content", content));
            with(outer, "choices", Value::Array(vec![choice; count]))
        }
    }

    fn machine() -> ChatMachine<'static> {
        let origin = Origin { provider: String::new(), model: String::new(), url: String::new(), secret: None };
        ChatMachine::new(origin, &[])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// What is taken as words alone says the same when it is read whole.
        #[test]
        fn words_alone_are_what_the_whole_chunk_says(chunk in chunk()) {
            let (mut quick, mut slow): (Vec<StreamEvent>, Vec<StreamEvent>) = Default::default();
            let mut first = machine();
            if first.words(&chunk.to_string(), &mut quick) {
                let mut second = machine();
                prop_assert!(second.value("", &chunk, &mut slow).is_ok());
                first.end(&mut quick).ok();
                second.end(&mut slow).ok();
                prop_assert_eq!(quick, slow);
            }
        }
    }

    #[test]
    fn chunks_of_real_servers_are_words_alone_and_those_that_say_more_are_not() {
        for (text, expected) in [
            (
                r#"{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi \"é\"\n"},"finish_reason":null}]}"#,
                Some("hi \"é\"\n"),
            ),
            (r#"{"choices":[{"delta":{"role":"assistant","content":""},"logprobs":null}],"usage":null}"#, Some("")),
            (r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#, None),
            (r#"{"choices":[{"delta":{"content":"a"}}],"error":{"message":"no"}}"#, None),
            (r#"{"object":"error","choices":[{"delta":{"content":"a"}}]}"#, None),
            (r#"{"choices":[{"delta":{"content":"a","reasoning":"b"}}]}"#, None),
            (r#"{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}"#, None),
            (r#"{"choices":[{"delta":{"content":["a"]}}]}"#, None),
            (r#"{"choices":[{"delta":{"content":"a"}}]} {"b":1}"#, None),
            (r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#, None),
        ] {
            assert_eq!(words(text).as_deref(), expected, "{text}");
        }
    }
}
