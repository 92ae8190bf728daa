//! How `axi -p` ends: exit codes, what may run unasked, a pipe that closes, Ctrl+C.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::talk::{Ran, axi, last_said, roles, run, run_with, session_lines};

/// Port 1 of this machine: nobody answers there.
const NOBODY: &str = "http://127.0.0.1:1";

const TOUCH: &str = r#"{"command":"touch made.txt"}"#;

fn ask(home: &Home, server: &Server, flags: &[&str]) -> Ran {
    run(axi(home, server).args(["-p", "hi"]).args(flags))
}

fn refusal(status: u16, message: &str) -> Answer {
    Answer::json(status, &json!({"error": {"message": message, "type": "invalid_request_error"}}))
}

#[test]
fn a_command_line_that_makes_no_sense_ends_with_2_and_asks_nobody() {
    let home = Home::new();
    let server = Server::start([]);
    for (flags, told) in [
        (&["--nonsense"][..], "--nonsense"),
        (&["--output", "yaml"], "yaml"),
        (&["-c", "-r", "x"], "--continue, --resume"),
        (&["--lang", "klingon"], "klingon"),
        (&["--allow", "shell("], "shell("),
        (&["--max-steps", "0"], "0"),
    ] {
        let ran = ask(&home, &server, flags);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{flags:?}");
        assert!(ran.err.starts_with("error: ") && ran.err.contains(told), "{}", ran.err);
        assert!(ran.err.contains("\nhint: "), "{}", ran.err);
    }
    let nothing = run(axi(&home, &server).arg("-p"));
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("nothing to ask"), "{}", nothing.err);
    assert!(server.requests().is_empty());
}

#[test]
fn nothing_configured_ends_with_3_and_three_lines_what_to_do() {
    let home = Home::new();
    let mut command = home.axi();
    for variable in ["OLLAMA_HOST", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL", "LITELLM_BASE_URL"] {
        command.env(variable, NOBODY);
    }
    let ran = run(command.args(["-p", "hi"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(lines.len(), 4, "{}", ran.err);
    assert!(lines[0].starts_with("error: no model is configured"), "{}", ran.err);
    for (line, needle) in lines[1..].iter().zip(["ANTHROPIC_API_KEY", "ollama serve", "axi -m"]) {
        assert!(line.contains(needle), "{}", ran.err);
    }
}

#[test]
fn a_missing_or_refused_key_ends_with_3_and_the_variable_to_set() {
    let home = Home::new();
    let ran = run(home.axi().args(["-m", "openai/gpt-5", "-p", "hi"]));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.err.contains("no key for openai") && ran.err.contains("OPENAI_API_KEY"), "{}", ran.err);
    let server = Server::start([refusal(401, "Incorrect API key provided")]);
    let ran = ask(&home, &server, &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.err.contains("Incorrect API key") && ran.err.contains("axi login openai"), "{}", ran.err);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_provider_that_nobody_configured_ends_with_3_wherever_it_is_named() {
    let home = Home::new();
    for arguments in [
        &["-m", "nosuch/x", "-p", "hi"][..],
        &["models", "nosuch"],
        &["doctor", "model", "nosuch/x"],
        &["logout", "nosuch"],
    ] {
        let ran = run(home.axi().args(arguments));
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{arguments:?}: {ran:?}");
        assert!(ran.err.contains("nosuch"), "{ran:?}");
    }
    assert_eq!(run_with(home.axi().args(["login", "nosuch"]), "sk-none-7f3b1c9d").code, Some(3));
}

#[test]
fn an_address_without_a_key_is_asked_what_it_has_and_gets_no_slash_command_as_advice() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello"), refusal(413, "too large")]);
    server.route("GET /v1/models", Answer::json(200, &json!({"data": [{"id": "mine"}]})));
    let ask = || run(home.axi().env("OPENAI_BASE_URL", server.url("/v1")).args(["-p", "hi"]));
    let ran = ask();
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "hello"), "{ran:?}");
    let asked = server.requests().into_iter().find(|request| request.path.ends_with("/chat/completions"));
    assert_eq!(asked.unwrap().body["model"], json!("mine"));
    let listed = run(home.axi().env("OPENAI_BASE_URL", server.url("/v1")).arg("models"));
    assert_eq!(listed.out.trim(), "openai/mine", "{listed:?}");
    let ran = ask();
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.err.contains("smaller files") && !ran.err.contains("/model"), "{}", ran.err);
    assert_eq!(ran.err.matches("hint: ").count(), 1, "{}", ran.err);
}

