//! What a small model proposes at a prompt: it is held to what the line names and to what is there.

use std::process::Command;

use serde_json::json;

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{axi, last_said};

fn proposes(command: &str) -> Answer {
    let arguments = json!({"command": command, "why": "", "touches": ""}).to_string();
    answer::chat_call("call_1", "propose_command", &arguments)
}

/// A hand-off of a line to a small model that gives these answers: the screen, what goes back to the shell, and the
/// server.
fn hands_over(home: &Home, line: &str, answers: impl IntoIterator<Item = Answer>) -> (String, String, Server) {
    let server = Server::start(answers);
    let reply = home.path().join("runtime/axi/reply");
    let mut command: Command = axi(home, &server);
    command.env("AXI_MODEL", "openai/qwen2.5-coder-1.5b").arg("handoff").env("AXI_LINE", line);
    command.env("AXI_REPLY", &reply).env("AXI_SHELL", "bash").env("AXI_SHELL_VERSION", "5.2");
    let mut pty = Pty::options().spawn(&command);
    assert_eq!(pty.wait_exit().code(), Some(0), "{}", pty.transcript());
    (pty.transcript(), std::fs::read_to_string(reply).unwrap_or_default(), server)
}

#[test]
fn a_loss_that_the_line_does_not_name_is_not_put_on_it() {
    for (line, command) in [
        ("clean up", "rm -rf .git"),
        ("delete it", "rm -rf build"),
        ("remove the virus", "rm -rf *"),
        ("fix the permissions", "chmod -R 777 ."),
        ("start over", "git reset --hard"),
    ] {
        let home = Home::new();
        home.write("work/build/one", "12345");
        let (screen, reply, _server) = hands_over(&home, line, [proposes(command)]);
        assert!(screen.contains(&format!("not put on your prompt line: `{command}`")), "{screen}");
        assert!(!reply.contains(command), "{reply}");
    }
    let home = Home::new();
    home.write("work/build/one", "12345");
    let (_, reply, _server) = hands_over(&home, "delete the build", [proposes("rm -rf build")]);
    assert_eq!(reply, "put\nrm -rf build");
}

#[test]
fn what_an_answer_holds_or_mends_is_held_to_the_line_as_well() {
    let home = Home::new();
    home.write("work/build/one", "12345");
    let (screen, reply, _server) = hands_over(&home, "make space", [answer::chat_text("```sh\nrm -rf build\n```")]);
    assert!(screen.contains("not put on your prompt line: `rm -rf build`"), "{screen}");
    assert!(!reply.contains("rm"), "{reply}");
    let server = Server::start([answer::chat_text("COMMAND: git push --force\nWHY: it was rejected")]);
    let reply = home.path().join("runtime/axi/reply-2");
    let mut command: Command = axi(&home, &server);
    command
        .env("AXI_MODEL", "openai/qwen2.5-coder-1.5b")
        .arg("handoff")
        .env("AXI_LINE", "")
        .env("AXI_REPLY", &reply);
    command.env("AXI_SHELL", "bash").env("AXI_LAST_COMMAND", "git push").env("AXI_LAST_STATUS", "1");
    let mut pty = Pty::options().spawn(&command);
    assert_eq!(pty.wait_exit().code(), Some(0), "{}", pty.transcript());
    assert!(pty.transcript().contains("not put on your prompt line: `git push --force`"), "{}", pty.transcript());
    assert!(!std::fs::read_to_string(reply).unwrap_or_default().contains("force"));
}

#[test]
fn the_first_command_stays_where_the_second_would_lose_something() {
    let home = Home::new();
    let answers = [proposes("no-such-program -x"), proposes("sudo apt-get install cargo")];
    let (screen, reply, _server) = hands_over(&home, "show the routes", answers);
    assert!(screen.contains("not put on your prompt line: `sudo apt-get install cargo`"), "{screen}");
    assert!(screen.contains("in doubt: `no-such-program` is not installed here"), "{screen}");
    assert_eq!(reply, "put\nno-such-program -x");
}

#[test]
fn what_would_go_and_is_not_there_is_not_put_either() {
    let home = Home::new();
    let (screen, reply, server) = hands_over(&home, "get rid of the junk", [proposes("rm -rf junk")]);
    assert!(screen.contains("in doubt: there is no `junk` here"), "{screen}");
    assert!(!reply.contains("rm"), "{reply}");
    assert_eq!(server.requests().len(), 1);
    // A name that is written as one was meant.
    let (screen, reply, _server) = hands_over(&home, "remove old_1.txt", [proposes("rm old_1.txt")]);
    assert!(screen.contains("in doubt: there is no `old_1.txt` here"), "{screen}");
    assert_eq!(reply, "put\nrm old_1.txt");
}

