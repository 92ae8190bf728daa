//! A project's command runs where the project is, as it was shown before; what was set up is not set up twice.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi, last_said, run};

/// Stands for cargo: sets up what `new` names, says where anything else runs, and counts its runs.
const CARGO: &str = "#!/bin/sh\necho x >>\"$COUNT\"\nif [ \"$1\" = new ]; then mkdir \"$2\" \
                     && touch \"$2/Cargo.toml\"; else echo \"in $(basename \"$PWD\")\"; fi\n";

/// A home whose `cargo` is the stub; the path that finds it, and where it counts.
fn home() -> (Home, String, std::path::PathBuf) {
    let home = Home::new();
    let cargo = home.write("stubs/cargo", CARGO);
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", cargo.parent().unwrap().display());
    let count = home.work().join("count");
    (home, path, count)
}

fn shell(id: &str, command: &str) -> crate::support::server::Answer {
    answer::chat_call(id, "shell", &json!({"command": command}).to_string())
}

#[test]
fn a_project_set_up_in_this_session_is_where_its_commands_run_and_is_not_set_up_twice() {
    let (home, path, count) = home();
    let server = Server::start([
        shell("c1", "cargo new app"),
        shell("c2", "cargo build"),
        shell("c3", "cargo new app"),
        shell("c4", "cargo new app && cd app && cargo run"),
        shell("c5", "cargo new other"),
        shell("c6", "cargo test"),
        answer::chat_text("Done."),
    ]);
    let ran = run(axi(&home, &server).env("PATH", path).env("COUNT", &count).args(["-y", "-p", "go"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let requests = server.requests();
    let said = |index: usize| last_said(&requests[index]);
    assert_eq!(said(2), "in app\n[it ran in app: Cargo.toml is there and not in the working directory]");
    assert_eq!(said(3), "Already done in this session, at app: not run again.");
    assert_eq!(said(4), "shell: not run: `cargo new app` was already done in this session, at app. Leave it out.");
    assert_eq!(
        said(6),
        "shell: not run: there is no Cargo.toml here or above, but in app, other. Say with `cwd` which one is meant."
    );
    assert_eq!(std::fs::read_to_string(count).unwrap().lines().count(), 3);
}

#[test]
fn the_directory_is_shown_before_it_is_approved() {
    let (home, path, count) = home();
    home.write("work/app/Cargo.toml", "[package]\n");
    let server = Server::start([
        answer::chat_call("c1", "read", r#"{"path": "app/Cargo.toml"}"#),
        shell("c2", "cargo run"),
        answer::chat_text("It runs."),
    ]);
    let mut person = Person::meets(axi(&home, &server).env("PATH", path).env("COUNT", count));
    person.sends("run it");
    person.sees("/app && cargo run");
    person.sees_choice("Yes, once");
    person.types("\r");
    person.sees("It runs.");
    assert!(last_said(&server.requests()[2]).starts_with("in app\n[it ran in app: "));
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}
