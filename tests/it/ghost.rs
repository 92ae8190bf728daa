//! Ghost text from a model, in a real terminal with two scripted servers: one that talks, one that suggests.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::home::Home;
use crate::support::pty::{PATIENCE, View};
use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::skip::skip;
use crate::support::talk::{Person, axi, last_said, run, session_files};

const RIGHT: &str = "\x1b[C";
const CONTROL_RIGHT: &str = "\x1b[1;5C";

/// axi with a model for ghost text behind `small`.
fn haunted(home: &Home, server: &Server, small: &Server) -> Command {
    // The menu of models asks both servers.
    small.ignore("GET /v1/models");
    let provider = format!("[providers.small]\nbase_url = \"{}\"\n", small.url("/v1"));
    home.write("config/axi/config.toml", &format!("suggest_model = \"small/tiny\"\n\n{provider}"));
    axi(home, server)
}

fn logged(home: &Home) -> String {
    let logs = std::fs::read_dir(home.path().join("state/axi/logs")).into_iter().flatten().flatten();
    logs.filter_map(|log| std::fs::read_to_string(log.path()).ok()).collect()
}

/// Somebody has typed `now run`, and sees the suggestion of a model that has no other.
fn now_run(home: &Home, server: &Server) -> (Person, Server) {
    let small = Server::start([answer::chat_text("run the tests")]);
    let mut person = Person::meets(&haunted(home, server, &small));
    person.types("now run");
    sees_row(&person, "now run the tests");
    (person, small)
}

/// Waits for the row of the cursor to show exactly this behind the prompt, ghost text included.
fn sees_row(person: &Person, text: &str) {
    let row = |view: &mut View<'_>| {
        let (row, _) = view.screen().cursor_position();
        view.screen().rows(0, 200).nth(usize::from(row)).unwrap_or_default()
    };
    person.waits(|view| row(view).trim_end().ends_with(&format!("❯ {text}").trim_end()), text);
}

fn is_dim_from_the_cursor(view: &mut View<'_>) -> bool {
    let (row, column) = view.screen().cursor_position();
    let before = view.screen().cell(row, column.saturating_sub(1)).is_some_and(vt100::Cell::dim);
    !before && view.screen().cell(row, column).is_some_and(vt100::Cell::dim)
}

#[test]
fn a_model_goes_on_with_the_line_without_a_key_and_enter_never_takes_it() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("done")]);
    let small = Server::start([answer::chat_text("fix the parser first")]);
    let mut person = Person::meets(&haunted(&home, &server, &small));
    person.types("please fix");
    sees_row(&person, "please fix the parser first");
    person.waits(is_dim_from_the_cursor, "dim ghost text");
    let asked = &small.requests()[0].body;
    assert_eq!((&asked["max_tokens"], &asked["temperature"]), (&30.into(), &0.3.into()), "{asked}");
    assert_eq!((&asked["model"], asked.get("tools")), (&"tiny".into(), None));
    assert!(last_said(&small.requests()[0]).ends_with("please fix"));
    person.types("\r");
    person.sees("done");
    assert_eq!(last_said(&server.requests()[0]), "please fix");
    assert_eq!(person.count("please fix the parser"), 0, "{}", person.pty.describe());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn right_and_tab_take_all_of_it_and_ctrl_right_a_word() {
    for (key, sent) in
        [(RIGHT, "now run the tests!"), ("\t", "now run the tests!"), (CONTROL_RIGHT, "now run the!")]
    {
        let home = Home::new();
        let server = Server::start([answer::chat_text("done")]);
        let (mut person, _small) = now_run(&home, &server);
        person.types(key);
        person.types("!");
        person.waits(|view| view.text().contains('!'), "what was taken");
        person.types("\r");
        person.sees("done");
        assert_eq!(last_said(&server.requests()[0]), sent);
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn what_is_typed_along_it_keeps_the_rest_and_another_letter_takes_it_away() {
    let home = Home::new();
    let server = Server::start([]);
    let (mut person, small) = now_run(&home, &server);
    person.types(" the");
    sees_row(&person, "now run the tests");
    assert_eq!(small.requests().len(), 1);
    person.types("x");
    sees_row(&person, "now run thex");
}

#[test]
fn the_next_key_cancels_what_is_being_asked_and_so_do_three_seconds() {
    let home = Home::new();
    let server = Server::start([]);
    let gates = [Gate::new(), Gate::new()];
    let late = |gate| answer::chat_text("run the tests").gate_before(1, gate);
    let small = Server::start([late(&gates[0]), late(&gates[1])]);
    let mut person = Person::meets(&haunted(&home, &server, &small));
    person.types("now");
    gates[0].wait_reached();
    person.types(" r");
    small.wait_closed(1);
    // The line has changed: it is asked for anew, and given up without a key.
    gates[1].wait_reached();
    small.wait_closed(2);
    person.types("un");
    sees_row(&person, "now run");
}

#[test]
fn failures_are_in_the_log_and_nowhere_else() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("done")]);
    let body = serde_json::json!({"error": {"message": "no such model", "type": "invalid_request_error"}});
    let small = Server::start([Answer::json(404, &body)]);
    let mut person = Person::meets(&haunted(&home, &server, &small));
    person.types("now run");
    small.wait_requests(1);
    // The next key takes back a question that is not answered yet: a failure needs its answer first.
    person.waits(|_| logged(&home).contains("no ghost text"), "the failure in the log");
    person.types(" it");
    sees_row(&person, "now run it");
    person.types("\r");
    person.sees("done");
    assert_eq!((person.count("error"), person.count("no such model")), (0, 0));
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn after_a_turn_a_next_message_is_proposed_and_only_tab_takes_it() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("The parser is fixed."), answer::chat_text("All green.")]);
    let small = Server::start([answer::chat_text("Run the tests")]);
    let mut person = Person::meets(&haunted(&home, &server, &small));
    person.sends("fix the parser");
    person.sees("The parser is fixed.");
    sees_row(&person, "Run the tests");
    person.waits(is_dim_from_the_cursor, "dim ghost text");
    let proposing = small.requests().into_iter().rfind(|request| last_said(request).ends_with("They type next:"));
    let said = last_said(&proposing.unwrap());
    assert!(said.contains("fix the parser") && said.contains("The parser is fixed."), "{said}");
    let prompts = person.count("❯");
    person.types("\r");
    person.waits(|view| view.transcript().matches('❯').count() > prompts, "the next prompt");
    sees_row(&person, "Run the tests");
    person.types("\t");
    person.sees_line("Run the tests");
    assert_eq!(server.requests().len(), 1, "Enter sent what nobody took");
    person.types("\r");
    person.sees("All green.");
    assert_eq!(last_said(&server.requests()[1]), "Run the tests");
}