#[test]
fn a_missing_directory_is_made_first() {
    let home = Home::new();
    home.write("work/a.txt", "a");
    let (screen, reply, _server) = hands_over(&home, "copy the txt files to texts", [proposes("cp *.txt texts")]);
    assert_eq!(reply, "put\nmkdir -p texts && cp *.txt texts");
    assert!(screen.contains("`texts` is no directory here: axi has changed the command"), "{screen}");
}

#[test]
fn what_only_looks_is_tried_and_asked_for_again_where_it_fails() {
    let home = Home::new();
    home.write("work/notes.txt", "a");
    let answers = [proposes("date -d 'in 10 days'"), proposes("date -d '10 days'")];
    let (screen, reply, server) = hands_over(&home, "which date is it in 10 days", answers);
    if !screen.contains("it fails here") {
        // Nothing would hold it: it is not tried.
        assert_eq!(reply, "put\ndate -d 'in 10 days'");
        return crate::support::skip::skip("no sandbox holds a command that only looks");
    }
    assert!(screen.contains("it fails here: date: invalid date"), "{screen}");
    assert_eq!(reply, "put\ndate -d '10 days'");
    assert!(last_said(&server.requests()[1]).starts_with("That command fails here: date: invalid date"));
    // A file that is not there is said, and the model knows no better.
    let (screen, reply, server) = hands_over(&home, "show my notes", [proposes("cat nowhere.txt")]);
    assert!(screen.contains("in doubt: it fails here: cat: nowhere.txt: No such file"), "{screen}");
    assert_eq!((reply.as_str(), server.requests().len()), ("put\ncat nowhere.txt", 1));
}

#[test]
fn why_it_fails_is_told_without_secrets() {
    let home = Home::new();
    home.write("work/n.txt", "ghp_abcdefghijklmnopqrstuvwxyz0123456789");
    let answers = [proposes("date -d \"$(cat n.txt)\""), proposes("date")];
    let (screen, _, server) = hands_over(&home, "which day is in n.txt", answers);
    let told = server.requests().iter().map(|request| request.body.to_string()).collect::<String>();
    assert!(!told.contains("ghp_abc") && !screen.contains("ghp_abc"), "{screen}");
    if !screen.contains("it fails here") {
        crate::support::skip::skip("no sandbox holds a command that only looks");
    }
}

#[test]
fn what_changes_something_or_needs_a_question_is_not_tried() {
    for command in ["touch made && cat nowhere", "cat ~/.ssh/id_rsa", "curl http://127.0.0.1:1/nowhere"] {
        let home = Home::new();
        let (screen, reply, server) = hands_over(&home, "do it with made and the rsa key", [proposes(command)]);
        assert!(!screen.contains("it fails here"), "{screen}");
        assert_eq!(reply, format!("put\n{command}"));
        assert_eq!(server.requests().len(), 1);
        assert!(!home.work().join("made").exists());
    }
}

#[test]
fn words_in_the_dress_of_a_command_are_an_answer() {
    let home = Home::new();
    let (screen, reply, _server) = hands_over(&home, "hello there", [proposes("echo 'Hello to you'")]);
    assert!(screen.contains("Hello to you"), "{screen}");
    assert!(!reply.contains("echo"), "{reply}");
}

#[test]
fn the_age_and_the_depth_of_the_line_are_those_of_the_command() {
    let home = Home::new();
    home.write("work/a.txt", "a");
    let line = "delete txt files of the last 2 hours, not in subfolders";
    let (screen, reply, _server) = hands_over(&home, line, [proposes("find . -name '*.txt' -mtime -2 -delete")]);
    assert_eq!(reply, "put\nfind . -maxdepth 1 -name '*.txt' -mmin -120 -delete");
    let said =
        "your line says “the last 2 hours”, which is `-mmin -120` and not `-mtime -2`: axi has changed the command";
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains(said) && screen.contains("axi has put `-maxdepth 1` into the command"), "{screen}");
}

