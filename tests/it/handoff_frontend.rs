//! What a shell's hook runs: the line becomes one turn, and what comes of it goes back to the prompt line.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, run, said, session_files};

const PROPOSE: &str =
    r#"{"command":"find . -name '*.log' -delete","why":"Deletes the logs here","touches":"*.log below ."}"#;

/// A hook's axi in a shell named `shell`.
fn handoff(home: &Home, server: &Server, line: impl AsRef<OsStr>) -> Command {
    let mut command = axi(home, server);
    command.arg("handoff").env("AXI_LINE", line).env("AXI_REPLY", reply_path(home));
    command.env("AXI_SHELL", "zsh").env("AXI_SHELL_VERSION", "5.9").env("AXI_SESSION", "zsh-1");
    command
}

fn reply_path(home: &Home) -> PathBuf {
    home.path().join("runtime/axi-hook/reply-1")
}

fn reply(home: &Home) -> Option<Vec<u8>> {
    std::fs::read(reply_path(home)).ok()
}

/// Runs to the end; returns the exit code and all that was on the screen.
fn ends(mut pty: Pty) -> (Option<i32>, String) {
    let code = pty.wait_exit().code();
    (code, pty.transcript())
}

#[test]
fn a_proposed_command_is_shown_and_put_on_the_prompt_line() {
    let home = Home::new();
    let server = Server::start([answer::chat_call("call_1", "propose_command", PROPOSE)]);
    let (code, screen) = ends(Pty::options().spawn(&handoff(&home, &server, "get rid of the logs")));
    assert_eq!(code, Some(0));
    assert!(screen.contains("▌ find . -name '*.log' -delete"), "{screen}");
    assert!(screen.contains("Deletes the logs here") && screen.contains("touches: *.log below ."), "{screen}");
    assert!(screen.contains("! can destroy: "), "{screen}");
    assert_eq!(reply(&home).unwrap(), b"put\nfind . -name '*.log' -delete");
    let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(reply_path(&home)), 0o600);
    assert_eq!(mode(reply_path(&home).parent().unwrap().to_owned()), 0o700);
    // The turn ended with the proposal: the model was not asked again.
    assert_eq!(server.requests().len(), 1);
    assert_eq!(said(&server.requests()[0], 1).lines().next(), Some("get rid of the logs"));
}

#[test]
fn a_command_that_cannot_be_right_is_asked_again_once() {
    let proposal = |command: &str| format!(r#"{{"command":"{command}","why":"","touches":""}}"#);
    let call = |id: &str, command: &str| answer::chat_call(id, "propose_command", &proposal(command));
    for (shell, first, second, said_first, doubt) in [
        ("bash", "no-such-program -x", "ls -x", "`no-such-program` is not installed here", false),
        ("zsh", "no-such-program", "no-such-program", "`no-such-program` is not installed here", true),
        ("bash", "echo $(ls", "echo $(ls)", "bash cannot read it: bash: -c: ", false),
    ] {
        let home = Home::new();
        let server = Server::start([call("call_1", first), call("call_2", second)]);
        let mut command = handoff(&home, &server, "do it");
        let (code, screen) = ends(Pty::options().spawn(command.env("AXI_SHELL", shell)));
        assert_eq!(code, Some(0), "{screen}");
        assert!(screen.contains(said_first) && screen.contains("the model was asked again"), "{screen}");
        assert_eq!(screen.contains("in doubt: "), doubt, "{screen}");
        assert_eq!(reply(&home).unwrap(), format!("put\n{second}").as_bytes());
        assert_eq!(server.requests().len(), 2);
    }
    // Where the model has no other command, the first one stands there with what is in doubt.
    let home = Home::new();
    let server = Server::start([call("call_1", "no-such-program"), answer::chat_text("I know no other.")]);
    let (_, screen) = ends(Pty::options().spawn(&handoff(&home, &server, "do it")));
    assert!(screen.contains("in doubt: `no-such-program` is not installed here"), "{screen}");
    assert_eq!(reply(&home).unwrap(), b"put\nno-such-program");
}

#[test]
fn a_command_that_cannot_be_put_on_the_prompt_line_is_printed() {
    let proposal = format!(r#"{{"command":"echo {}","why":"Says it","touches":""}}"#, "long ".repeat(30));
    for no_place in [true, false] {
        let home = Home::new();
        home.write("file", "");
        let server = Server::start([answer::chat_call("call_1", "propose_command", &proposal)]);
        let mut command = handoff(&home, &server, "say it");
        let place = if no_place { "relative".into() } else { home.path().join("file/reply") };
        let (code, screen) = ends(Pty::options().spawn(command.env("AXI_REPLY", place)));
        assert_eq!(code, Some(0));
        let printed = format!("this was meant for your prompt line:\necho {}", "long ".repeat(30).trim_end());
        assert!(screen.contains(&printed), "{screen}");
        assert_eq!(screen.contains("hint: axi passes text"), !no_place, "{screen}");
    }
}

#[test]
fn what_the_terminal_has_shown_before_axi_had_it_is_taken_back() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("An answer.")]);
    let mut pty = Pty::options().spawn(&handoff(&home, &server, "first"));
    // Echoed as ^[ when it comes first.
    pty.send("\x1b[0n");
    let (code, screen) = ends(pty);
    assert_eq!((code, screen.contains("^[")), (Some(0), false), "{screen}");
}

