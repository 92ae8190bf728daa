use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;

use super::super::load::{load, open_holding};
use super::super::{EntryKind, Fork, Redactor, Session, SessionId, seek};
use super::*;
use crate::conversation::{ContentBlock, Image, Outcome, ToolCall, ToolFacts, ToolResult};

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn call(id: usize) -> ContentBlock {
    ContentBlock::ToolCall(ToolCall {
        id: format!("call_{id}"),
        name: "read".into(),
        input: serde_json::json!({"type": "tool_result", "call_id": "x", "id": "y", "path": "\"é\\\n"}),
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: String::new(),
        arguments: String::new(),
    })
}

fn result(id: usize) -> ContentBlock {
    ContentBlock::ToolResult(ToolResult {
        call_id: format!("call_{id}"),
        name: "read".into(),
        content: "{\"type\":\"tool_call\",\"id\":\"z\"}\n".repeat(3),
        outcome: Outcome::Ok,
        images: Vec::new(),
        facts: ToolFacts::default(),
        duration_ms: 0,
    })
}

/// What may be written to a session's file, also by a crash, another version or a failing disk.
#[derive(Debug, Clone)]
enum Step {
    Says(String),
    Shows,
    Answers(String),
    Calls(Vec<usize>),
    Results(Vec<usize>),
    Ends,
    Cut(usize, usize),
    Undone,
    Rewound(u64),
    Forks,
    Line(Vec<u8>),
}

fn step() -> impl Strategy<Value = Step> {
    let ids = || prop::collection::vec(0_usize..3, 1..3);
    let line = prop::sample::select(vec![
        b"{\"v\":1,\"t\":0,\"kind\":\"mess".to_vec(),
        b"{\"v\":2,\"t\":0,\"kind\":\"message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"later\"}]}}".to_vec(),
        b"{\"v\":1,\"t\":0,\"kind\":\"message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"odd\"}]}}".to_vec(),
        b"{\"v\":1,\"t\":0,\"kind\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"odd\"},{\"type\":\"text\",\"text\":\"x\"}]}}".to_vec(),
        b"{\"v\":1,\"t\":0,\"kind\":\"message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}}".to_vec(),
        b"{\"v\":1,\"t\":0,\"kind\":\"message\",\"message\":{\"role\":\"user\",\"content\":[]}}".to_vec(),
        b"{\"v\":1,\"t\":0,\"kind\":\"sung\"}".to_vec(),
        b"\0\0".to_vec(),
    ]);
    prop_oneof![
        6 => "[a-z\u{4e2d}\"\\\\]{0,9}".prop_map(Step::Says),
        1 => Just(Step::Shows),
        4 => "[a-z]{0,9}".prop_map(Step::Answers),
        4 => ids().prop_map(Step::Calls),
        4 => ids().prop_map(Step::Results),
        3 => Just(Step::Ends),
        2 => (0_usize..12, 0_usize..4).prop_map(|(dropped, more)| Step::Cut(dropped, more)),
        1 => Just(Step::Undone),
        1 => (0_u64..12).prop_map(Step::Rewound),
        1 => Just(Step::Forks),
        1 => line.prop_map(Step::Line),
    ]
}

