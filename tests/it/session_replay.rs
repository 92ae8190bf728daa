//! `axi replay`: sessions that a scripted model was given are recorded, and run again in a clean clone, without a model and
//! without a network: green where nothing differs, red where a file or a tool does.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::skip::skip;
use crate::support::talk::{Ran, axi, run, session_files};

/// What a session does: in each turn its calls, and a file or a program whose change makes the replay differ.
struct Recorded {
    turns: &'static [&'static [(&'static str, &'static str)]],
    /// What is written over before the second replay: a file of the tree.
    spoils: (&'static str, &'static str),
}

const fn one(calls: &'static [&'static [(&'static str, &'static str)]]) -> Recorded {
    Recorded { turns: calls, spoils: ("notes.txt", "quite other notes\n") }
}

const fn spoilt(
    turns: &'static [&'static [(&'static str, &'static str)]],
    spoils: (&'static str, &'static str),
) -> Recorded {
    Recorded { turns, spoils }
}

const SH: &str = "shell";

/// The tree in which each session begins.
const TREE: &[(&str, &str)] = &[
    ("notes.txt", "heron\nplover\ncurlew\nheron\n"),
    ("data.csv", "name,count\nheron,2\nplover,1\ncurlew,5\n"),
    ("src/main.sh", "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\ngreet \"$1\"\n"),
    ("src/lib.sh", "greet() { echo \"hello $1\"; }\n"),
    ("Makefile", "out.txt: notes.txt\n\tsort notes.txt > out.txt\n\nclean:\n\trm -f out.txt\n"),
    ("old/a.txt", "a\n"),
    ("old/b.txt", "b\n"),
    ("tool", "#!/bin/sh\nwc -l < notes.txt\n"),
];

