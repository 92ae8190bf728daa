//! `axi mcp serve`: another program lists and calls the developer tools of this machine. The tools are a few lines of sh
//! on a search path of the test's own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use axi::approval::{Decision, Mode, Policy, Surroundings};
use axi::conversation::{Effect, Subject};
use axi::tool::devtool::{Found, TABLE, actions};
use axi::tool::{Roots, Tool as _};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::home::Home;
use crate::support::talk::{Ran, run_with};

fn program(home: &Home, name: &str, body: &str) {
    let path = home.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{body}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A home with a `git` that prints its arguments, and a `cargo` that writes a file.
fn home() -> Home {
    let home = Home::new();
    program(&home, "git", "printf '[%s]' \"$@\"");
    program(&home, "cargo", "echo \"$@\" >built; echo built");
    home
}

fn serve(home: &Home, flags: &[&str]) -> Command {
    let mut command = home.axi();
    let path = format!("{}/bin:/usr/bin:/bin", home.path().display());
    command.args(["mcp", "serve"]).args(flags).env("PATH", path);
    command
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n"
}

fn call(id: u64, name: &str, arguments: &Value) -> String {
    request(id, "tools/call", &json!({"name": name, "arguments": arguments}))
}

/// What is answered to these lines, in the order of their ids.
fn answers(home: &Home, flags: &[&str], lines: &[String]) -> Vec<Value> {
    let Ran { code, out, err } = run_with(&mut serve(home, flags), &lines.concat());
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let mut answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

fn text(answer: &Value) -> (&str, bool) {
    let result = &answer["result"];
    (result["content"][0]["text"].as_str().unwrap(), result["isError"].as_bool().unwrap())
}

fn listed(home: &Home, flags: &[&str]) -> Vec<Value> {
    let answer = answers(home, flags, &[request(1, "tools/list", &json!({}))]).remove(0);
    answer["result"]["tools"].as_array().unwrap().clone()
}

fn named<'a>(tools: &'a [Value], name: &str) -> Option<&'a Value> {
    tools.iter().find(|tool| tool["name"] == name)
}

#[test]
fn what_only_reads_is_offered_and_all_only_when_it_is_asked_for() {
    let home = home();
    let reading = listed(&home, &[]);
    assert!(named(&reading, "cargo_test").is_none());
    assert!(reading.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true), "{reading:?}");
    let all = listed(&home, &["--all"]);
    let annotations = |name| named(&all, name).unwrap()["annotations"].clone();
    let hints = |reads: bool, open: bool| json!({"readOnlyHint": reads, "destructiveHint": !reads, "idempotentHint": reads, "openWorldHint": open});
    assert_eq!((annotations("git_log"), annotations("cargo_test")), (hints(true, false), hints(false, true)));
    let log = named(&all, "git_log").unwrap();
    assert_eq!(log["inputSchema"]["properties"]["count"], json!({"type": "integer", "default": 20}));
    assert_eq!(listed(&home, &["--all"]), all);
}

#[test]
fn the_handshake_takes_the_client_s_revision_or_says_its_own() {
    let begin = |revision: &str| {
        let params =
            json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
        request(1, "initialize", &params)
    };
    for (wanted, spoken) in [("2025-06-18", "2025-06-18"), ("2099-01-01", "2025-11-25")] {
        let told = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_owned();
        let answers = answers(&home(), &[], &[begin(wanted), told, request(2, "ping", &json!({}))]);
        assert_eq!(answers[0]["result"]["protocolVersion"], spoken);
        assert_eq!(answers[0]["result"]["capabilities"], json!({"tools": {}}));
        assert_eq!((answers.len(), &answers[1]["result"]), (2, &json!({})));
    }
}

