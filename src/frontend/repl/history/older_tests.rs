//! Tests of what is looked for in the file.

use std::fmt::Write as _;
use std::path::Path;

use super::*;
use crate::frontend::repl::history::file::{ENTRIES, HistoryFile};
use crate::platform::os::fs::FileExt as _;

/// Far longer than any search takes.
const PATIENT: Duration = Duration::from_secs(30);

fn entry(line: &str) -> Entry {
    Entry { time: 0, directory: "/w".to_owned(), line: line.to_owned(), pastes: Vec::new() }
}

fn write_entries(path: &Path, entries: impl Iterator<Item = Entry>) {
    let mut text = String::new();
    for entry in entries {
        writeln!(text, "{}", serde_json::to_string(&entry).unwrap()).unwrap();
    }
    std::fs::write(path, text).unwrap();
}

fn write(path: &Path, lines: impl Iterator<Item = String>) {
    write_entries(path, lines.map(|line| entry(&line)));
}

fn older(path: &Path) -> OlderLines {
    let mut file = HistoryFile::new(path.to_owned());
    let newest = file.read_newest().unwrap();
    let older = OlderLines::default();
    if let Some((file, end)) = file.older() {
        let mut bytes = vec![0; 100];
        file.read_exact_at(&mut bytes, end).unwrap();
        assert!(
            String::from_utf8_lossy(&bytes).contains(&newest[0].line),
            "memory begins where the older lines end"
        );
        older.are_in(file, end, "/w");
    }
    older
}

/// Goes back from line to line as ↑ does.
fn back(older: &OlderLines, prefix: &str, most: usize) -> Vec<String> {
    let mut before = None;
    std::iter::from_fn(|| {
        let found = older.newest(prefix, before, PATIENT, |_| true).unwrap()?;
        before = Some(found.offset);
        Some(found.entry.line)
    })
    .take(most)
    .collect()
}

#[test]
fn the_oldest_of_many_lines_is_found_by_its_beginning_and_by_its_letters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let special = ["first \"quoted\" line", "first 文 line"];
    let filler = (0..100_000).map(|number| format!("make part {} of {number}", number % 977));
    write(&path, special.iter().map(|line| (*line).to_owned()).chain(filler));
    let older = older(&path);
    assert_eq!(back(&older, "first", 5), ["first 文 line", "first \"quoted\" line"]);
    assert_eq!(back(&older, "first \"", 5), ["first \"quoted\" line"]);
    assert_eq!(back(&older, "nowhere", 5), Vec::<String>::new());
    assert_eq!(back(&older, "make part 3 of", 2), ["make part 3 of 79140", "make part 3 of 78163"]);
    let wait = || {
        while older.is_searching() {
            thread::yield_now();
        }
    };
    older.with_letters("quoted");
    wait();
    assert!(older.take_news_of_letters(), "who asked is told");
    let (exact, _, pending) = older.with_letters("quoted");
    assert_eq!((exact.iter().map(|it| it.line.as_str()).collect::<Vec<_>>(), pending), (vec![special[0]], false));
    older.with_letters("frstquln");
    wait();
    let (exact, fuzzy, _) = older.with_letters("frstquln");
    assert_eq!((exact.len(), fuzzy.iter().map(|it| it.1.line.as_str()).collect::<Vec<_>>()), (0, vec![special[0]]));
}

#[test]
fn each_line_is_there_once_and_more_are_looked_for_when_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    // Each of 350 old lines three times, below what is in memory.
    let old = (0..1050).map(|number| format!("old {}", number % 350));
    write(&path, old.chain((0..ENTRIES).map(|number| format!("new {number}"))));
    let older = older(&path);
    let expected: Vec<String> = (0..350).rev().map(|number| format!("old {number}")).collect();
    assert_eq!(back(&older, "", 1000), expected);
    // And forwards again.
    let last = older.newest("", None, PATIENT, |entry| entry.line == "old 100").unwrap().unwrap();
    assert_eq!(older.next("", last.offset, |_| true).unwrap().entry.line, "old 101");
    assert_eq!(older.at(last.offset).unwrap().line, "old 100");
}

#[test]
fn damaged_and_endless_lines_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let good = |line: &str| serde_json::to_string(&entry(line)).unwrap();
    let long = "x".repeat(3 * 1024 * 1024);
    let text = format!("{}\n{{\"l\":\"torn\n\u{0}\u{1}\n{}\n{}\n", good("one"), good(&long), good("two"));
    std::fs::write(&path, &text).unwrap();
    let older = OlderLines::default();
    assert!(older.newest("", None, PATIENT, |_| true) == Ok(None), "there are none");
    older.are_in(File::open(&path).unwrap(), text.len() as u64, "/w");
    assert_eq!(back(&older, "", 9), ["two", long.as_str(), "one"]);
}

#[test]
fn who_comes_too_early_is_told_when_to_ask_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let filler = (0..60_000).map(|number| format!("make part {number}"));
    write(&path, std::iter::once("first".to_owned()).chain(filler));
    let older = older(&path);
    for (prefix, expected) in [("first", Some("first")), ("nowhere", None)] {
        let found = loop {
            match older.newest(prefix, None, Duration::ZERO, |_| true) {
                Ok(found) => break found,
                Err(NotYet) => {
                    while !older.take_news() {
                        thread::yield_now();
                    }
                }
            }
        };
        assert_eq!(found.map(|found| found.entry.line).as_deref(), expected);
    }
}

fn of(directory: &str, line: &str) -> Entry {
    Entry { directory: directory.to_owned(), ..entry(line) }
}

#[test]
fn lines_of_this_directory_come_before_all_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    // The few lines of this directory stand below far more of others than are noted at a time.
    let mut entries: Vec<Entry> = (0..20).map(|number| of("/w", &format!("make {number}"))).collect();
    entries.push(of("/else\"where", "make 3"));
    entries.extend((0..30_000).map(|number| of("/elsewhere", &format!("make part {number}"))));
    entries.push(of("/elsewhere", "say \"d\":\"/w\""));
    entries.extend((0..ENTRIES).map(|number| of("/w", &format!("new {number}"))));
    write_entries(&path, entries.into_iter());
    let older = older(&path);
    let here = (0..20).rev().map(|number| format!("make {number}"));
    let elsewhere = (0..30_000).rev().map(|number| format!("make part {number}"));
    let expected: Vec<String> = here.clone().chain(elsewhere.clone().take(350)).collect();
    assert_eq!(back(&older, "make", 370), expected);
    // On to a longer beginning, and back again over the border.
    assert_eq!(back(&older, "make p", 250), elsewhere.clone().take(250).collect::<Vec<_>>());
    assert_eq!(back(&older, "make 1", 20).len(), 11);
    let first = older.newest("make", None, PATIENT, |entry| entry.directory == "/elsewhere").unwrap().unwrap();
    assert_eq!(first.entry.line, "make part 29999");
    assert_eq!(older.next("make", first.offset, |_| true).unwrap().entry.line, "make 0");
    // Without a beginning, too.
    let all = std::iter::once("say \"d\":\"/w\"".to_owned()).chain(elsewhere);
    assert_eq!(back(&older, "", 140), here.chain(all).take(140).collect::<Vec<_>>());
    older.with_letters("make");
    while older.is_searching() {
        thread::yield_now();
    }
    let (exact, _, _) = older.with_letters("make");
    assert_eq!((exact[0].line.as_str(), exact[20].line.as_str()), ("make 19", "make part 29999"));
}
