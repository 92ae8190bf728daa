//! An edit that failed is never told as done: whatever the model says, axi says which files are not changed.

use serde_json::json;

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Ran, axi, run, said};

const SAID: &str = "a.txt is not changed: the edit failed";

fn call(tool: &str, arguments: &serde_json::Value) -> Answer {
    answer::chat_call("call_1", tool, &arguments.to_string())
}

/// An edit of a line that is not there.
fn wrong() -> Answer {
    call("edit", &json!({ "path": "a.txt", "old_string": "typos", "new_string": "typo" }))
}

fn right() -> Answer {
    call("edit", &json!({ "path": "a.txt", "old_string": "teh", "new_string": "the" }))
}

fn read() -> Answer {
    call("read", &json!({ "path": "a.txt" }))
}

fn claims() -> Answer {
    answer::chat_text("The typo is fixed.")
}

/// Runs a turn of these answers by this model; returns how it ended and what the model was told last.
fn turn(model: &str, answers: impl IntoIterator<Item = Answer>) -> (Ran, Vec<String>, String) {
    let home = Home::new();
    home.write("work/a.txt", "teh end\n");
    let server = Server::start(answers);
    let ran = run(axi(&home, &server).env("AXI_MODEL", model).args(["-p", "-y", "fix the typo"]));
    assert_eq!((ran.code, server.violations()), (Some(0), Vec::new()), "{ran:?}");
    let requests = server.requests();
    let told = requests.iter().map(|request| said(request, request.body["messages"].as_array().unwrap().len() - 1));
    (ran, told.collect(), std::fs::read_to_string(home.work().join("a.txt")).unwrap())
}

#[test]
fn a_failed_edit_is_said_whatever_the_model_says() {
    let (ran, told, text) = turn("openai/any", [wrong(), claims()]);
    assert_eq!((told.len(), text.as_str()), (2, "teh end\n"));
    assert!(ran.err.contains(SAID) && ran.err.contains("\n- typos\n+ typo"), "{ran:?}");
    // Another tool that changes no file changes nothing in that.
    let looks = call("shell", &json!({ "command": "cat a.txt" }));
    assert!(turn("openai/any", [wrong(), looks, claims()]).0.err.contains(SAID));
    let write = call("write", &json!({ "path": "a.txt", "content": "the end\n" }));
    assert!(turn("openai/any", [write, claims()]).0.err.contains(SAID), "it was not read before");
}

#[test]
fn what_was_made_good_is_not_said() {
    let by_shell = || call("shell", &json!({ "command": "sed -i s/teh/the/ a.txt" }));
    for answers in [vec![wrong(), read(), right(), claims()], vec![wrong(), by_shell(), claims()]] {
        let (ran, _, text) = turn("openai/any", answers);
        assert_eq!(text, "the end\n");
        assert!(!ran.err.contains("not changed"), "{ran:?}");
    }
}

#[test]
fn a_small_model_is_asked_once_more() {
    let (ran, told, text) = turn("openai/qwen2.5-coder:1.5b", [wrong(), claims(), read(), right(), claims()]);
    assert_eq!(text, "the end\n");
    assert!(told[2].contains("[From axi: a.txt is not changed, because the edit failed."), "{told:?}");
    assert!(ran.err.contains("a.txt is not changed: the edit failed; the model is asked once more"), "{ran:?}");
    assert_eq!(ran.err.matches("not changed").count(), 1, "{ran:?}");
    // After the second time it is said what it wanted.
    let (ran, told, _) = turn("openai/qwen2.5-coder:1.5b", [wrong(), claims(), claims()]);
    assert_eq!(told.len(), 3);
    assert!(ran.err.ends_with("a.txt is not changed: the edit failed\n- typos\n+ typo\n"), "{ran:?}");
}
