//! The output of the last command travels along when something holds it and the person says so.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Server, answer};
use crate::support::talk::{axi, said};

const SCREEN: &str = include_str!("fixtures/captures/tmux-3.3-zsh2.txt");
const UP: &str = "\x1b[A";

/// A home whose tmux shows this screen, and notes what it was asked.
fn home(screen: &str) -> Home {
    let home = Home::new();
    home.write("screen.txt", screen);
    let script = "#!/bin/sh\necho \"$@\" >> \"$HOME/asked\"\ncat \"$HOME/screen.txt\"\n";
    let path = home.write("bin/tmux", script);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    home
}

/// A hand-off in a pane of tmux, after the build failed.
fn handoff(home: &Home, server: &Server, line: &str) -> Command {
    let mut command = axi(home, server);
    command.arg("handoff").env("AXI_LINE", line).env("AXI_REPLY", home.path().join("runtime/axi/reply"));
    command.env("AXI_LAST_COMMAND", "bash build.sh").env("AXI_LAST_STATUS", "2");
    command.env("TMUX", "/tmp/tmux-0/default,1,0").env("TMUX_PANE", "%3");
    command.env("PATH", format!("{}/bin:/usr/bin:/bin", home.path().display()));
    command
}

fn ends(mut pty: Pty) -> (Option<i32>, String) {
    let code = pty.wait_exit().code();
    (code, pty.transcript())
}

#[test]
fn the_screen_is_looked_at_before_anything_is_printed_on_it() {
    let home = home(SCREEN);
    let script = "#!/bin/sh\necho looked >/dev/tty\ncat \"$HOME/screen.txt\"\n";
    std::fs::write(home.path().join("bin/tmux"), script).unwrap();
    let server = Server::start([answer::chat_text("A semicolon is missing.")]);
    let mut command = handoff(&home, &server, "why did it fail");
    command.env_remove("AXI_MODEL");
    let mut pty = Pty::options().spawn(&command);
    pty.wait_for("Send");
    let shown = pty.transcript();
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
    assert!(at("looked") < at("nothing was configured"), "{shown}");
    pty.send("n");
    pty.wait_for("semicolon");
}

#[test]
fn it_is_sent_once_when_the_person_says_so() {
    let home = home(&SCREEN.replace("cc -c file7.c", "export TOKEN=abcdefgh"));
    let server = Server::start([answer::chat_text("A semicolon is missing."), answer::chat_text("Again.")]);
    let mut pty = Pty::options().spawn(&handoff(&home, &server, "why did it fail"));
    // What it begins and ends with is seen before; Enter sends nothing.
    pty.wait_for("❯ n  No");
    let asked = pty.view(|view| view.text());
    assert!(
        asked.contains("  cc -c file1.c\n  … 40 lines …\n  make: *** [Makefile:2: file40.o] Error 1\n"),
        "{asked}"
    );
    pty.send("y");
    let (code, screen) = ends(pty);
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.starts_with("with: bash build.sh → exit 2\n"), "{screen}");
    assert!(screen.contains("(43 lines, 1 secret removed, from tmux)"), "{screen}");
    let message = said(&server.requests()[0], 1);
    assert!(message.starts_with("why did it fail\n"), "{message}");
    assert!(message.contains("<output>\ncc -c file1.c\n") && message.contains("file40.o] Error 1\n</output>"));
    assert!(message.contains("export TOKEN=[redacted]") && !message.contains("abcdefgh"), "{message}");
    assert_eq!(std::fs::read_to_string(home.path().join("asked")).unwrap(), "capture-pane -p -J -S -3000 -t %3\n");
    // Once is once.
    let mut pty = Pty::options().spawn(&handoff(&home, &server, "why did it fail"));
    pty.wait_for("❯ n  No");
    pty.send("\r");
    let (code, screen) = ends(pty);
    assert_eq!(code, Some(0), "{screen}");
    assert!(!said(&server.requests()[1], 1).contains("<output>"));
}

/// The program, its variables, what its stand-in does, and how it must be asked.
type Other = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

