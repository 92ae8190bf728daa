//! `axi -p`: where the answer goes, what is asked, in which form, in which language.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{KEY, axi, last_said, roles, run, run_with};

const READ: &str = r#"{"path":"note.txt"}"#;

#[test]
fn only_the_final_answer_is_on_stdout_and_the_tools_are_on_stderr() {
    let home = Home::new();
    home.write("work/note.txt", "the word is plover\n");
    let server =
        Server::start([answer::chat_call("call_1", "read", READ), answer::chat_text("The word is **plover**.")]);
    let ran = run(axi(&home, &server).args(["-p", "which", "word?"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "The word is **plover**.\n"));
    assert_eq!(ran.err, "· Read note.txt · 1 line\n");
    let requests = server.requests();
    assert_eq!(last_said(&requests[0]), "which word?");
    assert_eq!(roles(&requests[1]), ["system", "user", "assistant", "tool"]);
    assert!(last_said(&requests[1]).contains("plover"));
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn what_is_piped_in_stands_under_the_message_or_is_the_message() {
    for (arguments, input, asked) in [
        (&["-p", "why?"][..], "error: x\n  at y\n", "why?\n\n<stdin>\nerror: x\n  at y\n</stdin>"),
        (&["-p"], "what is two and two?\n", "what is two and two?"),
        (&["-p", "hi"], " \n", "hi"),
        (&["why?"], "not a terminal", "why?\n\n<stdin>\nnot a terminal\n</stdin>"),
        (&[], "just this", "just this"),
    ] {
        let home = Home::new();
        let server = Server::start([answer::chat_text("done")]);
        let ran = run_with(axi(&home, &server).args(arguments), input);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "done\n"), "{arguments:?} {}", ran.err);
        assert_eq!(last_said(&server.requests()[0]), asked);
    }
}

#[test]
fn more_than_a_message_holds_keeps_its_beginning_and_its_end_and_says_so() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("done")]);
    let mut shell = shell(&axi(&home, &server), r#"seq 1 700000 | "$AXI" -p look"#);
    let ran = run(&mut shell);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "done\n"), "{}", ran.err);
    assert!(ran.err.contains("standard input has 4.8 MB") && ran.err.contains("leaves out"), "{}", ran.err);
    let asked = last_said(&server.requests()[0]);
    let shown: String = asked.chars().take(60).collect();
    assert!(
        asked.starts_with("look\n\n<stdin>\n1\n2\n") && asked.ends_with("\n699999\n700000\n</stdin>"),
        "{shown}"
    );
    let notices: Vec<&str> = asked.lines().filter(|line| line.contains("left out")).collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
}

#[test]
fn piped_bytes_that_are_no_text_are_still_asked_about() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("done")]);
    let mut shell = shell(&axi(&home, &server), r#"printf 'a\377\000b' | "$AXI" -p what"#);
    assert_eq!(run(&mut shell).code, Some(0));
    assert_eq!(last_said(&server.requests()[0]), "what\n\n<stdin>\na\u{fffd}\0b\n</stdin>");
}

#[test]
fn a_person_who_pipes_the_answer_away_gets_one_turn() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("# Title\n\nan answer")]);
    let mut pty = Pty::options().spawn(&shell(&axi(&home, &server), r#""$AXI" hello | cat"#));
    assert_eq!(pty.wait_exit().code(), Some(0));
    assert_eq!(pty.transcript(), "# Title\n\nan answer\n");
}

#[test]
fn on_a_terminal_the_answer_is_styled_and_nothing_else_is_left() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("a **bold** answer")]);
    let mut command = axi(&home, &server);
    command.args(["-p", "hello"]);
    let mut pty = Pty::options().spawn(&command);
    assert_eq!(pty.wait_exit().code(), Some(0));
    assert_eq!(pty.transcript().trim(), "a bold answer");
    let bold = pty.view(|view| {
        let cell = view.screen().cell(0, 2).unwrap();
        (cell.contents().to_owned(), cell.bold())
    });
    assert_eq!(bold, ("b".to_owned(), true), "{}", pty.describe());
    assert!(!pty.view(|view| view.screen().hide_cursor()));
}

#[test]
fn json_is_one_object_when_the_turn_is_over() {
    let home = Home::new();
    home.write("work/note.txt", "plover\n");
    let server = Server::start([answer::chat_call("call_1", "read", READ), answer::chat_text("It is plover.")]);
    let ran = run(axi(&home, &server).args(["-p", "--output", "json", "which?"]));
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 1), "{ran:?}");
    let mut report: Value = serde_json::from_str(&ran.out).unwrap();
    let session = report["session"].take();
    assert!(session.as_str().unwrap().len() > 10, "{session}");
    let duration = report["tool_calls"][0]["duration_ms"].take();
    assert!(duration.is_u64());
    let usage = json!({"input_tokens": 20, "output_tokens": 10});
    for (name, count) in usage.as_object().unwrap() {
        assert_eq!(&report["usage"][name], count);
    }
    report["usage"].take();
    let expected = json!({"type": "result", "session": null, "model": "openai/any", "answer": "It is plover.",
        "end": {"kind": "done"}, "steps": 2, "usage": null,
        "tool_calls": [{"id": "call_1", "name": "read", "outcome": "ok", "duration_ms": null}]});
    assert_eq!(report, expected);
}