const SESSIONS: &[Recorded] = &[
    one(&[&[(SH, "cat notes.txt")]]),
    one(&[&[(SH, "sort notes.txt | uniq -c | sort -rn")]]),
    one(&[&[(SH, "grep -n heron notes.txt > found.txt && cat found.txt")]]),
    one(&[&[(SH, "sed -i 's/heron/egret/' notes.txt")]]),
    one(&[&[(SH, "make"), (SH, "cat out.txt")]]),
    one(&[&[(SH, "make && make clean && ls")], &[(SH, "make; wc -l out.txt")]]),
    one(&[&[("read", r#"{"path":"notes.txt"}"#)]]),
    one(&[&[
        ("read", r#"{"path":"notes.txt"}"#),
        ("edit", r#"{"path":"notes.txt","old_string":"plover","new_string":"stilt"}"#),
    ]]),
    one(&[&[("write", r#"{"path":"new/deep.txt","content":"one\ntwo\n"}"#), (SH, "cat new/deep.txt notes.txt")]]),
    one(&[&[("grep", r#"{"pattern":"heron"}"#)]]),
    one(&[&[(SH, "false"), (SH, "exit 3"), (SH, "cat notes.txt missing.txt")]]),
    one(&[&[(SH, "cp notes.txt copy.txt; chmod +x copy.txt")], &[(SH, "mv copy.txt moved.txt && ls -1")]]),
    one(&[&[(SH, "date; wc -c notes.txt")]]),
    one(&[&[(SH, "ls -l notes.txt")]]),
    one(&[&[(SH, "pwd; cat notes.txt | head -2")]]),
    one(&[&[(SH, "tar cf notes.tar --mtime=2020-01-01 --owner=0 --group=0 notes.txt && tar tf notes.tar")]]),
    one(&[&[(SH, "md5sum notes.txt data.csv | tee sums")]]),
    one(&[&[(SH, "printf 'x%.0s' $(seq 300) >> notes.txt; tail -c 20 notes.txt")]]),
    spoilt(&[&[(SH, "sh src/main.sh you")]], ("src/lib.sh", "greet() { echo \"bye $1\"; }\n")),
    spoilt(&[&[(SH, "sh src/main.sh a > greeting")]], ("src/lib.sh", "greet() { echo \"bye $1\"; }\n")),
    spoilt(&[&[(SH, "./tool")]], ("tool", "#!/bin/sh\nwc -c < notes.txt\n")),
    spoilt(&[&[(SH, "./tool > counted 2>&1")]], ("tool", "#!/bin/sh\necho 99\n")),
    spoilt(&[&[(SH, "./tool")]], ("tool", "#!/bin/sh\nwc -l < notes.txt; exit 4\n")),
    spoilt(&[&[(SH, "./tool")]], ("tool", "#!/bin/sh\ntouch another; wc -l < notes.txt\n")),
    spoilt(&[&[(SH, "awk -F, 'NR>1 {s+=$2} END {print s}' data.csv")]], ("data.csv", "name,count\nheron,3\n")),
    spoilt(&[&[(SH, "rm old/a.txt; ls old")]], ("old/c.txt", "c\n")),
    spoilt(&[&[("delete", r#"{"path":"old/b.txt"}"#), ("list", r#"{"path":"old"}"#)]], ("old/c.txt", "c\n")),
    spoilt(&[&[(SH, "ln -s data.csv link && readlink link && wc -l < link")]], ("data.csv", "one\n")),
    spoilt(&[&[(SH, "git status --short; echo x >> data.csv; git diff --stat")]], ("data.csv", "name\n")),
    spoilt(&[&[(SH, "cat old/*.txt > all.txt")], &[(SH, "sort -r all.txt -o all.txt")]], ("old/a.txt", "z\n")),
    spoilt(&[&[("glob", r#"{"pattern":"**/*.txt"}"#)]], ("old/c.txt", "c\n")),
    spoilt(&[&[("move", r#"{"from":"old/a.txt","to":"old/z.txt"}"#), (SH, "cat old/z.txt")]], ("old/a.txt", "z\n")),
    spoilt(
        &[&[(SH, "for f in old/*; do echo \"$f: $(cat \"$f\")\"; done; test -d nowhere")]],
        ("old/b.txt", "y\n"),
    ),
];

fn fill(work: &Path, home: &Home) {
    for (path, content) in TREE {
        home.write(&format!("work/{path}"), content);
    }
    std::fs::set_permissions(work.join("tool"), std::fs::Permissions::from_mode(0o755)).unwrap();
    home.write(".gitconfig", "[user]\nname = n\nemail = n@localhost\n");
    let ran = home.command("sh").args(["-c", "git init -q && git add -A && git commit -qm 0"]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

/// Has a session held in a home, and returns what is in its file.
fn recorded(home: &Home, recorded: &Recorded) -> String {
    fill(&home.work(), home);
    let mut script: Vec<Answer> = Vec::new();
    let mut number = 0;
    for turn in recorded.turns {
        for (tool, input) in *turn {
            number += 1;
            let input = if *tool == SH { json!({ "command": input }).to_string() } else { (*input).to_owned() };
            script.push(answer::chat_call(&format!("call_{number}"), tool, &input));
        }
        script.push(answer::chat_text("done"));
    }
    let server = Server::start(script);
    for (number, _) in recorded.turns.iter().enumerate() {
        let more: &[&str] = if number == 0 { &[] } else { &["-c"] };
        let ran =
            run(axi(home, &server).args(more).args(["-p", "-y", "--allow", "write", "--allow", "shell", "go"]));
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    std::fs::read_to_string(session_files(home).remove(0)).unwrap()
}

/// Replays a session's file in a clean clone of the tree, which may be spoilt first; there is no model there.
fn replayed(session: &str, spoil: Option<(&str, &str)>) -> Ran {
    let home = Home::new();
    fill(&home.work(), &home);
    let path = home.write("session.jsonl", session);
    if let Some((path, content)) = spoil {
        let path = home.work().join(path);
        std::fs::write(path, content).unwrap();
    }
    let before = picture(&home);
    let ran = run(home.axi().arg("replay").arg(path));
    assert_eq!(picture(&home), before, "nothing of it stays");
    ran
}

fn picture(home: &Home) -> Vec<u8> {
    let line = "find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 md5sum; git status --short";
    home.command("sh").args(["-c", line]).output().unwrap().stdout
}

fn can_try() -> bool {
    let home = Home::new();
    let ran = run(home.axi().args(["try", "--", "true"]));
    if ran.code != Some(0) {
        skip(&ran.err);
    }
    ran.code == Some(0)
}

/// Every fourth session from this one on: the tests of all run side by side.
fn holds(from: usize) {
    if !can_try() {
        return;
    }
    for (number, session) in SESSIONS.iter().enumerate().skip(from).step_by(4) {
        let file = recorded(&Home::new(), session);
        let green = replayed(&file, None);
        assert_eq!(green.code, Some(0), "{number}: {:?}\n{}\n{}", session.turns, green.out, green.err);
        assert!(green.out.contains("Not compared:"), "{}", green.out);
        let red = replayed(&file, Some(session.spoils));
        assert_eq!(red.code, Some(1), "{number}: {:?}\n{}\n{}", session.turns, red.out, red.err);
        assert!(red.out.contains('≠'), "{}", red.out);
    }
}

#[test]
fn sessions_are_green_in_a_clean_clone_and_red_where_something_differs_first() {
    assert!(SESSIONS.len() >= 30);
    holds(0);
}

#[test]
fn sessions_are_green_in_a_clean_clone_and_red_where_something_differs_second() {
    holds(1);
}

#[test]
fn sessions_are_green_in_a_clean_clone_and_red_where_something_differs_third() {
    holds(2);
}

#[test]
fn sessions_are_green_in_a_clean_clone_and_red_where_something_differs_fourth() {
    holds(3);
}

/// What a session's file says that its turns left.
fn left(session: &str) -> Vec<Value> {
    let lines = session.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["kind"] == "changed").collect()
}

/// A session of which not all can run again.
const ODD: Recorded = one(&[&[
    (SH, "cat notes.txt"),
    (SH, "curl -s http://127.0.0.1:9/x"),
    ("write", r#"{"path":"made.txt","content":"made\n"}"#),
    ("read", r#"{"path":"/etc/hostname"}"#),
    ("gone", "{}"),
]]);

#[test]
fn what_was_not_captured_is_said() {
    if !can_try() {
        return;
    }
    let file = recorded(&Home::new(), &ODD);
    assert_eq!(left(&file)[0]["files"][0]["path"], "made.txt");
    let ran = replayed(&file, None);
    for said in [
        "✓ shell cat notes.txt",
        "· shell curl -s http://127.0.0.1:9/x — it reaches the network",
        "— it concerns files outside the workspace",
        "· gone — its tool is not here",
        "the directory's content before the session",
        "The same.",
    ] {
        assert!(ran.out.contains(said), "{said}: {}\n{}", ran.out, ran.err);
    }
    // A session of which nothing can run proves nothing.
    let nothing = recorded(&Home::new(), &one(&[&[(SH, "curl -s http://127.0.0.1:9/x")]]));
    let ran = replayed(&nothing, None);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("there is nothing to compare"), "{}", ran.out);
}
