//! Recorded streams of real providers through the decoders, cut in many ways.
//!
//! What is expected is found independently, by a naive reading of the recorded JSON: the fields of the deltas,
//! joined. Recordings of ours lie in `fixtures/streams`, others' in `fixtures/real`, with their sources and licences.

use std::fs;
use std::path::{Path, PathBuf};

use axi::conversation::StreamEvent;
use axi::provider::{Origin, Protocol, decoder};
use serde_json::Value;

use crate::support::recorded::{
    Heard, expect_chat, expect_gemini, expect_messages, expect_ollama, expect_responses, expect_whole_message,
    payloads, text,
};
use crate::support::skip::fixture;

fn origin() -> Origin {
    Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None }
}

fn hear(protocol: Protocol, pieces: &[&[u8]]) -> Heard {
    let mut decoder = decoder(protocol, origin());
    let mut events = Vec::new();
    let mut outcome = Ok(());
    for piece in pieces {
        outcome = decoder.push(piece, &mut events);
        if outcome.is_err() {
            break;
        }
    }
    let outcome = outcome.and_then(|()| decoder.finish(&mut events));
    let mut heard = Heard { error: outcome.err(), ..Heard::default() };
    let mut slots = Vec::new();
    for event in events {
        match event {
            StreamEvent::Loading
            | StreamEvent::Reading { .. }
            | StreamEvent::Silent { .. }
            | StreamEvent::Searched(_) => {}
            StreamEvent::WireItem(item) => heard.items.push(item),
            StreamEvent::TextDelta(text) => heard.text.push_str(&text),
            StreamEvent::ReasoningDelta(text) => heard.reasoning.push_str(&text),
            StreamEvent::ReasoningSignature(signature) => heard.signatures.push(signature),
            StreamEvent::RedactedReasoning(data) => heard.redacted.push(data),
            StreamEvent::ToolCallStart { slot, id, name, .. } => {
                // A call that never gets a name keeps its slot, so that numbers may be left out.
                assert!(!slots.contains(&slot), "a call begins once");
                slots.push(slot);
                heard.calls.push((id, name, String::new()));
            }
            StreamEvent::ToolCallDelta { slot, arguments } => {
                let at = slots.iter().position(|begun| *begun == slot).expect("a call begins before it goes on");
                heard.calls[at].2.push_str(&arguments);
            }
            StreamEvent::ToolCallExtra { slot, .. } => assert!(slots.contains(&slot), "a call begins first"),
            StreamEvent::Usage(usage) => heard.usage = usage,
            StreamEvent::Done(stop) => {
                assert_eq!(heard.stop.replace(stop), None, "done only once");
            }
        }
    }
    heard
}

/// Cuts bytes into pieces of 1 to `most` bytes, the same for the same seed.
fn cut(bytes: &[u8], most: usize, mut seed: u64) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let size = 1 + usize::try_from(seed >> 33).unwrap() % most;
        let (piece, after) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Reasoning details are kept as one JSON text; here only that they hold the words is checked.
fn compare(name: &str, mut heard: Heard, expected: &Heard, protocol: Protocol) {
    if protocol == Protocol::OpenAiChat {
        for signature in std::mem::take(&mut heard.signatures) {
            let details: Vec<Value> =
                serde_json::from_str(&signature).unwrap_or_else(|_| panic!("{name}: {signature}"));
            let words: String = details.iter().map(|detail| text(detail, "text")).collect();
            assert!(heard.reasoning.contains(&words), "{name}");
        }
    }
    if protocol == Protocol::Gemini {
        // What goes back beside the words, and arguments that came field by field.
        heard.items.clear();
        let mut expected = expected.clone();
        for (heard, expected) in heard.calls.iter_mut().zip(&mut expected.calls) {
            if expected.2.is_empty() {
                let arguments: Value = serde_json::from_str(&heard.2).unwrap_or_default();
                assert!(heard.2.is_empty() || arguments.is_object(), "{name}: {}", heard.2);
                heard.2.clear();
            }
        }
        assert_eq!(heard, expected, "{name}");
        return;
    }
    if protocol == Protocol::OpenAiResponses {
        for signature in std::mem::take(&mut heard.signatures) {
            let item: Value = serde_json::from_str(&signature).unwrap_or_else(|_| panic!("{name}: {signature}"));
            assert!(item["encrypted_content"].is_string() && item["id"].is_null(), "{name}: {item}");
        }
        for item in std::mem::take(&mut heard.items) {
            assert!(item["id"].is_null(), "{name}: nothing is stored under {item}");
        }
    }
    assert_eq!(&heard, expected, "{name}");
}