/// Writes a session as these steps; a fork goes on in another file.
fn written(home: &Path, steps: &[Step]) -> PathBuf {
    let new = |number| {
        let id = SessionId::new(at(0), Path::new("/src"), number);
        Session::new(id, "/src".into(), Some(home), Redactor::default())
    };
    let mut session = new(0);
    let message = |role, content| Message { role, content };
    for (number, step) in steps.iter().enumerate() {
        let text = |text: &String| vec![ContentBlock::Text { text: text.clone() }];
        let picture = Image { media_type: "image/png".into(), data: "AAAA".into() };
        let said = match step {
            Step::Says(words) => Some(message(Role::User, text(words))),
            Step::Shows => Some(message(Role::User, vec![ContentBlock::Image(picture)])),
            Step::Answers(words) => Some(message(Role::Assistant, text(words))),
            Step::Calls(ids) => Some(message(Role::Assistant, ids.iter().copied().map(call).collect())),
            Step::Results(ids) => Some(message(Role::User, ids.iter().copied().map(result).collect())),
            _ => None,
        };
        if let Some(said) = said {
            session.append_message("lab/m", &said, at(1)).unwrap();
            continue;
        }
        let Some(path) = session.path().filter(|path| path.exists()).map(Path::to_owned) else { continue };
        let kind = match step {
            Step::Ends => EntryKind::TurnEnded { end: "done".into() },
            Step::Cut(dropped, more) => EntryKind::Cut {
                cut: Cut {
                    dropped: *dropped,
                    thinned: dropped + more,
                    frame: format!("frame {number}"),
                    summary: None,
                },
            },
            Step::Undone => EntryKind::CutUndone,
            Step::Rewound(messages) => EntryKind::Rewound { messages: *messages },
            Step::Forks => {
                let Ok(loaded) = load(&path) else { continue };
                session = new(u16::try_from(number).unwrap() + 1).begin_as(Fork::of(&loaded));
                session.append_message("lab/m", &Message::user("on"), at(1)).unwrap();
                continue;
            }
            Step::Line(line) => {
                drop(session.append(EntryKind::TurnEnded { end: "done".into() }, at(1)));
                let mut bytes = std::fs::read(&path).unwrap();
                bytes.extend_from_slice(line);
                bytes.push(b'\n');
                std::fs::write(&path, bytes).unwrap();
                continue;
            }
            _ => continue,
        };
        session.append(kind, at(1)).unwrap();
    }
    session.path().unwrap().to_owned()
}

