//! The REPL over a line like ssh to another continent: all takes its time, keys come byte by byte, nothing is lost.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, last_said};

/// Set for the relay: the program behind it.
const BEHIND: &str = "AXI_TEST_BEHIND";
/// A byte's way through the relay, there or back: 200 ms for both.
const WAY: Duration = Duration::from_millis(100);
/// Between two bytes of one key: they come in packets of their own.
const APART: Duration = Duration::from_millis(5);

/// Hands on what comes after it has been on its way, in pieces of so many bytes. The thread ends with what comes.
fn delay(
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    pieces: usize,
) -> JoinHandle<()> {
    let (sender, receiver) = channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let _ = sender.send((Instant::now() + WAY, bytes[..count].to_vec()));
        }
    });
    std::thread::spawn(move || {
        for (due, bytes) in receiver {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            // Typing comes in pieces, its arrow keys too. What begins with ESC comes whole: an answer of the terminal and
            // the marks of a paste are not put together by crossterm, and ESC alone stops a turn.
            let is_whole = bytes.starts_with(b"\x1b");
            for piece in bytes.chunks(if is_whole { bytes.len() } else { pieces }) {
                let _ = to.write_all(piece).and_then(|()| to.flush());
                if piece.len() < bytes.len() {
                    std::thread::sleep(APART);
                }
            }
        }
    })
}

/// Not a test: the line between a person and axi.
#[test]
fn delays_when_asked_to() {
    let Some(program) = std::env::var_os(BEHIND) else { return };
    crossterm::terminal::enable_raw_mode().unwrap();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, Winsize { ws_col: 80, ws_row: 24, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let mut command = Command::new("/usr/bin/setsid");
    command.arg("--ctty").arg(program).env_remove(BEHIND);
    command.stdin(Stdio::from(slave.try_clone().unwrap()));
    command.stdout(Stdio::from(slave.try_clone().unwrap())).stderr(Stdio::from(slave));
    let mut child = command.spawn().unwrap();
    drop(command);
    let terminal = || File::options().read(true).write(true).open("/dev/tty").unwrap();
    let master = File::from(master);
    delay(terminal(), master.try_clone().unwrap(), 1);
    let said = delay(master, terminal(), 4096);
    let status = child.wait().unwrap();
    // What it said last is still on its way.
    said.join().unwrap();
    crossterm::terminal::disable_raw_mode().unwrap();
    std::process::exit(status.code().unwrap_or(1));
}

#[test]
fn keys_menus_pastes_and_escape_work_over_a_slow_line() {
    let home = Home::new();
    let gate = Gate::new();
    let server =
        Server::start([answer::chat_text("one two"), answer::chat_text("three four").gate_before(2, &gate)]);
    let program = axi(&home, &server);
    let mut command = home.command(std::env::current_exe().unwrap());
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.current_dir(program.get_current_dir().unwrap());
    command.args(["--exact", "slow_line::delays_when_asked_to", "--nocapture"]);
    // As ssh tells it: axi believes a lone ESC later then.
    command.env(BEHIND, program.get_program()).env("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22");
    let mut person = Person::on(Pty::options(), &command);
    // Keys in a row, none waited for: arrows stay arrows.
    person.types("ello\x1b[D\x1b[D\x1b[D\x1b[Dh\x1b[Fx\x7f");
    person.sees_line("hello");
    person.types("\x1b[200~ wor\nld\x1b[201~");
    person.sees("ld");
    person.types("\r");
    person.sees("one two");
    person.sees_prompt();
    assert_eq!(last_said(&server.requests()[0]).trim(), "hello wor\nld");
    person.types("/hel");
    person.sees("› /help");
    // ESC takes the menu away and leaves the line.
    person.types("\x1b");
    person.waits(|view| !view.text().contains('›') && view.text().contains("/hel"), "the menu gone");
    person.types("\x15again\r");
    person.sees("three");
    // An arrow key stops nothing; ESC does.
    person.types("\x1b[C\x1bOAqueued");
    person.sees("queued");
    assert!(!person.pty.transcript().contains("stopped"), "{}", person.pty.transcript());
    person.types("\x1b");
    person.sees("stopped");
    person.sees_line("queued");
    assert!(!person.pty.transcript().contains("[D") && !person.pty.transcript().contains("[C"));
    person.types("\x15");
    person.sees_prompt();
    person.types("\x04");
    assert_eq!(person.pty.wait_exit().code(), Some(0));
}
