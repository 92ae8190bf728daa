//! The model inside of axi, from the question to the answer: a model file that says what a test wants.

use std::process::Command;

use crate::support::home::Home;
use crate::support::pty::View;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, Ran, axi, run};
use crate::support::tiny_model::{answering, write};

fn local(home: &Home, says: &str) -> Command {
    let model = answering(home, says);
    let mut command = home.axi();
    command.args(["-m", &model]);
    command
}

fn call(name: &str, arguments: &str) -> String {
    format!("```json\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n```")
}

#[test]
fn an_answer_comes_without_a_key_a_server_and_a_network() {
    let home = Home::new();
    let ran = run(local(&home, "Use ls.").args(["-p", "how do I list files?"]));
    assert_eq!((ran.code, ran.out.trim_end()), (Some(0), "Use ls."), "{}", ran.err);
    let lines = run(local(&home, "Use ls.").args(["-p", "--output", "stream-json", "hi"])).out;
    assert!(lines.contains("\"local/tiny\""), "{lines}");
}

#[test]
fn what_is_done_before_the_first_word_is_told() {
    let home = Home::new();
    let ran = run(local(&home, "Use ls.").args(["-p", "--output", "stream-json", "how do I list files?"]));
    let lines: Vec<serde_json::Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let busy: Vec<&serde_json::Value> = lines.iter().map(|line| &line["activity"]).collect();
    let loading = busy.iter().position(|activity| activity["kind"] == "loading").expect(&ran.out);
    let reading: Vec<(u64, u64)> = busy[loading..]
        .iter()
        .filter_map(|activity| Some((activity["read"].as_u64()?, activity["all"].as_u64()?)))
        .collect();
    assert!(reading.len() > 2 && reading.is_sorted(), "{}", ran.out);
    let (last, all) = *reading.last().unwrap();
    assert_eq!(last, all, "{}", ran.out);
    assert!(reading.iter().all(|(_, of)| *of == all), "{}", ran.out);
}