#[test]
fn its_tokens_are_counted_apart_and_capped() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("done")]);
    let small = Server::start([answer::chat_text("run the tests")]);
    let mut command = haunted(&home, &server, &small);
    command.env("AXI_SUGGEST_MAX_TOKENS", "12");
    let mut person = Person::meets(&command);
    person.types("now run");
    sees_row(&person, "now run the tests");
    // 15 tokens are used: nothing is asked any more.
    person.types("\x15something else");
    person.waits(|_| logged(&home).contains("its tokens are used up"), "the limit in the log");
    person.types("\x15/usage\r");
    person.sees("ghost text: 10 tokens read, 5 written");
    assert_eq!((person.count("10 tokens read"), small.requests().len()), (1, 1));
    person.sees_prompt();
    person.sends("hello there");
    person.sees("done");
    person.sees_prompt();
    person.sends("/usage");
    person.waits(|view| view.transcript().matches("10 tokens read, 5 written").count() == 3, "both counts");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_session_is_named_while_nobody_types_and_each_once() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("It is fixed."), answer::chat_text("They pass.")]);
    let small = Server::start(["Run the tests", "\"The parser.\"", "Commit it"].map(answer::chat_text));
    let mut person = Person::meets(&haunted(&home, &server, &small));
    person.sends("fix the parser");
    person.sees("It is fixed.");
    sees_row(&person, "Run the tests");
    small.wait_requests(2);
    assert!(last_said(&small.requests()[1]).ends_with("The title:"), "{}", small.requests()[1].text);
    let limit = Instant::now() + PATIENCE;
    while !run(home.axi().args(["sessions", "list"])).out.contains("The parser") {
        assert!(Instant::now() < limit, "it got no title");
    }
    person.types("go on\r");
    person.sees("They pass.");
    sees_row(&person, "Commit it");
    assert_eq!(small.requests().len(), 3);
    // It is nothing that the conversation has, and the file is whole.
    assert_eq!(person.leaves(), Some(0));
    let shown = run(home.axi().args(["sessions", "show", &id_of(&home)]));
    let talk = shown.out.strip_prefix("# The parser\n").unwrap_or_else(|| panic!("{}", shown.out));
    assert!(!talk.contains("The parser") && shown.err.is_empty(), "{}{}", shown.out, shown.err);
}

fn id_of(home: &Home) -> String {
    session_files(home)[0].file_stem().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn words_of_the_session_are_offered_at_once_without_any_model() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("Rename parse_configuration_file in src/config.rs.")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("what next?");
    person.sees("in src/config.rs.");
    person.sees_prompt();
    person.types("do rename parse_c");
    sees_row(&person, "do rename parse_configuration_file");
    person.types("\t now");
    person.sees_line("do rename parse_configuration_file now");
    assert!(person.pty.wait_until(|view| !view.text().contains("panicked"), PATIENCE));
}

/// How often any thread of a process has gone to sleep, Linux only.
fn sleeps(id: u32) -> Option<u64> {
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).ok()?;
    let status = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok());
    let count = |status: String| {
        status.lines().find_map(|row| row.strip_prefix("voluntary_ctxt_switches:")?.trim().parse::<u64>().ok())
    };
    Some(status.filter_map(count).sum())
}

#[test]
fn a_prompt_that_waits_for_no_answer_sleeps() {
    let home = Home::new();
    let server = Server::start([]);
    let (mut person, _small) = now_run(&home, &server);
    let id = person.pty.id();
    let begun = std::time::Instant::now();
    // It may still have something to finish; then nothing wakes it up until a key.
    loop {
        // Only Linux tells; elsewhere there is nothing to see.
        let Some(before) = sleeps(id) else { return skip("this system does not tell how often a process woke up") };
        std::thread::sleep(Duration::from_millis(300));
        if sleeps(id) == Some(before) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it wakes up again and again");
    }
    person.types("\x15");
    person.sees_prompt();
}