#[test]
fn an_address_that_somebody_set_and_that_gives_no_model_is_named_and_nobody_else_is_asked() {
    let home = Home::new();
    let elsewhere = Server::start([]);
    elsewhere.route("GET /api/tags", Answer::json(200, &json!({"models": [{"name": "other:8b"}]})));
    let bare = Server::start([]);
    bare.route("GET /v1/models", Answer::json(200, &json!({"data": []})));
    for (address, told) in [
        (format!("{NOBODY}/v1"), "error: cannot reach http://127.0.0.1:1"),
        (bare.url("/v1"), "/v1 lists no models\nhint: name one of its models: axi -m openai/MODEL"),
    ] {
        let mut command = home.axi();
        command.env("OPENAI_BASE_URL", address).env("OLLAMA_HOST", elsewhere.url(""));
        let ran = run(command.args(["-p", "hi"]));
        assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
        assert!(ran.err.contains(told), "{}", ran.err);
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn a_provider_that_fails_ends_with_4() {
    let home = Home::new();
    let server = Server::start([refusal(404, "The model does not exist"), refusal(400, "bad field")]);
    let missing = ask(&home, &server, &[]);
    assert_eq!(missing.code, Some(4), "{missing:?}");
    assert!(missing.err.contains("no model any") && missing.err.contains("\nhint: "), "{}", missing.err);
    let bad = ask(&home, &server, &[]);
    assert_eq!(bad.code, Some(4), "{bad:?}");
    assert!(bad.err.contains("HTTP 400: bad field"), "{}", bad.err);
    let mut nobody = axi(&home, &server);
    let ran = run(nobody.env("OPENAI_BASE_URL", NOBODY).args(["-p", "hi"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
    assert!(ran.err.contains("retry in 0.") && ran.err.contains(" s (1 of"), "{}", ran.err);
    assert!(ran.err.contains("error: cannot reach http://127.0.0.1:1"), "{}", ran.err);
}

#[test]
fn a_server_that_recovers_is_asked_again_and_the_wait_is_told() {
    let home = Home::new();
    let server =
        Server::start([refusal(503, "loading model").header("retry-after", "0"), answer::chat_text("hello")]);
    let ran = ask(&home, &server, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello\n"));
    assert!(ran.err.contains("(1 of 4): openai answered HTTP 503: loading model"), "{}", ran.err);
}

#[test]
fn an_answer_that_breaks_off_is_kept_and_ends_with_4() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("one two three four").cut_after(3)]);
    let ran = ask(&home, &server, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), "one two \n"), "{ran:?}");
    assert!(ran.err.contains("error: the answer broke off") && ran.err.contains("go on"), "{}", ran.err);
    assert_eq!((ran.err.matches("error: ").count(), ran.err.matches("hint: ").count()), (1, 1), "{}", ran.err);
    assert_eq!(server.requests().len(), 1);
    assert!(session_lines(&home).iter().any(|line| line.to_string().contains("one two ")));
}

#[test]
fn a_call_nobody_can_approve_ends_with_5_and_says_how_to_allow_it() {
    let home = Home::new();
    let server = Server::start([answer::chat_call("call_1", "shell", TOUCH)]);
    let ran = ask(&home, &server, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(5), ""), "{ran:?}");
    assert!(ran.err.contains("error: shell needs an approval"), "{}", ran.err);
    assert!(ran.err.contains("--allow 'shell(touch made.txt)'") && ran.err.contains("-y"), "{}", ran.err);
    assert!(!home.work().join("made.txt").exists());
    // What the hint says does it, on the session that is left.
    server.push(answer::chat_call("call_2", "shell", TOUCH));
    server.push(answer::chat_text("made"));
    let ran = ask(&home, &server, &["-c", "--allow", "shell(touch made.txt)"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "made\n"), "{ran:?}");
    assert!(home.work().join("made.txt").exists());
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn what_nothing_allows_beforehand_is_not_said_to_be_allowed_by_anything() {
    let home = Home::new();
    let removal = r#"{"command":"rm -rf ~"}"#;
    let server = Server::start([answer::chat_call("call_1", "shell", removal)]);
    let ran = ask(&home, &server, &["-y"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(5), ""), "{ran:?}");
    assert!(ran.err.contains("run it yourself") && !ran.err.contains("--allow"), "{}", ran.err);
    assert!(home.work().exists());
}

#[test]
fn rules_and_yes_say_what_runs_and_deny_wins() {
    for (flags, made, told) in [
        (&["--allow", "shell(touch:*)"][..], true, ""),
        (&["-y"], true, ""),
        (&["-y", "--deny", "shell(touch:*)"], false, "denies"),
        (&["--allow", "shell(touch:*)", "--deny", "shell(touch made.txt)"], false, "denies"),
    ] {
        let home = Home::new();
        let server = Server::start([answer::chat_call("call_1", "shell", TOUCH), answer::chat_text("fine")]);
        let ran = ask(&home, &server, flags);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "fine\n"), "{flags:?} {ran:?}");
        assert_eq!(home.work().join("made.txt").exists(), made, "{flags:?}");
        let result = last_said(&server.requests()[1]);
        assert!(result.contains(told), "{result}");
        assert_eq!(ran.err.contains("denied"), !made, "{}", ran.err);
    }
}

