use std::sync::mpsc::channel;
use std::time::{Duration, UNIX_EPOCH};

use super::super::{LeftOver, Loaded, SessionStore, is_held, load};
use super::*;
use crate::conversation::{ContentBlock, Conversation, Ledger, Outcome, Role, ToolCall, ToolResult};

/// How long another test's child may have a file that it does not want.
const PATIENCE: Duration = Duration::from_mins(1);

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn session(home: &Path) -> Session {
    let id = SessionId::new(at(0), Path::new("/src"), 7);
    Session::new(id, "/src".into(), Some(home), Redactor::default())
}

fn call(id: &str) -> Message {
    let call = ToolCall {
        id: id.into(),
        name: "read".into(),
        input: serde_json::json!({"path": "x"}),
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: String::new(),
        arguments: String::new(),
    };
    Message { role: Role::Assistant, content: vec![ContentBlock::ToolCall(call)] }
}

#[test]
fn a_session_is_written_and_read_back() {
    let home = tempfile::tempdir().unwrap();
    let mut session = session(home.path());
    assert_eq!(session.append(EntryKind::Title { title: "early".into() }, at(1)).ok(), Some(()));
    assert!(!session.path().unwrap().exists(), "looking around leaves no file");
    let messages = [Message::user("hi"), Message::assistant("hello")];
    for message in &messages {
        session.append_message("lab/m", message, at(2)).unwrap();
    }
    session.append(EntryKind::Title { title: "greeting".into() }, at(3)).unwrap();
    let loaded = load(session.path().unwrap()).unwrap();
    let expected = Loaded {
        id: session.id().clone(),
        directory: "/src".into(),
        model: "lab/m".into(),
        title: Some("greeting".into()),
        conversation: Conversation::restore(messages.to_vec()),
        ledger: Ledger::default(),
        changed: Vec::new(),
        skipped: 0,
        bytes: std::fs::metadata(session.path().unwrap()).unwrap().len(),
        broken_off: true,
        left: LeftOver::default(),
    };
    assert_eq!(loaded, expected);
}

#[test]
fn a_session_cut_by_a_crash_loads_and_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let mut first = session(home.path());
    first.append_message("lab/m", &Message::user("hi"), at(1)).unwrap();
    first.append_message("lab/m", &call("a"), at(1)).unwrap();
    let path = first.path().unwrap().to_owned();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"v\":1,\"t\":0,\"kind\":\"mess");
    std::fs::write(&path, bytes).unwrap();

    let loaded = load(&path).unwrap();
    assert_eq!(loaded.skipped, 1);
    assert_eq!(loaded.conversation.check(), Ok(()));

    let mut second = Session::resume(loaded.id, "/src".into(), path.clone(), Redactor::default());
    second.append_message("lab/m", &Message::user("again"), at(2)).unwrap();
    let again = load(&path).unwrap();
    assert_eq!(again.conversation.messages().last(), Some(&Message::user("again")));
    assert_eq!(again.skipped, 1);
}

#[test]
fn open_calls_are_answered_interrupted_on_loading() {
    let conversation = Conversation::restore(vec![Message::user("hi"), call("a")]);
    let last = conversation.messages().last().unwrap();
    let ContentBlock::ToolResult(ToolResult { outcome, call_id, .. }) = &last.content[0] else {
        panic!("{last:?}")
    };
    assert_eq!((outcome, call_id.as_str()), (&Outcome::Interrupted, "a"));
}

