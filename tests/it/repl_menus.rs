//! The slash menu of the real REPL: levels, lists that come later, sessions, commands that are files.

use crate::support::home::Home;
use crate::support::pty::View;
use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::talk::{Person, axi, last_said, said};

const DOWN: &str = "\x1b[B";

/// A server of the settings that lists two models.
fn lab(home: &Home, server: &Server, models: Answer) {
    server.route("GET /v1/models", models);
    let section = format!("[providers.lab]\nbase_url = \"{}\"\n", server.url("/v1"));
    // The same server is also openai's here, whose models come first.
    home.write("config/axi/config.toml", &section);
}

fn models() -> Answer {
    Answer::json(200, &serde_json::json!({"data": [{"id": "qwen3"}, {"id": "llama"}]}))
}

#[test]
fn models_are_chosen_by_group_and_then_by_name() {
    let home = Home::new();
    let server = Server::start([]);
    lab(&home, &server, models());
    let mut person = Person::meets(&axi(&home, &server));
    person.types("/mod");
    person.sees("› /model");
    person.types("\t");
    person.sees("models on this machine");
    person.types("\t");
    person.sees("› openai/qwen3");
    person.types(DOWN);
    person.sees("› openai/llama");
    person.types(DOWN);
    person.sees("› lab/qwen3");
    person.types("\r");
    person.sees("using lab/qwen3");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_slow_server_blocks_no_key_and_its_models_come_without_one() {
    let home = Home::new();
    let server = Server::start([]);
    let gate = Gate::new();
    lab(&home, &server, models().gate_before(0, &gate));
    let mut person = Person::meets(&axi(&home, &server));
    person.types("/model ");
    person.sees("loading…");
    person.types("lab/q");
    person.waits(|view| view.text().contains("❯ /model lab/q"), "the keys");
    gate.open();
    person.sees("› lab/qwen3");
    person.types("\t");
    person.types("\r");
    person.sees("using lab/qwen3");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn lines_too_old_for_the_memory_are_searched_too() {
    let home = Home::new();
    let line = |text: &str| format!("{{\"t\":1,\"d\":\"/d\",\"l\":\"{text}\"}}\n");
    let newer: String = (0..25_000).map(|number| line(&format!("make part {number}"))).collect();
    home.write("state/axi/history.jsonl", &(line("ancient deploy to mars") + &newer));
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    // By its letters, though nothing in memory has them, and as ghost text.
    person.types("\x12");
    person.sees("› make part 24999");
    person.types("tomars");
    person.sees("› ancient deploy to mars");
    person.types("\r");
    person.sees_line("ancient deploy to mars");
    person.types("\x15");
    person.sees_prompt();
    person.types("ancient");
    person.sees("ancient deploy to mars");
    person.types("\x15");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn an_up_before_the_old_lines_were_searched_takes_effect_when_they_are() {
    let home = Home::new();
    let line = |text: &str| format!("{{\"t\":1,\"d\":\"/d\",\"l\":\"{text}\"}}\n");
    let newer: String = (0..60_000).map(|number| line(&format!("make part {number}"))).collect();
    let old = line("ancient deploy to mars") + &line("ancient song");
    home.write("state/axi/history.jsonl", &(old + &newer));
    let server = Server::start([answer::chat_text("flying")]);
    let mut person = Person::meets(&axi(&home, &server));
    // In one piece, so that no ghost text has the search begin earlier.
    person.types("ancient\x1b[A\x1b[A");
    let whole = "❯ ancient deploy to mars";
    let at_its_end = |view: &mut View<'_>| {
        let (row, column) = view.screen().cursor_position();
        let text = view.text();
        let text = text.lines().nth(usize::from(row)).unwrap_or_default().trim_end();
        text.ends_with(whole) && text.chars().count() == usize::from(column)
    };
    person.waits(at_its_end, "the line that ↑ takes");
    person.types("\r");
    person.sees("flying");
    assert_eq!(last_said(&server.requests()[0]), "ancient deploy to mars");
    person.sees_prompt();
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn sessions_are_switched_renamed_and_deleted_from_the_menu() {
    let home = Home::new();
    let server = Server::start(["one", "two", "three"].map(answer::chat_text));
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("remember the plover");
    person.sees("one");
    person.sees_prompt();
    person.sends("/session rename the bird");
    person.sees("this session is now called “the bird”");
    person.sees_prompt();
    person.sends("/session delete the");
    person.sees_prompt();
    person.sends("/new");
    person.sees("new session");
    person.sees_prompt();
    person.sends("another matter");
    person.sees("two");
    person.sees_prompt();
    person.types("/session ");
    person.sees("continue another session");
    person.types("sw\t");
    person.sees("the bird");
    person.types("bird");
    person.sees("› the bird");
    person.types("\t");
    person.types("\r");
    person.sees("going on with “the bird”");
    person.sees_prompt();
    person.sends("what was it?");
    person.sees("three");
    assert_eq!(said(&server.requests()[2], 1), "remember the plover");
    person.sees_prompt();
    person.sends("/session list");
    person
        .waits(|view| view.text().lines().any(|row| row.starts_with("* ") && row.contains("the bird")), "the list");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn the_session_in_use_is_not_deleted() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("one")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("hello");
    person.sees("one");
    person.sees_prompt();
    let file = crate::support::talk::session_files(&home).remove(0);
    let id = file.file_stem().unwrap().to_str().unwrap().to_owned();
    person.sends(&format!("/session delete {id}"));
    person.sees("this session is in use and is not deleted");
    person.sees("/new");
    assert!(file.exists());
    person.sees_prompt();
    person.sends("/new");
    person.sees("new session");
    person.sees_prompt();
    // What is entered without a look keeps it.
    person.sends(&format!("/session delete {id}"));
    person.sees("Delete “hello” permanently");
    person.types("\r");
    person.sees("nothing is deleted");
    assert!(file.exists());
    person.sees_prompt();
    person.sends("/session delete");
    person.sees("Which session?");
    person.types("\r");
    person.sees_choice("No, keep it");
    person.types("Yes\r");
    person.sees(&format!("deleted {id}"));
    assert!(!file.exists());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_file_becomes_a_command_in_menu_help_and_run() {
    let home = Home::new();
    home.write(
        "config/axi/commands/review.md",
        "---\ndescription: look at a file with care\nargument-hint: FILE\n---\nReview $ARGUMENTS and say what is wrong.\n",
    );
    let server = Server::start([answer::chat_text("It is without fault.")]);
    let mut person = Person::on(crate::support::pty::Pty::options().size(80, 60), &axi(&home, &server));
    person.sends("/help");
    person.sees("look at a file with care (your command)");
    person.sees_prompt();
    person.types("/rev");
    person.sees("› /review FILE");
    person.types("\x15");
    person.sees_prompt();
    person.sends("/review src/main.rs");
    person.sees("It is without fault.");
    assert_eq!(last_said(&server.requests()[0]), "Review src/main.rs and say what is wrong.");
    person.sees_prompt();
    person.sends("/reveiw");
    person.sees("did you mean /review?");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_command_of_the_project_is_shown_and_asked_about_before_it_is_sent() {
    let home = Home::new();
    home.write("work/.axi/commands/deploy.md", "Deploy $1 with \u{1b}[31mcare.\n");
    home.write("work/.axi/commands/help.md", "Not this.");
    let server = Server::start([answer::chat_text("deployed"), answer::chat_text("again")]);
    let mut person = Person { pty: crate::support::pty::Pty::options().spawn(&axi(&home, &server)) };
    // The place is not trusted as a whole; one command of it may be all the same, once it was seen.
    person.sees("Trust these files as they are?");
    person.types("\r");
    person.sees_prompt();
    person.sends("/deploy staging");
    person.sees("this project's command");
    person.sees("Deploy $1 with");
    person.sees_choice("No");
    person.types("\r");
    person.sees("not run");
    person.sees_prompt();
    assert_eq!(server.requests().len(), 0);
    person.sends("/deploy staging");
    person.sees_choice("No");
    person.types(DOWN);
    person.sees_choice("Yes");
    person.types("\r");
    person.sees("deployed");
    person.sees_prompt();
    assert!(last_said(&server.requests()[0]).starts_with("Deploy staging with"));
    // Once it was seen it runs, as long as it stays the same.
    person.sends("/deploy live");
    person.sees("again");
    person.sees_prompt();
    home.write("work/.axi/commands/deploy.md", "Delete everything.");
    person.sends("/deploy live");
    person.sees("Delete everything.");
    person.sees_choice("No");
    person.types("\r");
    person.sees_prompt();
    assert_eq!(server.requests().len(), 2);
    assert_eq!(person.leaves(), Some(0));
}
