//! The line editor in a real terminal: what each key of the contract does, and that it leaves no trace.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use axi::frontend::repl::{
    Candidate, CommandEntry, CommandMenu, EditStyle, Editor, EditorOptions, EditorWords, Exchange, HistoryOptions,
    PromptParts, ReadOutcome, Suggest, SuggestTiming, Wanted,
};
use axi::terminal::{Capabilities, Line, Output, Pending, Screen, Theme, Tty};
use nu_ansi_term::Style;
use rustix::termios::LocalModes;
use tokio_util::sync::CancellationToken;

use crate::support::home::Home;
use crate::support::pty::{PATIENCE, Pty};

/// Set for the program under test; its value is the manner: `emacs`, `vi`, `suggest`, `cooked`, `private`.
const PLAY: &str = "AXI_TEST_EDITOR";

/// What a pressed key sends.
pub(crate) const UP: &str = "\x1b[A";
pub(crate) const DOWN: &str = "\x1b[B";
pub(crate) const RIGHT: &str = "\x1b[C";
pub(crate) const LEFT: &str = "\x1b[D";

/// Not a test: a program that reads lines and says what it read.
#[test]
fn plays_when_asked_to() {
    let Ok(manner) = std::env::var(PLAY) else { return };
    let has = |word: &str| manner.split_whitespace().any(|other| other == word);
    let tty = if has("cooked") { None } else { Some(Tty::take().unwrap()) };
    let mut screen = Screen::new(Output::new(), 80, 24, Capabilities::FULL);
    let pending = Pending::default();
    pending.set_line(&std::env::var("PREFILL").unwrap_or_default());
    let mut editor = editor(has("vi"), !has("private"), pending);
    if has("suggest") {
        let timing = SuggestTiming { quiet: Duration::from_millis(10), idle: Duration::from_millis(20) };
        editor = editor.with_suggest(Box::new(Model), timing);
        editor.hear(Exchange { said: "fix it".to_owned(), answered: "It is fixed.".to_owned() });
    }
    loop {
        let outcome = editor.read().unwrap();
        let said = match &outcome {
            ReadOutcome::Line(text) if text.len() > 500 => {
                format!("sent {} bytes, {} lines", text.len(), text.lines().count())
            }
            ReadOutcome::Line(text) => format!("sent {text:?}"),
            other => format!("{other:?}"),
        };
        screen.commit(&Line::styled(said, Style::default()));
        screen.flush();
        if outcome == ReadOutcome::End || outcome == ReadOutcome::Line("/exit".to_owned()) {
            break;
        }
    }
    drop(tty);
}

fn editor(vi: bool, keep: bool, pending: Pending) -> Editor {
    let directory = std::env::current_dir().unwrap();
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from).unwrap();
    let mut editor = Editor::new(EditorOptions {
        history: HistoryOptions {
            path: Some(home.join("history.jsonl")),
            directory: directory.display().to_string(),
            enabled: keep,
        },
        commands: commands(),
        directory,
        home: Some(home),
        style: if vi { EditStyle::Vi } else { EditStyle::Emacs },
        keys: Vec::new(),
        theme: Theme::ansi(),
        color: true,
        words: EditorWords {
            pasted_lines: "[pasted {lines} lines]".to_owned(),
            pasted_bytes: "[pasted {bytes} bytes]".to_owned(),
        },
        external_editor: std::env::var("EDITOR").ok(),
        foreground: None,
        escape_wait: Duration::from_millis(if has_variable("SLOW") { 20_000 } else { 10 }),
        pending,
        interrupt: None,
    });
    editor.set_prompt(PromptParts { directory: "~/work".to_owned(), ..PromptParts::default() });
    editor
}

