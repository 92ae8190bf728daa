use std::ffi::OsStr;

use super::super::{Fork, load};
use super::*;
use crate::conversation::{ContentBlock, Message, Role, ToolCall};
use crate::platform::os::ffi::OsStrExt as _;

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
    crate::platform::fs::mknodat(
        crate::platform::fs::CWD,
        &pipe,
        crate::platform::fs::FileType::Fifo,
        crate::platform::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    assert_eq!(titles(&SessionStore::new(home.path().to_owned()).list()), ["hi"]);
}

fn store(home: &Path) -> SessionStore {
    SessionStore::new(home.to_owned())
}

fn appended(home: &Path, number: u16, kinds: Vec<EntryKind>) -> PathBuf {
    let path = kept(home, Path::new("/src"), number, &[Message::user(format!("session {number}"))]);
    let id = SessionId::parse(path.file_stem().unwrap().to_str().unwrap()).unwrap();
    let mut session = Session::resume(id, "/src".into(), path.clone(), Redactor::default());
    for kind in kinds {
        session.append(kind, NOW).unwrap();
    }
    path
}

#[test]
fn a_list_tells_turns_tokens_and_titles_with_and_without_its_copy() {
    let home = tempfile::tempdir().unwrap();
    let usage = Usage { input: 7, output: 3, ..Usage::default() };
    let ended = || EntryKind::TurnEnded { end: "done".into() };
    let spent = EntryKind::Usage { model: "lab/m".into(), usage, usd: None };
    let path = appended(home.path(), 1, vec![spent.clone(), ended(), spent, ended()]);
    let told = || {
        let list = store(home.path()).list();
        list.iter().map(|row| (row.title.clone(), row.named, row.turns, row.usage.total())).collect::<Vec<_>>()
    };
    assert_eq!(told(), [("session 1".to_owned(), false, 2, 20)]);
    // What is written later is read on from there; what stands in the copy is not believed beyond the file.
    let id = SessionId::parse(path.file_stem().unwrap().to_str().unwrap()).unwrap();
    let mut session = Session::resume(id, "/src".into(), path.clone(), Redactor::default());
    session.append(EntryKind::Title { title: "the bird".into() }, NOW).unwrap();
    session.append(ended(), NOW).unwrap();
    assert_eq!(told(), [("the bird".to_owned(), true, 3, 20)]);
    for damage in ["", "{", "null", "{\"form\":99,\"sessions\":{}}"] {
        std::fs::write(home.path().join("overview.json"), damage).unwrap();
        assert_eq!(told(), [("the bird".to_owned(), true, 3, 20)], "{damage}");
    }
    std::fs::remove_file(path).unwrap();
    assert_eq!(told(), []);
    assert!(!std::fs::read_to_string(home.path().join("overview.json")).unwrap().contains("the bird"));
}

#[test]
fn a_renamed_directory_has_its_sessions() {
    let home = tempfile::tempdir().unwrap();
    let place = tempfile::tempdir().unwrap();
    let (before, after) = (place.path().join("before"), place.path().join("after"));
    std::fs::create_dir(&before).unwrap();
    kept(home.path(), &before, 1, &[Message::user("hi")]);
    std::fs::rename(&before, &after).unwrap();
    assert_eq!(store(home.path()).last_of(&after).map(|found| found.title), Some("hi".to_owned()));
    // A copy is another directory.
    std::fs::create_dir(&before).unwrap();
    assert_eq!(store(home.path()).last_of(&after), None);
}

#[test]
fn a_search_ranks_by_how_much_is_said_of_it() {
    let home = tempfile::tempdir().unwrap();
    let say = |number, text: &str| kept(home.path(), Path::new("/src"), number, &[Message::user(text)]);
    say(1, "the plover flies, and much else is told here of other birds, of trees, of weather and of boats");
    say(2, "plover, plover and plover");
    say(3, "a boat \"Plover\\two\"");
    say(4, "nothing");
    let found = |text: &str| {
        let found = store(home.path()).search(text);
        let numbers: Vec<String> = found.iter().map(|row| row.id.as_str()[20..].to_owned()).collect();
        numbers
    };
    assert_eq!(found("PLOVER").first().map(String::as_str), Some("0002"));
    assert_eq!(found("PLOVER").len(), 3);
    assert_eq!(found("plover boats"), ["0001"], "all words are in it");
    assert_eq!(found("\"plover\\two"), ["0003"], "as it was written, not as the file spells it");
    assert_eq!(found("a.*b"), Vec::<String>::new(), "words are no pattern");
    assert_eq!(found("  "), Vec::<String>::new());
}

