//! A turn in a trial: what writes in it works in one layer, and at its end a person or a script applies it or not.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Person, axi, last_said, run};
use crate::trial::{can_try, changes, filled};
use crate::trial_copy::can_copy;
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

/// How axi is started.
type Starts = dyn Fn(&Home, &Server) -> std::process::Command;

fn in_copy(home: &Home, server: &Server) -> std::process::Command {
    let mut command = axi(home, server);
    command.env("AXI_TRIAL", "copy");
    command
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
    if can_try() {
        prints_and_applies(&axi);
    }
}

#[test]
fn a_turn_in_a_copy_prints_what_it_would_change_and_only_apply_applies_it() {
    if can_copy() {
        prints_and_applies(&in_copy);
    }
}

fn prints_and_applies(axi: &Starts) {
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
    assert_eq!(copies_left(), 0);
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
    let (ran, _) = asked(&["--output", "json"]);
    let object: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (object["answer"].as_str(), object["trial"]["changes"][0]["kind"].as_str()),
        (Some("did it"), Some("deleted"))
    );
    let (ran, _) = asked(&["--output", "stream-json"]);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.last().unwrap()["type"], "trial");
    assert_eq!(picture(&home.work()), before);
    // A turn that does not end by itself leaves nothing.
    let (ran, _) = asked(&["--apply", "--max-steps", "1"]);
    assert_eq!(ran.code, Some(6), "{}", ran.err);
    assert_eq!(picture(&home.work()), before);
    let (ran, _) = asked(&["--apply"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "did it\n"), "{}", ran.err);
    let there = |name: &str| home.work().join(name).exists();
    assert_eq!(["d0", "made/new", "built"].map(there), [false, true, true]);
    assert_eq!(std::fs::read_to_string(home.work().join("top")).unwrap(), "0 of top\nmore\n");
}

/// How many copies of turns there are that nobody works in.
fn copies_left() -> usize {
    let own = format!("/var/tmp/axi-trials-{}", rustix::process::geteuid().as_raw());
    let locks = std::fs::read_dir(own).into_iter().flatten().flatten().map(|entry| entry.path());
    let locks = locks.filter(|path| path.extension().is_some_and(|extension| extension == "lock"));
    locks.filter(|lock| std::fs::File::open(lock).is_ok_and(|lock| lock.try_lock().is_ok())).count()
}