#[test]
fn asked_how_a_model_that_might_as_well_do_it_names_the_command() {
    let home = Home::new();
    let does = call("shell", r#"{"command": "touch made.txt"}"#);
    // Both are as likely as each other; the first would be taken.
    write(&home, &[("\n", &does), ("\n", "`"), ("`", "tar -x"), ("tar -x", "<|im_end|>"), (&does, "<|im_end|>")]);
    let ran = run(home.axi().args(["-m", "local/tiny.gguf", "-y", "-p", "how do I unpack it?"]));
    assert_eq!(ran.out.trim_end(), "`tar -x", "{}", ran.err);
    assert!(!home.work().join("made.txt").exists());
}

/// Runs what a model of these words calls, and returns what the call has made.
fn made(follows: &[(&str, &str)]) -> (String, Ran) {
    let home = Home::new();
    write(&home, follows);
    let ran = run(home.axi().args(["-m", "local/tiny.gguf", "-y", "--max-steps", "1", "-p", "hi"]));
    (std::fs::read_to_string(home.work().join("made.txt")).unwrap_or_default(), ran)
}

#[test]
fn a_name_that_no_tool_has_becomes_the_name_of_one() {
    let (made, ran) = made(&[
        ("\n", "{\"name\": \""),
        ("{\"name\": \"", "rename"),
        ("rename", "\", \"arguments\": {"),
        ("shell", "\", \"arguments\": {"),
        ("\", \"arguments\": {", "\"command\": \"echo yes > made.txt\"}}"),
    ]);
    assert_eq!(made, "yes\n", "{}", ran.err);
}

#[test]
fn a_quote_inside_of_an_argument_does_not_end_it() {
    let (made, ran) = made(&[
        ("\n", "{\"name\": \"shell\", \"arguments\": {\"command\": \"printf %s "),
        ("{\"name\": \"shell\", \"arguments\": {\"command\": \"printf %s ", "\""),
        // The likeliest of those that go on inside of the text.
        ("\\\"", "yes"),
        ("\"", "yes"),
        ("yes", "\\\" > made.txt\"}}"),
    ]);
    assert_eq!(made, "yes", "{}", ran.err);
}

#[test]
fn what_a_tool_needs_is_asked_for_before_a_call_ends() {
    let (made, ran) = made(&[
        ("\n", "{\"name\": \"shell\", \"arguments\": {"),
        ("{\"name\": \"shell\", \"arguments\": {", "}}"),
        ("x", "\"command\": \"echo yes > made.txt\"}}"),
    ]);
    assert_eq!(made, "yes\n", "{}", ran.err);
}

#[test]
fn calls_of_the_own_model_are_approved_no_looser_than_those_of_others() {
    for (tool, arguments) in [
        ("shell", r#"{"command": "touch made.txt"}"#),
        ("shell", r#"{"command": "rm -rf kept"}"#),
        ("shell", r#"{"command": "curl http://example.org"}"#),
        ("shell", r#"{"command": "cat ../config/axi/secret"}"#),
        ("write", r#"{"path": "made.txt", "content": "x"}"#),
        ("edit", r#"{"path": "kept/a", "old_string": "old", "new_string": "new"}"#),
    ] {
        for flags in [&[][..], &["--deny", "shell"], &["--agent", "plan"]] {
            let run_with = |home: &Home, mut command: Command| -> (Option<i32>, bool, bool, String) {
                home.write("work/kept/a", "old\n");
                home.write("config/axi/secret", "hidden\n");
                let Ran { code, .. } = run(command.args(["-p", "hi", "--max-steps", "2"]).args(flags));
                let read = |path: &str| std::fs::read_to_string(home.work().join(path)).unwrap_or_default();
                (code, home.work().join("made.txt").exists(), home.work().join("kept").exists(), read("kept/a"))
            };
            let home = Home::new();
            let own = run_with(&home, local(&home, &call(tool, arguments)));
            let other_home = Home::new();
            let answers = (0..4).map(|number| answer::chat_call(&format!("c{number}"), tool, arguments));
            let server = Server::start(answers);
            let other = run_with(&other_home, axi(&other_home, &server));
            // A tool that is not offered is no call to the one and a refused call to the other.
            let same = flags.contains(&"plan") || own.0 == other.0;
            assert!(same, "{tool} {arguments} {flags:?}: {own:?} {other:?}");
            assert_eq!((own.1, own.2, &own.3), (other.1, other.2, &other.3), "{tool} {arguments} {flags:?}");
            assert!(!own.1 && own.2 && own.3 == "old\n", "{tool} {arguments} {flags:?}: it was done unasked");
        }
    }
}

#[test]
fn a_model_that_calls_the_same_again_and_again_is_stopped() {
    let home = Home::new();
    let again = call("shell", r#"{"command": "echo again >> made.txt"}"#);
    let ran = run(local(&home, &again).args(["-y", "-p", "hi"]));
    assert!(ran.code.is_some_and(|code| code != 101), "{}", ran.err);
    let made = std::fs::read_to_string(home.work().join("made.txt")).unwrap();
    assert!((1..=3).contains(&made.lines().count()), "{made:?}\n{}", ran.err);
}

#[test]
fn the_prompt_says_local_and_a_call_is_asked_before_it_runs() {
    let home = Home::new();
    let person = Person::meets(&local(&home, &call("shell", r#"{"command": "touch made.txt"}"#)));
    person.sees("local/tiny ❯");
    let mut person = person;
    person.sends("make it");
    person.sees_choice("Yes");
    person.sees("touch made.txt");
    assert!(!home.work().join("made.txt").exists());
    person.types("\x1b");
    assert_eq!(person.leaves(), Some(0));
    assert!(!home.work().join("made.txt").exists());
}

#[test]
fn ghost_text_comes_from_a_model_on_this_machine() {
    let home = Home::new();
    // What follows the last letter of what is typed.
    write(&home, &[("t", "atus"), ("atus", "\n"), ("\n", "\n")]);
    home.write("config/axi/config.toml", "suggest_model = \"local/tiny.gguf\"\n");
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    person.types("git st");
    let shown = |view: &mut View<'_>| {
        let (row, _) = view.screen().cursor_position();
        let row = view.screen().rows(0, 200).nth(usize::from(row)).unwrap_or_default();
        row.trim_end().ends_with("❯ git status")
    };
    person.waits(shown, "git status");
    person.types("\x03");
    assert_eq!(person.leaves(), Some(0));
    // Nothing was asked elsewhere.
    assert_eq!(server.requests().len(), 0);
}