#[test]
fn an_option_that_no_page_names_is_asked_about_once() {
    let home = Home::new();
    home.write("work/a.txt", "a");
    let answers = [proposes("touch --no-such-option a.txt"), proposes("touch a.txt")];
    let (screen, reply, server) = hands_over(&home, "touch a.txt", answers);
    if server.requests().len() == 1 {
        // Neither a manual nor a sandbox for `--help` is here.
        return crate::support::skip::skip("nothing here tells the options of touch");
    }
    assert!(screen.contains("names no option `--no-such-option`"), "{screen}");
    assert_eq!(reply, "put\ntouch a.txt");
    // An option that it has is no matter.
    let (screen, reply, server) = hands_over(&home, "touch a.txt, not new", [proposes("touch --no-create a.txt")]);
    assert_eq!((reply.as_str(), server.requests().len()), ("put\ntouch --no-create a.txt", 1), "{screen}");
}

#[test]
fn where_a_program_is_missing_what_is_installed_is_shown_and_loses_nothing() {
    let home = Home::new();
    home.write("work/a.txt", "a");
    let answers = [proposes("no-such-sorter a.txt"), proposes("sort a.txt | uniq")];
    let (_, reply, server) = hands_over(&home, "sort a file preserving only unique lines", answers);
    assert_eq!(reply, "put\nsort a.txt | uniq");
    let told = last_said(&server.requests()[1]);
    assert!(told.contains("Installed: `sort -u FILE` (Sort a file preserving only unique lines)"), "{told}");
    let answers = [proposes("no-such-remover a.txt"), proposes("ls a.txt")];
    let (_, _, server) = hands_over(&home, "remove specific files and directories recursively", answers);
    let told = last_said(&server.requests()[1]);
    assert!(!told.contains("rm -r"), "{told}");
}

#[test]
fn a_word_of_the_line_is_no_program_to_install() {
    let home = Home::new();
    let answers = [proposes("maek better"), proposes("sudo apt-get install maek")];
    let (screen, reply, _server) = hands_over(&home, "maek it better", answers);
    assert!(screen.contains("in doubt: `maek` is not installed here"), "{screen}");
    assert!(!reply.contains("install") && !reply.contains("maek better"), "{reply}");
}

#[test]
fn a_secret_of_the_line_comes_back_to_it_and_another_one_does_not() {
    const TOKEN: &str = "ghp_9aF3kQ7xLm2Zt8Rv5Bn1Wc6Yd0Ho4Js3Pu2E";
    const PASSWORD: &str = "Xk29fjq81mmz";
    let home = Home::new();
    home.write("work/.env", &format!("DB_PASSWORD={PASSWORD}\n"));
    let line = format!("log in to gh with {TOKEN}");
    let sent = |line: &str| {
        let (_, _, server) = hands_over(&home, line, [answer::chat_text("What for?")]);
        let sent = server.requests()[0].text.clone();
        assert!(!sent.contains(TOKEN) && !sent.contains(PASSWORD), "{sent}");
        let at = sent.rfind("AXI-HIDDEN-").unwrap();
        sent[at..at + "AXI-HIDDEN-".len() + 10].to_owned()
    };
    let (token, password) = (sent(&line), sent(&format!("use {PASSWORD}")));
    let (screen, reply, _server) = hands_over(&home, &line, [proposes(&format!("echo {token} | gh auth login"))]);
    assert_eq!(reply, format!("put\necho {TOKEN} | gh auth login"), "{screen}");
    assert!(!screen.contains("stands for a secret"), "{screen}");
    let answers = [answer::chat_text(&format!("```sh\nprintf %s {token} > a\n```"))];
    let (screen, reply, _server) = hands_over(&home, &line, answers);
    assert_eq!(reply, format!("put\nprintf %s {TOKEN} > a"), "{screen}");
    let (screen, reply, _server) = hands_over(&home, "show it", [proposes(&format!("grep {password} work.log"))]);
    assert_eq!(reply, format!("put\ngrep {password} work.log"), "{screen}");
    assert!(screen.contains(&format!("`{password}` on the line stands for a secret")), "{screen}");
    assert!(!screen.contains(PASSWORD), "{screen}");
    // Why it fails, with the password in it, is told to the person only.
    let line = "the date of the password 'hunter22x'";
    let password_said = sent(line);
    let (screen, reply, server) = hands_over(&home, line, [proposes(&format!("date -d {password_said}"))]);
    assert_eq!(reply, "put\ndate -d hunter22x", "{screen}");
    let requests = server.requests();
    assert!(requests.len() == 1 && !requests[0].text.contains("hunter22x"), "{screen}");
    if !screen.contains("in doubt: it fails here") {
        crate::support::skip::skip("no sandbox holds a command that only looks");
    }
}
