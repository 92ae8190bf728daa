use super::*;

#[test]
fn characters_are_passed_on_whole() {
    let mut bytes = "a中".as_bytes()[..3].to_vec();
    assert_eq!(whole_characters(&mut bytes), "a");
    bytes.push("中".as_bytes()[2]);
    assert_eq!(whole_characters(&mut bytes), "中");
    let mut broken = vec![0xff, b'x'];
    assert_eq!(whole_characters(&mut broken), "\u{fffd}x");
}

#[test]
fn going_round_is_seen_after_three_times() {
    let circle: Vec<u32> = (0..CIRCLE as u32).collect();
    assert!(!goes_round(&circle.repeat(2)));
    assert!(goes_round(&circle.repeat(3)));
}

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
        assert!(matches!(events.blocking_recv(), Some(Err(Trouble::Model(_)))));
        assert!(events.blocking_recv().is_none());
    }
}

#[test]
fn on_a_busy_machine_fewer_threads_compute() {
    assert_eq!(threads_under(0.5, 2), 2);
    assert_eq!(threads_under(4.0, 2), 1);
    assert_eq!(threads_under(4.0, 8), 8);
    assert_eq!(threads_under(20.0, 8), 4);
    assert_eq!(threads_under(20.0, 1), 1);
}

#[test]
fn how_sure_a_token_is_comes_from_all_of_them() {
    assert_eq!(likeliest(&[0.0, 0.0]).1, 0.5);
    let (token, sure) = likeliest(&[1.0, 9.0, 2.0]);
    assert_eq!(token, 1);
    assert!(sure > 0.99);
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
