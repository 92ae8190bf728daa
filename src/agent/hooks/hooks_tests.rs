use std::time::SystemTime;

use proptest::prelude::*;

use super::run::End;
use super::*;
use crate::session::{Redactor, SessionId};

fn hooks(text: String, place: &std::path::Path) -> Hooks {
    Hooks::new(Box::new(move || vec![text]), place.to_owned(), Variables::default())
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

async fn before(text: String, name: &str, verb: ToolVerb) -> Replies {
    let place = tempfile::tempdir().unwrap();
    let call = call(name, json!({"command": "rm -rf build", "path": "a"}));
    let hooks = hooks(text, place.path());
    hooks.before_call((&call, verb), &session(place.path()), &CancellationToken::new()).await
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
    let said = hooks.after_call((&call, ToolVerb::Edit), &output, &session, &cancel).await;
    assert_eq!(said, Replies::default());
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
    assert_eq!(start.at_start(false, &session, &cancel).await.told, ["use tabs"]);
    assert_eq!(start.at_start(false, &session, &cancel).await, Replies::default());
    let stop = hooks(one("Stop", "", "echo '{\"decision\":\"block\",\"reason\":\"run the tests\"}'"), place.path());
    let held = Some(Held::Deny("run the tests".into()));
    assert_eq!(stop.at_stop(0, &session, &cancel).await.held, held);
    assert_eq!(stop.at_stop(MOST_STOPS, &session, &cancel).await, Replies::default());
    cancel.cancel();
    assert_eq!(stop.at_stop(0, &session, &cancel).await, Replies::default());
}

#[test]
fn what_is_no_file_of_hooks_has_none_and_a_bad_pattern_is_for_every_tool() {
    for text in ["", "[]", "{}", "{\"hooks\": []}", "{\"hooks\": {\"Other\": []}}", "not json"] {
        assert!(form::read(text).is_empty(), "{text}");
    }
    let bad = form::read(&one("PreToolUse", "Bash(", "x"));
    assert!(bad[0].matches(Some(("shell", Some("Bash")))) && bad[0].matches(Some(("read", None))));
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