#[test]
fn old_sessions_go_and_never_one_that_is_named_open_needed_or_the_one_in_use() {
    let home = tempfile::tempdir().unwrap();
    let plain = appended(home.path(), 1, vec![]);
    let named = appended(home.path(), 2, vec![EntryKind::Title { title: "kept".into() }]);
    let current = appended(home.path(), 3, vec![]);
    let base = appended(home.path(), 4, vec![]);
    let open = appended(home.path(), 5, vec![]);
    let _held = Session::resume(SessionId::parse("x").unwrap(), "/".into(), open.clone(), Redactor::default());
    let fork = Fork::of(&load(&base).unwrap());
    let id = SessionId::new(NOW, Path::new("/src"), 6);
    let mut forked = Session::new(id, "/src".into(), Some(home.path()), Redactor::default()).begin_as(fork);
    forked.append_message("lab/m", &Message::user("on"), NOW).unwrap();
    let current_id = SessionId::parse(current.file_stem().unwrap().to_str().unwrap()).unwrap();
    let day = Duration::from_hours(24);
    let later = SystemTime::now() + day * 91;
    let touched = std::fs::File::options().append(true).open(forked.path().unwrap()).unwrap();
    touched.set_modified(later).unwrap();
    assert_eq!(store(home.path()).clean_up(day * 90, &current_id, SystemTime::now()), []);
    let gone = store(home.path()).clean_up(day * 90, &current_id, later);
    assert_eq!(titles(&gone), ["session 1"]);
    assert!(!plain.exists());
    for path in [named, current, base.clone(), open] {
        assert!(path.exists(), "{path:?}");
    }
    let base_id = base.file_stem().unwrap().to_str().unwrap();
    assert!(matches!(store(home.path()).delete(base_id), Err(SessionError::Needed { .. })));
}

#[test]
fn a_fork_has_the_beginning_and_neither_changes_the_other() {
    let home = tempfile::tempdir().unwrap();
    let said = [Message::user("one"), Message::assistant("1"), Message::user("two"), Message::assistant("2")];
    let base = kept(home.path(), Path::new("/src"), 1, &said);
    let loaded = load(&base).unwrap();
    let fork = |number, fork: Fork| {
        let id = SessionId::new(NOW, Path::new("/src"), number);
        let mut session = Session::new(id, "/src".into(), Some(home.path()), Redactor::default()).begin_as(fork);
        assert!(!session.path().unwrap().exists(), "looking around leaves no file");
        session.append(EntryKind::Pinned { text: "early".into() }, NOW).unwrap();
        session.append_message("lab/m", &Message::user("three"), NOW).unwrap();
        session.path().unwrap().to_owned()
    };
    let (whole, before) = (fork(2, Fork::of(&loaded)), fork(3, Fork::of(&loaded).before(2)));
    // The first one goes on, is rewound, is gone on with again.
    let mut first = Session::resume(loaded.id, "/src".into(), base.clone(), Redactor::default());
    first.append(EntryKind::Rewound { messages: 0 }, NOW).unwrap();
    first.append_message("lab/m", &Message::user("other"), NOW).unwrap();
    let of = |path: &Path| load(path).unwrap().conversation;
    assert_eq!(of(&whole).messages(), [&said[..], &[Message::user("three")]].concat());
    assert_eq!(of(&before).messages(), [&said[..2], &[Message::user("three")]].concat());
    assert_eq!((of(&whole).pins(), of(&base).pins().len()), (&["early".to_owned()][..], 0));
    assert_eq!(store(home.path()).list().iter().filter(|row| row.title == "one").count(), 3);
    // A fork of a fork; and one whose beginning is gone says that something is missing.
    let second = fork(4, Fork::of(&load(&whole).unwrap()));
    assert_eq!(of(&second).messages().len(), 6);
    std::fs::remove_file(base).unwrap();
    assert_eq!((of(&before).messages().len(), load(&before).unwrap().skipped), (1, 1));
}

