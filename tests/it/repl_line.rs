//! The line in the real REPL: keys of the settings, what is queued, hints, and a terminal that is put right.

use rustix::termios::{InputModes, LocalModes, OutputModes};

use crate::support::home::Home;
use crate::support::pty::{Pty, View};
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi, in_the_middle, last_said};

const UP: &str = "\x1b[A";
const F2: &str = "\x1bOQ";

#[test]
fn keys_of_the_settings_do_what_they_are_bound_to_and_wrong_ones_are_told() {
    let home = Home::new();
    home.write(
        "config/axi/config.toml",
        "[keys]\n\"ctrl+g\" = \"newline\"\nf2 = \"send\"\n\"hyper+x\" = \"send\"\nf3 = \"explode\"\n",
    );
    let server = Server::start([answer::chat_text("done")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sees("there is no key hyper+x");
    person.sees("there is no action explode;");
    person.types("one\x07two");
    person.waits(|view| view.text().ends_with("two"), "two rows");
    person.types(F2);
    person.sees("done");
    assert_eq!(last_said(&server.requests()[0]), "one\ntwo");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn vi_keys_are_a_setting() {
    let home = Home::new();
    home.write("config/axi/config.toml", "edit_mode = \"vi\"\n");
    let server = Server::start([answer::chat_text("done")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.types("wrong word");
    person.sees_line("wrong word");
    person.types("\x1b");
    person.sees("❮");
    person.types("0cwright\x1b");
    person.sees("right word");
    person.types("A!\r");
    person.sees("done");
    assert_eq!(last_said(&server.requests()[0]), "right word!");
}

#[test]
fn up_takes_the_last_queued_line_back() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    let gate = in_the_middle(&mut person, &server);
    person.types("first\rsecond\r");
    person.sees("2 queued");
    person.types(UP);
    person.sees("› second");
    person.sees("1 queued");
    server.push(answer::chat_text("answer one"));
    gate.open();
    person.sees("answer one");
    person.sees_line("second");
    assert_eq!(last_said(&server.requests()[1]), "first");
}

#[test]
fn stop_as_a_word_stops_at_once_and_gives_the_queue_back() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    in_the_middle(&mut person, &server);
    person.types("first\rsecond\r");
    person.sees("2 queued");
    person.types("/stop\r");
    server.wait_closed(1);
    person.sees("2 queued messages are back in the editor");
    person.waits(|view| view.text().contains("❯ first") && view.text().ends_with("second"), "the queue");
    person.types("\x03");
    person.sees_prompt();
    person.sends("/stop");
    person.sees("nothing is running");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_line_that_looks_like_a_command_is_sent_and_hinted_at_once() {
    let home = Home::new();
    let server = Server::start(["one", "two", "three"].map(answer::chat_text));
    let mut person = Person::meets(&axi(&home, &server));
    for (line, answer) in [("make it faster", "one"), ("ls -la", "two"), ("ls src", "three")] {
        person.sends(line);
        person.sees(answer);
        person.sees_prompt();
    }
    assert_eq!((person.count("sent to the model"), person.count("!ls -la runs it here")), (1, 1));
    let said: Vec<String> = server.requests().iter().map(last_said).collect();
    assert_eq!(said, ["make it faster", "ls -la", "ls src"]);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_terminal_left_raw_is_put_right() {
    let home = Home::new();
    let server = Server::start([]);
    let script = "stty raw -echo; printf '\\033[?25l\\033[?2004h\\033[?7l\\033[?1003h'; echo spoilt; read -r _; \
                  \"$AXI\" doctor --reset-terminal; echo over; read -r _";
    let axi = axi(&home, &server);
    let mut shell = home.command("sh");
    shell.env("AXI", axi.get_program()).args(["-c", script]);
    let mut pty = Pty::options().spawn(&shell);
    pty.wait_for("spoilt");
    assert!(!pty.termios().local_modes.contains(LocalModes::ECHO));
    pty.send("\n");
    pty.wait_for("over");
    let mode = pty.termios();
    assert!(mode.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG));
    assert!(mode.input_modes.contains(InputModes::ICRNL) && mode.output_modes.contains(OutputModes::OPOST));
    let state = |view: &mut View<'_>| {
        let screen = view.screen();
        (
            screen.hide_cursor(),
            screen.bracketed_paste(),
            screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None,
        )
    };
    assert!(pty.wait_until(|view| state(view) == (false, false, true), crate::support::pty::PATIENCE));
    assert!(pty.transcript().contains("the terminal is reset"), "{}", pty.transcript());
    pty.send("\n");
    assert!(pty.wait_exit().success());
}

#[test]
fn without_a_terminal_there_is_nothing_to_reset() {
    let home = Home::new();
    let mut command = home.command("setsid");
    command.args(["-w", env!("CARGO_BIN_EXE_axi"), "doctor", "--reset-terminal"]);
    let ran = crate::support::talk::run(&mut command);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.err.contains("the terminal cannot be used") && ran.err.contains("run it in the terminal"),
        "{ran:?}"
    );
}

#[test]
fn lines_sent_while_a_turn_runs_are_in_the_history() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    let gate = in_the_middle(&mut person, &server);
    person.types("queued one\rqueued two\r");
    person.sees("2 queued");
    server.push(answer::chat_text("First."));
    server.push(answer::chat_text("Second."));
    gate.open();
    person.sees("Second.");
    person.sees_prompt();
    person.types(UP);
    person.sees_line("queued two");
    person.types(UP);
    person.sees_line("queued one");
    person.types("\x03");
    person.sees_prompt();
    assert_eq!(person.leaves(), Some(0));
    let kept = std::fs::read_to_string(home.path().join("state/axi/history.jsonl")).unwrap();
    assert_eq!(["count", "queued one", "queued two"].map(|line| kept.matches(line).count()), [1, 1, 1], "{kept}");
}
