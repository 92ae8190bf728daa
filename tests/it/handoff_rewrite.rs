//! The quick rewrite as a line editor runs it: standard output captured, keys read from the terminal itself.

use std::process::Command;

use rustix::termios::LocalModes;

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{axi, run, said};

/// A line editor written in sh: takes the answer, and says what it got.
fn editor(home: &Home, server: &Server, line: &str) -> Command {
    let axi = axi(home, server);
    let mut command = home.command("sh");
    let script = format!(
        "out=$({} handoff --rewrite </dev/null); code=$?; printf '[%s] %s over\\n' \"$out\" $code",
        axi.get_program().to_str().unwrap()
    );
    command.arg("-c").arg(script).env("AXI_LINE", line).env("AXI_SHELL", "zsh").env("AXI_SHELL_VERSION", "5.9");
    for (name, value) in axi.get_envs() {
        command.env(name, value.unwrap());
    }
    command
}

#[test]
fn the_line_becomes_one_command_and_nothing_else_is_said() {
    let home = Home::new();
    home.write("config/axi/config.toml", "nonsense = 1\n");
    let server = Server::start([answer::chat_text("Sure:\n\n```zsh\ndu -sh *\n```\n\nThis shows sizes.")]);
    let mut command = editor(&home, &server, "  how big is everything here ");
    command.env("AXI_LAST_COMMAND", "cd /srv").env("AXI_LAST_STATUS", "0");
    let pty = Pty::options().spawn(&command);
    pty.wait_for("[du -sh *] 0 over");
    // The row of the spinner is empty again, and nothing warned.
    assert_eq!(pty.transcript().trim(), "[du -sh *] 0 over");
    let request = &server.requests()[0];
    assert!(request.body.get("tools").is_none(), "{}", request.text);
    let system = said(request, 0);
    assert!(system.contains("Shell: zsh 5.9. Working directory: ~/work."), "{system}");
    assert!(system.contains("The command before it: cd /srv (exit code 0)."), "{system}");
    assert_eq!(said(request, 1), "how big is everything here");
    assert!(!home.path().join("state/axi/sessions").exists());
}

#[test]
fn escape_and_ctrl_c_take_it_back_and_leave_the_terminal_as_it_was() {
    for key in ["\x1b", "\x03"] {
        let home = Home::new();
        let gate = Gate::new();
        let server = Server::start([answer::chat_text("ls").gate_before(0, &gate)]);
        let mut pty = Pty::options().spawn(&editor(&home, &server, "list"));
        pty.wait_for("asking openai/any · esc to stop");
        gate.wait_reached();
        assert!(!pty.termios().local_modes.intersects(LocalModes::ECHO | LocalModes::ISIG | LocalModes::ICANON));
        pty.send(key);
        pty.wait_for("[] 130 over");
        assert_eq!(pty.transcript().trim(), "[] 130 over");
        assert!(pty.termios().local_modes.contains(LocalModes::ECHO | LocalModes::ISIG | LocalModes::ICANON));
        server.wait_closed(1);
    }
}

#[test]
fn what_went_wrong_is_one_line_beside_the_answer() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("I'm sorry, I can't do that.")]);
    let said = |command: &mut Command| {
        let ran = run(command);
        (ran.code, ran.out, ran.err)
    };
    let rewrite = || {
        let mut command = axi(&home, &server);
        command.args(["handoff", "--rewrite"]).env("AXI_LINE", "x");
        command
    };
    let failed = |code: i32, text: &str| (Some(code), String::new(), format!("axi: {text}\n"));
    assert_eq!(said(&mut rewrite()), failed(1, "no command came back"));
    assert_eq!(said(rewrite().env("AXI_LINE", " ")), failed(2, "there is no line to rewrite"));
    let unreachable = failed(4, "cannot reach http://127.0.0.1:1: connection refused");
    assert_eq!(said(rewrite().env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")), unreachable);
    home.write("config/axi/config.toml", "[handoff]\nrewrite_timeout = 1\n");
    server.push(answer::chat_text("ls").gate_before(0, &Gate::new()));
    assert_eq!(said(&mut rewrite()), failed(4, "no answer within 1 s"));
}

#[test]
fn a_quick_model_of_its_own_may_be_asked() {
    let home = Home::new();
    home.write("config/axi/config.toml", "[handoff]\nrewrite_model = \"openai/quick\"\n");
    let server = Server::start([answer::chat_text("ls")]);
    let mut command = axi(&home, &server);
    let ran = run(command.args(["handoff", "--rewrite"]).env("AXI_LINE", "x"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "ls\n"));
    assert_eq!(server.requests()[0].body["model"], "quick");
}

#[test]
fn a_secret_of_the_line_is_not_sent_and_stands_in_the_command_that_comes_back() {
    const TOKEN: &str = "ghp_9aF3kQ7xLm2Zt8Rv5Bn1Wc6Yd0Ho4Js3Pu2E";
    let home = Home::new();
    // The key that stand-ins are made with is kept there.
    std::fs::create_dir_all(home.path().join("state/axi")).unwrap();
    let line = format!("ask the api for my name with curl and {TOKEN}");
    let rewrite = |server: &Server| {
        let mut command = axi(&home, server);
        run(command.args(["handoff", "--rewrite"]).env("AXI_LINE", &line))
    };
    let server = Server::start([answer::chat_text("ls")]);
    assert_eq!(rewrite(&server).out, "ls\n");
    let request = &server.requests()[0];
    assert!(!request.text.contains(TOKEN), "{}", request.text);
    let asked = said(request, 1);
    let stand_in = asked.rsplit(' ').next().unwrap();
    assert!(stand_in.starts_with("AXI-HIDDEN-"), "{asked}");
    let command = |token: &str| format!("curl -H 'Authorization: Bearer {token}' https://api.example.org/me");
    let server = Server::start([answer::chat_text(&command(stand_in))]);
    assert_eq!(rewrite(&server).out, format!("{}\n", command(TOKEN)));
    // Another one is known to nobody.
    let server = Server::start([answer::chat_text(&command("AXI-HIDDEN-0123456789"))]);
    assert_eq!(rewrite(&server).err, "axi: no command came back\n");
}

#[test]
fn a_value_of_a_file_with_variables_is_not_sent_with_the_command_before() {
    let home = Home::new();
    home.write("work/.env", "DB_PASSWORD=troubadour42plz # production\n");
    let server = Server::start([answer::chat_text("ls")]);
    let mut command = axi(&home, &server);
    command.args(["handoff", "--rewrite"]).env("AXI_LINE", "again");
    command.env("AXI_LAST_COMMAND", "./login.sh troubadour42plz").env("AXI_LAST_STATUS", "1");
    assert_eq!(run(&mut command).out, "ls\n");
    let request = &server.requests()[0];
    assert!(said(request, 0).contains("The command before it: ./login.sh [redacted] (exit code 1)."));
    assert!(!request.text.contains("troubadour42plz"), "{}", request.text);
}