/// Who holds the screen, as its variables say, and a stand-in for its program: it notes what it was asked, and
/// answers as the program documents it.
const OTHERS: [Other; 5] = [
    (
        "screen",
        &[("STY", "12.pts"), ("WINDOW", "0")],
        "for file; do :; done; cat \"$HOME/screen.txt\" >\"$file\"",
        "hardcopy -h",
    ),
    (
        "zellij",
        &[("ZELLIJ", "0"), ("ZELLIJ_PANE_ID", "7")],
        "cat \"$HOME/screen.txt\"",
        "--pane-id terminal_7 --full",
    ),
    (
        "zellij",
        &[("ZELLIJ", "0"), ("ZELLIJ_PANE_ID", "7")],
        "case $* in *--pane-id*) exit 2 ;; esac; for file; do :; done; cat \"$HOME/screen.txt\" >\"$file\"",
        "dump-screen --full /",
    ),
    (
        "kitty",
        &[("KITTY_LISTEN_ON", "unix:/tmp/k"), ("KITTY_WINDOW_ID", "3")],
        "cat \"$HOME/screen.txt\"",
        "@ get-text --match id:3 --extent all",
    ),
    (
        "wezterm",
        &[("WEZTERM_PANE", "4")],
        "cat \"$HOME/screen.txt\"",
        "cli get-text --pane-id 4 --start-line -3000",
    ),
];

