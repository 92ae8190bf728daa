use super::*;

#[test]
fn a_file_that_is_no_model_is_told_and_the_next_question_tries_again() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("x.gguf");
    std::fs::write(&weights, b"GGUF but not for long").unwrap();
    let engine = Engine::new(Plan { weights, kept: None, idle: Duration::from_mins(1) });
    for _ in 0..2 {
        let (sender, mut events) = mpsc::channel(8);
        let job = Job {
            ask: Ask::Message { system: String::new(), messages: vec![Message::user("hi")], tools: Vec::new() },
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
    let engine = Engine::new(Plan { weights, kept: None, idle: Duration::ZERO });
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
