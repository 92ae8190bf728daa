//! The sandbox seen from outside: who is asked when a command needs more than it gets, and what is told.
#![cfg(target_os = "linux")]

use std::path::Path;

use axi::sandbox::{Sandbox, SandboxState, Wanted};

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::skip::skip;
use crate::support::talk::{Person, Ran, axi, last_said, run};
use crate::support::tool_bench::no_temporary_place;

fn supported() -> bool {
    let sandbox = Sandbox::new(Wanted::On, None, Vec::new(), Vec::new(), std::env::temp_dir());
    let on = matches!(sandbox.state(), SandboxState::On(_));
    if !on {
        skip(format_args!("no sandbox here: {:?}", sandbox.state()));
    }
    on
}

fn print(home: &Home, arguments: &str, flags: &[&str]) -> (Ran, Server) {
    let server = Server::start([answer::chat_call("call_1", "shell", arguments), answer::chat_text("done")]);
    let ran = run(axi(home, &server).args(["-p", "hi"]).args(flags));
    (ran, server)
}

#[test]
fn what_runs_unasked_cannot_read_keys_and_the_model_is_told_how_to_ask() {
    if !supported() {
        return;
    }
    let home = Home::new();
    home.write("config/axi/notes", "PRIVATE");
    // A line that is judged to read what nobody minds, and would read more.
    let (ran, server) = print(&home, r#"{"command":"cat ../config/*/notes"}"#, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = last_said(&server.requests()[1]);
    assert!(!said.starts_with("PRIVATE") && said.contains("access \"workspace\""), "{said}");
}

#[test]
fn more_than_reading_is_asked_and_outside_is_nobodys_to_assume() {
    if !supported() {
        return;
    }
    let home = Home::new();
    let wants = |access: &str| format!(r#"{{"command":"ls","access":"{access}"}}"#);
    assert_eq!(print(&home, &wants("workspace"), &[]).0.code, Some(5));
    assert_eq!(print(&home, &wants("workspace"), &["-y"]).0.code, Some(0));
    assert_eq!(print(&home, &wants("full"), &[]).0.code, Some(5));
    assert_eq!(print(&home, &wants("full"), &["-y"]).0.code, Some(5));
    assert_eq!(print(&home, &wants("full"), &["--allow", "shell(ls:*)"]).0.code, Some(5));
    assert_eq!(print(&home, r#"{"command":"ls"}"#, &[]).0.code, Some(0));
}

#[test]
fn the_question_says_that_it_goes_outside_and_a_yes_is_for_once() {
    if !supported() {
        return;
    }
    let home = Home::new();
    let outside = home.path().join("outside.txt");
    let arguments = format!(r#"{{"command":"./make.sh {}","access":"full"}}"#, outside.display());
    home.write("work/make.sh", "#!/bin/sh\necho x > \"$1\"\n");
    let made = std::process::Command::new("chmod").arg("+x").arg(home.work().join("make.sh")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let server = Server::start([answer::chat_call("call_1", "shell", &arguments), answer::chat_text("done")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("make it");
    person.sees("outside the sandbox");
    // Enter alone does not leave the sandbox.
    person.sees_choice("No");
    person.pty.view(|view| assert!(!view.text().contains("rest of this session"), "{}", view.text()));
    person.types("y");
    person.sees("done");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "x\n");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn what_is_approved_stays_in_the_workspace_and_the_model_is_told() {
    if !supported() {
        return;
    }
    let home = Home::new();
    let place = tempfile::tempdir_in(no_temporary_place(Path::new(env!("CARGO_TARGET_TMPDIR")))).unwrap();
    let outside = place.path().join("axi-outside.txt");
    let line = format!("touch inside.txt && python3 -c 'open(\\\"{}\\\", \\\"w\\\")'", outside.display());
    let (ran, server) = print(&home, &format!(r#"{{"command":"{line}"}}"#), &["-y"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(home.work().join("inside.txt").exists());
    assert!(!outside.exists());
    let said = last_said(&server.requests()[1]);
    assert!(said.contains("can write only the workspace") || said.contains("not found"), "{said}");
}

#[test]
fn the_settings_turn_it_off_a_project_does_not_and_doctor_says_which() {
    if !supported() {
        return;
    }
    let home = Home::new();
    let doctor = |home: &Home| run(home.axi().arg("doctor"));
    assert!(doctor(&home).out.contains("- sandbox: on (Landlock "), "{}", doctor(&home).out);
    home.write("work/.axi/config.toml", "sandbox = \"off\"\n");
    let told = doctor(&home);
    assert!(told.out.contains("- sandbox: on (") && told.err.contains("sandbox"), "{told:?}");
    home.write("config/axi/config.toml", "sandbox = \"off\"\n");
    assert!(doctor(&home).out.contains("- sandbox: off, by your settings"), "{}", doctor(&home).out);
    let (ran, _) = print(&home, r#"{"command":"ls","access":"full"}"#, &[]);
    assert_eq!(ran.code, Some(0), "nothing to widen: {ran:?}");
}

#[test]
fn a_known_module_runs_unasked_only_where_something_holds_it() {
    if !supported() {
        return;
    }
    let arguments = r#"{"command":"python3 -m json.tool some.json"}"#;
    assert_eq!(print(&Home::new(), arguments, &[]).0.code, Some(0));
    let home = Home::new();
    home.write("config/axi/config.toml", "sandbox = \"off\"\n");
    assert_eq!(print(&home, arguments, &[]).0.code, Some(5));
    assert_eq!(print(&home, arguments, &["-y"]).0.code, Some(0));
    assert_eq!(print(&home, arguments, &["--allow", "shell(python3:*)"]).0.code, Some(0));
}
