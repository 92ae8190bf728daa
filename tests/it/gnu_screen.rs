//! The REPL inside GNU screen, which knows neither synchronized output nor most of what tmux does.

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::skip::has;
use crate::support::talk::{Person, axi, last_said};

#[test]
fn the_line_its_menus_and_an_answer_work_inside_gnu_screen() {
    if !has("screen") {
        return;
    }
    let home = Home::new();
    home.write("work/notes.md", "a note\n");
    let sockets = home.path().join("sockets");
    std::fs::create_dir(&sockets).unwrap();
    private(&sockets);
    let text = (1..=200).map(|number| format!("w{number:03}")).collect::<Vec<_>>().join(" ");
    let server = Server::start([answer::chat_text(&text)]);
    let inside = axi(&home, &server);
    let mut screen = home.command("screen");
    for (name, value) in inside.get_envs() {
        screen.env(name, value.unwrap_or_default());
    }
    // It would take the terminal's own name for something to run in.
    screen.env("SCREENDIR", &sockets).env_remove("STY").env("SHELL", "/bin/sh");
    screen.args(["-U", "-c", "/dev/null"]).arg(inside.get_program());
    let mut person = Person::meets(&screen);
    person.types("你好 abc");
    person.sees_line("你好 abc");
    person.types("\x7f\x7f\x7f\x7f\x7f");
    person.sees_line("你");
    person.types("\x15/");
    person.sees("› /help");
    // ESC closes the menu, an arrow key moves in it.
    person.types("\x1b[B");
    person.sees("› /model");
    person.types("\x1b");
    person.waits(|view| !view.text().contains('›'), "the menu gone");
    person.types("\x15see @no");
    person.sees("› notes.md");
    person.types("\t");
    person.sees_line("see @notes.md ");
    person.types("\r");
    person.sees("w200");
    person.sees_prompt();
    assert!(last_said(&server.requests()[0]).contains("a note"));
    let seen = person.pty.view(|view| view.text());
    let words: Vec<&str> =
        seen.split_whitespace().filter(|word| word.len() == 4 && word.starts_with('w')).collect();
    let mut sorted = words.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(words, sorted, "{seen}");
    person.types("\x1b[A");
    person.sees_line("see @notes.md");
    person.types("\x15\x04");
    // It says that it ends, whatever code the program in it ended with.
    person.pty.wait_exit();
}

/// Screen refuses a folder that others may look into.
fn private(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).unwrap();
}
