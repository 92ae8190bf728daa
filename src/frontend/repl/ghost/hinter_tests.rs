//! Tests of the ghost text.

use std::sync::Arc;

use reedline::{FileBackedHistory, HistoryItem};

use super::*;
use crate::frontend::repl::history::{HistoryOptions, LineHistory};
use crate::frontend::repl::line::PasteStore;

fn hinter(lines: &[&str]) -> LineHinter {
    let options = HistoryOptions { path: None, directory: "/d".to_owned(), enabled: true };
    let store = HistoryStore::new(options, PasteStore::default(), Arc::new(str::to_owned));
    for line in lines {
        let mut history = LineHistory { store: store.clone(), state: SharedState::default() };
        history.save(HistoryItem::from_command_line(*line)).unwrap();
    }
    LineHinter::new(store, SessionWords::default(), SharedState::default(), Style::new().dimmed())
}

fn hint(hinter: &mut LineHinter, line: &str) -> String {
    hinter.handle(line, line.len(), &FileBackedHistory::default(), false, "");
    hinter.complete_hint()
}

#[test]
fn the_history_completes_at_every_key() {
    let mut hinter = hinter(&["explain the parser\nin detail", "run tests"]);
    assert_eq!(hint(&mut hinter, "ex"), "plain the parser");
    assert_eq!(hinter.complete_hint(), "plain the parser");
    assert_eq!(hinter.next_hint_token(), "plain");
    assert_eq!(hint(&mut hinter, "explain"), " the parser");
    assert_eq!(hinter.next_hint_token(), " the");
    assert_eq!(hint(&mut hinter, ""), "");
    assert_eq!(hint(&mut hinter, "exx"), "");
}

#[test]
fn it_is_dim_even_without_colour() {
    let mut hinter = hinter(&["run tests"]);
    for color in [true, false] {
        let shown = hinter.handle("run", 3, &FileBackedHistory::default(), color, "");
        assert_eq!(shown, "\u{1b}[2m tests\u{1b}[0m");
    }
    let plain =
        LineHinter::new(hinter.history.clone(), SessionWords::default(), SharedState::default(), Style::new());
    assert_eq!(plain.style, Style::new().dimmed());
    assert_eq!(hinter.complete_hint(), " tests");
}

#[test]
fn there_is_none_inside_a_line_or_beside_a_block() {
    let mut hinter = hinter(&["run tests"]);
    assert_eq!(hinter.handle("run", 1, &FileBackedHistory::default(), false, ""), "");
    assert_eq!(hint(&mut hinter, "run \u{FDD0}\u{300}\u{300}"), "");
}

#[test]
fn escape_takes_it_away_for_this_line() {
    let mut hinter = hinter(&["run tests"]);
    hinter.state.lock().unhinted = Some("run".to_owned());
    assert_eq!(hint(&mut hinter, "run"), "");
    assert_eq!(hint(&mut hinter, "run "), "tests");
}

#[test]
fn escapes_of_a_stored_line_are_not_painted() {
    let mut hinter = hinter(&["run \u{1b}[2Jtests"]);
    assert_eq!(hint(&mut hinter, "run"), " ");
}