/// In a copy the agent works on what is there as each turn begins, and what was dropped is not there any more.
#[test]
fn turns_in_a_copy_are_reviewed_and_begin_with_what_is_there() {
    if !can_copy() {
        return;
    }
    let home = with_program();
    let before = picture(&home.work());
    let server = Server::start([turn(), turn()].concat());
    let mut person = Person::meets(in_copy(&home, &server).arg("--try"));
    person.sends("go");
    person.sees("- d0/a");
    person.sees("It worked in a copy.");
    person.sees(": 0 changed, 1 untracked → ");
    person.sees("Apply these changes?");
    assert_eq!(picture(&home.work()), before);
    person.sees("1–4 answers");
    person.types("3");
    person.sees("changes dropped");
    person.sees_prompt();
    assert_eq!(picture(&home.work()), before);
    person.sends("!echo mine > top");
    person.sees_prompt();
    person.sends("again");
    person.waits(|view| view.transcript().matches("Apply these changes?").count() > 1, "the second question");
    person.sees("1–4 answers");
    let said = last_said(&server.requests()[9]);
    assert!(said.contains("mine") && said.contains("more"), "the second turn read what was there: {said}");
    person.types("1");
    person.sees("changes applied");
    person.sees_prompt();
    let read = |name: &str| std::fs::read_to_string(home.work().join(name)).unwrap();
    assert_eq!((read("top").as_str(), home.work().join("d0").exists()), ("mine\nmore\n", false));
    person.sends("/undo yes");
    person.sees("are as they were");
    assert_eq!((read("top").as_str(), home.work().join("d0/a").exists()), ("mine\n", true));
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_turn_whose_copy_cannot_be_renewed_is_not_sent() {
    if !can_copy() {
        return;
    }
    let home = with_program();
    let server = Server::start([answer::chat_text("first")]);
    let mut person = Person::meets(in_copy(&home, &server).arg("--try"));
    person.sends("go");
    person.sees("first");
    person.sees_prompt();
    let copy: String = person.pty.view(|view| {
        let shown = view.transcript();
        let (_, path) = shown.split_once("(/var/tmp/").unwrap();
        path.split("/copy").next().unwrap().split_whitespace().collect()
    });
    let own = std::path::Path::new("/var/tmp").join(copy);
    std::fs::remove_dir_all(&own).unwrap();
    std::fs::write(&own, "in its way").unwrap();
    person.sends("again");
    person.sees("your message was not sent");
    person.sees_prompt();
    assert_eq!(server.requests().len(), 1);
    std::fs::remove_file(&own).unwrap();
    assert_eq!(person.leaves(), Some(0));
}

/// What writes the real directory, by its own path, is held by no copy, and asked about.
#[test]
fn in_a_copy_the_real_files_are_outside() {
    if !can_copy() {
        return;
    }
    let home = with_program();
    let path = home.work().join("made");
    let sly = format!("ln -s {0} link; echo x > {0}; echo x > link; cp top {0}; echo ran", path.display());
    home.write("work/sly.sh", &sly);
    for (name, input) in [
        ("write", json!({ "path": path, "content": "x" })),
        ("shell", json!({ "command": format!("echo x > {}", path.display()) })),
        ("shell", json!({ "command": "sh ./sly.sh" })),
    ] {
        let call = answer::chat_call("call_1", name, &input.to_string());
        let server = Server::start([call, answer::chat_text("done")]);
        let ran = run(in_copy(&home, &server).args(["-p", "--try", "go"]));
        assert!(!path.exists(), "{input} {:?} {}", ran.code, ran.err);
        let ended = if input.to_string().contains("sly") { Some(0) } else { Some(5) };
        assert_eq!(ran.code, ended, "{input} {}", ran.err);
    }
}

/// A link leads out of what a trial holds, whoever made it.
#[test]
fn what_a_link_leads_to_outside_is_asked_about() {
    let ways: [(bool, &Starts); 2] = [(can_try(), &axi), (can_copy(), &in_copy)];
    for (is_possible, axi) in ways {
        if !is_possible {
            continue;
        }
        let home = with_program();
        let outside = home.write("outside/kept", "mine");
        std::os::unix::fs::symlink(&outside, home.work().join("before")).unwrap();
        for (name, input) in [
            ("write", json!({ "path": "link", "content": "x" })),
            ("write", json!({ "path": "before", "content": "x" })),
            ("write", json!({ "path": "folder/kept", "content": "x" })),
            ("edit", json!({ "path": "before", "old": "mine", "new": "x" })),
        ] {
            let links = format!(
                "ln -s {0} link; ln -s {1} folder",
                outside.display(),
                home.path().join("outside").display()
            );
            let server = Server::start([
                answer::chat_call("call_1", "shell", &json!({ "command": links }).to_string()),
                answer::chat_call("call_2", "read", &json!({ "path": input["path"] }).to_string()),
                answer::chat_call("call_3", name, &input.to_string()),
                answer::chat_text("done"),
            ]);
            let ran = run(axi(&home, &server).args(["-p", "--try", "go"]));
            assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine", "{input} {:?} {}", ran.code, ran.err);
        }
    }
}

#[test]
fn where_git_keeps_a_workspace_elsewhere_no_turn_works_in_a_copy() {
    if !can_copy() {
        return;
    }
    let home = with_program();
    let made = home.command("git").args(["worktree", "add", "-q", "../tree"]).status().unwrap();
    assert!(made.success());
    let server = Server::start([]);
    let mut command = in_copy(&home, &server);
    let ran = run(command.args(["-p", "--try", "go"]).current_dir(home.path().join("tree")));
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("outside of it") && server.requests().is_empty(), "{}", ran.err);
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
    person.sees(": 4 changed, 3");
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