/// What a request has of a conversation: what stands for the rest, and each message with whether it is thinned.
fn sent(conversation: &Conversation) -> (String, Vec<(Message, bool)>) {
    let cut = conversation.cut().cloned().unwrap_or_default();
    let kept = conversation.messages().iter().enumerate().skip(cut.dropped);
    (cut.frame, kept.map(|(index, message)| (message.clone(), index < cut.thinned)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// What is held and what stands in the file are the conversation, and a request is the same to the byte.
    #[test]
    fn a_session_that_is_opened_is_the_one_that_is_loaded(
        steps in prop::collection::vec(step(), 1..30),
        shown in prop_oneof![Just(0), Just(300), Just(u64::MAX)],
    ) {
        let home = tempfile::tempdir().unwrap();
        let path = written(home.path(), &steps);
        let (whole, opened) = (load(&path), open_holding(&path, Held { shown, sent: u64::MAX }));
        let (Ok(whole), Ok(opened)) = (whole, opened) else { return Ok(()) };
        prop_assert_eq!(opened.conversation.check(), Ok(()));
        let (held, all) = (&opened.conversation, &whole.conversation);
        prop_assert_eq!(sent(held), sent(all));
        prop_assert_eq!(held.opening(), all.opening());
        prop_assert_eq!(held.earlier() + held.messages().len(), all.messages().len());
        let again = if held.earlier() == 0 { Some(held.clone()) } else { held.whole(all.clone()) };
        prop_assert_eq!(again.as_ref(), Some(all));
        let opened = super::super::Loaded { conversation: whole.conversation.clone(), ..opened };
        prop_assert_eq!(opened, whole);
    }

    /// What is larger than any request is held in part, and is whole with what stands in the file.
    #[test]
    fn of_what_no_request_could_hold_the_newest_turns_are_held(
        steps in prop::collection::vec(step(), 1..30),
        sent in 0_u64..2000,
    ) {
        let home = tempfile::tempdir().unwrap();
        let path = written(home.path(), &steps);
        let (whole, opened) = (load(&path), open_holding(&path, Held { shown: 0, sent }));
        let (Ok(whole), Ok(opened)) = (whole, opened) else { return Ok(()) };
        let (held, all) = (&opened.conversation, &whole.conversation);
        prop_assert_eq!(held.check(), Ok(()));
        let again = if held.earlier() == 0 { Some(held.clone()) } else { held.whole(all.clone()) };
        prop_assert_eq!(again.as_ref(), Some(all));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// What stands in the file alone is found there by any of its words, under the numbers it has in the conversation.
    #[test]
    fn what_is_not_held_is_found_in_the_file_by_each_of_its_words(
        steps in prop::collection::vec(step(), 1..30),
        sent in 0_u64..2000,
    ) {
        let home = tempfile::tempdir().unwrap();
        let path = written(home.path(), &steps);
        let (whole, opened) = (load(&path), open_holding(&path, Held { shown: 0, sent }));
        let (Ok(whole), Ok(opened)) = (whole, opened) else { return Ok(()) };
        let (earlier, all) = (opened.conversation.earlier(), whole.conversation.messages());
        let said = |message: &Message| message.role == Role::User && !message.has_results();
        let texts: Vec<String> = all[..earlier].iter().map(|message| message.text().to_lowercase()).collect();
        let words_of = |text: &str| -> Vec<String> {
            let words = text.split(|character: char| !character.is_ascii_alphanumeric());
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        // The answer to a call that nobody answered is made when the session is loaded; it stands in no file.
        let from_file = |message: &Message| {
            let made = |block: &ContentBlock| {
                matches!(block, ContentBlock::ToolResult(result) if result.outcome == Outcome::Interrupted)
            };
            let mut message = message.clone();
            message.content.retain(|block| !made(block));
            message
        };
        for word in texts.iter().flat_map(|text| words_of(text)) {
            let told = seek(&path, std::slice::from_ref(&word)).unwrap();
            let spoken: Vec<usize> = (0..earlier).filter(|number| said(&all[*number])).collect();
            let known: Vec<usize> = told.said.iter().copied().filter(|number| *number < earlier).collect();
            prop_assert_eq!(known, spoken);
            for (number, message) in told.messages.iter().filter(|(number, _)| *number < earlier) {
                prop_assert_eq!(from_file(message), from_file(&all[*number]));
            }
            let having = (0..earlier).filter(|number| words_of(&texts[*number]).contains(&word));
            for number in having {
                prop_assert!(told.messages.iter().any(|(found, _)| *found == number), "{} {}", word, number);
            }
        }
    }
}

#[test]
fn a_rare_word_is_found_among_a_thousand_messages_with_a_common_one() {
    let home = tempfile::tempdir().unwrap();
    let talk = |number: usize| {
        let says = if number == 3 { "the heron error".to_owned() } else { format!("error {number}") };
        [Step::Says(says), Step::Answers("the errors are many".to_owned()), Step::Ends]
    };
    let path = written(home.path(), &(0..500).flat_map(talk).collect::<Vec<_>>());
    let told = seek(&path, &["error".to_owned(), "heron".to_owned()]).unwrap();
    assert_eq!(told.messages[0], (6, Message::user("the heron error")));
    assert_eq!((told.messages.len(), told.said.len()), (96, 500));
}

#[test]
fn a_long_session_is_held_from_its_last_turns_on() {
    let home = tempfile::tempdir().unwrap();
    let talk = |number: usize| [Step::Says(format!("q{number}")), Step::Answers("a".repeat(100)), Step::Ends];
    let steps: Vec<Step> = (0..100).flat_map(talk).collect();
    let path = written(home.path(), &steps);
    let opened = open_holding(&path, Held { shown: 0, sent: 1000 }).unwrap().conversation;
    let said: Vec<String> = opened.messages().iter().map(Message::text).collect();
    assert!(opened.messages().len() <= 10 && said.contains(&"q99".to_owned()), "{said:?}");
    assert_eq!((opened.earlier() + opened.messages().len(), opened.opening().as_str()), (200, "q0"));
}
