//! Pastes in a real terminal, with and without marks.

use std::time::Duration;

use crate::editor::{LEFT, play};
use crate::support::home::Home;

const PATIENCE: Duration = Duration::from_mins(1);

fn marked(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

#[test]
fn a_short_paste_is_text() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send(format!("see {}", marked("one\r\n\ttwo\rthree\x1b[31m")));
    pty.wait_for("three");
    pty.send("\r");
    pty.wait_for(r#"sent "see one\n\ttwo\nthree[31m""#);
}

#[test]
fn a_long_paste_is_one_block_and_sent_whole() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    let lines: String = "a line of the paste, as long as lines are\n".repeat(10_000);
    pty.send(format!("see {}", marked(&lines)));
    pty.wait_for("❯ see [pasted 10,000 lines]");
    pty.send(" please\r");
    let sent = format!("sent {} bytes, 10001 lines", lines.len() + "see  please".len());
    assert!(pty.wait_until(|view| view.text().contains(&sent), PATIENCE), "{}", pty.describe());
}

#[test]
fn a_block_is_moved_over_and_deleted_as_one() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    let block = marked(&"line\n".repeat(200));
    pty.send(format!("a{block}b"));
    pty.wait_for("❯ a[pasted 200 lines]b");
    pty.send(LEFT);
    pty.send(LEFT);
    pty.send("X");
    pty.wait_for("❯ aX[pasted 200 lines]b");
    pty.send("\x1b[3~");
    pty.wait_for("❯ aXb");
    pty.send(&block);
    pty.wait_for("❯ aX[pasted 200 lines]b");
    pty.send("\x7f\r");
    pty.wait_for("sent \"aXb\"");
}

#[test]
fn a_block_comes_back_from_the_history() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    let text = "line\n".repeat(200);
    pty.send(format!("see {}\r", marked(&text)));
    pty.wait_for("sent 1004 bytes, 200 lines");
    drop(pty);
    let mut pty = play(&home, "emacs");
    pty.send("\x1b[A");
    pty.wait_for("❯ see [pasted 200 lines]");
    pty.send("\r");
    pty.wait_for("sent 1004 bytes, 200 lines");
}

#[test]
fn a_flood_without_marks_is_not_sent_at_its_first_row() {
    for manner in ["emacs", "cooked"] {
        let home = Home::new();
        let mut pty = play(&home, manner);
        // Above 16 KB crossterm alone would stall.
        let rows: String = "a row of the flood, as long as rows are\r".repeat(2_000);
        for piece in rows.as_bytes().chunks(1000) {
            pty.send(piece);
        }
        let seen = pty.wait_until(|view| view.text().contains("[pasted 2,000 lines]"), PATIENCE);
        assert!(seen, "{manner}: {}", pty.describe());
        pty.send("\r");
        let sent = format!("sent {} bytes, 2000 lines", rows.len());
        assert!(pty.wait_until(|view| view.text().contains(&sent), PATIENCE), "{manner}: {}", pty.describe());
    }
}

#[test]
fn a_few_rows_without_marks_wait_for_enter() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send("one\rtwo\rthree");
    pty.wait_for("three");
    pty.send("\r");
    pty.wait_for(r#"sent "one\ntwo\nthree""#);
}