fn has_variable(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

fn commands() -> CommandMenu {
    let candidate = |value: &str, more: bool| Candidate { value: value.to_owned(), more, ..Candidate::default() };
    let local = vec![candidate("ollama/qwen3", false), candidate("ollama/llama3", false)];
    let groups = vec![candidate("local", true), candidate("cloud", true)];
    let entry = |name: &str, description: &str| CommandEntry {
        name: name.to_owned(),
        description: description.to_owned(),
        ..CommandEntry::default()
    };
    let model = CommandEntry {
        arguments: Some(Arc::new(move |levels: &[&str], _: &str| match levels {
            [] => groups.clone().into(),
            ["local"] => local.clone().into(),
            [..] => Vec::new().into(),
        })),
        ..entry("model", "choose the model")
    };
    let entries = vec![model, entry("help", "keys and commands"), entry("exit", "离开 leave")];
    CommandMenu { entries, ..CommandMenu::default() }
}

struct Model;

impl Suggest for Model {
    fn suggest(
        &mut self,
        wanted: &Wanted,
        _: &Exchange,
        _: &mut dyn FnMut(&str),
        _: &CancellationToken,
    ) -> Option<String> {
        match wanted {
            Wanted::Continuation(line) if line == "slow" => None,
            Wanted::Continuation(line) => Some(format!("{line} and say why")),
            Wanted::NextMessage => Some("Run the tests".to_owned()),
        }
    }
}

/// Starts the editor on an 80 × 24 terminal and waits for its prompt.
pub(crate) fn play(home: &Home, manner: &str) -> Pty {
    play_on(home, manner, 80, 24, &[])
}

/// Starts the editor.
pub(crate) fn play_on(home: &Home, manner: &str, columns: u16, rows: u16, environment: &[(&str, &str)]) -> Pty {
    let mut command = home.command(std::env::current_exe().unwrap());
    command.args(["--exact", "editor::plays_when_asked_to", "--nocapture"]).env(PLAY, manner);
    command.envs(environment.iter().copied());
    let pty = Pty::options().size(columns, rows).spawn(&command);
    pty.wait_for("❯");
    pty
}

/// Types one key after the other, each when the last has been painted, and waits for the line to show `text`.
pub(crate) fn type_slowly(pty: &mut Pty, text: &str) {
    let mut typed = String::new();
    for character in text.chars() {
        typed.push(character);
        pty.send(character.to_string());
        pty.wait_for(&format!("❯ {typed}"));
    }
}

fn is_cooked(pty: &Pty) -> bool {
    pty.termios().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
}

/// Waits until there are this many prompts: between two of them the terminal is in the mode it was started in.
fn wait_for_prompts(pty: &Pty, count: usize) {
    let there = pty.wait_until(|view| view.text().matches('❯').count() >= count, PATIENCE);
    assert!(there, "{}", pty.describe());
}

#[test]
fn enter_sends_and_the_terminal_is_given_back() {
    for manner in ["emacs", "cooked"] {
        let home = Home::new();
        let mut pty = play(&home, manner);
        pty.send("hello 上海 👍");
        pty.wait_for("❯ hello 上海 👍");
        pty.send("\r");
        pty.wait_for("sent \"hello 上海 👍\"");
        wait_for_prompts(&pty, 2);
        pty.send("\x04");
        pty.wait_for("End");
        assert!(pty.wait_exit().success());
        assert!(is_cooked(&pty), "{manner}");
    }
}

#[test]
fn newlines_are_made_by_three_keys_and_a_backslash() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    // With a paint between the keys, and all at once.
    for (key, word) in [("\x1b\r", "one"), ("\n", "two"), ("\\\r", "three")] {
        pty.send(format!("{word}{key}"));
        pty.wait_for(word);
    }
    pty.send("four");
    pty.wait_for("four");
    pty.send("\r");
    pty.wait_for(r#"sent "one\ntwo\nthree\nfour""#);
    pty.send("a\x1b\rb\nc\\\rd\r");
    pty.wait_for(r#"sent "a\nb\nc\nd""#);
}

#[test]
fn ctrl_c_clears_without_a_trace_and_twice_leaves() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send("a draft of\x1b\rtwo rows");
    pty.wait_for("two rows");
    pty.send("\x03");
    assert!(pty.wait_until(|view| !view.text().contains("draft"), Duration::from_secs(20)), "{}", pty.describe());
    assert!(!pty.transcript().contains("two rows"), "{}", pty.describe());
    pty.send("next\r");
    pty.wait_for("sent \"next\"");
    // What was typed between makes this one the first, however quick it comes.
    pty.send("\x03");
    pty.wait_for("Interrupted");
    // Twice within a second leaves: a slow machine may take longer between two, then it is done again.
    let until = std::time::Instant::now() + Duration::from_secs(30);
    while !pty.transcript().contains("End") {
        assert!(std::time::Instant::now() < until, "{}", pty.describe());
        pty.send("\x03");
        pty.wait_until(|view| view.text().contains("End"), Duration::from_millis(300));
    }
    assert!(pty.wait_exit().success());
}

#[test]
fn ctrl_d_deletes_on_a_line_and_leaves_on_none() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send("xy\x01\x04");
    pty.wait_for("❯ y");
    pty.send("\x7f\x05\x7f");
    assert!(pty.wait_until(|view| !view.text().contains("❯ y"), Duration::from_secs(20)));
    pty.send("\x04");
    pty.wait_for("End");
}