#[test]
fn the_step_limit_ends_with_6_and_every_call_is_answered() {
    let home = Home::new();
    home.write("work/note.txt", "plover\n");
    let server = Server::start([answer::chat_call("call_1", "read", r#"{"path":"note.txt"}"#)]);
    let ran = ask(&home, &server, &["--max-steps", "1"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(6), ""), "{ran:?}");
    assert!(ran.err.contains("stopped after 1 step\n") && ran.err.contains("--max-steps"), "{}", ran.err);
    server.push(answer::chat_text("it is plover"));
    let ran = ask(&home, &server, &["-c"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "it is plover\n"), "{ran:?}");
    assert_eq!(roles(&server.requests()[1]), ["system", "user", "assistant", "tool", "user"]);
}

#[test]
fn ctrl_c_ends_with_130_and_what_arrived_is_kept() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_text("one two three").gate_before(3, &gate)]);
    let mut command = axi(&home, &server);
    command.args(["-p", "--output", "stream-json", "count"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"two \"") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the answer never came");
    }
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, Signal::INT).unwrap();
    server.wait_closed(1);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(rest.ends_with("{\"type\":\"turn_ended\",\"end\":{\"kind\":\"interrupted\"}}\n"), "{rest}");
    let lines = session_lines(&home);
    let kept = &lines[lines.len() - 2]["message"];
    assert_eq!(
        (&kept["role"], kept["content"][0]["text"].as_str()),
        (&json!("assistant"), Some("one two ")),
        "{kept}"
    );
    assert_eq!(lines.last().unwrap()["end"], "interrupted");
    // And it can be gone on with.
    server.push(answer::chat_text("three"));
    let ran = ask(&home, &server, &["-c"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "three\n"), "{ran:?}");
    assert_eq!(roles(&server.requests()[1]), ["system", "user", "assistant", "user"]);
}

#[test]
fn ctrl_c_ends_a_running_command_too() {
    let home = Home::new();
    let wait = r#"{"command":"echo started; mkfifo door; cat door"}"#;
    let server = Server::start([answer::chat_call("call_1", "shell", wait)]);
    let mut command = axi(&home, &server);
    command.args(["-p", "-y", "--output", "stream-json", "wait"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("tool_output") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the command never began");
    }
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, Signal::INT).unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let finished = rest.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let outcomes: Vec<Value> = finished
        .filter(|event| event["type"] == "tool_finished")
        .map(|mut event| event["outcome"].take())
        .collect();
    assert_eq!(outcomes, [json!("interrupted")], "{rest}");
}

