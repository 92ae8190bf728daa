//! What the terminal is told beside the text: marks around prompts and answers, titles, its background.

use std::process::Command;
use std::time::{Duration, Instant};

use axi::agent::{Activity, AgentEvent, Frontend as _, TurnEnd};
use axi::config::Notify;
use rustix::process::Signal;

use axi::terminal::{KeyWatch, Output, Pending, Tty, Wrap, escape_wait};

use crate::support::answer;
use crate::support::home::Home;
use crate::support::pty::{Options, PATIENCE, Pty};
use crate::support::server::{Answer, Gate, Server};
use crate::support::streams;

fn talk(home: &Home, options: Options, lines: &[&str]) -> (Vec<u8>, Vec<String>) {
    talk_with(home.axi(), options, lines)
}

fn talk_with(command: Command, options: Options, lines: &[&str]) -> (Vec<u8>, Vec<String>) {
    let server = Server::start(lines.iter().map(|_| answer::chat_text("some words")));
    talk_to(&server, command, options, lines)
}

fn talk_to(server: &Server, mut command: Command, options: Options, lines: &[&str]) -> (Vec<u8>, Vec<String>) {
    command.args(["-m", "openai/any"]).env("OPENAI_BASE_URL", server.url("/v1")).env("OPENAI_API_KEY", "x");
    let mut pty = options.spawn(&command);
    for (index, line) in lines.iter().enumerate() {
        let prompts = |text: &str| text.lines().filter(|row| row.contains('❯')).count();
        let here = |text: String| prompts(&text) > index && text.trim_end().ends_with('❯');
        assert!(pty.wait_until(|view| here(view.text()), crate::support::pty::PATIENCE), "{}", pty.describe());
        pty.send(format!("{line}\r"));
    }
    let ended = |text: String| text.trim_end().ends_with('❯') && text.matches('❯').count() > lines.len();
    assert!(pty.wait_until(|view| ended(view.text()), crate::support::pty::PATIENCE), "{}", pty.describe());
    pty.send("\x04");
    assert!(pty.wait_exit().success());
    pty.view(|view| (view.raw().to_vec(), view.titles().to_vec()))
}

#[test]
fn every_prompt_and_answer_is_marked() {
    let home = Home::new();
    let (raw, titles) = talk(&home, Pty::options(), &["say something", "/nonsense"]);
    let raw = String::from_utf8_lossy(&raw).into_owned();
    let mut marks = Vec::new();
    for part in raw.split("\x1b]133;").skip(1) {
        let mark: String = part.chars().take_while(|character| !character.is_control()).collect();
        // A prompt is painted many times; its right side is another kind of prompt.
        if !mark.starts_with('P') && marks.last() != Some(&mark) {
            marks.push(mark);
        }
    }
    // What is between A and B is painted again at each key.
    let code: Vec<&str> = marks.iter().map(String::as_str).filter(|mark| mark.starts_with(['C', 'D'])).collect();
    assert_eq!(code, ["C", "D;0", "C", "D;1"], "{marks:?}");
    assert!(marks[0] == "A;k=i;click_events=0" && marks[1] == "B", "{marks:?}");
    let last = |mark: &str| marks.iter().position(|one| one == mark).unwrap();
    assert!(last("B") < last("C"));
    assert_eq!(titles, ["axi · say something", ""]);
    assert!(raw.contains("\x1b[22;2t") && raw.contains("\x1b[23;2t"));
}

#[test]
fn zellij_gets_a_title_back_that_is_not_empty() {
    let home = Home::new();
    let mut command = home.axi();
    command.env("ZELLIJ", "0");
    let (_, titles) = talk_with(command, Pty::options(), &["say something"]);
    assert_eq!(titles, ["axi · say something", "~/work"]);
}

#[test]
fn a_terminal_that_takes_it_is_told_the_directory_and_gets_the_shells_back() {
    let home = Home::new();
    std::fs::create_dir(home.work().join("a b")).unwrap();
    let told = |program: &str| {
        let mut command = home.axi();
        command.args(["--cwd", "a b"]).env("TERM_PROGRAM", program);
        let (raw, _) = talk_with(command, Pty::options(), &["say something"]);
        let raw = String::from_utf8_lossy(&raw).into_owned();
        let paths = raw.split("\x1b]7;file://").skip(1).map(|rest| {
            let address = rest.split('\x1b').next().unwrap();
            address[address.find('/').unwrap()..].to_owned()
        });
        paths.collect::<Vec<_>>()
    };
    let work = home.work().canonicalize().unwrap().display().to_string();
    assert_eq!(told("WezTerm"), [format!("{work}/a%20b"), work]);
    assert_eq!(told(""), Vec::<String>::new());
}