#[test]
fn only_the_owner_can_read_it() {
    use crate::platform::os::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let mut session = session(home.path());
    session.append_message("lab/m", &Message::user("hi"), at(1)).unwrap();
    let mode = std::fs::metadata(session.path().unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_deleted_session_takes_its_journal_along_and_no_other() {
    let state = tempfile::tempdir().unwrap();
    let journals = state.path().join("journal");
    let store = SessionStore::new(state.path().join("sessions")).with_journals(Some(journals.clone()));
    let mut session = session(store.directory());
    session.append_message("lab/m", &Message::user("hi"), at(2)).unwrap();
    for name in [session.id().as_str(), "other"] {
        std::fs::create_dir_all(journals.join(name).join("objects")).unwrap();
        std::fs::write(journals.join(name).join("objects/copy"), "what was in a file").unwrap();
    }
    let (id, path) = (session.id().clone(), session.path().unwrap().to_owned());
    // One that an axi has open stays.
    assert!(matches!(store.delete(id.as_str()), Err(SessionError::Held(_))));
    assert!(journals.join(id.as_str()).exists());
    drop(session);
    assert!(is_free(&path));
    store.delete(id.as_str()).unwrap();
    assert!(!journals.join(id.as_str()).exists() && journals.join("other/objects/copy").exists());
    assert!(!path.exists());
}

#[test]
fn a_deleted_session_takes_along_what_it_named_of_outputs_and_nothing_else() {
    let state = tempfile::tempdir().unwrap();
    let outputs = state.path().join("outputs");
    std::fs::create_dir_all(outputs.join("below")).unwrap();
    let store = SessionStore::new(state.path().join("sessions")).with_outputs(Some(outputs.clone()));
    let mut session = session(store.directory());
    session.append_message("lab/m", &Message::user("UNIQUE"), at(2)).unwrap();
    let (id, path) = (session.id().clone(), session.path().unwrap().to_owned());
    drop(session);
    assert!(is_free(&path));
    let kept = ["below/x", "../sessions.txt", "other.txt"].map(|name| outputs.join(name));
    let own = outputs.join("shell-1.txt");
    kept.iter().chain([&own]).for_each(|path| std::fs::write(path, "all of it").unwrap());
    // The last is named by nobody; the text of an answer names nothing.
    for named in [&own, &kept[0], &kept[1], &outputs.join("gone.txt")] {
        let line =
            serde_json::json!({"kind": "x", "facts": [{"full_output": named, "content": "full_output other.txt"}]});
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).unwrap();
    }
    assert_eq!(store.list().len(), 1);
    let overview = || std::fs::read_to_string(store.directory().join("overview.json")).unwrap();
    assert!(overview().contains("UNIQUE"));
    store.delete(id.as_str()).unwrap();
    assert!(!own.exists() && !path.exists() && !overview().contains("UNIQUE"));
    assert!(kept.iter().all(|path| path.exists()));
}

/// Waits until nobody has a session open: a child that another test starts has the file, too, until it becomes another
/// program.
fn is_free(path: &Path) -> bool {
    let file = File::open(path).unwrap();
    let (tell, told) = channel();
    // Ends with the last one that has the file. A child has what is open here, too: so it is unlocked, not only closed.
    std::thread::spawn(move || tell.send(file.lock().and_then(|()| file.unlock()).is_ok()));
    told.recv_timeout(PATIENCE).unwrap_or(false)
}

#[test]
fn a_session_is_held_by_the_one_that_writes_it_or_goes_on_with_it() {
    let home = tempfile::tempdir().unwrap();
    let mut first = session(home.path());
    first.append_message("a/b", &Message::user("hi"), at(1)).unwrap();
    let path = first.path().unwrap().to_owned();
    assert!(is_held(&path));
    drop(first);
    assert!(is_free(&path));
    let again = Session::resume(load(&path).unwrap().id, "/src".into(), path.clone(), Redactor::default());
    assert!(is_held(&path));
    drop(again);
    assert!(is_free(&path));
}

#[test]
fn a_turn_that_another_axi_is_still_in_was_not_cut_off() {
    let home = tempfile::tempdir().unwrap();
    let mut answering = session(home.path());
    answering.append_message("a/b", &Message::user("hi"), at(1)).unwrap();
    let path = answering.path().unwrap().to_owned();
    assert!(!load(&path).unwrap().was_cut_off(&path));
    drop(answering);
    assert!(is_free(&path));
    assert!(load(&path).unwrap().was_cut_off(&path));
}

/// A session with these messages, and the lines of its file.
fn lines(home: &Path, messages: &[Message]) -> (PathBuf, Vec<String>) {
    let mut session = session(home);
    for message in messages {
        session.append_message("lab/m", message, at(1)).unwrap();
    }
    let path = session.path().unwrap().to_owned();
    let lines = std::fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    (path, lines)
}

#[test]
fn a_damaged_first_line_costs_that_line() {
    let home = tempfile::tempdir().unwrap();
    let (path, mut lines) = lines(home.path(), &[Message::user("hi"), Message::assistant("hello")]);
    lines[0].replace_range(20..30, "");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let loaded = load(&path).unwrap();
    assert_eq!((loaded.id.as_str(), loaded.skipped), (path.file_stem().unwrap().to_str().unwrap(), 1));
    assert_eq!(loaded.conversation.messages(), [Message::user("hi"), Message::assistant("hello")]);
    let store = SessionStore::new(home.path().to_owned());
    assert_eq!(store.list()[0].title, "hi");
    assert_eq!(store.last_of(Path::new("/src")).map(|summary| summary.path), Some(path.clone()));
    std::fs::write(&path, "{\nno line of ours\n").unwrap();
    assert!(matches!(load(&path), Err(SessionError::Unreadable(_))));
    assert!(store.list().is_empty());
}

#[test]
fn what_another_version_wrote_costs_what_cannot_be_read_of_it() {
    let home = tempfile::tempdir().unwrap();
    let (path, mut lines) =
        lines(home.path(), &[Message::user("hi"), Message::assistant("hello"), Message::user("bye")]);
    lines[1] = lines[1].replace("\"v\":1", "\"v\":2");
    lines[2] = lines[2].replace("\"content\":[", "\"content\":[{\"type\":\"hologram\",\"of\":1},");
    lines.insert(3, r#"{"v":2,"t":1,"kind":"hologram"}"#.into());
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let loaded = load(&path).unwrap();
    assert_eq!(loaded.skipped, 2);
    let expected = [Message::user("hi"), Message::assistant("hello"), Message::user("bye")];
    assert_eq!(loaded.conversation.messages(), expected);
}

fn keep_partial(session: &Session, message: &Message) {
    session.partial_keeper().unwrap().keep(message).unwrap();
}

#[test]
fn what_is_kept_too_late_is_not_kept() {
    let home = tempfile::tempdir().unwrap();
    let mut session = session(home.path());
    session.append_message("lab/m", &Message::user("hi"), at(1)).unwrap();
    // A thread that was still looking for secrets when the answer ended.
    let late = session.partial_keeper().unwrap();
    session.append_message("lab/m", &Message::assistant("one two three"), at(1)).unwrap();
    late.keep(&Message::assistant("one two")).unwrap();
    assert_eq!(home.path().read_dir().unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn what_was_shown_when_axi_was_killed_is_the_last_message() {
    let home = tempfile::tempdir().unwrap();
    let mut killed = session(home.path());
    killed.append_message("lab/m", &Message::user("hi"), at(1)).unwrap();
    keep_partial(&killed, &Message::assistant("on"));
    keep_partial(&killed, &Message::assistant("one two"));
    let path = killed.path().unwrap().to_owned();
    drop(killed);
    let shown = [Message::user("hi"), Message::assistant("one two")];
    assert_eq!(load(&path).unwrap().conversation.messages(), shown);
    // Whoever goes on has it in the file, once.
    let mut next = Session::resume(load(&path).unwrap().id, "/src".into(), path.clone(), Redactor::default());
    next.append_message("lab/m", &Message::user("go on"), at(2)).unwrap();
    let expected = [&shown[..], &[Message::user("go on")]].concat();
    assert_eq!(load(&path).unwrap().conversation.messages(), expected);
    assert_eq!(home.path().read_dir().unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn an_answer_that_came_to_its_end_has_nothing_beside_it() {
    let home = tempfile::tempdir().unwrap();
    let mut session = session(home.path());
    assert!(session.partial_keeper().is_none());
    session.append_message("lab/m", &Message::user("hi"), at(1)).unwrap();
    keep_partial(&session, &Message::assistant("one two"));
    let path = session.path().unwrap().to_owned();
    let aside = path.with_extension("partial");
    let kept = std::fs::read(&aside).unwrap();
    session.append_message("lab/m", &Message::assistant("one two three"), at(1)).unwrap();
    assert!(!aside.exists());
    // Killed in between: the file has more than was beside it.
    std::fs::write(&aside, &kept).unwrap();
    let expected = [Message::user("hi"), Message::assistant("one two three")];
    assert_eq!(load(&path).unwrap().conversation.messages(), expected);
    // Killed, or out of room, in the middle of the line: what was beside it is all there is.
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let expected = [Message::user("hi"), Message::assistant("one two")];
    assert_eq!(load(&path).unwrap().conversation.messages(), expected);
    let mut next = Session::resume(session.id().clone(), "/src".into(), path.clone(), Redactor::default());
    next.append_message("lab/m", &Message::user("go on"), at(2)).unwrap();
    assert_eq!(load(&path).unwrap().conversation.messages()[..2], expected);
}

#[test]
fn directories_are_the_owners_alone() {
    use crate::platform::os::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("state/axi/sessions");
    session(&folder).append_message("lab/m", &Message::user("hi"), at(1)).unwrap();
    for folder in [folder.as_path(), folder.parent().unwrap()] {
        assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

thread_local! {
    /// How many bytes of each line to come are written before the disk is full; `None` for all.
    static ROOM: std::cell::RefCell<VecDeque<Option<usize>>> = const { std::cell::RefCell::new(VecDeque::new()) };
}

fn write_in_little_room(file: &mut File, line: &[u8]) -> std::io::Result<()> {
    match ROOM.with_borrow_mut(VecDeque::pop_front).flatten() {
        None => file.write_all(line),
        Some(room) => {
            file.write_all(&line[..room.min(line.len() - 1)])?;
            Err(std::io::ErrorKind::StorageFull.into())
        }
    }
}

fn kinds(path: &Path) -> Vec<EntryKind> {
    let lines = std::fs::read(path).unwrap();
    let read = |line: &[u8]| serde_json::from_slice::<Entry>(line).unwrap().kind;
    lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(read).collect()
}

proptest::proptest! {
    #[test]
    fn whatever_could_not_be_written_the_file_has_each_line_once_and_in_order(
        room in proptest::collection::vec(proptest::option::of(0..400_usize), 0..30),
        said in proptest::collection::vec(0..4_u8, 1..20),
    ) {
        let home = tempfile::tempdir().unwrap();
        let mut session = session(home.path());
        session.write_line = write_in_little_room;
        ROOM.set(room.into());
        let mut expected = Vec::new();
        for (number, kind) in said.into_iter().chain([0]).enumerate() {
            let text = format!("message {number}");
            let appended = match kind {
                0 | 1 => {
                    let message = if kind == 0 { Message::user(&text) } else { Message::assistant(&text) };
                    expected.push(EntryKind::Message { message: message.clone() });
                    session.append_message("lab/m", &message, at(1))
                }
                _ if expected.is_empty() => continue,
                2 => {
                    let kind = EntryKind::Rewound { messages: number as u64 };
                    expected.push(kind.clone());
                    session.append(kind, at(1))
                }
                _ => {
                    let kind = EntryKind::TurnEnded { end: text };
                    expected.push(kind.clone());
                    session.append(kind, at(1))
                }
            };
            if appended.is_ok() {
                assert_eq!(kinds(session.path().unwrap())[1..], expected);
            } else {
                assert!(session.sync().is_err() || kinds(session.path().unwrap())[1..] == expected);
            }
        }
        ROOM.set(VecDeque::new());
        session.sync().unwrap();
        let written = kinds(session.path().unwrap());
        assert!(matches!(written[0], EntryKind::Started { .. }));
        assert_eq!(written[1..], expected);
    }
}

#[test]
fn what_waits_is_written_when_the_session_is_left() {
    let home = tempfile::tempdir().unwrap();
    let mut left = session(home.path());
    left.write_line = write_in_little_room;
    ROOM.set([None, Some(9)].into());
    assert!(left.append_message("lab/m", &Message::user("hi"), at(1)).is_err());
    assert!(left.partial_keeper().is_none(), "what comes before it is not in the file");
    let path = left.path().unwrap().to_owned();
    drop(left);
    assert_eq!(load(&path).unwrap().conversation.messages(), [Message::user("hi")]);
}

#[test]
fn a_file_that_somebody_removed_is_written_anew_with_all_that_was_said() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sessions");
    let mut first = session(&folder);
    first.append_message("lab/m", &Message::user("hi"), at(1)).unwrap();
    let path = first.path().unwrap().to_owned();
    assert!(!first.take_remade());
    std::fs::remove_dir_all(&folder).unwrap();
    first.append_message("lab/m", &Message::assistant("hello"), at(2)).unwrap();
    assert!(first.take_remade() && !first.take_remade());
    assert!(is_held(&path), "no other axi writes to the new one");
    let said = [Message::user("hi"), Message::assistant("hello")];
    assert_eq!(load(&path).unwrap().conversation.messages(), said);
    drop(first);
    // One that is gone on with, before its first line.
    let mut second = Session::resume(load(&path).unwrap().id, "/src".into(), path.clone(), Redactor::default());
    std::fs::remove_file(&path).unwrap();
    second.append_message("lab/m", &Message::user("more"), at(2)).unwrap();
    let said = [&said[..], &[Message::user("more")]].concat();
    assert_eq!(load(&path).unwrap().conversation.messages(), said);
}
