//! The REPL in a real terminal: commands that want the terminal get it, give it back, and leave no trace of what was
//! typed.

use crate::support::changes::{all_end, processes};
use crate::support::home::Home;
use crate::support::pty::View;
use crate::support::server::{Server, answer};
use crate::support::skip::has;
use crate::support::talk::{Person, axi, last_said, run, session_files};

const BEGINS: &str = "The command wants the terminal";
const OVER: &str = "The terminal is back.";

/// As sudo, ssh and others ask: on /dev/tty, without echo. It knows the password by its sum, so that no file names it.
const ASKS: &str = r#"#!/bin/sh
exec 3<>/dev/tty
stty -echo <&3
printf 'password for ada: ' >&3
IFS= read -r word <&3
stty echo <&3
echo >&3
[ "$(printf %s "$word" | cksum)" = "4207773163 11" ] || { echo "asks: 1 incorrect password attempt" >&2; exit 1; }
exec "$@"
"#;

struct Scene {
    home: Home,
    server: Server,
    person: Person,
}

impl Scene {
    /// A person whose model runs `command` at once.
    fn running(command: &str) -> Self {
        Self::with(&serde_json::json!({ "command": command }))
    }

    fn with(call: &serde_json::Value) -> Self {
        let home = Home::new();
        script(&home, "asks", ASKS);
        let server = Server::start([answer::chat_call("call_1", "shell", &call.to_string())]);
        let mut command = axi(&home, &server);
        command.args(["-y", "--allow", "shell"]).env("EDITOR", home.work().join("editor"));
        let mut person = Person::meets(&command);
        person.sends("go");
        Self { home, server, person }
    }

    /// What the model was told, after the turn went on.
    fn ends(mut self) -> String {
        self.server.push(answer::chat_text("So it is."));
        self.person.sees("So it is.");
        let told = self.told();
        assert_eq!(self.server.violations(), Vec::<String>::new());
        self.works_on();
        told
    }

    fn told(&self) -> String {
        last_said(&self.server.requests()[1])
    }

    /// Waits for a row that begins so: the command's own line says the same in its middle.
    #[track_caller]
    fn sees_row(&self, start: &str) {
        self.person.waits(|view| view.text().lines().any(|row| row.starts_with(start)), start);
    }

    /// The prompt, the keyboard and the mode are as ever.
    fn works_on(&mut self) {
        self.person.sees_prompt();
        self.server.push(answer::chat_text("Yes?"));
        self.person.sends("and now");
        self.person.sees("Yes?");
        self.person.sees_prompt();
        self.person.types("\x04");
        assert_eq!(self.person.pty.wait_exit().code(), Some(0));
    }
}

