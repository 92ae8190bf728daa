use std::path::Path;
use std::time::UNIX_EPOCH;

use proptest::prelude::*;

use super::*;
use crate::context::recall;
use crate::conversation::{ContentBlock, Outcome, Role, ToolCall, ToolResult};
use crate::session::{EntryKind, Fork, Redactor, Session, SessionId, load};

/// What is written to a session's file.
#[derive(Debug, Clone)]
enum Step {
    Says(String),
    Answers(String),
    /// What is called, and what it prints.
    Runs(String, String),
    Rewinds(u64),
    Forks,
}

/// Some words, their forms, words within words, and what JSON writes in another way.
fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "heron",
        "Herons",
        "HERON",
        "port",
        "ports",
        "report",
        "errors",
        "größe",
        "Größen",
        "中文字",
        "x",
        "text",
        "role",
        "\"",
        "\\",
        "\\n",
        ":",
        "\n",
        "\n\n",
        "\t",
        "\u{1}",
        ",",
    ]);
    let joined = prop_oneof![Just(" "), Just(" "), Just(" "), Just("")];
    let words = prop::collection::vec((word, joined), 0..60);
    words.prop_map(|words| words.into_iter().flat_map(|(word, after)| [word, after]).collect())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => text().prop_map(Step::Says),
        4 => text().prop_map(Step::Answers),
        4 => (text(), text()).prop_map(|(called, printed)| Step::Runs(called, printed)),
        1 => (0_u64..12).prop_map(Step::Rewinds),
        1 => Just(Step::Forks),
    ]
}

fn written(home: &Path, steps: &[Step]) -> Session {
    let new = |number| {
        let id = SessionId::new(UNIX_EPOCH, Path::new("/src"), number);
        Session::new(id, "/src".into(), Some(home), Redactor::default())
    };
    let mut session = new(0);
    for (number, step) in (1_u16..).zip(steps) {
        let mut say = |message: &Message| session.append_message("lab/m", message, UNIX_EPOCH).unwrap();
        match step {
            Step::Says(text) => say(&Message::user(text)),
            Step::Answers(text) => say(&Message::assistant(text.as_str())),
            Step::Runs(called, printed) => {
                let call = ToolCall {
                    id: format!("c{number}"),
                    name: "run".into(),
                    input: serde_json::json!({ "command": called }),
                    invalid_input: None,
                    extra: serde_json::Map::new(),
                    model: String::new(),
                    arguments: String::new(),
                };
                let result = ToolResult { content: printed.clone(), ..ToolResult::closed(&call, Outcome::Ok) };
                say(&Message { role: Role::Assistant, content: vec![ContentBlock::ToolCall(call)] });
                say(&Message { role: Role::User, content: vec![ContentBlock::ToolResult(result)] });
            }
            Step::Rewinds(messages) => {
                session.append(EntryKind::Rewound { messages: *messages }, UNIX_EPOCH).unwrap();
            }
            Step::Forks => {
                let Some(Ok(loaded)) = session.path().filter(|path| path.exists()).map(load) else { continue };
                session = new(number).begin_as(Fork::of(&loaded));
            }
        }
    }
    session
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// What is found in the file's bytes and in what is held of it is what a search of every message finds, in its order.
    #[test]
    fn a_search_of_the_file_finds_what_a_search_of_all_messages_finds(
        steps in prop::collection::vec(step(), 1..30),
        query in prop::collection::vec(
            prop::sample::select(vec!["heron", "ports", "error", "größe", "中文", "x", "text", "nothing"]), 1..4,
        ),
        held in 0_usize..40,
    ) {
        let home = tempfile::tempdir().unwrap();
        let session = written(home.path(), &steps);
        let Some(path) = session.path().filter(|path| path.exists()) else { return Ok(()) };
        let whole = load(path).unwrap().conversation;
        let messages = whole.messages();
        // What is held begins with a message of the person.
        let said = |message: &Message| message.role == Role::User && !message.has_results();
        let earlier = (held..messages.len()).find(|at| said(&messages[*at])).unwrap_or(messages.len());
        let query = query.join(" ");
        let told = seek(path, &wanted(&query)).unwrap();
        let found = recall_both(&told, &messages[earlier..], earlier, &query, usize::MAX);
        prop_assert_eq!(found, recall(messages, &query, usize::MAX));
    }
}