#[test]
fn an_action_runs_by_its_arguments_and_no_shell_reads_them() {
    let home = home();
    let lines = [
        call(1, "git_log", &json!({"path": "a b;touch x $(id)", "count": 3})),
        call(2, "git_show", &json!({"revision": "--output=x"})),
        call(3, "git_status", &json!({"depth": 1})),
        call(4, "git_blame", &json!({"path": "-x"})),
    ];
    let answers = answers(&home, &[], &lines);
    assert_eq!(text(&answers[0]), ("[log][--oneline][-n][3][--][a b;touch x $(id)]", false));
    assert_eq!(text(&answers[1]), ("git_show: `revision` must not begin with a dash", true));
    assert_eq!(text(&answers[2]), ("git_status: there is no `depth`", true));
    assert_eq!(text(&answers[3]), ("[blame][--][-x]", false));
    assert_eq!(std::fs::read_dir(home.work()).unwrap().count(), 0);
}

#[test]
fn what_would_be_asked_about_does_not_run_unless_a_rule_allows_it() {
    let home = home();
    let test = || [call(1, "cargo_test", &json!({"package": "core"}))];
    let refused = answers(&home, &[], &test()).remove(0);
    assert_eq!(
        refused["error"]["message"],
        "`cargo_test` may change things: it is offered by `axi mcp serve --all` only"
    );
    let asked = answers(&home, &["--all"], &test()).remove(0);
    let (said, failed) = text(&asked);
    assert!(failed && said.starts_with("Not run: cargo_test with these arguments needs the user's yes"), "{said}");
    assert!(!home.work().join("built").exists());
    for rule in ["shell(cargo test *)", "cargo_test"] {
        home.write("config/axi/config.toml", &format!("[permissions]\nallow = [{rule:?}]\n"));
        let ran = answers(&home, &["--all"], &test()).remove(0);
        assert_eq!(text(&ran), ("built\n", false), "{rule}");
        let built = home.work().join("built");
        assert_eq!(std::fs::read_to_string(&built).unwrap(), "test --package core\n");
        std::fs::remove_file(built).unwrap();
    }
    home.write("config/axi/config.toml", "[permissions]\ndeny = [\"git_log\"]\n");
    let denied = answers(&home, &[], &[call(1, "git_log", &json!({}))]).remove(0);
    assert!(text(&denied).1 && text(&denied).0.contains("rule"), "{denied}");
}

#[test]
fn nonsense_is_answered_with_what_is_wrong() {
    let lines = [
        "{\n".to_owned(),
        request(1, "tools/call", &json!({"name": "nothing"})),
        request(2, "tools/call", &json!({"name": "git_log", "arguments": 7})),
        request(3, "resources/list", &json!({})),
        "\n".to_owned(),
    ];
    let errors: Vec<(Value, Value)> = answers(&home(), &[], &lines)
        .into_iter()
        .map(|answer| (answer["id"].clone(), answer["error"]["code"].clone()))
        .collect();
    let error = |id: Value, code: i32| (id, json!(code));
    let expected =
        [error(Value::Null, -32700), error(json!(1), -32602), error(json!(2), -32602), error(json!(3), -32601)];
    assert_eq!(errors, expected);
}

