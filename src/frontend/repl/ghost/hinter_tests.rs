//! Tests of the ghost text.

use std::sync::Arc;

use reedline::{FileBackedHistory, HistoryItem};
use tokio_util::sync::CancellationToken;

use super::super::suggest::{Exchange, Suggest, SuggestTiming, Wanted};
use super::*;
use crate::frontend::repl::history::{HistoryOptions, LineHistory};
use crate::frontend::repl::line::PasteStore;
use crate::secret::Known;

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

/// Says nothing.
struct Silent;

impl Suggest for Silent {
    fn suggest(
        &mut self,
        _: &Wanted,
        _: &Exchange,
        _: &mut dyn FnMut(&str),
        cancel: &CancellationToken,
    ) -> Option<String> {
        while !cancel.is_cancelled() {
            std::thread::yield_now();
        }
        None
    }
}

#[test]
fn no_model_is_asked_for_commands_paths_shell_lines_secrets_and_recalled_lines() {
    let mut hinter = hinter(&["an old line"]);
    hinter.history.keep_out(Known::new(["tr0ub4dor-and-3".to_owned()]));
    let timing = SuggestTiming::default();
    let suggestions = Arc::new(Suggestions::start(Box::new(Silent), timing).unwrap());
    hinter.suggestions = Some(Arc::clone(&suggestions));
    let asks = |hinter: &mut LineHinter, line: &str| {
        hint(hinter, line);
        suggestions.is_asking()
    };
    for line in ["/model x", "!make te", "see @src/ma", "ab", "password=hunter2", "it is tr0ub4dor-and-3"] {
        assert!(!asks(&mut hinter, line), "{line}");
        assert!(asks(&mut hinter, "an ordinary line"), "after {line}");
    }
    hinter.state.lock().browsing = true;
    assert!(!asks(&mut hinter, "a line from before"));
}
