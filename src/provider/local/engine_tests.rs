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
            system: String::new(),
            messages: vec![Message::user("hi")],
            tools: Vec::new(),
            most: 1,
            events: Some(sender),
            stop: Arc::default(),
        };
        engine.ask(job).unwrap();
        assert!(matches!(events.blocking_recv(), Some(Err(Trouble::Model(_)))));
        assert!(events.blocking_recv().is_none());
    }
}
