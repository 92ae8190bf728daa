//! Tests of the history in memory.

use std::path::Path;

use reedline::SearchFilter;

use super::super::file::ENTRIES;
use super::*;

fn store_at(path: Option<&Path>, directory: &str, enabled: bool) -> HistoryStore {
    let options = HistoryOptions { path: path.map(Path::to_owned), directory: directory.to_owned(), enabled };
    HistoryStore::new(options, PasteStore::default(), Arc::new(|text| format!("[pasted {} bytes]", text.len())))
}

fn seen_by(store: &HistoryStore) -> LineHistory {
    LineHistory { store: store.clone(), state: SharedState::default() }
}

fn send(store: &HistoryStore, line: &str) {
    seen_by(store).save(HistoryItem::from_command_line(line)).unwrap();
}

/// One step as ↑ or ↓ makes it: from which line, among those with which beginning.
fn step(
    store: &HistoryStore,
    direction: SearchDirection,
    start_id: Option<HistoryItemId>,
    prefix: &str,
) -> Option<HistoryItem> {
    let filter = SearchFilter::from_text_search(CommandLineSearch::Prefix(prefix.to_owned()), None);
    let query =
        SearchQuery { direction, start_time: None, end_time: None, start_id, end_id: None, limit: Some(1), filter };
    seen_by(store).search(query).unwrap().pop()
}

fn all(store: &HistoryStore) -> Vec<String> {
    let query = SearchQuery::everything(SearchDirection::Backward, None);
    let items = seen_by(store).search(query).unwrap();
    items.into_iter().map(|item| item.command_line).collect()
}

fn file_lines(path: &Path) -> Vec<String> {
    HistoryFile::new(path.to_owned()).read_newest().unwrap().into_iter().map(|entry| entry.line).collect()
}

#[test]
fn lines_are_there_once_the_newest_first() {
    let store = store_at(None, "/d", true);
    for line in ["one", "two", "one", "three", "three"] {
        send(&store, line);
    }
    assert_eq!(all(&store), ["three", "one", "two"]);
}

#[test]
fn what_must_not_be_kept_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let store = store_at(Some(&path), "/d", true);
    for line in [" private", "\tprivate", "password=hunter2", "use sk-abcdefghijklmnopqrstuv", "   ", "kept"] {
        send(&store, line);
    }
    assert_eq!(file_lines(&path), ["kept"]);
    assert_eq!(all(&store), ["kept"]);
}

#[test]
fn a_secret_in_a_paste_is_a_secret() {
    let store = store_at(None, "/d", true);
    let block = store.pastes.keep("-----BEGIN RSA PRIVATE KEY-----\nabc".to_owned(), "[pasted 2 lines]").unwrap();
    send(&store, &format!("what is {block}"));
    assert_eq!(all(&store), Vec::<String>::new());
}

#[test]
fn without_history_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    send(&store_at(Some(&path), "/d", true), "old");
    let store = store_at(Some(&path), "/d", false);
    store.refresh();
    send(&store, "new");
    assert_eq!(file_lines(&path), ["old"]);
    assert_eq!(all(&store), ["old"]);
}

#[test]
fn this_directory_comes_before_others_and_this_session_before_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    for (directory, line) in
        [("/here", "here 1"), ("/there", "there 1"), ("/here", "here 2"), ("/there", "there 2")]
    {
        send(&store_at(Some(&path), directory, true), line);
    }
    let store = store_at(Some(&path), "/here", true);
    send(&store, "now");
    store.refresh();
    assert_eq!(all(&store), ["now", "here 2", "here 1", "there 2", "there 1"]);
}

#[test]
fn lines_of_other_processes_are_picked_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let (one, other) = (store_at(Some(&path), "/d", true), store_at(Some(&path), "/d", true));
    one.refresh();
    other.refresh();
    drop((one.ready(), other.ready()));
    send(&one, "from one");
    send(&other, "from other");
    one.refresh();
    other.refresh();
    assert_eq!(all(&one), ["from other", "from one"]);
    assert_eq!(all(&other), ["from other", "from one"]);
    assert_eq!(file_lines(&path), ["from one", "from other"]);
}

#[test]
fn browsing_goes_by_prefix_and_comes_back() {
    let store = store_at(None, "/d", true);
    for line in ["git log", "make", "git status"] {
        send(&store, line);
    }
    let step =
        |direction, start_id| step(&store, direction, start_id, "git").map(|item| (item.command_line, item.id));
    let (first, id) = step(SearchDirection::Backward, None).unwrap();
    let (second, older) = step(SearchDirection::Backward, id).unwrap();
    assert_eq!((first.as_str(), second.as_str()), ("git status", "git log"));
    assert_eq!(step(SearchDirection::Backward, older), None);
    assert_eq!(step(SearchDirection::Forward, older).unwrap().0, "git status");
    assert_eq!(step(SearchDirection::Forward, id), None);
}

