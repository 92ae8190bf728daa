use std::time::SystemTime;

use proptest::prelude::*;

use super::run::End;
use super::*;
use crate::agent::{Approval, ApprovalRequest};
use crate::conversation::{Subject, ToolCall, ToolVerb};
use crate::session::{Redactor, SessionId};

fn hooks(text: String, place: &std::path::Path) -> Hooks {
    let file = HookFile { path: "hooks.json".into(), text: Ok(text) };
    Hooks::new(Box::new(move || vec![file]), place.to_owned(), Variables::default())
}

fn one(event: &str, matcher: &str, command: &str) -> String {
    json!({"hooks": {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": 5}]}]}})
        .to_string()
}

fn call(name: &str, input: Value) -> ToolCall {
    ToolCall {
        id: "1".into(),
        name: name.into(),
        input,
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: String::new(),
        arguments: String::new(),
    }
}

fn session(place: &std::path::Path) -> Session {
    let id = SessionId::new(SystemTime::UNIX_EPOCH, place, 1);
    Session::new(id, place.to_owned(), None, Redactor::default())
}

/// The hooks that a person sees run.
#[derive(Default)]
struct Seen(Vec<String>);

impl Frontend for Seen {
    fn show(&mut self, event: &AgentEvent) {
        if let AgentEvent::Waiting { activity: Activity::Hook { command } } = event {
            self.0.push(command.clone());
        }
    }

    fn approve(&mut self, _request: &ApprovalRequest) -> Approval {
        Approval::Unavailable
    }
}

async fn before(text: String, name: &str, verb: ToolVerb) -> Replies {
    let call = call(name, json!({"command": "rm -rf build", "path": "a"}));
    held(text, &About { call: &call, verb, subject: &Subject::Whole }, Effect::Read).await
}

async fn held(text: String, about: &About<'_>, effect: Effect) -> Replies {
    let place = tempfile::tempdir().unwrap();
    let hooks = hooks(text, place.path());
    hooks
        .before_call((about, effect), &session(place.path()), &mut Seen::default(), &CancellationToken::new())
        .await
}

#[tokio::test]
async fn a_hook_denies_asks_and_never_allows() {
    let deny = one("PreToolUse", "Bash", "grep -q 'rm -rf' && { echo not that >&2; exit 2; }");
    let denied = Some(Held::Deny("not that".into()));
    assert_eq!(before(deny.clone(), "shell", ToolVerb::Run).await.held, denied);
    // Neither for another tool nor at another time.
    assert_eq!(before(deny.clone(), "read", ToolVerb::Read).await, Replies::default());
    assert_eq!(before(deny.replace("PreToolUse", "PostToolUse"), "shell", ToolVerb::Run).await, Replies::default());
    // By our name of it, and by no part of a name.
    assert_eq!(before(deny.replace("Bash", "shell"), "shell", ToolVerb::Run).await.held, denied);
    assert_eq!(before(deny.replace("Bash", "Bas"), "shell", ToolVerb::Run).await.held, None);
    assert_eq!(before(deny.replace("Bash", "Bash|Edit"), "shell", ToolVerb::Run).await.held, denied);
    let says = |decision: &str| {
        let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": decision, "permissionDecisionReason": "why"}});
        one("PreToolUse", "*", &format!("echo '{answer}'"))
    };
    assert_eq!(before(says("ask"), "shell", ToolVerb::Run).await.held, Some(Held::Ask("why".into())));
    assert_eq!(before(says("deny"), "shell", ToolVerb::Run).await.held, Some(Held::Deny("why".into())));
    assert_eq!(before(says("allow"), "shell", ToolVerb::Run).await, Replies::default());
}

#[tokio::test]
async fn a_hook_that_fails_is_told_and_one_that_takes_too_long_has_not_agreed() {
    let failed = before(one("PreToolUse", "", "echo broken >&2; exit 1"), "shell", ToolVerb::Run).await;
    assert_eq!((failed.held, failed.failed[0].1.as_str()), (None, "exit 1 broken"));
    // What it prints beyond what is kept holds it up as little as nothing.
    let chatty = "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; exit 1";
    let failed = before(one("PreToolUse", "", chatty), "shell", ToolVerb::Run).await;
    assert!(failed.failed[0].1.starts_with("exit 1"), "{:?}", failed.failed[0].1.get(..40));
    // What it leaves behind holds up nothing, and is told; what it had said counts.
    let left = "sleep 300 & echo '{\"decision\":\"block\",\"reason\":\"why\"}'";
    let left = before(one("PreToolUse", "", left), "shell", ToolVerb::Run).await;
    assert_eq!(left.held, Some(Held::Deny("why".into())));
    assert!(left.failed[0].1.contains("kept its output open"), "{:?}", left.failed);
    let slow = one("PreToolUse", "", "sleep 60").replace("\"timeout\":5", "\"timeout\":1");
    let slow = before(slow, "shell", ToolVerb::Run).await;
    assert_eq!(slow.held, Some(Held::Ask("sleep 60: more than 1 s".into())));
}

#[tokio::test]
async fn what_is_told_and_where_it_runs() {
    let place = tempfile::tempdir().unwrap();
    let text = one("PostToolUse", "Edit", "cat > told; pwd > where; echo \"$CLAUDE_PROJECT_DIR\" >> where");
    let hooks = hooks(text, place.path());
    let call = call("edit", json!({"path": "a"}));
    let output = ToolOutput::ok("done", crate::tool::ToolFacts::default());
    let (session, cancel) = (session(place.path()), CancellationToken::new());
    let about = About { call: &call, verb: ToolVerb::Edit, subject: &Subject::Whole };
    let mut seen = Seen::default();
    let said = hooks.after_call(&about, &output, &session, &mut seen, &cancel).await;
    assert_eq!(said, Replies::default());
    // The person sees what is waited for.
    assert!(matches!(&seen.0[..], [command] if command.starts_with("cat > told")), "{:?}", seen.0);
    let told: Value = serde_json::from_slice(&std::fs::read(place.path().join("told")).unwrap()).unwrap();
    let path = place.path().to_string_lossy().into_owned();
    let expected = json!({
        "session_id": session.id(), "transcript_path": "", "cwd": path, "hook_event_name": "PostToolUse",
        "tool_name": "Edit", "tool_input": {"path": "a", "file_path": format!("{path}/a")},
        "tool_response": {"content": "done", "is_error": false},
    });
    assert_eq!(told, expected);
    let place = place.path().canonicalize().unwrap().to_string_lossy().into_owned();
    assert_eq!(std::fs::read_to_string(format!("{place}/where")).unwrap().lines().next(), Some(place.as_str()));
}

#[tokio::test]
async fn a_session_starts_once_and_a_stop_is_held_back_a_few_times() {
    let place = tempfile::tempdir().unwrap();
    let (session, cancel) = (session(place.path()), CancellationToken::new());
    let start = hooks(one("SessionStart", "", "echo use tabs"), place.path());
    let mut seen = Seen::default();
    assert_eq!(start.at_start(false, &session, &mut seen, &cancel).await.told, ["use tabs"]);
    assert_eq!(seen.0, ["echo use tabs"]);
    assert_eq!(start.at_start(false, &session, &mut Seen::default(), &cancel).await, Replies::default());
    let stop = hooks(one("Stop", "", "echo '{\"decision\":\"block\",\"reason\":\"run the tests\"}'"), place.path());
    let held = Some(Held::Deny("run the tests".into()));
    assert_eq!(stop.at_stop(0, &session, &mut Seen::default(), &cancel).await.held, held);
    assert_eq!(stop.at_stop(MOST_STOPS, &session, &mut Seen::default(), &cancel).await, Replies::default());
    cancel.cancel();
    assert_eq!(stop.at_stop(0, &session, &mut Seen::default(), &cancel).await, Replies::default());
}

/// What a hook with this matcher is told of a call, a line for each time that it runs; empty if it is not for it.
async fn told(matcher: &str, name: &str, input: Value, (verb, subject): (ToolVerb, Subject)) -> Vec<Value> {
    let text = one("PreToolUse", matcher, "tr -d '\\n' >&2; echo >&2; exit 2");
    let call = call(name, input);
    let place = tempfile::tempdir().unwrap();
    let hooks = hooks(text.replace("tr -d", "tee -a told | tr -d"), place.path());
    let about = About { call: &call, verb, subject: &subject };
    hooks
        .before_call(
            (&about, Effect::Write),
            &session(place.path()),
            &mut Seen::default(),
            &CancellationToken::new(),
        )
        .await;
    let told = std::fs::read_to_string(place.path().join("told")).unwrap_or_default();
    serde_json::Deserializer::from_str(&told).into_iter().map(Result::unwrap).collect()
}

#[tokio::test]
async fn a_guard_is_for_each_tool_that_does_what_it_guards() {
    let paths = |paths: &[&str]| Subject::Paths { paths: paths.iter().map(Into::into).collect() };
    let line = |line: &str| Subject::Command { line: line.to_owned() };
    let told = async |matcher: &str, name: &str, input: Value, about| {
        let field = |told: &Value, name: &str| told["tool_input"][name].as_str().unwrap_or_default().to_owned();
        let all = told(matcher, name, input, about).await;
        let rows = all.iter().map(|told| {
            let name = told["tool_name"].as_str().unwrap();
            format!("{name} {} {}", field(told, "command"), field(told, "file_path"))
        });
        rows.collect::<Vec<_>>()
    };
    let delete = json!({"path": "a b", "recursive": true, "command": "true", "file_path": "/other"});
    let delete = (delete, (ToolVerb::Delete, paths(&["/w/a b"])));
    let keys = line("terminal_keys 1 'rm -rf x<enter>'");
    let keys =
        (json!({"action": "send", "keys": "rm -rf x<enter>", "command": "true"}), (ToolVerb::UseTerminal, keys));
    assert_eq!(told("Bash", "terminal", keys.0, keys.1).await, ["Bash terminal_keys 1 'rm -rf x<enter>' "]);
    let deleted = told("Bash", "delete", delete.0, delete.1).await;
    assert!(deleted.len() == 1 && deleted[0].starts_with("Bash rm -rf 'a b' /"), "{deleted:?}");
    assert!(deleted[0].ends_with("/a b"), "{deleted:?}");
    for matcher in ["Edit", "MultiEdit", "Write", "Write|Edit", "apply_patch"] {
        let patch = json!({"patch": "*** Begin Patch"});
        let said = told(matcher, "apply_patch", patch, (ToolVerb::Patch, paths(&["/w/a", "/w/.env"]))).await;
        let name = matcher.split('|').next_back().unwrap().replace("apply_patch", "MultiEdit");
        assert_eq!(said, [format!("{name}  /w/a"), format!("{name}  /w/.env")], "{matcher}");
    }
    for matcher in ["Bash", "Write|Edit", "Edit"] {
        let from_to = json!({"from": "a", "to": "b"});
        assert_eq!(told(matcher, "move", from_to, (ToolVerb::Move, paths(&["/w/a", "/w/b"]))).await.len(), 2);
        let path = json!({"path": "a"});
        assert_eq!(told(matcher, "mkdir", path, (ToolVerb::MakeDirectory, paths(&["/w/a"]))).await.len(), 1);
    }
    let action = (ToolVerb::Run, line("git push"));
    assert_eq!(told("Bash", "git_push", json!({}), action).await, ["Bash git push "]);
}

#[tokio::test]
async fn a_tool_of_a_server_is_known_by_their_name_of_it() {
    for matcher in ["mcp__files__write", "mcp__files__.*", "mcp__.*__write.*", "files__write"] {
        let said = told(matcher, "files__write", json!({}), (ToolVerb::Call, Subject::Whole)).await;
        assert_eq!(said[0]["tool_name"], "mcp__files__write", "{matcher}");
    }
    let said = told("mcp__s__a_b", "s__a_b_0466522c", json!({}), (ToolVerb::Call, Subject::Whole)).await;
    assert_eq!(said[0]["tool_name"], "mcp__s__a_b");
    let said = told("mcp__other__.*", "files__write", json!({}), (ToolVerb::Call, Subject::Whole)).await;
    assert_eq!(said, Vec::<Value>::new());
}

#[test]
fn a_bad_pattern_is_for_every_tool() {
    let (bad, _) = form::read(&one("PreToolUse", "Bash(", "x"));
    let call = call("read", json!({}));
    assert!(bad[0].matches(&About { call: &call, verb: ToolVerb::Read, subject: &Subject::Whole }).is_some());
}

#[test]
fn a_typing_mistake_in_a_file_of_hooks_is_found_where_it_is() {
    let wrong = |text: &str| form::read(text).1.map(|wrong| (wrong.line, wrong.column, wrong.fault.to_string()));
    let known = one("PreToolUse", "Bash", "x");
    let others = json!({"hooks": {"Setup": 1, "UserPromptSubmit": [], "Stop": [{"hooks": [{"type": "prompt"}]}]}});
    for right in ["{}", "{\"hooks\": {}}", known.as_str(), &others.to_string()] {
        assert_eq!(wrong(right), None, "{right}");
    }
    for (text, line) in [
        ("", 1),
        ("[]", 1),
        ("not json", 1),
        ("{\"hooks\": []}", 1),
        ("{\n\"hooks\": {\"PreToolUse\": [{\"hooks\": \n7}]}}", 3),
        ("{\"hooks\":\n {\"PreToolUSe\": []}}", 2),
        ("{\"hooks\":\n {\"pre_tool_use\": []}}", 2),
        ("{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\n\"type\": \"comand\", \"command\": \"x\"}]}]}}", 2),
        ("{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\n\"type\": \"prompt\"}]}]}}", 2),
        ("{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\": \"x\"}]}]}}", 1),
    ] {
        assert_eq!(wrong(text).map(|(line, ..)| line), Some(line), "{text}");
    }
    assert_eq!(
        wrong("{\"hooks\":\n {\"PreToolUSe\": []}}").unwrap().2,
        "no event is called PreToolUSe; PreToolUse?"
    );
}

#[tokio::test]
async fn while_a_file_of_hooks_has_a_mistake_what_does_more_than_read_is_asked_about() {
    let call = call("shell", json!({"command": "touch a"}));
    let about = About { call: &call, verb: ToolVerb::Run, subject: &Subject::Whole };
    let bad = "{\"hooks\": {\"PreToolUSe\": []}}";
    for (effect, asked) in [(Effect::Read, false), (Effect::Write, true), (Effect::Execute, true)] {
        let held = held(bad.to_owned(), &about, effect).await.held;
        let why = "hooks.json: no event is called PreToolUSe; PreToolUse?".to_owned();
        assert_eq!(held, asked.then_some(Held::Mistake(why)), "{effect:?}");
    }
}

proptest! {
    /// Whatever a hook prints and however it ends, what it says is nothing or stricter: there is no word for a yes.
    #[test]
    fn no_answer_allows(code in proptest::option::of(-1..4_i32), out in ".{0,80}", decision in "allow|approve|ask|deny|block|x") {
        let json = json!({"decision": decision, "hookSpecificOutput": {"permissionDecision": decision}}).to_string();
        for out in [out, json] {
            let read = Answer::read(Event::PreToolUse, &End { code, out, err: String::new(), left_open: false });
            prop_assert!(code == Some(0) || code == Some(2) || read.word.is_none());
            if code == Some(2) {
                prop_assert!(matches!(read.word, Some(Word::Deny(_))));
            }
            if matches!(decision.as_str(), "allow" | "approve" | "x") && code == Some(0) {
                prop_assert!(read.word.is_none());
            }
        }
    }
}