#[test]
fn a_signal_gives_the_directory_of_the_shell_back_to_the_terminal() {
    for signal in [Signal::TERM, Signal::HUP, Signal::QUIT] {
        let home = Home::new();
        std::fs::create_dir(home.work().join("sub")).unwrap();
        let mut command = home.axi();
        command
            .args(["--cwd", "sub", "-m", "openai/any"])
            .env("OPENAI_API_KEY", "x")
            .env("TERM_PROGRAM", "WezTerm");
        let mut pty = Pty::options().spawn(&command);
        pty.wait_for("❯");
        pty.signal(signal);
        pty.wait_exit();
        let raw = pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
        let told: Vec<&str> = raw.split("\x1b]7;").skip(1).map(|rest| rest.split('\x1b').next().unwrap()).collect();
        let work = home.work().canonicalize().unwrap().display().to_string();
        assert_eq!(told.len(), 2, "{signal:?} {told:?}");
        assert!(told[0].ends_with(&format!("{work}/sub")) && told[1].ends_with(&work), "{signal:?} {told:?}");
    }
}

#[test]
fn whoever_answers_or_types_is_there_and_is_not_notified() {
    let home = Home::new();
    let settings = "notify = \"always\"\n[notifications]\nlong_turn = 0\nbell = \"off\"\n";
    home.write("config/axi/config.toml", settings);
    let gate = Gate::new();
    let call = answer::chat_call("1", "shell", r#"{"command":"touch made.txt"}"#).gate_before(1, &gate);
    let server = Server::start([call, answer::chat_text("first"), answer::chat_text("second")]);
    let mut command = home.axi();
    command.args(["-m", "openai/any", "go"]).env("OPENAI_BASE_URL", server.url("/v1")).env("OPENAI_API_KEY", "x");
    let mut pty = Pty::options().spawn(&command);
    let notified = |pty: &Pty| pty.view(|view| String::from_utf8_lossy(view.raw()).matches("\x1b]777;").count());
    gate.wait_reached();
    pty.wait_for("waiting for the model");
    pty.send("\x1b[O");
    gate.open();
    pty.wait_for("Run this command?");
    assert_eq!(notified(&pty), 1, "nobody was there");
    // The question's reader tells nobody that the focus came back.
    pty.send("\x1b[I");
    pty.send("y");
    let is_over = |text: String, last: &str| text.contains(last) && text.trim_end().ends_with('❯');
    assert!(pty.wait_until(|view| is_over(view.text(), "first"), PATIENCE), "{}", pty.describe());
    assert_eq!(notified(&pty), 1, "somebody had answered");
    pty.send("more\r");
    assert!(pty.wait_until(|view| is_over(view.text(), "second"), PATIENCE), "{}", pty.describe());
    assert_eq!(notified(&pty), 1, "somebody had typed");
    pty.send("\x04");
    pty.wait_exit();
}

#[test]
fn no_secret_gets_into_a_title_or_a_program_and_a_long_line_is_cut() {
    let home = Home::new();
    let way = "notify = \"always\"\n[notifications]\nlong_turn = 0\ndesktop = \"on\"\n";
    home.write("config/axi/config.toml", way);
    let mut command = home.axi();
    command.env("PATH", format!("{}:/usr/bin:/bin", desktop(&home).display()));
    let line = format!("my key is sk-proj-{}, {}", "aB3dE5fG7hJ9kL1mN2pQ4rS6".repeat(2), "and so on ".repeat(100));
    let (raw, _) = talk_with(command, Pty::options(), &[&line]);
    let raw = String::from_utf8_lossy(&raw).into_owned();
    let texts =
        raw.split("\x1b]").skip(1).filter(|rest| ["2;", "9;", "777;"].iter().any(|kind| rest.starts_with(kind)));
    let mut texts: Vec<String> = texts.map(|rest| rest.split('\x1b').next().unwrap().to_owned()).collect();
    let (begun, told) = (Instant::now(), home.path().join("told"));
    while !std::fs::read_to_string(&told).is_ok_and(|text| text.ends_with('|')) {
        assert!(begun.elapsed() < PATIENCE, "no notification on the desktop");
        std::thread::sleep(Duration::from_millis(5));
    }
    texts.push(std::fs::read_to_string(&told).unwrap());
    assert!(texts.iter().filter(|text| text.contains("my key is [redacted]")).count() >= 4, "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains("aB3dE5") && text.chars().count() < 200), "{texts:?}");
}

/// A `notify-send` that writes its arguments down; the directory that it lies in.
fn desktop(home: &Home) -> std::path::PathBuf {
    let told = home.path().join("told");
    home.write("bin/notify-send", &format!("#!/bin/sh\nprintf '%s|' \"$@\" > {}\n", told.display()));
    let program = home.path().join("bin/notify-send");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    program.parent().unwrap().to_owned()
}

#[test]
fn a_question_calls_who_looks_elsewhere() {
    let way = |one: &str| format!("notify = \"always\"\n[notifications]\n{one}\n");
    let text = "waits for your answer: go";
    let kitty = format!("\x1b]99;i=axi:d=0:o=unfocused;axi\x1b\\\x1b]99;i=axi:d=1:o=unfocused:p=body;{text}\x1b\\");
    let parts = [
        format!("\x1b]9;axi: {text}\x1b\\"),
        format!("\x1b]777;notify;axi;{text}\x1b\\"),
        kitty,
        "\x07".to_owned(),
    ];
    // By OSC 9, 777, 99 and the bell.
    let (none, all, plain) = ([false; 4], [true, true, false, true], "xterm-256color");
    for (term, settings, keys, called) in [
        (plain, String::new(), "", none),
        (plain, String::new(), "\x1b[I", none),
        (plain, String::new(), "\x1b[O", all),
        (plain, "notify = \"always\"\n".to_owned(), "", all),
        (plain, "notify = \"always\"\n".to_owned(), "\x1b[I", none),
        (plain, "notify = \"never\"\n".to_owned(), "\x1b[O", none),
        (plain, way("questions = \"off\""), "", none),
        (plain, way("turns = \"off\""), "", all),
        (plain, way("terminal = \"off\""), "", [false, false, false, true]),
        (plain, way("bell = \"off\""), "", [true, true, false, false]),
        (plain, way("bell = \"off\"\nterminal = \"off\"\ndesktop = \"on\""), "", none),
        ("xterm-kitty", way("bell = \"off\""), "", [false, false, true, false]),
    ] {
        let home = Home::new();
        home.write("config/axi/config.toml", &settings);
        let gate = Gate::new();
        let call = answer::chat_call("1", "shell", r#"{"command":"touch made.txt"}"#).gate_before(1, &gate);
        let server = Server::start([call]);
        let mut command = home.axi();
        command
            .args(["-m", "openai/any", "go"])
            .env("OPENAI_BASE_URL", server.url("/v1"))
            .env("OPENAI_API_KEY", "x")
            .env("TERM", term)
            .env("PATH", format!("{}:/usr/bin:/bin", desktop(&home).display()));
        let mut pty = Pty::options().spawn(&command);
        gate.wait_reached();
        pty.wait_for("waiting for the model");
        // What is typed after them is shown when they have been read.
        pty.send(format!("{keys}typed"));
        pty.wait_for("typed");
        gate.open();
        pty.wait_for("Run this command?");
        let raw = pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
        let told = parts.each_ref().map(|part| raw.contains(part));
        assert_eq!(told, called, "{settings:?} {keys:?}\n{raw:?}");
        let shown = home.path().join("told");
        if settings.contains("desktop") {
            let wanted = format!("--app-name=axi|--|axi|{text}|");
            let begun = Instant::now();
            while !std::fs::read_to_string(&shown).is_ok_and(|found| found == wanted) {
                assert!(begun.elapsed() < PATIENCE, "{:?}", std::fs::read_to_string(&shown));
                std::thread::sleep(Duration::from_millis(5));
            }
        } else {
            assert!(!shown.exists(), "{settings:?}");
        }
    }
}

/// The states of OSC 9;4 that were told, in order.
fn progress(raw: &[u8]) -> Vec<String> {
    let raw = String::from_utf8_lossy(raw).into_owned();
    let states = raw.split("\x1b]9;4;").skip(1);
    states.map(|part| part.chars().take_while(|character| !character.is_control()).collect()).collect()
}

#[test]
fn progress_is_told_only_to_a_terminal_that_shows_it_and_none_stays_behind() {
    let home = Home::new();
    let (raw, _) = talk(&home, Pty::options(), &["say something"]);
    assert!(progress(&raw).is_empty());
    let windows_terminal = || {
        let mut command = home.axi();
        command.env("WT_SESSION", "x");
        command
    };
    let (raw, _) = talk_with(windows_terminal(), Pty::options(), &["say something", "and more"]);
    assert_eq!(progress(&raw), ["3", "0", "3", "0"]);
    // What failed is shown until axi leaves.
    let refuses = Server::start([Answer::json(400, &serde_json::json!({"error": {"message": "no"}}))]);
    let (raw, _) = talk_to(&refuses, windows_terminal(), Pty::options(), &["say something"]);
    assert_eq!(progress(&raw), ["3", "2;100", "0"]);
}

#[test]
fn progress_stops_while_a_question_waits() {
    let home = Home::new();
    let call = answer::chat_call("1", "shell", r#"{"command":"touch made.txt"}"#);
    let server = Server::start([call, answer::chat_text("made")]);
    let mut command = home.axi();
    command.args(["-m", "openai/any", "go"]).env("OPENAI_BASE_URL", server.url("/v1")).env("OPENAI_API_KEY", "x");
    let mut pty = Pty::options().spawn(command.env("WT_SESSION", "x"));
    pty.wait_for("Run this command?");
    assert_eq!(pty.view(|view| progress(view.raw())), ["3", "0"]);
    pty.send("y");
    let is_over = |text: String| text.contains("made\n") && text.trim_end().ends_with('❯');
    assert!(pty.wait_until(|view| is_over(view.text()), crate::support::pty::PATIENCE), "{}", pty.describe());
    pty.send("\x04");
    pty.wait_exit();
    assert_eq!(pty.view(|view| progress(view.raw())), ["3", "0", "3", "0"]);
}

/// Set for the program below; its value is for how many ms its turn runs.
const PLAY: &str = "AXI_TEST_ATTENTION";

/// Not a test: a turn of as many ms as asked, on a clock of its own. What is typed is shown until a file says go.
#[test]
fn plays_when_asked_to() {
    let Ok(milliseconds) = std::env::var(PLAY) else { return };
    let tty = std::rc::Rc::new(Tty::take().unwrap());
    let clock = std::rc::Rc::new(std::cell::Cell::new(Instant::now()));
    let now = std::rc::Rc::clone(&clock);
    let mut human =
        streams::human(Output::new(), || (80, 24), Box::new(move || now.get()), Wrap::Word, Notify::Auto);
    let cancel = tokio_util::sync::CancellationToken::new();
    human.watch(KeyWatch::start(cancel, Pending::default(), escape_wait(false)).unwrap(), tty);
    human.show(&AgentEvent::TurnStarted { session: "s".to_owned(), model: "p/m".to_owned() });
    human.show(&AgentEvent::Waiting { activity: Activity::Connecting });
    while !std::path::Path::new("go").exists() {
        clock.set(clock.get() + Duration::from_micros(10));
        human.tick();
        std::thread::sleep(Duration::from_millis(1));
    }
    clock.set(clock.get() + Duration::from_millis(milliseconds.parse().unwrap()));
    human.show(&AgentEvent::TurnEnded { end: TurnEnd::Done });
    human.unwatch();
}

#[test]
fn a_turn_of_ten_seconds_calls_who_looks_elsewhere() {
    for (milliseconds, keys, called) in
        [(10_000, "\x1b[O", true), (9_000, "\x1b[O", false), (10_000, "\x1b[O\x1b[I", false), (10_000, "", false)]
    {
        let home = Home::new();
        let mut command = home.command(std::env::current_exe().unwrap());
        command.args(["--exact", "attention::plays_when_asked_to", "--nocapture"]);
        command.env(PLAY, milliseconds.to_string());
        let mut pty = Pty::options().spawn(&command);
        pty.wait_for("waiting for the model");
        // What is typed after them is shown when they have been read.
        pty.send(format!("{keys}typed"));
        pty.wait_for("typed");
        home.write("work/go", "");
        pty.wait_exit();
        let raw = pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
        let notified = raw.contains("\x1b]9;axi: done\x1b\\\x1b]777;notify;axi;done\x1b\\\x07");
        assert_eq!(notified, called, "{milliseconds} {keys:?}\n{raw:?}");
    }
}

#[test]
fn the_background_is_asked_for_once_and_kept() {
    let home = Home::new();
    let (raw, _) = talk(&home, Pty::options().background("rgb:ffff/ffff/eeee"), &["one", "two"]);
    let count = |raw: &[u8]| String::from_utf8_lossy(raw).matches("\x1b]11;?").count();
    assert_eq!(count(&raw), 1);
    let kept = std::fs::read_to_string(home.path().join("cache/axi/background--xterm-256color")).unwrap();
    assert_eq!(kept, "light\n");
    // The next prompt has the styles for it: a heading is blue there, and cyan on a dark background.
    let text = String::from_utf8_lossy(&raw).into_owned();
    let (before, after) = text.split_once("some words").unwrap();
    assert!(before.contains("\x1b[1;36m~/work") && after.contains("\x1b[1;34m~/work"), "{after:?}");
    // Nothing of the answer became keys.
    assert!(!String::from_utf8_lossy(&raw).contains("rgb:"));
    home.write("config/axi/config.toml", "theme = \"dark\"\n");
    let (raw, _) = talk(&home, Pty::options(), &["one"]);
    assert_eq!(count(&raw), 0, "who has chosen is not asked about");
}

#[test]
fn a_terminal_that_never_answers_costs_no_key() {
    let home = Home::new();
    let (raw, _) = talk(&home, Pty::options().mute(), &["one"]);
    assert!(String::from_utf8_lossy(&raw).contains("some words"));
}
