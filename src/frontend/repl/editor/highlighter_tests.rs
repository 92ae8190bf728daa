//! Tests of the colours of the line.

use super::*;
use crate::frontend::repl::menu::CommandEntry;

fn highlighter() -> LineHighlighter {
    let entry = CommandEntry { name: "help".to_owned(), ..CommandEntry::default() };
    LineHighlighter {
        state: SharedState::default(),
        pastes: PasteStore::default(),
        commands: Arc::new(RwLock::new(CommandMenu { entries: vec![entry], ..CommandMenu::default() })),
        theme: Theme::ansi(),
    }
}

fn styled(line: &str) -> Vec<String> {
    let plain = Theme::ansi().person;
    let parts = highlighter().highlight(line, 0).buffer.into_iter();
    parts.filter(|(style, _)| *style != plain).map(|(_, text)| text).collect()
}

#[test]
fn commands_shell_lines_and_paths_are_coloured() {
    assert_eq!(styled("/help me"), ["/help"]);
    assert_eq!(styled("/nope me"), Vec::<String>::new());
    assert_eq!(styled("!ls -l @x"), ["!", "ls -l @x"]);
    assert_eq!(styled("see @src/main.rs and @\"a b.txt\", me@example.com"), ["@src/main.rs", "@\"a b.txt\""]);
}

#[test]
fn painted_text_has_the_bytes_of_the_line() {
    let highlighter = highlighter();
    let block = highlighter.pastes.keep("long".to_owned(), "[pasted 10,000 lines]").unwrap();
    let line = format!("a\tb\u{1b}[31m{block} @上海/图.rs\nnext\u{85}");
    let painted: String = highlighter.highlight(&line, 0).buffer.into_iter().map(|(_, text)| text).collect();
    assert_eq!(painted.len(), line.len());
    assert_eq!(painted, "a b [31m[pasted 10,000 lines] @上海/图.rs\nnext  ");
}

#[test]
fn what_is_not_seen_is_marked_and_keeps_its_bytes() {
    let highlighter = highlighter();
    for (line, expected) in [
        ("rm \u{202E}fdp.x", "rm <?>fdp.x"),
        ("pass\u{200B}word\u{AD}", "pass<?>word<>"),
        ("hi\u{E0041}", "hi<??>"),
        ("نمی\u{200C}خواهم 👩\u{200D}👩 ok", "نمی\u{200C}خواهم 👩\u{200D}👩 ok"),
    ] {
        let painted: String = highlighter.highlight(line, 0).buffer.into_iter().map(|(_, text)| text).collect();
        assert_eq!(painted, expected);
        assert_eq!(painted.len(), line.len());
    }
}

#[test]
fn what_is_painted_is_told() {
    let highlighter = highlighter();
    highlighter.highlight("hello", 3);
    let state = highlighter.state.lock();
    assert_eq!((highlighter.state.line().as_str(), state.cursor, state.fresh), ("hello", 3, true));
}
