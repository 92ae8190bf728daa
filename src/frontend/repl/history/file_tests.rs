//! Tests of the history's file.

use crate::platform::os::fs::PermissionsExt as _;

use super::*;

fn entry(line: &str) -> Entry {
    Entry { time: 1, directory: "/d".to_owned(), line: line.to_owned(), pastes: Vec::new() }
}

fn lines(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.line.as_str()).collect()
}

#[test]
fn what_is_appended_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/axi/history.jsonl");
    let mut file = HistoryFile::new(path.clone());
    assert_eq!(file.read_newest().unwrap(), []);
    let long = Entry { pastes: vec!["a\nb".to_owned()], ..entry("see \u{FFFC}\nand\tthis \"quoted\" 上海") };
    file.append(&long).unwrap();
    file.append(&entry("two")).unwrap();
    assert_eq!(file.read_newest().unwrap(), [long, entry("two")]);
    assert_eq!(file.read_new().unwrap(), []);
    HistoryFile::new(path.clone()).append(&entry("three")).unwrap();
    assert_eq!(file.read_new().unwrap(), [entry("three")]);
    assert_eq!(file.read_new().unwrap(), []);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn torn_and_foreign_lines_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    std::fs::write(&path, b"{\"l\":\"one\"}\nnot json\n\xff\xfe\n{\"t\":5}\n{\"l\":\"tor").unwrap();
    let mut file = HistoryFile::new(path);
    assert_eq!(lines(&file.read_newest().unwrap()), ["one"]);
    file.append(&entry("two")).unwrap();
    assert_eq!(lines(&file.read_new().unwrap()), ["two"]);
    assert_eq!(lines(&file.read_newest().unwrap()), ["one", "two"]);
}

#[test]
fn only_the_end_of_a_large_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let mut text = String::new();
    for index in 0..ENTRIES + 30_000 {
        text.push_str(
            &serde_json::to_string(&entry(&format!("line number {index} {}", "x".repeat(index % 90)))).unwrap(),
        );
        text.push('\n');
    }
    std::fs::write(&path, &text).unwrap();
    let read = HistoryFile::new(path).read_newest().unwrap();
    assert_eq!(read.len(), ENTRIES);
    assert!(read[0].line.starts_with("line number 30000 "));
    assert!(read[ENTRIES - 1].line.starts_with("line number 49999 "));
}

#[test]
fn hundred_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    std::thread::scope(|scope| {
        for writer in 0..100 {
            let path = path.clone();
            scope.spawn(move || {
                let file = HistoryFile::new(path);
                for index in 0..20 {
                    file.append(&entry(&format!("{writer}/{index} {}", "文".repeat(writer * 7)))).unwrap();
                }
            });
        }
    });
    let read = HistoryFile::new(path).read_newest().unwrap();
    let distinct: std::collections::HashSet<&str> = read.iter().map(|entry| entry.line.as_str()).collect();
    assert_eq!((read.len(), distinct.len()), (2000, 2000));
    for writer in 0..100 {
        let own = format!("{writer}/");
        let order: Vec<&str> =
            read.iter().map(|entry| entry.line.as_str()).filter(|line| line.starts_with(&own)).collect();
        let expected: Vec<String> =
            (0..20).map(|index| format!("{own}{index} {}", "文".repeat(writer * 7))).collect();
        assert_eq!(order, expected);
    }
}

#[test]
fn a_shrunken_file_has_nothing_new() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let mut file = HistoryFile::new(path.clone());
    file.append(&entry("one")).unwrap();
    file.read_newest().unwrap();
    std::fs::write(&path, b"").unwrap();
    assert_eq!(file.read_new().unwrap(), []);
    file.append(&entry("two")).unwrap();
    assert_eq!(lines(&file.read_new().unwrap()), ["two"]);
}
