//! A connection that this machine slept through is given up as soon as that is seen, and says so.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;

use super::{Connection, ServerWindow};
use crate::conversation::{Message, StreamEvent};
use crate::provider::http::{Client, Origin, Patience, cause};
use crate::provider::openai_chat::ChatWire;
use crate::provider::request::{ModelInfo, Provider as _, Request};
use crate::provider::settings::{Gateway, Protocol, ProviderSettings};
use crate::provider::{Abilities, ProviderError};

static SLEPT: AtomicBool = AtomicBool::new(false);

/// A server that sends this much of an answer and then nothing, and hangs up when its client does.
fn silent(begins: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut near, _) = listener.accept().unwrap();
        let mut piece = [0; 4096];
        // The request fits one piece; the end of the client is the end of the next read.
        let _ = near.read(&mut piece);
        let _ = near.write_all(begins.as_bytes());
        while near.read(&mut piece).is_ok_and(|count| count > 0) {}
    });
    url
}

#[tokio::test]
async fn who_sleeps_through_an_answer_is_told_and_not_kept_waiting() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let delta = r#"{"choices": [{"index": 0, "delta": {"role": "assistant", "content": "so far"}}]}"#;
    let begun = format!("{head}data: {delta}\n\n");
    for begins in [String::new(), begun] {
        SLEPT.store(false, Ordering::Relaxed);
        let settings = ProviderSettings::custom("lab", Protocol::OpenAiChat, &silent(begins.clone()), "m");
        // Named as it would be elsewhere: a server of this machine sleeps and wakes with it.
        let origin = || Origin {
            provider: "lab".into(),
            model: "m".into(),
            url: "https://far.example".into(),
            secret: None,
        };
        let patience = Patience { told: Duration::from_millis(5), ..Patience::default() };
        let asleep = || if SLEPT.load(Ordering::Relaxed) { Duration::from_mins(20) } else { Duration::ZERO };
        let connection = Connection {
            info: ModelInfo {
                provider: "lab".into(),
                model: "m".into(),
                context_window: None,
                tools: true,
                vision: false,
                local: false,
                small: false,
                abilities: Abilities::default(),
            },
            origin: origin(),
            client: Client::sleeping(patience, asleep),
            gateway: Gateway::default(),
            window: ServerWindow::of(&settings, Vec::new()),
            wire: ChatWire::new(settings, origin()),
        };
        let messages = [Message::user("hi")];
        let mut stream = connection.stream(Request::of(&messages));
        // It is silent, as it may be while a model thinks; then the machine sleeps.
        let mut begun = begins.is_empty();
        loop {
            match stream.next().await {
                Some(Ok(StreamEvent::TextDelta(_))) => begun = true,
                Some(Ok(StreamEvent::Silent { .. })) if begun => break,
                Some(Ok(_)) => {}
                end => panic!("{end:?}"),
            }
        }
        SLEPT.store(true, Ordering::Relaxed);
        let mut told = Vec::new();
        let end = loop {
            match stream.next().await {
                Some(Ok(event)) => told.push(event),
                end => break end,
            }
        };
        assert!(
            told.len() <= 1 && told.iter().all(|event| matches!(event, StreamEvent::Silent { .. })),
            "{told:?}"
        );
        let expected = ProviderError::Broken { url: "https://far.example".into(), cause: cause::SLEPT.into() };
        assert_eq!(end, Some(Err(expected)), "{begins:?}");
    }
}
