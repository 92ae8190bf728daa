//! Hooks: commands that are told what happens and may hold a call back, once the person has said that they may run.

use serde_json::json;

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi, last_said, run};

fn touches() -> Server {
    let touch = answer::chat_call("call_1", "shell", r#"{"command":"touch made.txt"}"#);
    Server::start([touch, answer::chat_text("Said.")])
}

fn file(event: &str, command: &str) -> String {
    json!({"hooks": {event: [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}}).to_string()
}

#[test]
fn a_hook_of_ones_own_denies_even_what_yes_would_run_and_has_no_keys() {
    let (home, server) = (Home::new(), touches());
    let deny = "cat > told.json; env > environment; echo 'not on a Monday' >&2; exit 2";
    home.write("config/axi/hooks.json", &file("PreToolUse", deny));
    let ran = run(axi(&home, &server).env("AXI_LINE", "mysql -pline-canary").args(["-p", "-y", "make it"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Said.\n"), "{}", ran.err);
    assert!(!home.work().join("made.txt").exists());
    assert!(last_said(&server.requests()[1]).contains("not on a Monday"), "{}", last_said(&server.requests()[1]));
    let told = std::fs::read_to_string(home.work().join("told.json")).unwrap();
    assert!(told.contains("\"tool_name\":\"Bash\"") && told.contains("touch made.txt"), "{told}");
    let environment = std::fs::read_to_string(home.work().join("environment")).unwrap();
    assert!(environment.contains("CLAUDE_PROJECT_DIR=") && !environment.contains("API_KEY"), "{environment}");
    assert!(!environment.contains("line-canary"), "{environment}");
}

#[test]
fn a_hook_that_asks_is_not_answered_by_yes_and_one_that_allows_changes_nothing() {
    for (decision, yes, code) in [("ask", "-y", 5), ("allow", "--linear", 5)] {
        let (home, server) = (Home::new(), touches());
        let answer =
            json!({"hookSpecificOutput": {"permissionDecision": decision, "permissionDecisionReason": "look"}});
        home.write("config/axi/hooks.json", &file("PreToolUse", &format!("echo '{answer}'")));
        let ran = run(axi(&home, &server).args(["-p", yes, "make it"]));
        assert_eq!(ran.code, Some(code), "{decision}: {}", ran.err);
        assert!(!home.work().join("made.txt").exists(), "{decision}");
    }
}

#[test]
fn a_typing_mistake_in_a_file_of_hooks_is_told_and_disables_no_guard() {
    let good = file("PreToolUse", "exit 2");
    for (text, told) in [
        (good[..good.len() - 1].to_owned(), "not read as hooks"),
        (good.replace("PreToolUse", "PreToolUSe"), "no event is called PreToolUSe; did you mean PreToolUse?"),
    ] {
        let (home, server) = (Home::new(), touches());
        home.write("config/axi/hooks.json", &text);
        let ran = run(axi(&home, &server).args(["-p", "-y", "make it"]));
        assert_eq!(ran.code, Some(5), "{}", ran.err);
        assert!(!home.work().join("made.txt").exists(), "{text}");
        assert!(ran.err.contains("axi/hooks.json:1:") && ran.err.contains(told), "{}", ran.err);
        assert!(ran.err.contains("a guard may be missing"), "{}", ran.err);
        let checked = run(axi(&home, &server).args(["config", "check", "--json"]));
        assert_eq!(checked.code, Some(2), "{}", checked.err);
        let found: serde_json::Value = serde_json::from_str(&checked.out).unwrap();
        assert!(found[0]["problem"].as_str().unwrap().contains(told) && found[0]["key"] == "hooks", "{found}");
        let doctor = run(axi(&home, &server).args(["doctor"]));
        assert!(doctor.out.contains(told), "{}", doctor.out);
        let person = Person { pty: Pty::options().spawn(axi(&home, &server).arg("-y")) };
        person.sees("a guard may be missing");
        person.sees_prompt();
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn hooks_of_a_place_wait_for_a_yes_and_print_mode_says_that_they_are_left_out() {
    let home = Home::new();
    home.write("work/.claude/settings.json", &file("PreToolUse", "touch ran; exit 2"));
    let server = touches();
    let ran = run(axi(&home, &server).args(["-p", "-y", "make it"]));
    assert!(ran.err.contains("not trusted: .claude/settings.json"), "{}", ran.err);
    assert!(home.work().join("made.txt").exists() && !home.work().join("ran").exists());
    std::fs::remove_file(home.work().join("made.txt")).unwrap();
    // Shown and asked about once; from then on they run.
    let server = touches();
    let mut person = Person { pty: Pty::options().spawn(axi(&home, &server).arg("-y")) };
    person.sees("touch ran; exit 2");
    person.sees_choice("No, work");
    person.types("y");
    person.sees_prompt();
    person.sends("make it");
    person.sees("Said.");
    assert_eq!(person.leaves(), Some(0));
    assert!(!home.work().join("made.txt").exists() && home.work().join("ran").exists());
}

#[test]
fn what_hooks_say_at_the_start_after_a_call_and_at_the_end_reaches_the_model() {
    let home = Home::new();
    let touch = answer::chat_call("call_1", "shell", r#"{"command":"touch made.txt"}"#);
    let server = Server::start([touch, answer::chat_text("Made."), answer::chat_text("Tested.")]);
    let stop = "test -e stopped || { touch stopped; echo 'run the tests' >&2; exit 2; }";
    let all = json!({"hooks": {
        "SessionStart": [{"hooks": [{"type": "command", "command": "echo use tabs"}]}],
        "PostToolUse": [{"hooks": [{"type": "command", "command": "echo formatted >&2; exit 2"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": stop}]}],
    }});
    home.write("config/axi/hooks.json", &all.to_string());
    let ran = run(axi(&home, &server).args(["-p", "-y", "make it"]));
    assert_eq!((ran.code, server.requests().len()), (Some(0), 3), "{}", ran.err);
    let asked = |number: usize| server.requests()[number].text.clone();
    assert!(asked(0).contains("use tabs") && asked(1).contains("formatted") && asked(2).contains("run the tests"));
    assert!(ran.out.ends_with("Tested.\n"), "{}", ran.out);
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn what_a_hook_changes_is_taken_back_and_what_is_not_is_said() {
    let home = Home::new();
    home.write("work/b.txt", "beside\n");
    let edit = answer::chat_call("call_1", "write", r#"{"path":"a.txt","content":"after\n"}"#);
    let server = Server::start([edit, answer::chat_text("Edited.")]);
    let all = json!({"hooks": {
        "SessionStart": [{"hooks": [{"type": "command", "command": "touch begun"}, {"type": "command", "command": "echo hi"}]}],
        "PreToolUse": [{"hooks": [{"type": "command", "command": "rm b.txt"}]}],
        "PostToolUse": [{"hooks": [{"type": "command", "command": "tr a-z A-Z <a.txt >x && mv x a.txt"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "echo end >stopped.txt"}]}],
    }});
    home.write("config/axi/hooks.json", &all.to_string());
    let mut person = Person::meets(axi(&home, &server).arg("-y"));
    person.sends("edit it");
    person.sees("Edited.");
    person.sees_prompt();
    let at = |name: &str| std::fs::read_to_string(home.work().join(name)).ok();
    assert_eq!(
        (at("a.txt").as_deref(), at("b.txt"), at("stopped.txt").as_deref()),
        (Some("AFTER\n"), None, Some("end\n"))
    );
    assert_eq!(person.count("a hook runs now"), 1);
    person.sends("/undo yes");
    person.sees("as they were");
    person.sees_prompt();
    let now = (at("a.txt"), at("b.txt"), at("stopped.txt"));
    assert_eq!(now, (None, Some("beside\n".into()), None), "{}", person.pty.describe());
    assert_eq!(person.leaves(), Some(0));
}
