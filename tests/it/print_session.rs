//! What `axi -p` keeps: the session's file, going on with it, no secret anywhere, a state directory that fails.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{KEY, Ran, axi, last_said, roles, run, said, session_files, session_lines};

fn ask(home: &Home, server: &Server, arguments: &[&str]) -> Ran {
    run(axi(home, server).arg("-p").args(arguments))
}

/// What was said and called, in order, as the session's file has it.
fn kept(lines: &[Value]) -> Vec<(String, String)> {
    let messages = lines.iter().filter(|line| line["kind"] == "message").map(|line| &line["message"]);
    messages
        .map(|message| {
            let blocks = message["content"].as_array().unwrap().iter();
            let texts: Vec<String> = blocks
                .map(|block| match block["type"].as_str().unwrap() {
                    "text" => block["text"].as_str().unwrap().to_owned(),
                    kind => kind.to_owned(),
                })
                .collect();
            (message["role"].as_str().unwrap().to_owned(), texts.join(" "))
        })
        .collect()
}

#[test]
fn every_message_is_in_a_file_that_only_its_owner_reads() {
    let home = Home::new();
    home.write("work/note.txt", "plover\n");
    let server = Server::start([
        answer::chat_call("call_1", "read", r#"{"path":"note.txt"}"#),
        answer::chat_text("It is plover."),
    ]);
    assert_eq!(ask(&home, &server, &["which?"]).code, Some(0));
    let lines = session_lines(&home);
    assert_eq!(lines[0]["kind"], "started");
    assert_eq!(lines[0]["model"], "openai/any");
    assert_eq!(lines.last().unwrap()["kind"], "turn_ended");
    let pair = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    let expected = [
        pair("user", "which?"),
        pair("assistant", "tool_call"),
        pair("user", "tool_result"),
        pair("assistant", "It is plover."),
    ];
    assert_eq!(kept(&lines), expected);
    let path = session_files(&home).remove(0);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_search_finds_what_was_said_and_says_when_nobody_said_it() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("It is plover.")]);
    assert_eq!(ask(&home, &server, &["which?"]).code, Some(0));
    let search = |text: &str| run(home.axi().args(["sessions", "search", text]));
    assert!(search("PLOVER").out.contains("which?"));
    let nobody = search("role");
    assert_eq!(
        (nobody.code, nobody.out.as_str(), nobody.err.as_str()),
        (Some(0), "", "no session contains role\n")
    );
}

#[test]
fn the_key_is_nowhere_in_the_home_however_much_is_logged() {
    let home = Home::new();
    home.write("work/.env", &format!("OPENAI_API_KEY={KEY}\n"));
    let echo = format!("Incorrect API key provided: {KEY}.");
    let body = serde_json::json!({"error": {"message": echo, "type": "invalid_request_error"}});
    let server = Server::start([
        answer::chat_call("call_1", "shell", r#"{"command":"printenv OPENAI_API_KEY; cat .env"}"#),
        answer::chat_text(&format!("Your key is {KEY} indeed.")),
        Answer::json(401, &body),
    ]);
    let first = ask(&home, &server, &["-y", "-vvv", "--output", "json", &format!("is {KEY} my key?")]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let second = ask(&home, &server, &["-c", "-vvv", "again"]);
    assert_eq!(second.code, Some(3), "{second:?}");
    assert!(!second.err.contains(KEY), "{}", second.err);
    let mut files = Vec::new();
    collect(home.path(), &mut files);
    assert!(
        files.iter().any(|path| path.ends_with("log")) || files.iter().any(|path| path.contains("/logs/")),
        "{files:?}"
    );
    assert!(files.iter().any(|path| path.contains("/sessions/")), "{files:?}");
    for path in files.iter().filter(|path| !path.ends_with("work/.env")) {
        let bytes = std::fs::read(path).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{path} has the key");
    }
}

fn collect(directory: &Path, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), files);
        } else {
            files.push(entry.path().display().to_string());
        }
    }
}

