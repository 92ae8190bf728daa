//! What is typed but not sent survives a kill and a closed terminal, and only that.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;

use crate::support::changes::Changes;
use crate::support::home::Home;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{KEY, Person, axi, last_said};

const BACK: &str = "your unsent line from before is back";

/// The files with drafts, as text.
fn kept(home: &Home) -> Vec<String> {
    let files = std::fs::read_dir(home.path().join("state/axi/drafts")).into_iter().flatten();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

#[track_caller]
fn waits_until_kept(home: &Home, condition: impl Fn(&[String]) -> bool) {
    Changes::of(&home.path().join("state/axi/drafts")).until("the draft", || condition(&kept(home)));
}

fn holds(text: &'static str) -> impl Fn(&[String]) -> bool {
    move |kept| kept.iter().any(|file| file.contains(text))
}

#[test]
fn a_draft_survives_a_kill_and_is_gone_once_it_is_sent() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("done")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.types("half a 想法\x1b\rin two rows");
    waits_until_kept(&home, holds("half a 想法\\nin two rows"));
    let file = std::fs::read_dir(home.path().join("state/axi/drafts")).unwrap().next().unwrap().unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    person.pty.signal(Signal::KILL);
    person.pty.wait_exit();
    // Another that is already running, and another directory, are not given it.
    let mut elsewhere = axi(&home, &server);
    elsewhere.current_dir(home.path());
    let person = Person::meets(&elsewhere);
    assert_eq!((person.count(BACK), person.leaves()), (0, Some(0)));
    let mut person = Person { pty: crate::support::pty::Pty::options().spawn(&axi(&home, &server)) };
    person.sees(BACK);
    person.waits(|view| view.text().trim_end().ends_with("in two rows"), "the draft");
    let other = Person::meets(&axi(&home, &server));
    assert_eq!((other.count(BACK), other.leaves()), (0, Some(0)));
    assert_eq!(kept(&home).len(), 1);
    person.types("!\r");
    person.sees("done");
    assert_eq!(last_said(&server.requests()[0]), "half a 想法\nin two rows!");
    waits_until_kept(&home, <[String]>::is_empty);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_closed_terminal_loses_no_key() {
    for signal in [Signal::HUP, Signal::TERM] {
        let home = Home::new();
        let server = Server::start([]);
        let mut person = Person::meets(&axi(&home, &server));
        person.types("typed this very moment");
        person.sees_line("typed this very moment");
        person.pty.signal(signal);
        person.pty.wait_exit();
        assert!(holds("typed this very moment")(&kept(&home)), "{:?}", kept(&home));
    }
}

#[test]
fn the_queue_and_the_line_under_way_survive_a_kill_in_the_middle_of_a_turn() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_text("alpha beta gamma").gate_before(3, &gate)]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("count");
    person.sees("alpha beta");
    person.types("then this\r");
    person.sees("1 queued");
    person.types("and that");
    waits_until_kept(&home, |kept| holds("then this")(kept) && holds("and that")(kept));
    person.pty.signal(Signal::KILL);
    person.pty.wait_exit();
    let mut person = Person { pty: crate::support::pty::Pty::options().spawn(&axi(&home, &server)) };
    person.sees(BACK);
    person.waits(|view| view.text().contains("❯ then this") && view.text().ends_with("and that"), "both lines");
    // What is given up is gone.
    person.types("\x03");
    person.sees_prompt();
    waits_until_kept(&home, <[String]>::is_empty);
    person.types("\x04");
    assert_eq!(person.pty.wait_exit().code(), Some(0));
}

#[test]
fn what_looks_secret_or_private_is_kept_nowhere() {
    for (arguments, line) in [
        (&["-c"][..0], "password=hunter2"),
        (&[], KEY),
        (&[], " begins with a space"),
        (&["--no-history"], "an ordinary line"),
        (&["--no-session"], "an ordinary line"),
    ] {
        let home = Home::new();
        let server = Server::start([]);
        let mut command = axi(&home, &server);
        command.args(arguments);
        let mut person = Person::meets(&command);
        person.types("begun: ");
        person.types("\x15");
        person.types(line);
        person.waits(|view| view.text().contains(line.trim()), line);
        // A signal has everything written that may be written.
        person.pty.signal(Signal::HUP);
        person.pty.wait_exit();
        assert!(!kept(&home).iter().any(|file| file.contains(line.trim())), "{line}: {:?}", kept(&home));
    }
}

#[test]
fn no_history_keeps_no_line_but_the_session() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("done")]);
    let mut command = axi(&home, &server);
    command.arg("--no-history");
    let mut person = Person::meets(&command);
    person.sends("not for the file");
    person.sees("done");
    assert_eq!(person.leaves(), Some(0));
    assert!(!home.path().join("state/axi/history.jsonl").exists());
    assert_eq!(crate::support::talk::session_files(&home).len(), 1);
}