#[test]
fn every_holder_is_asked_in_its_own_words() {
    for (program, variables, answers, asked) in OTHERS {
        let home = Home::new();
        home.write("screen.txt", SCREEN);
        let path = home
            .write(&format!("bin/{program}"), &format!("#!/bin/sh\necho \"$@\" >> \"$HOME/asked\"\n{answers}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let server = Server::start([answer::chat_text("A semicolon is missing.")]);
        let mut command = handoff(&home, &server, "why did it fail");
        command.env_remove("TMUX").env_remove("TMUX_PANE").envs(variables.iter().copied());
        let mut pty = Pty::options().spawn(&command);
        pty.wait_for("❯ n  No");
        pty.send("y");
        let (code, screen) = ends(pty);
        assert_eq!(code, Some(0), "{program}: {screen}");
        assert!(said(&server.requests()[0], 1).contains("<output>\ncc -c file1.c\n"), "{program}");
        let found = std::fs::read_to_string(home.path().join("asked")).unwrap();
        assert!(found.lines().last().unwrap().contains(asked), "{program}: {found}");
    }
}

#[test]
fn wezterm_is_found_where_it_says_it_is() {
    let home = Home::new();
    home.write("screen.txt", SCREEN);
    let path = home.write("WezTerm.app/wezterm", "#!/bin/sh\n/bin/cat \"$HOME/screen.txt\"\n");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = Server::start([answer::chat_text("A semicolon is missing.")]);
    let mut command = handoff(&home, &server, "why did it fail");
    command.env_remove("TMUX").env_remove("TMUX_PANE").env("WEZTERM_PANE", "4");
    // A folder without any program of ours: WezTerm may be installed here.
    command.env("PATH", home.path().join("empty")).env("WEZTERM_EXECUTABLE_DIR", home.path().join("WezTerm.app"));
    let pty = Pty::options().spawn(&command);
    pty.wait_for("(43 lines, from WezTerm)");
    pty.wait_for("❯ n  No");
}

#[test]
fn of_several_the_innermost_is_asked_and_none_where_nobody_can_tell() {
    // zellij in a pane of tmux: tmux would show the other panes of zellij too.
    for (above, asked) in [("50 1 zellij", Some("zellij")), ("50 1 tmux: server", Some("tmux")), ("50 1 sh", None)]
    {
        let home = home(SCREEN);
        let scripts = [
            ("zellij", "echo zellij >>\"$HOME/asked\"; cat \"$HOME/screen.txt\"".to_owned()),
            ("tmux", "echo tmux >>\"$HOME/asked\"; cat \"$HOME/screen.txt\"".to_owned()),
            ("ps", format!("echo \"$PPID 50 axi\"; echo '{above}'")),
        ];
        for (program, script) in scripts {
            let path = home.write(&format!("bin/{program}"), &format!("#!/bin/sh\n{script}\n"));
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let server = Server::start([answer::chat_text("A semicolon is missing.")]);
        let mut command = handoff(&home, &server, "why did it fail");
        command.env("ZELLIJ", "0").env("ZELLIJ_PANE_ID", "7");
        let mut pty = Pty::options().spawn(&command);
        if let Some(program) = asked {
            pty.wait_for(&format!("from {program})"));
            pty.wait_for("❯ n  No");
            pty.send("\r");
        }
        let (code, screen) = ends(pty);
        assert_eq!(code, Some(0), "{screen}");
        let found = std::fs::read_to_string(home.path().join("asked")).unwrap_or_default();
        assert_eq!(found.lines().next(), asked, "{found}");
    }
}

#[test]
fn always_is_for_this_directory_and_is_kept_in_the_persons_own_state() {
    let home = home(SCREEN);
    let server = Server::start(["one", "two", "three"].map(answer::chat_text));
    let mut pty = Pty::options().spawn(&handoff(&home, &server, "why did it fail"));
    pty.wait_for("❯ n  No");
    pty.send(UP);
    pty.wait_for("❯ a  Yes, always in ~/work");
    pty.send("\r");
    assert_eq!(ends(pty).0, Some(0));
    let (code, screen) = ends(Pty::options().spawn(&handoff(&home, &server, "why did it fail")));
    assert_eq!(code, Some(0));
    assert!(screen.contains("with its output: 43 lines") && !screen.contains("Send the output of"), "{screen}");
    let messages = server.requests().iter().filter(|request| said(request, 1).contains("<output>")).count();
    assert_eq!(messages, 2);
    assert!(home.work().read_dir().unwrap().next().is_none());
    std::fs::create_dir(home.path().join("other")).unwrap();
    let mut command = handoff(&home, &server, "why did it fail");
    let pty = Pty::options().spawn(command.current_dir(home.path().join("other")));
    pty.wait_for("❯ n  No");
}

#[test]
fn never_is_for_this_directory_and_is_kept_in_the_persons_own_state() {
    let home = home(SCREEN);
    let server = Server::start(["one", "two"].map(answer::chat_text));
    let mut pty = Pty::options().spawn(&handoff(&home, &server, "why did it fail"));
    pty.wait_for("d  No, and never ask in ~/work");
    pty.send("d");
    assert_eq!(ends(pty).0, Some(0));
    let (code, screen) = ends(Pty::options().spawn(&handoff(&home, &server, "why did it fail")));
    assert_eq!(code, Some(0));
    assert!(!screen.contains("Send the output of"), "{screen}");
    assert!(server.requests().iter().all(|request| !said(request, 1).contains("<output>")));
}

#[test]
fn escape_at_the_question_gives_the_line_back_and_sends_nothing() {
    let home = home(SCREEN);
    let server = Server::start([]);
    let mut pty = Pty::options().spawn(&handoff(&home, &server, "why did it fail"));
    pty.wait_for("❯ n  No");
    pty.send("\x1b");
    let (code, screen) = ends(pty);
    assert_eq!(code, Some(130), "{screen}");
    assert_eq!(std::fs::read(home.path().join("runtime/axi/reply")).unwrap(), b"put\nwhy did it fail");
    assert!(server.requests().is_empty());
}

#[test]
fn nobody_is_asked_when_it_does_not_matter_or_cannot_be_found() {
    let cases: [(&str, &str, &str); 4] = [
        (SCREEN, "list the files", "0"),
        (SCREEN, "list the files", "2"),
        ("something else\n", "why did it fail", "2"),
        ("", "why did it fail", "2"),
    ];
    for (screen, line, status) in cases {
        let home = home(screen);
        let server = Server::start([answer::chat_text("an answer")]);
        let mut command = handoff(&home, &server, line);
        let (code, screen) = ends(Pty::options().spawn(command.env("AXI_LAST_STATUS", status)));
        assert_eq!(code, Some(0), "{screen}");
        assert!(!screen.contains("Send the output of"), "{screen}");
    }
}