fn script(home: &Home, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = home.write(&format!("work/{name}"), text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_password_is_asked_for_on_the_terminal_and_kept_nowhere() {
    let mut scene = Scene::running("./asks echo granted; echo later");
    scene.person.sees("$ ./asks echo granted; echo later");
    scene.person.sees(BEGINS);
    scene.person.sees("password for ada: ");
    scene.person.types("open sesame\r");
    // While it has the terminal, the person sees what it prints.
    scene.sees_row("granted");
    let home = scene.home.path().to_path_buf();
    let transcript = {
        scene.server.push(answer::chat_text("So it is."));
        scene.person.sees("So it is.");
        scene.person.pty.transcript()
    };
    assert!(transcript.contains(OVER) && !transcript.contains("sesame"), "{transcript}");
    let told = scene.told();
    assert!(told.starts_with("granted\nlater\n[it asked for the user's terminal"), "{told}");
    let files = session_files(&scene.home);
    let kept = std::fs::read_to_string(&files[0]).unwrap();
    assert!(!kept.contains("sesame") && !kept.contains("password for ada"), "{kept}");
    let found = std::process::Command::new("grep").args(["-rl", "sesame"]).arg(home).output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
    scene.works_on();
}

#[test]
fn a_question_that_is_printed_before_the_command_reads_is_seen() {
    let mut scene = Scene::running("echo two are left; printf 'Name: '; read -r x </dev/tty; echo got $x");
    scene.person.sees(BEGINS);
    scene.sees_row("two are left");
    scene.sees_row("Name: ");
    scene.person.types("Ada\r");
    scene.sees_row("got Ada");
    assert!(scene.ends().starts_with("two are left\nName: got Ada"));
}

#[test]
fn a_wrong_password_is_the_commands_business() {
    let mut scene = Scene::running("./asks echo granted");
    scene.person.sees("password for ada: ");
    scene.person.types("guess\r");
    let told = scene.ends();
    assert!(told.contains("1 incorrect password attempt\n[exit code 1]"), "{told}");
    assert!(!told.contains("guess"), "{told}");
}

#[test]
fn ctrl_c_at_a_password_ends_the_command_and_the_turn_goes_on() {
    let mut scene = Scene::running("./asks echo granted");
    scene.person.sees("password for ada: ");
    scene.person.types("\x03");
    let told = scene.ends();
    assert!(told.contains("[exit code 130]") && !told.contains("granted"), "{told}");
}

#[test]
fn ctrl_z_takes_the_terminal_back_and_a_command_that_goes_on_asking_is_ended() {
    let mut scene = Scene::running("./asks echo granted");
    scene.person.sees("password for ada: ");
    scene.person.types("\x1a");
    scene.person.sees(OVER);
    let told = scene.ends();
    assert!(told.contains("took the terminal back with Ctrl+Z") && !told.contains("granted"), "{told}");
}

#[test]
fn ctrl_z_lets_a_command_go_on_that_asks_no_more() {
    let mut scene = Scene::running("./asks sh -c 'mkfifo door; echo granted; cat door; echo passed'");
    scene.person.sees("password for ada: ");
    scene.person.types("open sesame\r");
    scene.sees_row("granted");
    scene.person.types("\x1a");
    scene.person.sees(OVER);
    scene.person.sees("esc to stop");
    std::fs::write(scene.home.work().join("door"), "by the door\n").unwrap();
    let told = scene.ends();
    assert!(told.contains("granted\nby the door\npassed\n"), "{told}");
}

#[test]
fn escape_stops_the_turn_once_the_terminal_is_back() {
    let mut scene = Scene::running("./asks sh -c 'mkfifo door; echo granted; cat door; echo passed'");
    scene.person.sees("password for ada: ");
    scene.person.types("open sesame\r");
    scene.sees_row("granted");
    scene.person.types("\x1a");
    scene.person.sees("esc to stop");
    scene.person.types("\x1b");
    scene.person.sees("stopped");
    scene.works_on();
}

#[test]
fn git_asks_for_name_and_password() {
    if !has("git") {
        return;
    }
    let line = "printf 'protocol=https\\nhost=example.com\\n\\n' | git credential fill | sed 's/^password=open sesame$/it was given/'";
    let mut scene = Scene::running(line);
    scene.person.sees("Username for 'https://example.com': ");
    scene.person.types("ada\r");
    scene.person.sees("Password for 'https://ada@example.com': ");
    scene.person.types("open sesame\r");
    let told = scene.ends();
    assert!(told.contains("username=ada\nit was given\n"), "{told}");
}

#[test]
fn a_login_prompt_a_pager_and_an_editor_get_the_terminal() {
    // Each touches the terminal in its own way first: by writing, by reading, by its mode.
    let login = "exec 3<>/dev/tty; printf 'login: ' >&3; read -r name <&3; echo hello $name";
    let pager = "read -r key </dev/tty; echo paged $key";
    let editor = "old=$(stty -g </dev/tty); stty raw -echo </dev/tty; printf '\\033[?1049h\\033[2J~ editing' >/dev/tty; \
                  key=$(dd bs=1 count=1 2>/dev/null </dev/tty); stty \"$old\" </dev/tty; echo edited $key";
    for (line, sees, keys, result) in [
        (login, "login: ", "ada\r", "hello ada\n"),
        (pager, BEGINS, "q\r", "paged q\n"),
        (editor, "~ editing", "\x1b", "edited \n"),
    ] {
        let mut scene = Scene::running(line);
        scene.person.sees(sees);
        // Nothing says that a silent one listens; what axi switches off before does.
        let lent = |view: &mut View<'_>| String::from_utf8_lossy(view.raw()).contains("\x1b[?1004l");
        scene.person.waits(lent, "the loan");
        scene.person.types(keys);
        scene.server.push(answer::chat_text("So it is."));
        scene.person.sees("So it is.");
        let told = scene.told().replace('\x1b', "");
        assert!(told.starts_with(result), "{told:?}");
        // The editor left the alternate screen on: it was put right.
        assert!(!scene.person.pty.view(|view| view.screen().alternate_screen()));
        scene.works_on();
    }
}

#[test]
fn an_interactive_command_has_the_terminal_and_the_persons_own_editor_at_once() {
    let call = serde_json::json!({ "command": "test -t 0 && test -t 1 && $EDITOR list", "interactive": true });
    let home_script = "#!/bin/sh\nprintf 'words? '; read -r words; echo \"$words\" > \"$1\"\n";
    let home = Home::new();
    script(&home, "editor", home_script);
    let server = Server::start([answer::chat_call("call_1", "shell", &call.to_string())]);
    let mut command = axi(&home, &server);
    command.args(["-y", "--allow", "shell"]).env("EDITOR", home.work().join("editor"));
    let mut person = Person::meets(&command);
    person.sends("go");
    person.sees("words? ");
    person.types("pick and squash\r");
    let mut scene = Scene { home, server, person };
    scene.server.push(answer::chat_text("So it is."));
    scene.person.sees("So it is.");
    let told = scene.told();
    assert!(told.starts_with("[it had the user's terminal; what was shown"), "{told}");
    assert_eq!(std::fs::read_to_string(scene.home.work().join("list")).unwrap(), "pick and squash\n");
    scene.works_on();
}

#[test]
fn git_rebases_interactively_in_the_persons_own_editor() {
    if !has("git") {
        return;
    }
    let home = Home::new();
    // Turns the list round when it is told to.
    let editor = "#!/bin/sh\nprintf 'turn round? '; read -r word; [ \"$word\" = yes ] || exit 1\n\
                  grep '^pick' \"$1\" | tac > \"$1.new\" && mv \"$1.new\" \"$1\"\n";
    script(&home, "editor", editor);
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        let output = home.command("git").args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q", "-b", "main", "."]);
    git(&["config", "user.name", "Ada"]);
    git(&["config", "user.email", "ada@example.com"]);
    for name in ["base", "one", "two"] {
        home.write(&format!("work/{name}"), name);
        git(&["add", name]);
        git(&["commit", "-q", "-m", name]);
    }
    let call = serde_json::json!({ "command": "git rebase -i HEAD~2", "interactive": true });
    let server = Server::start([answer::chat_call("call_1", "shell", &call.to_string())]);
    let mut command = axi(&home, &server);
    command.args(["-y", "--allow", "shell"]).env("EDITOR", home.work().join("editor"));
    let mut person = Person::meets(&command);
    person.sends("go");
    person.sees("turn round? ");
    person.types("yes\r");
    let mut scene = Scene { home, server, person };
    scene.server.push(answer::chat_text("So it is."));
    scene.person.sees("So it is.");
    let log = scene.home.command("git").args(["log", "--format=%s"]).output().unwrap();
    assert_eq!(String::from_utf8(log.stdout).unwrap(), "one\ntwo\nbase\n");
    scene.works_on();
}

#[test]
fn git_commits_in_the_editor_its_own_settings_name() {
    if !has("git") {
        return;
    }
    let home = Home::new();
    script(&home, "writes", "#!/bin/sh\nprintf 'message? '; read -r words; echo \"$words\" > \"$1\"\n");
    let writes = home.work().join("writes");
    let settings = ["user.name=Ada", "user.email=ada@example.com"].map(|setting| setting.split_once('=').unwrap());
    for arguments in [&["init", "-q", "-b", "main", "."][..], &["config", "core.editor", writes.to_str().unwrap()]]
    {
        assert!(home.command("git").args(arguments).status().unwrap().success());
    }
    for (name, value) in settings {
        assert!(home.command("git").args(["config", name, value]).status().unwrap().success());
    }
    home.write("work/one", "one");
    let call = serde_json::json!({ "command": "git add one && git commit -a" });
    let server = Server::start([answer::chat_call("call_1", "shell", &call.to_string())]);
    let mut command = axi(&home, &server);
    command.args(["-y", "--allow", "shell"]).env("EDITOR", "false");
    let mut person = Person::meets(&command);
    person.sends("go");
    person.sees(BEGINS);
    person.sees("message? ");
    person.types("what it is about\r");
    let mut scene = Scene { home, server, person };
    scene.server.push(answer::chat_text("So it is."));
    scene.person.sees("So it is.");
    let log = scene.home.command("git").args(["log", "--format=%s"]).output().unwrap();
    assert_eq!(String::from_utf8(log.stdout).unwrap(), "what it is about\n", "{}", scene.told());
    scene.works_on();
}

#[test]
fn what_was_typed_before_stays_type_ahead_and_nothing_asks_twice() {
    let mut scene = Scene::running("mkfifo door; echo waiting; cat door; ./asks echo granted");
    scene.person.sees("  waiting");
    scene.person.types("open sesame");
    scene.person.sees("› open sesame");
    std::fs::write(scene.home.work().join("door"), "").unwrap();
    scene.person.sees("password for ada: ");
    scene.person.types("no\r");
    scene.server.push(answer::chat_text("So it is."));
    scene.person.sees("So it is.");
    assert!(scene.told().contains("incorrect password"), "{}", scene.told());
    scene.person.sees_line("open sesame");
}

#[test]
fn no_process_of_a_lent_command_outlives_axi() {
    let mut scene = Scene::running("./asks echo granted");
    scene.person.sees("password for ada: ");
    let environment = format!("HOME={}", scene.home.path().display());
    let is_one = |process: &std::path::Path| {
        let variables = std::fs::read(process.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&variables).contains(&environment)
    };
    assert!(processes(is_one).len() > 2);
    scene.person.pty.signal(rustix::process::Signal::TERM);
    scene.person.pty.wait_exit();
    all_end("axi has ended", is_one);
}

#[test]
fn without_a_terminal_the_command_fails_at_once_and_the_model_is_told_why() {
    let home = Home::new();
    script(&home, "asks", ASKS);
    let call = r#"{"command":"./asks echo granted"}"#;
    let server = Server::start([
        answer::chat_call("call_1", "shell", call),
        answer::chat_call("call_2", "shell", r#"{"command":"vi x","interactive":true}"#),
        answer::chat_text("No."),
    ]);
    let ran = run(axi(&home, &server).args(["-y", "--allow", "shell", "-p", "go"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "No.\n"), "{}", ran.err);
    let told = last_said(&server.requests()[1]);
    assert!(told.contains("/dev/tty") && told.contains("there is no terminal in this mode"), "{told}");
    let told = last_said(&server.requests()[2]);
    assert!(told.starts_with("there is no terminal in this mode"), "{told}");
}

#[test]
fn ctrl_z_takes_the_terminal_back_from_a_command_that_cannot_be_stopped() {
    // As a shell in the middle of vfork: the leader waits for a child that the signal has stopped, or traps it.
    let line =
        "trap '' TSTP; exec 3<>/dev/tty; printf 'password for ada: ' >&3; while ! read -r word <&3; do :; done";
    let mut scene = Scene::running(line);
    scene.sees_row("password for ada:");
    scene.person.types("\x1a");
    scene.person.sees(OVER);
    scene.person.sees("esc to stop");
    scene.person.types("\x1b");
    scene.person.sees("stopped");
    scene.works_on();
}

#[test]
fn ctrl_z_three_times_takes_the_terminal_back_from_a_command_that_hears_nothing() {
    let line = "trap '' INT TERM HUP TSTP; exec 3<>/dev/tty; printf 'word? ' >&3; read -r word <&3; \
                stty raw -echo <&3; printf deaf >&3; sleep 100";
    let mut scene = Scene::running(line);
    scene.sees_row("word?");
    scene.person.types("x\r");
    scene.sees_row("deaf");
    scene.person.types("\x1a\x1a\x1a");
    scene.person.sees(OVER);
    scene.person.sees("esc to stop");
    scene.person.types("\x1b");
    scene.person.sees("stopped");
    scene.works_on();
}

#[test]
fn signals_that_whoever_started_axi_ignores_are_the_commands_own_again() {
    let home = Home::new();
    script(&home, "asks", ASKS);
    let server = Server::start([answer::chat_call("call_1", "shell", r#"{"command":"./asks echo granted"}"#)]);
    let inner = axi(&home, &server);
    let mut command = home.command("/bin/sh");
    command.args(["-c", "trap '' TTIN TTOU TSTP INT QUIT; exec \"$0\" -y --allow shell"]).arg(inner.get_program());
    for (name, value) in inner.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let mut person = Person::meets(&command);
    person.sends("go");
    person.sees("password for ada: ");
    person.types("\x1a");
    person.sees(OVER);
    server.push(answer::chat_text("So it is."));
    person.sees("So it is.");
    let told = last_said(&server.requests()[1]);
    assert!(told.contains("took the terminal back with Ctrl+Z"), "{told}");
}