#[test]
fn what_a_session_cost_is_told_where_each_price_was_known() {
    let home = tempfile::tempdir().unwrap();
    let path = kept(home.path(), Path::new("/src"), 1, &[Message::user("one")]);
    let store = SessionStore::new(home.path().to_owned());
    let spent = || store.list()[0].spent;
    assert_eq!(spent(), None);
    let id = store.list()[0].id.clone();
    let add = |usd: Option<f64>| {
        let usage = Usage { input: 10, ..Usage::default() };
        let kind = EntryKind::Usage { model: "lab/m".into(), usage, usd: usd.map(Money::dollars) };
        Session::resume(id.clone(), "/src".into(), path.clone(), Redactor::default()).append(kind, NOW).unwrap();
    };
    add(Some(0.25));
    add(Some(0.5));
    assert_eq!(spent(), Some(Money::dollars(0.75)));
    add(None);
    assert_eq!(spent(), None);
}

#[test]
fn what_a_model_calls_a_session_is_its_title_until_a_person_gives_one() {
    let home = tempfile::tempdir().unwrap();
    let path = kept(home.path(), Path::new("/src"), 1, &[Message::user("please look at this")]);
    let store = SessionStore::new(home.path().to_owned());
    assert!(store.is_untitled(&path));
    store.set_topic(&path, "Ports of heron", NOW).unwrap();
    assert_eq!(titles(&store.list()), ["Ports of heron"]);
    assert!(!store.is_untitled(&path) && !store.list()[0].named);
    assert_eq!(titles(&store.search("heron")), ["Ports of heron"]);
    let loaded = load(&path).unwrap();
    assert_eq!((loaded.skipped, loaded.title), (0, Some("Ports of heron".to_owned())));
    store.rename(store.list()[0].id.as_str(), "mine", NOW).unwrap();
    store.set_topic(&path, "later", NOW).unwrap();
    assert_eq!((titles(&store.list()), store.list()[0].named), (vec!["mine"], true));
    // While a line is being written there, and where there is none, nothing is.
    let half = [std::fs::read(&path).unwrap(), b"{\"v\":1,".to_vec()].concat();
    std::fs::write(&path, &half).unwrap();
    store.set_topic(&path, "not now", NOW).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), half);
    assert!(store.set_topic(&home.path().join("gone.jsonl"), "x", NOW).is_err());
    assert!(!home.path().join("gone.jsonl").exists());
}

#[test]
fn a_search_reads_what_a_list_tells_of_those_alone_that_are_found() {
    let home = tempfile::tempdir().unwrap();
    assert!(SessionStore::new(home.path().to_owned()).is_empty());
    kept(home.path(), Path::new("/src"), 1, &[Message::user("the heron")]);
    kept(home.path(), Path::new("/src"), 2, &[Message::user("the plover")]);
    let store = SessionStore::new(home.path().to_owned());
    assert_eq!(titles(&store.search("HERON")), ["the heron"]);
    let copy = std::fs::read_to_string(home.path().join("overview.json")).unwrap();
    assert!(copy.contains("heron") && !copy.contains("plover"), "{copy}");
    assert!(!store.is_empty());
    // More of it than is counted changes nothing but the order.
    kept(home.path(), Path::new("/src"), 3, &[Message::user("heron ".repeat(70_000))]);
    assert_eq!(store.search("heron").len(), 2);
}

#[test]
fn no_word_names_a_session_that_is_changed_and_a_title_does_not_touch_an_answer_under_way() {
    let home = tempfile::tempdir().unwrap();
    let id = SessionId::new(NOW, Path::new("/src"), 1);
    let mut session = Session::new(id.clone(), "/src".into(), Some(home.path()), Redactor::default());
    session.append_message("lab/m", &Message::user("hi"), NOW).unwrap();
    let store = SessionStore::new(home.path().to_owned());
    for short in [&id.as_str()[..1], &id.as_str()[..7]] {
        assert!(matches!(store.rename(short, "x", NOW), Err(SessionError::TooShort(_))), "{short}");
        assert!(matches!(store.delete(short), Err(SessionError::TooShort(_))), "{short}");
    }
    // An answer is under way in the axi that has it open.
    session.partial_keeper().unwrap().keep(&Message::assistant("half of")).unwrap();
    store.rename(&id.as_str()[..8], "mine", NOW).unwrap();
    session.append_message("lab/m", &Message::assistant("half of it"), NOW).unwrap();
    let loaded = load(session.path().unwrap()).unwrap();
    assert_eq!(loaded.conversation.messages(), [Message::user("hi"), Message::assistant("half of it")]);
    assert_eq!((titles(&store.list()), loaded.skipped), (vec!["mine"], 0));
}