#[test]
fn what_a_proposed_command_would_reach_is_counted_on_the_disk() {
    let home = Home::new();
    for name in ["one", "two", "three"] {
        home.write(&format!("work/build/{name}"), "12345");
    }
    let proposal = r#"{"command":"rm -r build","why":"Removes the build","touches":""}"#;
    let server = Server::start([answer::chat_call("call_1", "propose_command", proposal)]);
    let (code, screen) = ends(Pty::options().spawn(&handoff(&home, &server, "clean up")));
    assert_eq!((code, reply(&home).unwrap()), (Some(0), b"put\nrm -r build".to_vec()));
    assert!(screen.contains("would delete 3 files, 1 directory (15 B)"), "{screen}");
    assert!(home.work().join("build/one").exists());
}

#[test]
fn a_proposed_command_that_reads_what_axi_keeps_is_warned_of() {
    let home = Home::new();
    home.write("config/axi/own.txt", "kept");
    let proposal = r#"{"command":"cat ../config/axi/own.txt","why":"Shows it","touches":""}"#;
    let server = Server::start([answer::chat_call("call_1", "propose_command", proposal)]);
    let (code, screen) = ends(Pty::options().spawn(&handoff(&home, &server, "show it")));
    assert_eq!(code, Some(0));
    assert!(screen.contains("! may hold a secret: "), "{screen}");
}

#[test]
fn an_answer_leaves_the_next_line_empty() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("It is the third of May.")]);
    let mut command = handoff(&home, &server, "what day is it");
    command.env("AXI_LAST_COMMAND", "make all").env("AXI_LAST_STATUS", "2").env("AXI_LAST_SECONDS", "14.2");
    let (code, screen) = ends(Pty::options().spawn(&command));
    assert_eq!((code, reply(&home)), (Some(0), None));
    assert!(screen.starts_with("with: make all → exit 2, 14 s\n"), "{screen}");
    assert!(screen.contains("It is the third of May."), "{screen}");
    let message = said(&server.requests()[0], 1);
    let block = "<shell>\nshell: zsh 5.9\nlast command: make all\nits exit code: 2 after 14 s\n</shell>";
    assert_eq!(message.replace("\n\n\n\n", "\n\n"), format!("what day is it\n\n{block}"));
}

#[test]
fn a_hand_off_asks_the_terminal_nothing_whose_answer_could_come_after_it() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("One."), answer::chat_text("Two.")]);
    let questions = ["first", "second"].map(|line| {
        let mut pty = Pty::options().background("rgb:ffff/ffff/eeee").spawn(&handoff(&home, &server, line));
        assert_eq!(pty.wait_exit().code(), Some(0));
        pty.view(|view| {
            ["\x1b]11;?", "\x1b[c"].map(|asks| String::from_utf8_lossy(view.raw()).matches(asks).count())
        })
    });
    assert_eq!(questions, [[0, 0]; 2]);
}

#[test]
fn escape_and_ctrl_c_give_the_line_back_byte_for_byte() {
    for key in ["\x1b", "\x03"] {
        let home = Home::new();
        let gate = Gate::new();
        let server = Server::start([answer::chat_text("alpha beta gamma").gate_before(3, &gate)]);
        let line = b"  grep '\xff\"!\n $HOME \\".as_slice();
        let mut pty = Pty::options().spawn(&handoff(&home, &server, OsStr::from_bytes(line)));
        pty.wait_for("alpha beta");
        pty.send(key);
        let (code, screen) = ends(pty);
        assert_eq!(code, Some(130), "{screen}");
        assert_eq!(reply(&home).unwrap(), [b"put\n", line].concat());
        server.wait_closed(1);
    }
}

