//! axi is killed (SIGKILL) at many points of a session with text, a question, a call, an edit, a queued line and a cut:
//! what was shown is there, the next request is valid, files are whole.
//!
//! `AXI_KILL_POINTS` says at how many points; a run on a schedule takes hundreds.

use rustix::process::Signal;

use crate::support::home::Home;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, run, session_files};

/// Points of an ordinary run.
const FEW: usize = 10;
/// What the file says that is written.
const WRITTEN: &str = "new\n";

/// A step of the session: what is typed, and what is on the screen when it is done.
const STEPS: [(&str, &str); 11] = [
    ("first words\r", "one answer"),
    ("", "❯"),
    ("read it\r", "it is read"),
    ("", "❯"),
    ("edit it\r", "Yes, once"),
    ("y", "it is edited"),
    ("", "❯"),
    ("long answer\r", "alpha beta"),
    ("queued words\r", "1 queued"),
    ("", "to the queue"),
    ("/compact\r", "a summary replaces them"),
];

/// Plays the session until so many bytes were shown; tells how many there were, and after which step it was.
fn play(home: &Home, server: &Server, gate: &Gate, most: usize) -> (usize, usize) {
    let mut person = Person::meets(&axi(home, server));
    let shown = |person: &Person| person.pty.view(|view| view.raw().len());
    // What a step shows may be on the screen together with what the step before waited for.
    let mut from = 0;
    for (number, (typed, seen)) in STEPS.iter().enumerate() {
        person.types(typed);
        if *seen == "to the queue" {
            gate.open();
        }
        let mut reached = false;
        person.waits(
            |view| {
                reached = view.raw().len() >= most;
                let found = memchr::memmem::find(&view.raw()[from..], seen.as_bytes());
                from += found.map_or(0, |found| found + seen.len());
                reached || found.is_some()
            },
            seen,
        );
        if reached {
            person.pty.signal(Signal::KILL);
            person.pty.wait_exit();
            return (shown(&person), number);
        }
    }
    person.pty.signal(Signal::KILL);
    person.pty.wait_exit();
    (shown(&person), STEPS.len())
}

fn scene() -> (Home, Server, Gate) {
    let (home, gate) = (Home::new(), Gate::new());
    home.write("work/long.txt", &"a line that is read and cut later\n".repeat(800));
    let read = answer::chat_call("call_0", "read", r#"{"path":"long.txt"}"#);
    let edit = answer::chat_call("call_1", "write", r#"{"path":"a.txt","content":"new\n"}"#);
    let server = Server::start([
        answer::chat_text("one answer"),
        read,
        answer::chat_text("it is read"),
        edit,
        answer::chat_text("it is edited"),
        answer::chat_text("alpha beta gamma").gate_before(3, &gate),
        answer::chat_text("to the queue"),
        answer::chat_text("Goal: a summary of it all"),
    ]);
    (home, server, gate)
}

/// Plays a session up to a point, and looks at what it left.
fn killed_at(most: usize) {
    let (home, server, gate) = scene();
    let (_, after) = play(&home, &server, &gate, most);
    let told = format!("killed when {most} bytes were shown, in step {after}");
    let file = std::fs::read_to_string(home.work().join("a.txt")).ok();
    assert!(file.as_deref().is_none_or(|text| text == WRITTEN), "{told}: {file:?}");
    let (mut is_cut, mut kept) = (false, String::new());
    for path in session_files(&home) {
        let text = std::fs::read_to_string(&path).unwrap();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        is_cut |= whole.contains("\"kind\":\"cut\"");
        kept.push_str(whole);
        for line in whole.lines() {
            assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{told}: {line}");
        }
    }
    let next = Server::start([answer::chat_text("still here")]);
    // A kill before the first line is whole leaves no session.
    let goes_on: &[&str] = if kept.is_empty() { &["-p", "go on"] } else { &["-c", "-p", "go on"] };
    let ran = run(axi(&home, &next).args(goes_on));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "still here\n"), "{told}: {}", ran.err);
    assert_eq!(next.violations(), Vec::<String>::new(), "{told}");
    let sent = next.requests()[0].text.clone();
    // An answer that was whole on the screen is in what is sent on.
    for (step, words) in [(1, "one answer"), (3, "it is read"), (6, "it is edited"), (10, "to the queue")] {
        if after <= step {
            continue;
        }
        assert!(kept.contains(words), "{told}: {words} is lost in {kept}");
        // What was cut is not sent, but kept.
        assert!(is_cut || sent.contains(words), "{told}: {words} is lost in {sent}");
    }
}

#[test]
fn a_kill_at_any_point_loses_nothing_that_was_shown() {
    let points = std::env::var("AXI_KILL_POINTS").ok().and_then(|points| points.parse().ok()).unwrap_or(FEW);
    let (home, server, gate) = scene();
    let (all, after) = play(&home, &server, &gate, usize::MAX);
    assert_eq!(after, STEPS.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let point = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if point >= points {
                        return;
                    }
                    killed_at(all * (point + 1) / points);
                }
            });
        }
    });
}