/// Decodes a recording in many cuttings. Files of the short list below are expected to fail so.
fn replay(name: &str, protocol: Protocol, bytes: &[u8]) {
    let whole = hear(protocol, &[bytes]);
    let pieces = if bytes.len() <= 40_000 { 1 } else { 11 };
    for (most, seed) in [(pieces, 1), (97, 2)] {
        assert_eq!(hear(protocol, &cut(bytes, most, seed)), whole, "{name}: pieces of at most {most} bytes");
    }
    if bytes.len() <= 1_500 {
        for at in 0..bytes.len() {
            assert_eq!(hear(protocol, &[&bytes[..at], &bytes[at..]]), whole, "{name}: cut at {at}");
        }
    }
    let recorded = String::from_utf8_lossy(bytes);
    let payloads = payloads(&recorded);
    if let Some((_, _, wanted)) = REFUSED.iter().find(|(part, _, _)| name.contains(part)) {
        let error = whole.error.unwrap_or_else(|| panic!("{name}: expected to fail"));
        assert!(error.to_string().contains(wanted), "{name}: {error}");
        return;
    }
    let expected = match protocol {
        Protocol::OpenAiChat => expect_chat(&payloads),
        Protocol::OpenAiResponses => expect_responses(&payloads),
        Protocol::Anthropic if bytes.starts_with(b"{") => expect_whole_message(&payloads[0]),
        Protocol::Anthropic => expect_messages(&payloads),
        Protocol::Gemini => expect_gemini(&payloads),
        Protocol::Bedrock => unreachable!("none is recorded"),
        Protocol::Ollama => expect_ollama(&payloads),
    };
    compare(name, whole, &expected, protocol);
}

/// Part of the file's name, why it is no whole answer, what the error says.
const REFUSED: &[(&str, &str, &str)] = &[
    ("tool_use_failed_error_streaming.0", "Groq refuses the model's own call in the stream", "HTTP 400"),
    ("tool_use_failed_error_streaming_with_text.0", "the same", "HTTP 400"),
    ("live-speech-translation", "another protocol, over WebSocket", "ended before its end mark"),
    ("azure-deepseek-reasoning", "it ends before its end mark", "ended before response.completed"),
    ("openai-error.1", "the account is empty", "exceeded your current quota"),
    ("parallel-tool-call-wrapper", "its end mark is damaged", "ended before response.completed"),
    ("spliced-message-start", "a second answer begins in the middle of a call", "began its answer again"),
];

fn replay_file(path: &Path, name: &str, protocol: Protocol) {
    let bytes = fs::read(path).unwrap();
    if !name.ends_with(".chunks.txt") {
        return replay(name, protocol, &bytes);
    }
    // The collection took the framing off; it is put back here.
    let mut framed = String::new();
    for line in String::from_utf8(bytes).unwrap().lines().filter(|line| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).unwrap();
        if protocol == Protocol::Anthropic {
            framed.push_str("event: ");
            framed.push_str(text(&value, "type"));
            framed.push('\n');
        }
        framed.extend(["data: ", line, "\n\n"]);
    }
    replay(name, protocol, framed.as_bytes());
}

#[test]
fn our_own_recordings_decode_as_recorded() {
    let folder = fixture("streams");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let protocol = match name.split('-').next() {
            Some("chat") => Protocol::OpenAiChat,
            Some("messages") => Protocol::Anthropic,
            Some("responses") => Protocol::OpenAiResponses,
            Some("gemini") => Protocol::Gemini,
            Some("ollama") => Protocol::Ollama,
            other => panic!("{other:?} is no protocol"),
        };
        replay_file(&path, &name, protocol);
        seen += 1;
    }
    assert!(seen >= 8, "only {seen} recordings");
}

#[test]
fn recorded_provider_streams_decode_as_recorded() {
    let folder = fixture("real");
    let index = fs::read_to_string(folder.join("streams/INDEX.tsv")).unwrap();
    let mut seen = 0;
    for row in index.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let protocol = match columns[5] {
            "openai-chat" | "xai-chat" => Protocol::OpenAiChat,
            "anthropic-messages" => Protocol::Anthropic,
            "ollama" => Protocol::Ollama,
            "gemini" => Protocol::Gemini,
            name if name.contains("responses") => Protocol::OpenAiResponses,
            other => panic!("{other} is no protocol that is spoken"),
        };
        replay_file(&folder.join("streams").join(columns[0]), columns[0], protocol);
        seen += 1;
    }
    assert!(seen >= 156, "only {seen} streams");
}

#[test]
fn recordings_of_local_servers_and_gateways_decode_as_recorded() {
    let folder = fixture("real");
    let mut seen = 0;
    for server in fs::read_dir(folder.join("recordings")).unwrap().map(|entry| entry.unwrap().path()) {
        if !server.is_dir() {
            continue;
        }
        for path in fs::read_dir(server).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let protocol = match name.split(['-', '.']).next() {
                Some("chat") if name.ends_with(".ndjson") => Protocol::Ollama,
                Some("chat") => Protocol::OpenAiChat,
                Some("messages") => Protocol::Anthropic,
                Some("ollama") => Protocol::Ollama,
                Some("responses") => Protocol::OpenAiResponses,
                Some("gemini") => Protocol::Gemini,
                _ => continue,
            };
            replay_file(&path, &path.display().to_string(), protocol);
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} recordings");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, ..Default::default() })]

    /// Whatever arrives, decoders answer with events and an error at worst, the same for every cutting.
    #[test]
    fn damaged_streams_never_panic_and_never_depend_on_the_cutting(
        which in 0..12_usize,
        damage in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), proptest::prelude::any::<u8>()), 0..6),
        seed in proptest::prelude::any::<u64>(),
    ) {
        let folder = fixture("streams");
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let mut bytes = fs::read(&paths[which]).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for protocol in Protocol::ALL {
            let whole = hear(protocol, &[&bytes]);
            proptest::prop_assert_eq!(&hear(protocol, &cut(&bytes, 40, seed)), &whole);
        }
    }
}