#[test]
fn stream_json_is_one_event_a_line_and_the_last_is_the_end() {
    let home = Home::new();
    home.write("work/note.txt", "plover\n");
    let server = Server::start([answer::chat_call("call_1", "read", READ), answer::chat_text("It is plover.")]);
    let ran = run(axi(&home, &server).args(["-p", "--output", "stream-json", "which?"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let events: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[0], "turn_started");
    assert_eq!(events.last().unwrap(), &json!({"type": "turn_ended", "end": {"kind": "done"}}));
    assert_eq!(kinds.iter().filter(|kind| **kind == "turn_ended").count(), 1);
    let place = |kind: &str| kinds.iter().position(|known| *known == kind).unwrap_or_else(|| panic!("{kind}"));
    assert!(place("tool_requested") < place("tool_finished") && place("tool_finished") < place("text_delta"));
    let text: String = events
        .iter()
        .filter(|event| event["type"] == "text_delta")
        .filter_map(|event| event["text"].as_str())
        .collect();
    assert_eq!(text, "It is plover.");
}

#[test]
fn a_failure_is_in_the_json_too() {
    let home = Home::new();
    let body = json!({"error": {"message": "no such thing", "type": "invalid_request_error"}});
    for form in ["json", "stream-json"] {
        let server = Server::start([crate::support::server::Answer::json(400, &body)]);
        let ran = run(axi(&home, &server).args(["-p", "--output", form, "hi"]));
        let last: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
        assert_eq!((ran.code, &last["end"]["kind"]), (Some(4), &json!("failed")), "{ran:?}");
        assert_eq!(last["end"]["error"]["status"], 400);
        assert!(ran.err.contains("no such thing"), "{}", ran.err);
    }
}

#[test]
fn each_of_the_three_wires_needs_nothing_but_the_environment() {
    let cases = [
        (
            "OPENAI_BASE_URL",
            "/v1",
            "OPENAI_API_KEY",
            "openai/any",
            answer::chat_text("hello there"),
            "/v1/chat/completions",
        ),
        (
            "ANTHROPIC_BASE_URL",
            "",
            "ANTHROPIC_API_KEY",
            "anthropic/any",
            answer::messages_text("hello there"),
            "/v1/messages",
        ),
        ("OLLAMA_HOST", "", "OLLAMA_UNUSED", "ollama/any", answer::ollama_text("hello there"), "/api/chat"),
    ];
    for (address, path, key, model, text, asked) in cases {
        let home = Home::new();
        let server = Server::start([text]);
        let mut command = home.axi();
        command.env(address, server.url(path)).env(key, KEY).args(["-m", model, "-p", "hi"]);
        let ran = run(&mut command);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "hello there\n", ""), "{model}");
        assert_eq!(server.requests()[0].path, asked);
    }
}

#[test]
fn a_key_in_the_environment_is_enough_and_the_choice_is_told() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello")]);
    // Another address than the provider's own has models of its own.
    server.route("GET /v1/models", Answer::json(200, &json!({"data": [{"id": "served"}]})));
    let mut command = axi(&home, &server);
    command.env_remove("AXI_MODEL").args(["-p", "hi"]);
    let ran = run(&mut command);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello\n"), "{ran:?}");
    assert!(ran.err.contains("using openai/served") && ran.err.contains("OPENAI_API_KEY is set"), "{}", ran.err);
}

#[test]
fn errors_and_help_are_in_the_language_asked_for_or_that_of_the_system() {
    let home = Home::new();
    let server = Server::start([]);
    let ran = |flags: &[&str], lang: Option<&str>| {
        let mut command = axi(&home, &server);
        if let Some(lang) = lang {
            command.env_remove("LC_ALL").env("LANG", lang);
        }
        run(command.args(flags))
    };
    let (chinese, japanese) = (["错误:", "提示:", "继续"], ["エラー:", "ヒント:", "再開"]);
    for (flags, lang, [error, hint, goes_on]) in [
        (&["--lang", "zh-CN"][..], None, chinese),
        (&["--lang=zh-CN"], Some("en_US.UTF-8"), chinese),
        (&[], Some("zh_CN.UTF-8"), chinese),
        (&["--lang=ja"], Some("zh_CN.UTF-8"), japanese),
        (&[], Some("ja_JP.UTF-8"), japanese),
        (&[], Some("ja_JP.eucJP"), japanese),
    ] {
        let with = |more: &[&str]| ran(&[flags, more].concat(), lang);
        let wrong = with(&["-p", "-m", "nowhere/x", "hi"]);
        assert_eq!(wrong.code, Some(3));
        assert!(wrong.err.starts_with(error) && wrong.err.contains(hint), "{}", wrong.err);
        let unknown = with(&["--nonsense"]);
        assert_eq!(unknown.code, Some(2));
        assert!(unknown.err.starts_with(error), "{}", unknown.err);
        let help = with(&["--help"]);
        assert_eq!(help.code, Some(0));
        assert!(help.out.contains(goes_on) && help.err.is_empty(), "{}", help.out);
    }
    let english = ran(&["--lang", "en", "--nonsense"], Some("zh_CN.UTF-8"));
    assert!(english.err.starts_with("error: "), "{}", english.err);
}

/// A shell line in the environment of `axi`, whose path is in `$AXI`.
fn shell(axi: &Command, line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.env_clear();
    for (name, value) in axi.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell.env("AXI", axi.get_program()).args(["-c", line]).current_dir(axi.get_current_dir().unwrap());
    shell
}
