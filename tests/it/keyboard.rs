//! Owner of the terminal and keyboard in a real terminal: no cooked window, nothing typed is lost, the mode comes back.

use std::time::Duration;

use axi::terminal::{Capabilities, KeyWatch, Line, Output, Pending, Screen, Tty, Unsent, escape_wait};
use nu_ansi_term::Style;
use rustix::termios::{LocalModes, OutputModes};
use tokio_util::sync::CancellationToken;

use crate::support::home::Home;
use crate::support::pty::{PATIENCE, Pty};

/// Set for the program under test; its value says how it shall end.
const PLAY: &str = "AXI_TEST_KEYBOARD";

/// Not a test: a program that owns the terminal, shows what is typed and ends as asked.
#[test]
fn plays_when_asked_to() {
    let Ok(ending) = std::env::var(PLAY) else { return };
    let tty = Tty::take().unwrap();
    tty.restorer().install_panic_hook();
    let mut screen = Screen::new(Output::new(), 80, 24, Capabilities::FULL);
    let say = |screen: &mut Screen<Output>, text: String| {
        screen.commit(&Line::styled(text, Style::default()));
        screen.flush();
    };
    screen.commit(&Line::new());
    screen.listen(true);
    let pending = Pending::default();
    for turn in 1.. {
        let cancel = CancellationToken::new();
        let mut watch = KeyWatch::start(cancel.clone(), pending.clone(), escape_wait(false)).unwrap();
        say(&mut screen, format!("turn {turn}"));
        let mut version = u64::MAX;
        while !cancel.is_cancelled() {
            if watch.version() != version {
                version = watch.version();
                let typed = pending.snapshot();
                screen.live(&Line::new(), &Line::styled(format!("> {}", typed.line), Style::default()));
                screen.flush();
                match typed.queue.front().map(String::as_str) {
                    Some("panic") => panic!("as asked"),
                    Some("lend") => {
                        pending.take_queued();
                        watch.pause();
                        screen.end_live();
                        let lent = tty.lend();
                        std::process::Command::new("sh")
                            .args(["-c", "echo lent; read x; echo got $x"])
                            .status()
                            .unwrap();
                        drop(lent);
                        break;
                    }
                    _ => {}
                }
                if watch.take_suspend() {
                    screen.end_live();
                    say(&mut screen, "stopping".to_owned());
                    tty.suspend().unwrap();
                    screen.forget();
                    say(&mut screen, "resumed".to_owned());
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        if !cancel.is_cancelled() {
            pending.change(|unsent| *unsent = Unsent::default());
            continue;
        }
        let pressed = watch.stop();
        let typed = pending.snapshot();
        screen.end_live();
        say(&mut screen, format!("typed {:?} queue {:?}", typed.line, typed.queue));
        if pressed.leave {
            break;
        }
    }
    say(&mut screen, format!("left, {ending}"));
}

fn play() -> (Home, Pty) {
    let home = Home::new();
    let mut command = home.command(std::env::current_exe().unwrap());
    command.args(["--exact", "keyboard::plays_when_asked_to", "--nocapture"]).env(PLAY, "well");
    let pty = Pty::options().spawn(&command);
    (home, pty)
}

fn is_cooked(pty: &Pty) -> bool {
    let mode = pty.termios();
    mode.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
        && mode.output_modes.contains(OutputModes::OPOST)
}

#[test]
fn what_is_typed_is_shown_once_and_handed_on() {
    let (_home, mut pty) = play();
    pty.wait_for("turn 1");
    assert!(!is_cooked(&pty));
    pty.send("first\rsecond li");
    pty.wait_for("> second li");
    pty.send("\x1b[C\x1b");
    pty.wait_for(r#"typed "second li" queue ["first"]"#);
    pty.wait_for("turn 2");
    pty.send("ne\x03");
    pty.wait_for("turn 3");
    pty.send("\x03\x03");
    pty.wait_for("left, well");
    assert!(pty.wait_exit().success());
    let text = pty.transcript();
    assert!(text.contains(r#"typed "second line" queue ["first"]"#), "{text}");
    // Nothing was echoed by the kernel: no row but ours.
    let odd: Vec<_> = text
        .lines()
        .skip_while(|row| !row.starts_with("turn 1"))
        .take_while(|row| !row.starts_with("left"))
        .filter(|row| !row.is_empty() && !row.starts_with("turn ") && !row.starts_with("typed "))
        .collect();
    assert!(odd.is_empty(), "{text}");
    assert!(is_cooked(&pty));
}

#[test]
fn keys_sent_in_pieces_between_turns_all_arrive() {
    let (_home, mut pty) = play();
    pty.wait_for("turn 1");
    let words: Vec<String> = (0..20).map(|number| format!("字{number}é👍 ")).collect();
    for (turn, word) in words.iter().enumerate() {
        for piece in word.as_bytes().chunks(turn % 3 + 1) {
            pty.send(piece);
            pty.wait_read();
        }
        // Ends this turn; the next word is on its way while the threads change.
        pty.send("\x1b[27u");
    }
    let all = words.concat();
    let all = format!("typed {all:?}");
    assert!(pty.wait_until(|view| view.transcript().contains(&all), PATIENCE), "{}", pty.describe());
}

#[test]
fn a_panic_gives_the_terminal_back_before_its_message() {
    let (_home, mut pty) = play();
    pty.wait_for("turn 1");
    pty.send("panic\r");
    pty.wait_for("as asked");
    pty.wait_exit();
    assert!(is_cooked(&pty));
    pty.view(|view| {
        let raw = String::from_utf8_lossy(view.raw()).into_owned();
        let (before, _) = raw.split_once("as asked").unwrap();
        assert!(before.contains("\x1b[?25h") && before.contains("\x1b[?2004l") && before.contains("\x1b[?1004l"));
        assert!(!view.screen().hide_cursor() && !view.screen().bracketed_paste());
    });
}

#[test]
fn a_child_gets_the_persons_own_mode() {
    let (_home, mut pty) = play();
    pty.wait_for("turn 1");
    pty.send("lend\r");
    pty.wait_for("lent");
    assert!(is_cooked(&pty));
    pty.send("an answer\r");
    pty.wait_for("got an answer");
    pty.wait_for("turn 2");
    assert!(!is_cooked(&pty));
}

#[test]
fn a_job_can_be_stopped_and_resumed() {
    let home = Home::new();
    let program = std::env::current_exe().unwrap();
    home.write("work/rc", "PS1='shell> '\n");
    let mut command = home.command("bash");
    command.args(["--noprofile", "--rcfile", "rc", "-i"]).env("PROGRAM", &program).env(PLAY, "well");
    let mut pty = Pty::options().spawn(&command);
    pty.wait_for("shell> ");
    pty.send("\"$PROGRAM\" --exact keyboard::plays_when_asked_to --nocapture\r");
    pty.wait_for("turn 1");
    pty.send("half\x1a");
    pty.wait_for("Stopped");
    pty.send("echo back in the $((40+2))\r");
    pty.wait_for("back in the 42");
    pty.send("fg\r");
    pty.wait_for("resumed");
    assert!(!is_cooked(&pty));
    pty.send(" a line");
    pty.wait_for("> half a line");
    pty.send("\x03\x03");
    pty.wait_for("left, well");
}