#[test]
fn escape_that_waited_in_the_terminal_before_axi_took_it_stops_the_turn() {
    // The terminal answers what axi asks it right behind the key.
    // Or what the shell has asked before.
    for (background, keys) in [("rgb:0/0/0", "\x1b"), ("nonsense", "\x1b"), ("nonsense", "\x1b\x1b[0n")] {
        let home = Home::new();
        let gate = Gate::new();
        let server = Server::start([answer::chat_text("too late").gate_before(0, &gate)]);
        let mut pty = Pty::options().background(background).spawn(&handoff(&home, &server, "first"));
        pty.send(keys);
        let (code, screen) = ends(pty);
        assert_eq!((code, reply(&home).unwrap()), (Some(130), b"put\nfirst".to_vec()), "{screen}");
    }
}

#[test]
fn what_was_typed_before_a_stop_is_told_and_the_line_comes_back() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([
        answer::chat_text("one").gate_before(0, &gate),
        answer::chat_text("one").gate_before(0, &gate),
    ]);
    let mut pty = Pty::options().spawn(&handoff(&home, &server, "five 'q'"));
    server.wait_requests(1);
    pty.send("and then\rhalf");
    pty.wait_for("half");
    pty.send("\x1b");
    let (code, screen) = ends(pty);
    assert_eq!((code, reply(&home).unwrap()), (Some(130), b"put\nfive 'q'".to_vec()), "{screen}");
    assert!(screen.contains("not sent: and then\nnot sent: half\n"), "{screen}");
}

#[test]
fn ctrl_c_at_a_question_before_the_turn_ends_the_hand_off_and_escape_is_not_now() {
    for (key, code, asked) in [("\x03", 130, 0), ("\x1b", 0, 1)] {
        let home = Home::new();
        home.write("work/.axi/config.toml", "model = \"mine/x\"\n");
        let server = Server::start([answer::chat_text("one")]);
        let mut pty = Pty::options().spawn(&handoff(&home, &server, "first"));
        pty.wait_for("❯ n  No, work");
        pty.send(key);
        let (ended, screen) = ends(pty);
        assert_eq!((ended, server.requests().len()), (Some(code), asked), "{screen}");
        assert_eq!(reply(&home), (code == 130).then(|| b"put\nfirst".to_vec()));
    }
}

#[test]
fn when_the_provider_fails_the_line_is_not_lost() {
    let home = Home::new();
    let server = Server::start([]);
    for (variable, value, code) in [("OPENAI_BASE_URL", "http://127.0.0.1:1/v1", 4), ("AXI_MODEL", "nobody/any", 3)]
    {
        let mut command = handoff(&home, &server, "list the files");
        let (ended, screen) = ends(Pty::options().spawn(command.env(variable, value)));
        assert_eq!((ended, reply(&home).unwrap()), (Some(code), b"put\nlist the files".to_vec()), "{screen}");
        std::fs::remove_file(reply_path(&home)).unwrap();
    }
}

#[test]
fn an_empty_line_after_a_failure_asks_what_happened() {
    let questions = [("en", "What happened?"), ("ja", "何が起きましたか？"), ("zh-CN", "刚才这条命令怎么了？")];
    for (language, question) in questions {
        let home = Home::new();
        // The model on this machine has no command for it; then the conversation says what happened.
        let server = Server::start([answer::chat_text("NONE"), answer::chat_text("The file is missing.")]);
        let mut command = handoff(&home, &server, "");
        command
            .env("AXI_LAST_COMMAND", "cat nowhere")
            .env("AXI_LAST_STATUS", "127")
            .env("LANG", format!("{language}.UTF-8"));
        command.env("LC_ALL", format!("{}.UTF-8", language.replace('-', "_")));
        let (code, screen) = ends(Pty::options().spawn(&command));
        assert_eq!((code, reply(&home)), (Some(0), None));
        assert!(screen.contains("The file is missing."), "{screen}");
        assert_eq!(said(&server.requests()[1], 1).lines().next(), Some(question));
    }
}

