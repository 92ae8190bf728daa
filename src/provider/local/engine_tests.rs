use super::super::network::tests::Model;
use super::super::weights::TABLE;
use super::*;
use crate::conversation::Message;

#[test]
fn a_file_that_is_no_model_is_told_and_the_next_question_tries_again() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("x.gguf");
    std::fs::write(&weights, b"GGUF but not for long").unwrap();
    let engine =
        Engine::new(Plan { weights, published: None, kept: None, idle: Duration::from_mins(1), context: 8192 });
    for _ in 0..2 {
        let (sender, mut events) = mpsc::channel(8);
        let job = Job {
            ask: Ask::Message {
                system: String::new(),
                messages: vec![Message::user("hi")],
                tools: Vec::new(),
                stable: 0,
            },
            most: 1,
            events: Some(sender),
            stop: Arc::default(),
        };
        engine.ask(job).unwrap();
        assert!(matches!(events.blocking_recv(), Some(Ok(StreamEvent::Loading))));
        assert!(matches!(events.blocking_recv(), Some(Err(Trouble::Model(_)))));
        assert!(events.blocking_recv().is_none());
    }
}

#[test]
fn the_memory_is_given_back_when_nobody_asks_and_taken_again_when_somebody_does() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("x.gguf");
    std::fs::write(&weights, b"none").unwrap();
    let engine = Engine::new(Plan { weights, published: None, kept: None, idle: Duration::ZERO, context: 8192 });
    for _ in 0..2 {
        let (sender, mut events) = mpsc::channel(8);
        let ask = Ask::Line { before: String::new(), line: "x".into() };
        engine.ask(Job { ask, most: 1, events: Some(sender), stop: Arc::default() }).unwrap();
        assert!(events.blocking_recv().is_some());
        // The thread, which owns all of the model, ends.
        while lock(&engine.thread).is_some() {
            std::thread::yield_now();
        }
    }
}

/// What an engine says to a line, with a file that is said to have this hash.
fn said(folder: &std::path::Path, hash: &[u8]) -> Vec<Event> {
    let weights = Model::write(folder);
    // The table of models is static; a test's row may stay.
    let hash: Vec<String> = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let row = Weights { hash: hash.concat().leak(), ..TABLE[0] };
    let published = Some((&*Box::leak(Box::new(row)), Places::default()));
    let kept = Some(folder.join("kept"));
    let engine = Engine::new(Plan { weights, published, kept, idle: Duration::from_mins(1), context: 8192 });
    let (sender, mut events) = mpsc::channel(64);
    let ask = Ask::Line { before: "a b ".into(), line: "a".into() };
    engine.ask(Job { ask, most: 1, events: Some(sender), stop: Arc::default() }).unwrap();
    std::iter::from_fn(|| events.blocking_recv()).collect()
}

#[test]
fn a_file_with_other_bytes_gives_no_answer_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(Model::write(folder.path())).unwrap();
    let hash = ring::digest::digest(&ring::digest::SHA256, &whole);
    let events = said(folder.path(), &[0; 32]);
    let told = format!("{events:?}");
    assert!(matches!(events.last(), Some(Err(Trouble::Model(ModelError::Changed)))), "{told}");
    assert!(!told.contains("TextDelta") && !told.contains("Done"), "{told}");
    assert!(!folder.path().join("kept").exists());
    let events = said(folder.path(), hash.as_ref());
    assert!(matches!(events.last(), Some(Ok(StreamEvent::Done(_)))), "{events:?}");
    assert!(folder.path().join("kept").exists());
}