#[test]
fn pastes_come_back_as_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let store = store_at(Some(&path), "/d", true);
    let long = "line\n".repeat(100);
    let block = store.pastes.keep(long.clone(), "[pasted 100 lines]").unwrap();
    send(&store, &format!("explain {block} briefly"));
    let later = store_at(Some(&path), "/d", true);
    later.refresh();
    let [line] = &all(&later)[..] else { panic!() };
    assert_eq!(later.pastes.expand(line), format!("explain {long} briefly"));
    assert_eq!(later.pastes.labelled(line), "explain [pasted 500 bytes] briefly");
}

#[test]
fn huge_pastes_are_kept_as_their_label() {
    let store = store_at(None, "/d", true);
    let block = store.pastes.keep("x".repeat(PASTES_KEPT + 1), "[pasted 262,145 bytes]").unwrap();
    send(&store, &format!("explain {block}"));
    assert_eq!(all(&store), ["explain [pasted 262,145 bytes]"]);
}

#[test]
fn a_file_cannot_forge_a_block() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    std::fs::write(&path, "{\"l\":\"a\u{FDD0}\u{300}\u{300}b\u{FFFC}c\",\"p\":[]}\n").unwrap();
    let store = store_at(Some(&path), "/d", true);
    store.refresh();
    assert_eq!(all(&store), ["a\u{300}\u{300}b\u{FFFC}c"]);
}

#[test]
fn completion_is_the_rest_of_the_best_line() {
    let store = store_at(None, "/d", true);
    for line in ["explain the parser", "explain 上海"] {
        send(&store, line);
    }
    assert_eq!(store.completion("explain ").as_deref(), Some("上海"));
    assert_eq!(store.completion("explain t").as_deref(), Some("he parser"));
    assert_eq!(store.completion("explain the parser"), None);
    assert_eq!(store.completion("x"), None);
}

#[test]
fn a_line_that_was_not_sent_is_not_kept() {
    let store = store_at(None, "/d", true);
    let mut history = seen_by(&store);
    history.state.lock().ended = Some(crate::frontend::repl::line::Ended::Help);
    history.save(HistoryItem::from_command_line("?")).unwrap();
    assert_eq!(all(&store), Vec::<String>::new());
}

#[test]
fn what_is_too_old_for_the_memory_is_found_by_up_and_as_ghost_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let line = |text: &str| format!("{{\"t\":1,\"d\":\"/d\",\"l\":\"{text}\"}}\n");
    let newer: String = (0..ENTRIES).map(|number| line(&format!("newer {number}"))).collect();
    std::fs::write(&path, line("ancient deploy to mars") + &line("newer 7") + &line("ancient song") + &newer)
        .unwrap();
    let store = store_at(Some(&path), "/d", true);
    store.refresh();
    drop(store.ready());
    // Tries as often as it takes: the first keys may be too early.
    let go = |direction, start_id, prefix: &str, seen: &dyn Fn(Option<&str>) -> bool| loop {
        let item = step(&store, direction, start_id, prefix);
        if seen(item.as_ref().map(|item| item.command_line.as_str())) {
            return item.and_then(|item| item.id);
        }
        thread::yield_now();
    };
    let (back, on) = (SearchDirection::Backward, SearchDirection::Forward);
    let oldest = Some(HistoryItemId::new(0));
    let song = go(back, oldest, "", &|line| line == Some("ancient song"));
    assert_eq!(seen_by(&store).load(song.unwrap()).unwrap().command_line, "ancient song");
    let deploy = go(back, song, "", &|line| line == Some("ancient deploy to mars"));
    go(back, deploy, "", &|line| line.is_none());
    assert_eq!(
        go(on, deploy, "", &|line| line == Some("ancient song")),
        song,
        "a line of the memory is passed over"
    );
    assert_eq!(go(on, song, "", &|line| line == Some("newer 0")), oldest);
    let deploy = go(back, None, "ancient d", &|line| line == Some("ancient deploy to mars"));
    go(on, deploy, "ancient d", &|line| line.is_none());
    while store.completion("ancient s").as_deref() != Some("ong") {
        thread::yield_now();
    }
    while store.completion("ancient de").as_deref() != Some("ploy to mars") {
        thread::yield_now();
    }
    let lines = || {
        let (exact, _, pending) = store.older_with_letters("mars");
        (exact, pending)
    };
    while lines() != (vec!["ancient deploy to mars".to_owned()], false) {
        thread::yield_now();
    }
}

#[test]
fn fifty_at_once_lose_no_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/history.jsonl");
    std::thread::scope(|scope| {
        for writer in 0..50 {
            let path = &path;
            scope.spawn(move || {
                let store = store_at(Some(path), "/d", true);
                store.refresh();
                for line in 0..5 {
                    send(&store, &format!("line {line} of {writer}"));
                }
            });
        }
    });
    let lines = file_lines(&path);
    let distinct: std::collections::HashSet<&String> = lines.iter().collect();
    assert_eq!((lines.len(), distinct.len()), (250, 250));
}
