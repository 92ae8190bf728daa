//! The slash menu and the file picker in a real terminal.

use std::time::Duration;

use crate::editor::{DOWN, play, play_on, type_slowly};
use crate::support::home::Home;
use crate::support::pty::Pty;

const PATIENCE: Duration = Duration::from_secs(20);

fn gone(pty: &Pty, text: &str) {
    assert!(
        pty.wait_until(|view| !view.text().contains(text), PATIENCE),
        "{text:?} is still in\n{}",
        pty.describe()
    );
}

fn project() -> Home {
    let home = Home::new();
    for path in ["src/main.rs", "src/parser.rs", "my notes.md", "文档/说明.md", "target/debug.o"] {
        home.write(&format!("work/{path}"), "");
    }
    home.write("work/.gitignore", "target/\n");
    home
}

#[test]
fn a_slash_opens_the_menu_at_once() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    pty.send("/");
    pty.wait_for("› /model  choose the model");
    pty.wait_for("  /exit   离开 leave");
    pty.send("e");
    pty.wait_for("› /exit   离开 leave");
    pty.send("x");
    gone(&pty, "/model");
    pty.send("\x1b");
    gone(&pty, "› /exit");
    pty.wait_for("❯ /ex");
    pty.send("it\r");
    assert!(pty.wait_exit().success());
    assert!(pty.transcript().contains("sent \"/exit\""));
}

#[test]
fn a_key_that_leaves_the_line_takes_no_row_of_the_menu_along() {
    for (typed, row) in [("/mo", "› /model"), ("look @sr", "› src/")] {
        let home = project();
        let mut pty = play(&home, "emacs");
        type_slowly(&mut pty, typed);
        pty.wait_for(row);
        pty.send("\x1a");
        pty.wait_for("Suspended");
        pty.send("!\r");
        pty.wait_for(&format!("sent \"{typed}!\""));
    }
}

#[test]
fn levels_nest() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    type_slowly(&mut pty, "/mo");
    pty.wait_for("› /model");
    pty.send("\t");
    pty.wait_for("› local");
    pty.send("\t");
    pty.wait_for("› ollama/qwen3");
    pty.send(DOWN);
    pty.wait_for("› ollama/llama3");
    pty.send("\r");
    pty.wait_for("sent \"/model local ollama/llama3\"");
}

#[test]
fn enter_runs_the_command_that_is_meant() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    type_slowly(&mut pty, "/he");
    pty.wait_for("› /help");
    pty.send("\r");
    pty.wait_for("sent \"/help\"");
    type_slowly(&mut pty, "/nosuch");
    pty.send("\r");
    pty.wait_for("sent \"/nosuch\"");
    // An argument is sent as typed, whatever the menu would rather have.
    type_slowly(&mut pty, "/model loc");
    pty.wait_for("› local");
    pty.send("\r");
    pty.wait_for("sent \"/model loc\"");
}

#[test]
fn a_slash_elsewhere_opens_nothing() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    type_slowly(&mut pty, "either /or ");
    assert!(!pty.view(|view| view.text().contains('›')), "{}", pty.describe());
    pty.send("\x1b\r/");
    pty.wait_for("\n  /");
    assert!(!pty.view(|view| view.text().contains('›')), "{}", pty.describe());
}

#[test]
fn files_are_picked_anywhere_in_the_line() {
    let home = project();
    let mut pty = play(&home, "emacs");
    type_slowly(&mut pty, "compare @par");
    pty.wait_for("› src/parser.rs");
    pty.send("\t");
    pty.wait_for("❯ compare @src/parser.rs");
    gone(&pty, "›");
    pty.send("with @notes");
    pty.wait_for("› my notes.md");
    pty.send("\r");
    pty.wait_for("with @\"my notes.md\"");
    pty.send("and @说");
    pty.wait_for("› 文档/说明.md");
    pty.send("\t");
    gone(&pty, "›");
    pty.send("\r");
    pty.wait_for("sent \"compare @src/parser.rs with @\\\"my notes.md\\\" and @文档/说明.md \"");
}

#[test]
fn folders_open_and_ignored_files_are_not_offered() {
    let home = project();
    let mut pty = play(&home, "emacs");
    type_slowly(&mut pty, "@");
    pty.wait_for("  src/parser.rs");
    assert!(!pty.view(|view| view.text().contains("debug.o")), "{}", pty.describe());
    pty.send("src");
    pty.wait_for("› src/");
    pty.send("\t");
    pty.wait_for("❯ @src/");
    pty.wait_for("› src/main.rs");
    pty.send("m");
    pty.wait_for("› src/main.rs");
    // A path that is written in full is sent as it is.
    pty.send("ain.rs");
    pty.wait_for("❯ @src/main.rs");
    pty.wait_for("› src/main.rs");
    pty.send("\r");
    pty.wait_for("sent \"@src/main.rs\"");
}

#[test]
fn an_attached_path_is_deleted_as_one() {
    let home = project();
    let mut pty = play(&home, "emacs");
    type_slowly(&mut pty, "see @par");
    pty.wait_for("› src/parser.rs");
    pty.send("\t");
    pty.wait_for("❯ see @src/parser.rs");
    // The space behind the path, and the path.
    pty.send("\x7f\x7f");
    gone(&pty, "@src");
    pty.send("it\r");
    pty.wait_for("sent \"see it\"");
}

#[test]
fn escape_closes_the_picker_for_its_word() {
    let home = project();
    let mut pty = play(&home, "emacs");
    type_slowly(&mut pty, "ask @par");
    pty.wait_for("›");
    pty.send("\x1b");
    gone(&pty, "›");
    pty.send("s");
    pty.wait_for("❯ ask @pars");
    assert!(!pty.view(|view| view.text().contains('›')), "{}", pty.describe());
    pty.send("\r");
    pty.wait_for("sent \"ask @pars\"");
}

#[test]
fn narrow_and_low_terminals_are_enough() {
    let home = project();
    let mut pty = play_on(&home, "emacs", 20, 6, &[]);
    pty.send("/");
    pty.wait_for("› /model");
    let text = pty.view(|view| view.text());
    assert!(text.lines().all(|row| row.chars().count() <= 20), "{text}");
    pty.send("\x1b\x7f@");
    pty.wait_for("›");
    pty.send("\x03");
    gone(&pty, "›");
    pty.send("ok\r");
    pty.wait_for("sent \"ok\"");
}

#[test]
fn commands_and_paths_are_coloured() {
    let home = project();
    let mut pty = play(&home, "emacs");
    pty.send("see @src/main.rs now");
    pty.wait_for("now");
    let underlined = pty.view(|view| {
        let row = view.text().lines().position(|row| row.contains("@src")).unwrap();
        let row = u16::try_from(row).unwrap();
        let columns = (0..40).filter(|&column| view.screen().cell(row, column).unwrap().underline());
        columns.map(|column| view.screen().cell(row, column).unwrap().contents().to_owned()).collect::<String>()
    });
    assert_eq!(underlined, "@src/main.rs");
}
