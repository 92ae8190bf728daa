//! `axi tools` on a search path of the test's own: what is found, what is asked, what is known again.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::support::home::Home;
use crate::support::pty::PATIENCE;
use crate::support::server::{Recorded, Server, answer};
use crate::support::talk::{Person, Ran, axi, last_said, run};

/// A program on the search path.
fn program(home: &Home, path: &str, body: &str) {
    let path = home.write(path, &format!("#!/bin/sh\n{body}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// axi with only these directories to look in.
fn tools(home: &Home, arguments: &[&str]) -> Command {
    let path = format!("{0}/bin:{0}/work/bin:bin:", home.path().display());
    let mut command = home.axi();
    command.arg("tools").args(arguments).env("PATH", path);
    command
}

fn rows(home: &Home, arguments: &[&str]) -> Value {
    let Ran { code, out, err } = run(&mut tools(home, arguments));
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    serde_json::from_str(&out).unwrap()
}

fn row<'a>(rows: &'a Value, id: &str) -> &'a Value {
    rows.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap()
}

/// How often a program was asked.
fn asked(home: &Home) -> usize {
    std::fs::read_to_string(home.path().join("asked")).unwrap_or_default().lines().count()
}

fn with_git(version: &str) -> Home {
    let home = Home::new();
    let count = home.path().join("asked");
    program(&home, "bin/git", &format!("echo x >> '{}'; echo 'git version {version}'", count.display()));
    home
}

#[test]
fn what_is_here_has_a_path_and_a_version_and_what_is_not_says_how_it_comes() {
    let home = with_git("9.8.7");
    program(&home, "bin/apt-get", "exit 1");
    program(&home, "bin/java", "echo 'openjdk version \"21.0.2\"' >&2");
    home.write("bin/jq", "not executable");
    let rows = rows(&home, &["list", "--json"]);
    let git = row(&rows, "git");
    assert_eq!(
        (&git["path"], &git["version"]),
        (&home.path().join("bin/git").to_str().unwrap().into(), &"9.8.7".into())
    );
    assert_eq!((&git["category"], &git["actions"][0]["effect"]), (&"versions".into(), &"reads".into()));
    assert_eq!(row(&rows, "java")["version"], "21.0.2");
    let jq = row(&rows, "jq");
    assert_eq!((&jq["path"], &jq["install"]), (&Value::Null, &"apt-get install jq".into()));
    assert!(rows.as_array().unwrap().len() >= 25);
}

#[test]
fn a_version_is_asked_once_and_again_when_the_file_changes_or_the_person_says_so() {
    let home = with_git("1.0");
    for _ in 0..2 {
        assert_eq!(row(&rows(&home, &["--json"]), "git")["version"], "1.0");
    }
    assert_eq!(asked(&home), 1);
    let figures = rows(&home, &["stats", "--json"]);
    assert_eq!((&figures["processes"], &figures["known"], &figures["here"]), (&0.into(), &1.into(), &1.into()));
    rows(&home, &["refresh", "--json"]);
    assert_eq!(asked(&home), 2);
    let count = home.path().join("asked");
    program(&home, "bin/git", &format!("echo x >> '{}'; echo 'git version 2.0.1'", count.display()));
    assert_eq!(row(&rows(&home, &["--json"]), "git")["version"], "2.0.1");
    assert_eq!(asked(&home), 3);
    // Nobody can be kept from a broken file.
    home.write("cache/axi/tools.json", "{ half");
    assert_eq!(row(&rows(&home, &["--json"]), "git")["version"], "2.0.1");
}

#[test]
fn a_program_that_hangs_floods_or_lies_costs_its_version_and_nothing_else() {
    let home = with_git("1.0");
    let mark = format!("77.{}", std::process::id());
    program(&home, "bin/gh", &format!("/bin/sleep {mark} & exec /bin/sleep {mark}"));
    program(&home, "bin/node", "while :; do echo 'no number at all'; done");
    program(&home, "bin/npm", "printf '\\033[2J\\033]0;x\\0075.4.3\\033[31m\\n'");
    program(&home, "bin/cargo", "exit 7");
    // More than a pipe holds: who does not read it to its end waits for ever.
    program(&home, "bin/make", "echo 'make 4.3.1'; exec /bin/dd if=/dev/zero bs=300000 count=1");
    home.write("bin/rustup", "#!/no/such/interpreter\n");
    let path = home.path().join("bin/rustup");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let rows = rows(&home, &["--json"]);
    assert_eq!(row(&rows, "git")["version"], "1.0");
    assert_eq!(row(&rows, "npm")["version"], "5.4.3");
    assert_eq!(row(&rows, "make")["version"], "4.3.1");
    for id in ["gh", "node", "cargo", "rustup"] {
        assert!(row(&rows, id)["path"].is_string(), "{id}");
        assert_eq!(row(&rows, id)["version"], Value::Null, "{id}");
    }
    let lines = run(&mut tools(&home, &["--color", "never"])).out;
    assert!(lines.contains("git") && !lines.contains('\u{1b}'), "{lines}");
    // Nothing of it is left, once the system has done what it was told.
    let left = || {
        let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.any(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&mark)
        })
    };
    let limit = Instant::now() + PATIENCE;
    while left() {
        assert!(Instant::now() < limit, "a program that was given up still runs");
        std::thread::yield_now();
    }
}

