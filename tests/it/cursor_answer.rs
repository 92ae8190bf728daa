//! The terminal's answer to where the cursor is: it is read though the size changes just then, and one that comes too
//! late is never taken for the next. A prompt at a wrong row paints over what was said.

use std::process::Command;
use std::time::Duration;

use crate::support::home::Home;
use crate::support::pty::{PATIENCE, Pty, View};
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi};

/// Longer than the line editor waits for an answer.
const TOO_LONG: Duration = Duration::from_millis(2_500);

/// Has a program be slow between the question and the waiting for its answer, as on a busy machine.
const SLOW: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

ssize_t write(int fd, const void *bytes, size_t count) {
    ssize_t written = syscall(SYS_write, fd, bytes, count);
    if (written > 0 && memmem(bytes, written, "\033[6n", 4)) {
        int said = errno;
        struct timespec left = {0, 100 * 1000 * 1000};
        while (nanosleep(&left, &left) && errno == EINTR) {}
        errno = said;
    }
    return written;
}
"#;

/// axi as if on a busy machine.
fn slow(home: &Home, server: &Server) -> Command {
    let (source, library) = (home.path().join("slow.c"), home.path().join("slow.so"));
    std::fs::write(&source, SLOW).unwrap();
    // What links axi compiles this.
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
    assert!(built.success());
    let mut command = axi(home, server);
    command.env("LD_PRELOAD", library);
    command
}

/// Has three turns; at the prompt behind the first the terminal does this in place of its answer. All that was said
/// must be there, once and in order.
fn holds_all(command: &Command, gate: &Gate, in_turn: impl FnOnce(&mut Pty), at_prompt: impl FnOnce(&mut Pty)) {
    let mut person = Person { pty: Pty::options().size(60, 40).spawn(command) };
    person.sees_prompt();
    person.sends("first question");
    gate.wait_reached();
    in_turn(&mut person.pty);
    gate.open();
    person.sees("answer 1");
    person.sees_prompt();
    at_prompt(&mut person.pty);
    for turn in 2..=4 {
        person.sees_prompt();
        person.sends(&format!("question {turn}"));
        person.sees(&format!("answer {turn}"));
    }
    person.sees_prompt();
    let said = person.pty.transcript();
    let mut at = 0;
    for text in
        ["first question", "answer 1", "question 2", "answer 2", "question 3", "answer 3", "question 4", "answer 4"]
    {
        assert_eq!(said.matches(text).count(), 1, "{text:?} in:\n{said}");
        let here = said.find(text).unwrap();
        assert!(here >= at, "{text:?} in:\n{said}");
        at = here;
    }
}

/// A server with four answers, the first behind a gate.
fn answers() -> (Server, Gate) {
    let gate = Gate::new();
    let long = |turn: u32| answer::chat_text(&format!("answer {turn}\n\n- one\n- two\n- three\n\nThat is all."));
    let server = Server::start([long(1).gate(&gate), long(2), long(3), long(4)]);
    (server, gate)
}

#[test]
fn sizes_that_change_one_upon_the_other_hide_no_answer() {
    let home = Home::new();
    let (server, gate) = answers();
    let twice = |pty: &mut Pty| {
        pty.instead_of_answer(|mut question| {
            question.resize(70, 40);
            std::thread::sleep(Duration::from_millis(10));
            question.answer();
        });
        pty.resize(50, 40);
        assert!(pty.wait_until(|view| view.screen().size().1 == 70, PATIENCE));
    };
    holds_all(&slow(&home, &server), &gate, |_| {}, twice);
}

#[test]
fn a_size_that_changes_while_the_answer_comes_is_not_missed() {
    let home = Home::new();
    let (server, gate) = answers();
    let asks_again = |pty: &mut Pty| {
        // When it knows of the new size: at the first prompt, behind the turn, and now.
        let asked = |view: &mut View<'_>| view.raw().windows(4).filter(|bytes| bytes == b"\x1b[6n").count();
        assert!(pty.wait_until(|view| asked(view) >= 3, PATIENCE), "{}", pty.describe());
    };
    let resized = |pty: &mut Pty| {
        pty.instead_of_answer(|mut question| {
            question.resize(50, 40);
            question.answer();
        });
    };
    holds_all(&slow(&home, &server), &gate, resized, asks_again);
}

#[test]
fn an_answer_that_comes_too_late_is_not_taken_for_the_next() {
    let home = Home::new();
    let (server, gate) = answers();
    let late = |pty: &mut Pty| {
        pty.instead_of_answer(|question| {
            std::thread::sleep(TOO_LONG);
            question.answer();
        });
    };
    holds_all(&axi(&home, &server), &gate, late, |pty| pty.resize(50, 40));
}
