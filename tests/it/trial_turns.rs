//! A turn in a trial: what writes in it works in one layer, and at its end a person or a script applies it or not.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Person, axi, last_said, run};
use crate::trial::{can_try, changes, filled};
use crate::undo_random::picture;

/// What a model does in the turn of the tests below: it deletes and changes, writes, and reads what it wrote.
fn turn() -> [Answer; 5] {
    let call = |id, name, input: Value| answer::chat_call(id, name, &input.to_string());
    [
        call("call_1", "shell", json!({ "command": "rm -r d0 && echo more >> top" })),
        call("call_2", "write", json!({ "path": "made/new", "content": "new\n" })),
        call("call_3", "shell", json!({ "command": "cat made/new && ./build.sh" })),
        call("call_4", "read", json!({ "path": "top" })),
        answer::chat_text("did it"),
    ]
}

/// A workspace with a program that nobody knows: it writes, and asks a service of this machine.
fn with_program() -> Home {
    let home = filled();
    let path = home.write("work/build.sh", "#!/bin/sh\necho built > built\nlogger -t axi hello || echo alone\n");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    home
}

#[test]
fn a_turn_in_a_trial_prints_what_it_would_change_and_only_apply_applies_it() {
    if !can_try() {
        return;
    }
    let home = with_program();
    let before = picture(&home.work());
    let asked = |options: &[&str]| {
        let server = Server::start(turn());
        let ran = run(axi(&home, &server).args(["-p", "--try"]).args(options).arg("go"));
        assert_eq!(server.violations(), Vec::<String>::new());
        (ran, server)
    };
    let (ran, server) = asked(&["--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("did it"), "the answer stands beside: {}", ran.err);
    let kinds: Vec<String> = changes(&ran).into_iter().map(|(kind, path)| format!("{kind} {path}")).collect();
    assert_eq!(kinds[..2], ["deleted d0", "deleted d0/a"]);
    let later = ["added built", "added made", "added made/new", "changed top"];
    assert_eq!(kinds[kinds.len() - later.len()..], later);
    assert!(last_said(&server.requests()[3]).starts_with("new\n"), "the model works on what it sees there");
    assert!(last_said(&server.requests()[4]).contains("more"));
    assert_eq!(picture(&home.work()), before);
    let (ran, _) = asked(&[]);
    assert!(ran.out.contains("deleted file mode 100644") && ran.out.contains("+more"), "{}", ran.out);
    assert_eq!(picture(&home.work()), before);
    let (ran, _) = asked(&["--apply"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "did it\n"), "{}", ran.err);
    let there = |name: &str| home.work().join(name).exists();
    assert_eq!(["d0", "made/new", "built"].map(there), [false, true, true]);
    assert_eq!(std::fs::read_to_string(home.work().join("top")).unwrap(), "0 of top\nmore\n");
}

#[test]
fn a_person_reviews_a_turn_at_its_end_and_applies_a_part_of_it() {
    if !can_try() {
        return;
    }
    let home = with_program();
    home.write("config/axi/config.toml", "approvals = \"try\"\n");
    let before = picture(&home.work());
    let server = Server::start([turn(), turn()].concat());
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("go");
    person.sees("- d0/a");
    person.sees(": 0 changed, 1 untracked → ");
    person.sees(": 4 changed, 3 untracked");
    person.sees("Apply these changes?");
    assert_eq!(picture(&home.work()), before);
    person.sees("1–4 answers");
    person.types("3");
    person.sees("changes dropped");
    person.sees_prompt();
    assert_eq!(picture(&home.work()), before);
    person.sends("!echo mine > real");
    person.sees_prompt();
    assert!(home.work().join("real").exists(), "a person's own command is no part of a turn");
    person.sends("again");
    person.waits(|view| view.transcript().matches("Apply these changes?").count() > 1, "the second question");
    person.sees("1–4 answers");
    let said = last_said(&server.requests()[5]);
    assert!(said.contains("did not apply all") && said.contains("d0/a"), "the model is told: {said}");
    person.types("2");
    person.sees("5 + made/new");
    person.sees("6 ~ top");
    person.sees("1–6 choose");
    person.types("56\r");
    person.sees("3 changes applied");
    person.sees_prompt();
    let there = |name: &str| home.work().join(name).exists();
    assert_eq!(["d0/a", "made/new", "built"].map(there), [true, true, false]);
    person.sends("/undo yes");
    person.sees("are as they were");
    assert_eq!(["d0/a", "made/new", "built"].map(there), [true, false, false]);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn in_lines_the_page_and_the_question_of_a_turn_stand_before_the_answer_is_read() {
    if !can_try() {
        return;
    }
    let home = with_program();
    let server = Server::start(turn());
    let mut person = Person::meets(axi(&home, &server).args(["--try", "--linear"]));
    person.sends("go");
    person.sees("1–4 answers");
    assert!(person.count("- d0/a") > 0 && person.count("4 Show the whole diff") > 0);
    person.types("1\r");
    person.sees("changes applied");
    person.sees_prompt();
    assert!(!home.work().join("d0").exists() && home.work().join("made/new").exists());
    assert_eq!(person.leaves(), Some(0));
}