#[test]
fn a_question_mark_alone_asks_for_help_and_is_not_kept() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send("?");
    pty.wait_for("Help");
    pty.send("what?\r");
    pty.wait_for("sent \"what?\"");
    pty.send("\x04");
    pty.wait_exit();
    let kept = std::fs::read_to_string(home.path().join("history.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 1, "{kept}");
}

#[test]
fn the_line_is_opened_in_the_persons_editor() {
    let home = Home::new();
    let script =
        home.write("edit.sh", "#!/bin/sh\nprintf 'edited %s\\nsecond row\\n' \"$(cat \"$1\")\" > \"$1\"\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut pty = play_on(&home, "emacs", 80, 24, &[("EDITOR", script.to_str().unwrap())]);
    pty.send("draft\x0f");
    pty.wait_for("edited draft");
    pty.wait_for("second row");
    pty.send("\r");
    pty.wait_for(r#"sent "edited draft\nsecond row""#);
    pty.send("again\x18\x05");
    pty.wait_for("edited again");
    pty.send("\x03");
    drop(pty);
    let mut pty = play_on(&home, "emacs", 80, 24, &[("EDITOR", "no-such-editor")]);
    pty.send("draft\x0f");
    pty.wait_for("EditorFailed");
    let screen = pty.transcript();
    let row = screen.lines().find(|row| row.contains("EditorFailed")).unwrap();
    assert!(row.trim_start().starts_with("EditorFailed"), "{screen}");
    pty.send("!\r");
    pty.wait_for("sent \"draft!\"");
}

#[test]
fn ctrl_z_hands_the_screen_over_and_keeps_the_line() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send("first\x1b\rsecond");
    pty.wait_for("second");
    pty.send(UP);
    pty.send("\x1a");
    pty.wait_for("Suspended");
    // What the host wrote stands below all rows of the line, and the cursor is back where it was: on the first.
    let text = pty.transcript();
    let rows: Vec<&str> = text.lines().collect();
    let at = |word: &str| rows.iter().position(|row| row.contains(word)).unwrap();
    assert_eq!((at("second"), at("Suspended")), (at("first") + 1, at("first") + 2), "{rows:?}");
    pty.send("!\r");
    pty.wait_for(r#"sent "first!\nsecond""#);
}

#[test]
fn an_arrow_key_in_any_pieces_never_leaves_text() {
    for manner in ["emacs", "vi"] {
        let home = Home::new();
        let mut pty = play_on(&home, manner, 80, 24, &[("SLOW", "1")]);
        pty.send("ab");
        pty.wait_for("❯ ab");
        let left = [
            &["\x1b", "[D"][..],
            &["\x1b", "[", "C"],
            &["\x1b[", "D"],
            &["\x1b", "O", "D"],
            &["\x1b", "[1;", "1C"],
        ];
        for pieces in left {
            for piece in pieces {
                pty.send(piece);
                // However long this takes: the pieces are read apart or together.
                std::thread::sleep(Duration::from_millis(15));
            }
        }
        pty.send("x\x1b");
        std::thread::sleep(Duration::from_millis(15));
        pty.send("\r");
        pty.send("y");
        pty.wait_for("y");
        pty.send("\r");
        // From the end of two: to the left, back, twice to the left, and one to the right.
        pty.wait_for(r#"sent "ax\nyb""#);
    }
}

#[test]
fn undo_takes_back() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send("one two");
    pty.wait_for("❯ one two");
    pty.send("\x17");
    assert!(pty.wait_until(|view| !view.text().contains("two"), Duration::from_secs(20)));
    pty.send("\x1f");
    pty.wait_for("❯ one two");
}

#[test]
fn vi_keys_edit() {
    let home = Home::new();
    let mut pty = play(&home, "vi");
    pty.send("wrong word");
    pty.wait_for("wrong word");
    pty.send("\x1b");
    pty.wait_for("❮");
    pty.send("0cwright\x1b");
    pty.wait_for("right word");
    pty.send("A?\r");
    pty.wait_for("sent \"right word?\"");
    pty.send("next\r");
    pty.wait_for("sent \"next\"");
}

#[test]
fn graphemes_are_moved_over_and_deleted_whole() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send("a上e\u{301}b");
    pty.wait_for("b");
    pty.send(format!("{LEFT}\x7f\x7fX\r"));
    pty.wait_for("sent \"aXb\"");
}

#[test]
fn what_was_typed_before_comes_back_on_the_line() {
    let home = Home::new();
    let mut pty = play_on(&home, "emacs", 80, 24, &[("PREFILL", "kept draft")]);
    pty.wait_for("❯ kept draft");
    pty.send("!\r");
    pty.wait_for("sent \"kept draft!\"");
}

#[test]
fn lines_typed_ahead_are_lines_of_their_own() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send("first\rsecond\r");
    pty.wait_for("sent \"first\"");
    pty.wait_for("sent \"second\"");
    pty.send("third\r\x04");
    pty.wait_for("sent \"third\"");
    pty.wait_for("End");
    assert!(pty.wait_exit().success());
}

#[test]
fn text_in_any_pieces_arrives() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    let text = "字é👍 word, 上海 and e\u{301}".repeat(4);
    for size in 1..6 {
        for piece in text.as_bytes().chunks(size) {
            pty.send(piece);
            pty.wait_read();
        }
        pty.send("\r");
        let found = pty.wait_until(
            |view| view.transcript().matches(&format!("sent {text:?}")).count() >= size,
            Duration::from_secs(20),
        );
        assert!(found, "{size}: {}", pty.describe());
        // The terminal's answer to the next prompt's question must not come between the bytes of a character.
        pty.wait_until(|view| view.text().trim_end().ends_with('❯'), Duration::from_secs(20));
    }
}

#[test]
fn a_resize_leaves_one_line() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send("before\r");
    pty.wait_for("sent");
    wait_for_prompts(&pty, 2);
    pty.send("a short line");
    pty.wait_for("❯ a short line");
    pty.resize(40, 24);
    pty.send("!");
    pty.wait_for("❯ a short line!");
    pty.resize(80, 24);
    // This one wraps at the new width. What stands above it is only safe on terminals that wrap anew on resize,
    // which this one does not: reedline counts rows as if it did (nushell/reedline#477, #930).
    pty.send(" that is longer than forty columns");
    pty.wait_for("forty columns");
    assert_eq!(pty.transcript().matches("sent \"before\"").count(), 1, "{}", pty.describe());
    pty.resize(40, 24);
    pty.send("?");
    pty.wait_for("?");
    pty.send("\r");
    pty.wait_for("sent \"a short line! that is longer than forty columns?\"");
}