#[test]
fn a_pipe_that_closes_ends_quietly_with_0() {
    let home = Home::new();
    let long = "many words ".repeat(20_000);
    let server = Server::start([answer::chat_text("x"), answer::chat_text(&long).in_pieces_of(50_000)]);
    let mut shell = home.command("bash");
    for (name, value) in axi(&home, &server).get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    let program = axi(&home, &server).get_program().to_owned();
    shell.env("AXI", program).args(["--norc", "-c"]);
    let text = run(shell.arg(r#""$AXI" -p hi | head -c1; echo " ${PIPESTATUS[0]}""#));
    assert_eq!((text.out.as_str(), text.err.as_str()), ("x 0\n", ""));
    let mut events = Command::new(shell.get_program());
    for (name, value) in shell.get_envs() {
        events.env(name, value.unwrap_or_default());
    }
    events.current_dir(home.work()).args(["--norc", "-c"]);
    let events = run(events.arg(r#""$AXI" -p --output stream-json hi | head -c1; echo " ${PIPESTATUS[0]}""#));
    assert_eq!((events.out.as_str(), events.err.as_str()), ("{ 0\n", ""));
}

#[test]
fn a_disk_that_is_full_is_told_and_ends_with_1() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello")]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = axi(&home, &server);
    let output = command.args(["-p", "hi"]).stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).output();
    let ran = Ran::from(output.unwrap());
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("error: stdout: no space left on the disk"), "{}", ran.err);
}

#[test]
fn an_odd_world_is_told_about_and_survived() {
    let home = Home::new();
    let server = Server::start(["one", "two"].map(answer::chat_text));
    let mut homeless = axi(&home, &server);
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "PATH", "TERM"]
    {
        homeless.env_remove(variable);
    }
    // The user table knows a home; it must not be written to by a test.
    let ran = run(homeless.args(["--no-session", "-p", "hi"]));
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "one\n", ""));
    let nowhere = ask(&home, &server, &["--cwd", "no/such/place"]);
    assert_eq!(nowhere.code, Some(1));
    assert!(nowhere.err.contains("cannot work in no/such/place"), "{}", nowhere.err);
    let mut bytes = axi(&home, &server);
    let ran = run(bytes.arg("-p").arg(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"a\xffb")));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains(r#"not UTF-8 text: "a\xFFb""#), "{}", ran.err);
    home.write("config/axi/config.toml", "model = [broken\n");
    let broken = ask(&home, &server, &[]);
    assert_eq!(broken.code, Some(3));
    assert!(
        broken.err.contains("config.toml cannot be used") && broken.err.contains("axi config edit"),
        "{}",
        broken.err
    );
    home.write("config/axi/config.toml", "nonsense = 1\nlanguage = \"klingon\"\n");
    let unknown = ask(&home, &server, &[]);
    assert_eq!((unknown.code, unknown.out.as_str()), (Some(0), "two\n"));
    assert!(unknown.err.contains("warning: ") && unknown.err.contains("nonsense"), "{}", unknown.err);
    assert!(unknown.err.contains("klingon") && unknown.err.contains("auto, en, ja, zh-CN"), "{}", unknown.err);
}

#[test]
fn what_a_process_is_started_with_is_told_where_it_is_too_little() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello")]);
    let axi = axi(&home, &server);
    let start = |script: &str| {
        let mut shell = home.command("/bin/bash");
        for (name, value) in axi.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            shell.env(name, value);
        }
        run(shell.args(["-c", script, "bash"]).arg(axi.get_program()))
    };
    for limit in [6, 8, 20] {
        let ran = start(&format!("ulimit -n {limit}; exec \"$1\" -p hi"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{limit}: {}", ran.err);
        assert!(!ran.err.contains("panicked") && !ran.err.contains("bug"), "{limit}: {}", ran.err);
    }
    assert!(start("ulimit -n 20; exec \"$1\" -p hi").err.contains("ulimit -n 64"));
    for words in ["-p hi", "--version", "--help", "init zsh", "man", "models", "sessions list", "config path"] {
        let ran = start(&format!("exec \"$1\" {words} >&-"));
        assert_eq!(ran.code, Some(1), "{words}: {}", ran.err);
        assert!(ran.err.contains("standard output is closed"), "{words}: {}", ran.err);
    }
    assert!(server.requests().is_empty());
    // As Python's DEVNULL and Node's "ignore" open it.
    let ran = start("exec \"$1\" -p hi 1<>/dev/null");
    assert_eq!((ran.code, server.requests().len()), (Some(0), 1), "{}", ran.err);
}