#[test]
fn an_empty_line_opens_the_loop_and_all_of_one_shell_is_one_conversation() {
    let home = Home::new();
    let server = Server::start(["one", "two", "three", "four", "five"].map(answer::chat_text));
    let (code, _) = ends(Pty::options().spawn(&handoff(&home, &server, "first")));
    assert_eq!(code, Some(0));
    let mut person = Person::meets(&handoff(&home, &server, " "));
    person.sees("going on with “first”");
    person.sends("second");
    person.sees("two");
    assert_eq!(person.leaves(), Some(0));
    let request = &server.requests()[1];
    assert_eq!([said(request, 1).lines().next(), Some(said(request, 3).as_str())], [Some("first"), Some("second")]);
    // axi without the key, in the same shell and in another one.
    let mut plain = axi(&home, &server);
    plain.env("AXI_SESSION", "zsh-1");
    let mut person = Person::meets(&plain);
    person.sends("third");
    person.sees("three");
    assert_eq!(person.leaves(), Some(0));
    assert_eq!(said(&server.requests()[2], 5), "third");
    let mut other = handoff(&home, &server, "fourth");
    other.env("AXI_SESSION", "bash-2");
    assert_eq!(ends(Pty::options().spawn(&other)).0, Some(0));
    assert_eq!(said(&server.requests()[3], 1).lines().next(), Some("fourth"));
    // A pipe begins a new one unless it is told to go on.
    let mut piped = axi(&home, &server);
    let ran = run(piped.args(["-p", "-c", "fifth"]).env("AXI_SESSION", "zsh-1"));
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "five"), "{}", ran.err);
    assert_eq!(said(&server.requests()[4], 7), "fifth");
    assert_eq!(session_files(&home).len(), 2);
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn a_stopped_hand_off_keeps_its_conversation_and_a_second_one_gets_another() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_text("one").gate_before(0, &gate), answer::chat_text("two")]);
    let first = Pty::options().spawn(&handoff(&home, &server, "first"));
    server.wait_requests(1);
    let (code, screen) = ends(Pty::options().spawn(&handoff(&home, &server, "second")));
    assert_eq!(code, Some(0));
    assert!(screen.contains("another axi of this shell"), "{screen}");
    assert_eq!(said(&server.requests()[1], 1).lines().next(), Some("second"));
    gate.open();
    assert_eq!(ends(first).0, Some(0));
    assert_eq!(session_files(&home).len(), 2);
}

#[test]
fn what_the_hook_told_does_not_reach_the_commands_the_agent_runs() {
    let home = Home::new();
    let names = "AXI_LINE AXI_REPLY AXI_SESSION AXI_SHELL AXI_LAST_COMMAND AXI_ALIASES AXI_FUNCTIONS AXI_HOOK PATH";
    let call = format!(r#"{{"command":"printenv {names}"}}"#);
    let server = Server::start([answer::chat_call("call_1", "shell", &call), answer::chat_text("done")]);
    let mut command = handoff(&home, &server, "my secret line");
    command
        .env("AXI_LAST_COMMAND", "x")
        .env("AXI_ALIASES", "ll=ls")
        .env("AXI_FUNCTIONS", "f() { x; }")
        .env("AXI_HOOK", "1");
    let pty = Pty::options().spawn(&command);
    let (code, screen) = ends(pty);
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(said(&server.requests()[1], 3), "/usr/local/bin:/usr/bin:/bin\n[exit code 1]");
}

#[test]
fn what_is_typed_meanwhile_is_the_next_message_or_stands_on_the_line() {
    let home = Home::new();
    let gate = Gate::new();
    let server =
        Server::start([answer::chat_text("one").gate_before(0, &gate), answer::chat_text("the second answer")]);
    let mut pty = Pty::options().spawn(&handoff(&home, &server, "first"));
    server.wait_requests(1);
    pty.send("and then\rls -l");
    pty.wait_for("ls -l");
    gate.open();
    let (code, screen) = ends(pty);
    assert_eq!(code, Some(0));
    assert!(screen.contains("❯ and then") && screen.contains("the second answer"), "{screen}");
    assert_eq!(said(&server.requests()[1], 3), "and then");
    assert_eq!(reply(&home).unwrap(), b"put\nls -l");
}

#[test]
fn without_a_terminal_it_says_so() {
    let home = Home::new();
    let server = Server::start([]);
    let ran = run(&mut handoff(&home, &server, "x"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("needs a terminal"), "{}", ran.err);
}

#[test]
fn what_a_command_changed_in_its_own_shell_comes_back_as_a_line_to_review() {
    let home = Home::new();
    let call = answer::chat_call("call_1", "shell", r#"{"command":"mkdir -p deep && cd deep && export A='x y'"}"#);
    let server = Server::start([call, answer::chat_text("You are there.")]);
    let mut pty = Pty::options().spawn(&handoff(&home, &server, "go to a new folder deep, with A set"));
    pty.wait_for("Yes, once");
    pty.send("\r");
    let (code, screen) = ends(pty);
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("your shell is unchanged"), "{screen}");
    assert_eq!(reply(&home).unwrap(), b"put\ncd deep && export A='x y'");
}
