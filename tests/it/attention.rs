//! What the terminal is told beside the text: marks around prompts and answers, titles, its background.

use crate::support::answer;
use crate::support::home::Home;
use crate::support::pty::{Options, Pty};
use crate::support::server::{Gate, Server};

fn talk(home: &Home, options: Options, lines: &[&str]) -> (Vec<u8>, Vec<String>) {
    let server = Server::start(lines.iter().map(|_| answer::chat_text("some words")));
    let mut command = home.axi();
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
    assert!(marks[0].starts_with('A') && marks[1] == "B", "{marks:?}");
    let last = |mark: &str| marks.iter().position(|one| one == mark).unwrap();
    assert!(last("B") < last("C"));
    assert_eq!(titles, ["axi · say something", ""]);
    assert!(raw.contains("\x1b[22;2t") && raw.contains("\x1b[23;2t"));
}

#[test]
fn a_question_calls_who_looks_elsewhere() {
    for (settings, keys, called) in [
        ("", "", false),
        ("", "\x1b[I", false),
        ("", "\x1b[O", true),
        ("notify = \"always\"\n", "", true),
        ("notify = \"never\"\n", "\x1b[O", false),
    ] {
        let home = Home::new();
        home.write("config/axi/config.toml", settings);
        let gate = Gate::new();
        let call = answer::chat_call("1", "shell", r#"{"command":"touch made.txt"}"#).gate_before(1, &gate);
        let server = Server::start([call]);
        let mut command = home.axi();
        command
            .args(["-m", "openai/any", "go"])
            .env("OPENAI_BASE_URL", server.url("/v1"))
            .env("OPENAI_API_KEY", "x");
        let mut pty = Pty::options().spawn(&command);
        gate.wait_reached();
        pty.wait_for("waiting for the model");
        // What is typed after them is shown when they have been read.
        pty.send(format!("{keys}typed"));
        pty.wait_for("typed");
        gate.open();
        pty.wait_for("Run this command?");
        let raw = pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
        let text = "waits for your answer: go";
        let notified = raw.contains(&format!("\x1b]9;axi: {text}\x1b\\\x1b]777;notify;axi;{text}\x1b\\\x07"));
        assert_eq!(notified, called, "{settings:?} {keys:?}\n{raw:?}");
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