#[test]
fn what_the_workspace_brings_is_not_run_and_no_secret_is_handed_on() {
    let home = Home::new();
    let ran = home.path().join("ran");
    program(&home, "work/bin/just", &format!("echo x > '{}'; echo 'just 1.2.3'", ran.display()));
    program(&home, "bin/make", "echo \"make ${OPENAI_API_KEY:-1.0}\"; pwd");
    let mut command = tools(&home, &["--json"]);
    let out = run(command.env("OPENAI_API_KEY", "66.6")).out;
    let rows: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(row(&rows, "just")["path"], home.work().join("bin/just").to_str().unwrap());
    assert_eq!(row(&rows, "just")["version"], Value::Null);
    assert!(!ran.exists(), "a program of the workspace was run");
    assert_eq!(row(&rows, "make")["version"], "1.0");
}

#[test]
fn the_scripts_of_the_project_are_listed_with_what_runs_them() {
    let home = Home::new();
    program(&home, "bin/npm", "echo 10.0.0");
    home.write("work/package.json", r#"{"scripts": {"build": "tsc", "te\u001b[31mst": "x"}}"#);
    home.write("work/Makefile", "all:\n\ttrue\n");
    let rows = rows(&home, &["--json"]);
    let scripts = row(&rows, "npm")["scripts"].as_array().unwrap();
    assert_eq!(scripts.len(), 1, "{scripts:?}");
    assert_eq!(scripts[0]["runs"], serde_json::json!(["npm", "run", "build"]));
    let lines = run(&mut tools(&home, &["list"])).out;
    assert!(lines.contains("npm run build") && lines.contains("make all"), "{lines}");
    assert_eq!(run(&mut tools(&home, &["lisst"])).code, Some(2));
}

/// The names of the tools of a request that are no standard ones.
fn told(request: &Recorded) -> Vec<String> {
    let tools = request.body["tools"].as_array().cloned().unwrap_or_default();
    let names = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned());
    names
        .filter(|name| {
            ["git_", "cargo_", "make_", "jq_", "docker_", "tool_search"].iter().any(|lead| name.starts_with(lead))
        })
        .collect()
}

/// axi with these tools alone, asking the server.
fn with_tools(home: &Home, server: &Server) -> Command {
    for name in ["git", "cargo", "jq"] {
        program(home, &format!("bin/{name}"), "printf '[%s]' \"$@\"");
    }
    let mut command = axi(home, server);
    command.env("PATH", format!("{}/bin:/no/where", home.path().display()));
    command
}

#[test]
fn a_conversation_is_told_of_the_tools_that_fit_and_keeps_them() {
    let home = Home::new();
    home.write("work/Cargo.toml", "");
    let server = Server::start([
        answer::chat_call("call_1", "tool_search", r#"{"query":"status of the repository"}"#),
        answer::chat_call("call_2", "jq_query", r#"{"filter":".","file":"a b.json"}"#),
        answer::chat_text("one"),
    ]);
    let mut person = Person::meets(&with_tools(&home, &server));
    person.sends("does it build?");
    person.sees("one");
    let requests = server.requests();
    let cargo = ["check", "test", "build", "clippy", "fmt", "tree"].map(|name| format!("cargo_{name}"));
    let first: Vec<String> = cargo.into_iter().chain(["tool_search".to_owned()]).collect();
    assert_eq!(told(&requests[0]), first);
    // What is loaded comes behind what was there.
    assert_eq!(told(&requests[1])[..first.len()], first);
    assert!(told(&requests[1]).contains(&"git_status".to_owned()), "{:?}", told(&requests[1]));
    // Known by its name, it runs without having been loaded.
    assert_eq!(last_said(&requests[2]), "[.][a b.json]");
    server.push(answer::chat_text("two"));
    person.sends("ask git and docker");
    person.sees("two");
    person.sees_prompt();
    assert_eq!(server.requests()[3].body["tools"], requests[2].body["tools"]);
    // Another conversation is about something else.
    server.push(answer::chat_text("three"));
    person.sends("/new");
    person.sees_prompt();
    person.sends("what does git say?");
    person.sees("three");
    assert_eq!(told(&server.requests()[4])[..2], ["git_status", "git_diff"]);
    assert_eq!(person.leaves(), Some(0));
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn where_nothing_fits_nothing_is_told() {
    let (home, server) = (Home::new(), Server::start([answer::chat_text("hello")]));
    let ran = run(with_tools(&home, &server).args(["-p", "hello"]));
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "hello"), "{}", ran.err);
    assert_eq!(told(&server.requests()[0]), Vec::<String>::new());
}