#[test]
fn the_last_session_of_this_directory_is_gone_on_with() {
    let home = Home::new();
    let elsewhere = home.write("elsewhere/file", "").parent().unwrap().display().to_string();
    let server = Server::start(["one", "two", "three"].map(answer::chat_text));
    assert_eq!(ask(&home, &server, &["first question"]).code, Some(0));
    assert_eq!(ask(&home, &server, &["--cwd", &elsewhere, "another place"]).code, Some(0));
    let ran = ask(&home, &server, &["-c", "and then?"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "three\n"), "{ran:?}");
    let request = &server.requests()[2];
    assert_eq!(roles(request), ["system", "user", "assistant", "user"]);
    assert_eq!([said(request, 1), said(request, 2), said(request, 3)], ["first question", "one", "and then?"]);
    assert_eq!(session_files(&home).len(), 2, "it goes on in the same file");
}

#[test]
fn a_session_is_resumed_by_its_id_or_a_part_of_it_and_a_wrong_one_is_told() {
    let home = Home::new();
    let server = Server::start(["one", "two", "three"].map(answer::chat_text));
    assert_eq!(ask(&home, &server, &["first question"]).code, Some(0));
    let path = session_files(&home).remove(0);
    let id = path.file_stem().unwrap().to_str().unwrap();
    for part in [id, &id[..id.len() - 2]] {
        let ran = ask(&home, &server, &["go on", "-r", part]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    assert_eq!(roles(&server.requests()[2]).len(), 6);
    let ran = ask(&home, &server, &["go on", "-r", "19990101-nothing"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert!(
        ran.err.contains("there is no session 19990101-nothing") && ran.err.contains("axi sessions"),
        "{}",
        ran.err
    );
    let empty = ask(&Home::new(), &server, &["-c", "go on"]);
    assert_eq!(empty.code, Some(1));
    assert!(empty.err.contains("no earlier session in this directory"), "{}", empty.err);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_session_whose_last_line_was_cut_by_a_crash_goes_on() {
    let home = Home::new();
    let server = Server::start(["one", "two"].map(answer::chat_text));
    assert_eq!(ask(&home, &server, &["first question"]).code, Some(0));
    let path = session_files(&home).remove(0);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"v\":1,\"t\":17")).unwrap();
    assert_eq!(ask(&home, &server, &["-c", "second"]).code, Some(0));
    assert_eq!(last_said(&server.requests()[1]), "second");
    assert_eq!(roles(&server.requests()[1]), ["system", "user", "assistant", "user"]);
}

#[test]
fn nothing_is_kept_when_asked_so() {
    let home = Home::new();
    let long = r#"{"command": "seq 100000"}"#;
    let server = Server::start([answer::chat_call("call_1", "shell", long), answer::chat_text("hello")]);
    assert_eq!(ask(&home, &server, &["--no-session", "hi"]).code, Some(0));
    assert!(last_said(&server.requests()[1]).contains("outputs/once-"), "{}", last_said(&server.requests()[1]));
    let mut files = Vec::new();
    collect(home.path(), &mut files);
    assert_eq!(files, Vec::<String>::new());
}

#[test]
fn a_state_directory_that_cannot_be_written_costs_a_warning_not_the_answer() {
    let home = Home::new();
    // Root may write everywhere: a file where the directory should be stops everyone.
    let state = home.write("no-directory", "");
    let server = Server::start([answer::chat_text("hello")]);
    let mut command = axi(&home, &server);
    let ran = run(command.env("XDG_STATE_HOME", state).args(["-p", "-v", "hi"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello\n"), "{ran:?}");
    assert_eq!(ran.err.matches("warning: the session cannot be written to").count(), 1, "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

#[test]
fn what_is_said_to_be_kept_of_a_broken_answer_is_there_to_go_on_with() {
    for options in [&[][..], &["--no-session"]] {
        let home = Home::new();
        let server = Server::start([answer::chat_text("half an answer").cut_after(2), answer::chat_text("whole")]);
        let ran = run(axi(&home, &server).args(["-p", "hi"]).args(options));
        assert_eq!(ran.code, Some(4), "{ran:?}");
        let is_said = ran.err.contains("what arrived is kept") && ran.err.contains("axi -c -p");
        assert_eq!(is_said, options.is_empty(), "{ran:?}");
        let again = run(axi(&home, &server).args(["-c", "-p", "go on"]));
        assert_eq!(again.code == Some(0), is_said, "{again:?}");
        if is_said {
            let asked = &server.requests()[1];
            assert_eq!(roles(asked), ["system", "user", "assistant", "user"]);
            assert!("half an answer".starts_with(said(asked, 2).trim()) && !said(asked, 2).is_empty());
        }
    }
}