/// A client that hears while it speaks.
struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn of(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn says(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).unwrap();
    }

    fn hears(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

#[test]
fn a_call_that_runs_holds_nobody_up_tells_its_progress_and_can_be_cancelled() {
    let home = home();
    program(&home, "git", "case $1 in log) echo begun; exec sleep 1000 ;; esac; echo done");
    let mut peer = Peer::of(&mut serve(&home, &[]));
    let with_token = json!({"name": "git_log", "_meta": {"progressToken": "p"}});
    peer.says(&request(1, "tools/call", &with_token));
    let progress = peer.hears();
    assert_eq!(
        (&progress["params"]["progressToken"], &progress["params"]["message"]),
        (&json!("p"), &json!("begun"))
    );
    // One waits behind it, a question beside it is answered.
    peer.says(&call(2, "git_status", &json!({})));
    peer.says(&request(3, "ping", &json!({})));
    assert_eq!(peer.hears()["id"], 3);
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    peer.says(&(cancelled.to_string() + "\n"));
    let next = peer.hears();
    assert_eq!((&next["id"], text(&next)), (&json!(2), ("done\n", false)));
    drop(peer.input);
    assert!(peer.child.wait().unwrap().success());
}

#[test]
fn a_client_that_hangs_up_has_its_batch_answered_and_what_runs_on_is_ended() {
    let home = home();
    program(&home, "cargo", "sleep 1; echo built");
    let build = |id| call(id, "cargo_build", &json!({}));
    home.write("config/axi/config.toml", "[permissions]\nallow = [\"cargo_build\"]\n");
    let all = answers(&home, &["--all"], &[build(1)]);
    assert!(text(&all[0]).0.contains("built"), "{all:?}");
    program(&home, "cargo", "echo $$ >running; exec sleep 300");
    let begun = std::time::Instant::now();
    let all = answers(&home, &["--all"], &[build(1), build(2)]);
    assert_eq!(all, Vec::<Value>::new());
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    let process = std::fs::read_to_string(home.work().join("running")).unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{}", process.trim())).exists(), "{process}");
}

/// What the judge says of an action's call, in a directory where nothing else is known.
fn judged(name: &str, input: &Value) -> Option<(Decision, bool)> {
    let roots = Roots { cwd: "/work".into(), workspace: "/work".into(), home: Some("/home/me".into()) };
    let surroundings = Surroundings {
        cwd: roots.cwd.clone(),
        workspace: roots.workspace.clone(),
        home: roots.home.clone(),
        ..Surroundings::default()
    };
    let all = TABLE.iter().flat_map(|tool| {
        let program = tool.candidates().next().unwrap();
        actions(&Found { tool, path: Some(format!("/usr/bin/{program}").into()), version: None }, None)
            .collect::<Vec<_>>()
    });
    let tool = all.into_iter().find(|tool| tool.spec().name == name).unwrap();
    let subject = tool.read(input, &roots).subject();
    let assessment =
        Policy::new(Mode::Build, false).decide(name, tool.read(input, &roots).effect(), &subject, &surroundings);
    // What cannot be read is refused before it is judged.
    matches!(subject, Subject::Command { .. }).then(|| {
        let reads = assessment.line.is_some_and(|line| {
            line.unparsed.is_empty()
                && line.never_auto.is_none()
                && line.parts.iter().all(|part| part.class == axi::approval::Class::ReadOnly)
        });
        (assessment.verdict.decision, reads)
    })
}

fn rows() -> Vec<(String, &'static axi::tool::devtool::Action)> {
    TABLE
        .iter()
        .flat_map(|tool| tool.actions.iter().map(move |action| (format!("{}_{}", tool.id, action.name), action)))
        .collect()
}

fn filled(action: &axi::tool::devtool::Action, words: &[String], number: i64, yes: bool) -> Value {
    let mut input = Map::new();
    for (parameter, word) in action.parameters().iter().zip(words) {
        let value = match parameter.kind.word() {
            "number" => json!(number),
            "boolean" => json!(yes),
            _ => json!(word),
        };
        input.insert(parameter.name.to_owned(), value);
    }
    Value::Object(input)
}

#[test]
fn what_is_declared_to_read_is_run_unasked_and_nothing_else_is() {
    for (name, action) in rows() {
        let plain = ["src", "main", "x", "y"].map(str::to_owned);
        let (decision, reads) = judged(&name, &filled(action, &plain, 5, true)).unwrap();
        if action.effect == Effect::Read {
            assert_eq!((decision, reads), (Decision::Allow, true), "{name}: {}", action.runs);
        }
        assert_eq!(decision == Decision::Allow, reads, "{name}");
    }
}

proptest! {
    /// Whatever is given to whatever row: what runs unasked was judged to only read.
    #[test]
    fn no_parameter_makes_a_call_run_unasked_that_does_more_than_read(
        index in 0_usize..1_000,
        words in proptest::collection::vec(
            prop_oneof![".{1,12}", "(-o|--output=x|;rm x|>x|\\$\\(rm x\\)|/etc/shadow|~/.ssh/id_rsa|env|system\\(1\\)|!touch x)"], 4),
        number in any::<i64>(),
        yes in any::<bool>(),
    ) {
        let rows = rows();
        let (name, action) = &rows[index % rows.len()];
        if let Some((Decision::Allow, reads)) = judged(name, &filled(action, &words, number, yes)) {
            prop_assert!(reads, "{name} {words:?}");
        }
    }
}
