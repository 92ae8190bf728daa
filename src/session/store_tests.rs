use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use super::*;
use crate::conversation::{Message, Role, ToolCall};

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

fn kept(home: &Path, directory: &Path, number: u16, messages: &[Message]) -> PathBuf {
    let id = SessionId::new(NOW, directory, number);
    let mut session = Session::new(id, directory.to_owned(), Some(home), Redactor::default());
    for message in messages {
        session.append_message("lab/m", message, NOW).unwrap();
    }
    session.path().unwrap().to_owned()
}

fn titles(found: &[Summary]) -> Vec<&str> {
    found.iter().map(|summary| summary.title.as_str()).collect()
}

#[test]
fn words_are_searched_and_not_what_is_written_between_them() {
    let home = tempfile::tempdir().unwrap();
    let call = ToolCall {
        id: "call_1".into(),
        name: "shell".into(),
        input: serde_json::json!({"command": "make Plover"}),
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: String::new(),
        arguments: String::new(),
    };
    let called = Message { role: Role::Assistant, content: vec![ContentBlock::ToolCall(call)] };
    kept(home.path(), Path::new("/src"), 1, &[Message::user("ÉTÉ in Paris")]);
    kept(home.path(), Path::new("/src"), 2, &[Message::user("build it"), called]);
    let store = SessionStore::new(home.path().to_owned());
    assert_eq!(titles(&store.search("été")), ["ÉTÉ in Paris"]);
    assert_eq!(titles(&store.search("plover")), ["build it"]);
    for between in ["role", "kind", "command", "lab/m"] {
        assert_eq!(titles(&store.search(between)), Vec::<&str>::new(), "{between}");
    }
}

#[test]
fn a_bad_byte_costs_a_character_and_no_session() {
    let home = tempfile::tempdir().unwrap();
    let path = kept(home.path(), Path::new("/src"), 1, &[Message::user("say X plover")]);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, bytes.iter().map(|byte| if *byte == b'X' { 0xff } else { *byte }).collect::<Vec<_>>())
        .unwrap();
    let store = SessionStore::new(home.path().to_owned());
    assert_eq!(titles(&store.list()), ["say \u{fffd} plover"]);
    assert_eq!(titles(&store.search("plover")), ["say \u{fffd} plover"]);
    let loaded = crate::session::load(&path).unwrap();
    assert_eq!((loaded.skipped, loaded.conversation.messages().len()), (0, 1));
}

#[test]
fn a_directory_whose_name_is_no_text_has_sessions() {
    let home = tempfile::tempdir().unwrap();
    let directory = Path::new(OsStr::from_bytes(b"/src/\xff\xfe"));
    let path = kept(home.path(), directory, 1, &[Message::user("hi")]);
    let store = SessionStore::new(home.path().to_owned());
    assert_eq!(store.last_of(directory).map(|summary| summary.directory), Some(directory.to_owned()));
    assert_eq!(crate::session::load(&path).unwrap().directory, directory);
    // One that is text is written as it always was.
    let path = kept(home.path(), Path::new("/src"), 2, &[Message::user("hi")]);
    assert!(!std::fs::read_to_string(path).unwrap().contains("directory_bytes"));
}

#[test]
fn a_pipe_among_the_sessions_is_not_waited_for() {
    let home = tempfile::tempdir().unwrap();
    kept(home.path(), Path::new("/src"), 1, &[Message::user("hi")]);
    let pipe = home.path().join("20260101-000000-00000000.jsonl");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    assert_eq!(titles(&SessionStore::new(home.path().to_owned()).list()), ["hi"]);
}
