//! The reader thread on pipes: what is typed is kept, and the token is cancelled when it should be.

use std::time::Duration;

use crate::platform::pipe::{PipeFlags, pipe_with};

use super::*;

struct Keyboard {
    hand: Option<OwnedFd>,
    watch: KeyWatch,
    cancel: CancellationToken,
}

fn keyboard(escape_wait: Duration) -> Keyboard {
    let (input, hand) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let cancel = CancellationToken::new();
    let watch = KeyWatch::with_waits(input, cancel.clone(), Pending::default(), [escape_wait, NEVER]).unwrap();
    Keyboard { hand: Some(hand), watch, cancel }
}

impl Keyboard {
    fn send(&self, bytes: &str) {
        let mut bytes = bytes.as_bytes();
        while !bytes.is_empty() {
            let count = crate::platform::io::write(self.hand.as_ref().unwrap(), bytes).unwrap();
            bytes = &bytes[count..];
        }
    }

    /// Waits until `condition` holds; looks after each key.
    fn wait(&self, condition: impl Fn(&KeyWatch, &Pressed) -> bool) {
        let shared = &self.watch.shared;
        let not_yet = |pressed: &mut Pressed| !condition(&self.watch, pressed);
        let limit = Duration::from_secs(20);
        let (pressed, waited) = shared.key.wait_timeout_while(shared.pressed(), limit, not_yet).unwrap();
        drop(pressed);
        assert!(!waited.timed_out(), "{:?}", self.watch.pending());
    }
}

const SOON: Duration = Duration::from_millis(5);
const NEVER: Duration = Duration::from_mins(1);

#[test]
fn typing_is_kept_and_escape_cancels() {
    let keyboard = keyboard(SOON);
    keyboard.send("first\rseco");
    keyboard.wait(|watch, _| watch.pending().snapshot().line == "seco");
    assert!(!keyboard.cancel.is_cancelled());
    let version = keyboard.watch.version();
    keyboard.send("\x1b");
    keyboard.wait(|_, _| keyboard.cancel.is_cancelled());
    assert_eq!(keyboard.watch.version(), version, "nothing to paint");
    keyboard.send("nd");
    keyboard.wait(|watch, _| watch.pending().snapshot().line == "second");
    let Keyboard { watch, .. } = keyboard;
    let pending = watch.pending().clone();
    let mut pressed = watch.stop();
    assert!(pressed.escaped.take().is_some());
    assert_eq!(pressed, Pressed { queued_when_stopped: Some(1), ..Pressed::default() });
    let unsent = pending.snapshot();
    assert_eq!((unsent.line.as_str(), Vec::from(unsent.queue)), ("second", vec!["first".to_owned()]));
}

#[test]
fn an_answer_that_is_late_is_waited_for_and_is_no_typing() {
    let mut keyboard = keyboard(SOON);
    keyboard.send("x");
    keyboard.wait(|watch, _| watch.pending().snapshot().line == "x");
    // The thread waits for a key by now.
    keyboard.watch.expect_answer();
    let hand = keyboard.hand.take().unwrap();
    let terminal = std::thread::spawn(move || {
        std::thread::sleep(STOP_WAIT * 3);
        crate::platform::io::write(&hand, b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;cy").unwrap();
        hand
    });
    let shared = Arc::clone(&keyboard.watch.shared);
    keyboard.watch.stop();
    drop(terminal.join().unwrap());
    assert_eq!(shared.background.load(Ordering::Acquire), 2);
    assert!(shared.pending.snapshot().line.starts_with('x'));
}

#[test]
fn an_arrow_key_in_two_pieces_does_not_cancel() {
    let keyboard = keyboard(NEVER);
    keyboard.send("\x1b");
    keyboard.send("[");
    keyboard.send("Cx");
    keyboard.wait(|watch, _| watch.pending().snapshot().line == "x");
    assert!(!keyboard.cancel.is_cancelled());
}

#[test]
fn the_first_interrupt_cancels_and_a_second_one_leaves() {
    let keyboard = keyboard(SOON);
    keyboard.send("\x03");
    keyboard.wait(|_, _| keyboard.cancel.is_cancelled());
    assert!(!keyboard.watch.shared.pressed().leave);
    keyboard.send("\x03");
    keyboard.wait(|_, pressed| pressed.leave);
}

#[test]
fn a_terminal_that_has_gone_cancels_and_leaves() {
    let mut keyboard = keyboard(SOON);
    keyboard.hand = None;
    keyboard.wait(|_, pressed| pressed.leave);
    assert!(keyboard.cancel.is_cancelled());
}

#[test]
fn suspend_and_focus_are_told() {
    let keyboard = keyboard(SOON);
    assert_eq!(keyboard.watch.focused(), None);
    keyboard.send("\x1b[O\x1a");
    keyboard.wait(|watch, _| watch.take_suspend());
    assert!(!keyboard.watch.take_suspend());
    assert_eq!(keyboard.watch.focused(), Some(false));
    keyboard.send("\x1b[I");
    keyboard.wait(|watch, _| watch.focused() == Some(true));
    assert!(!keyboard.cancel.is_cancelled());
}

#[test]
fn while_paused_nothing_is_read_and_afterwards_everything() {
    let mut keyboard = keyboard(SOON);
    keyboard.watch.pause();
    keyboard.send("for the prompt");
    keyboard.watch.resume().unwrap();
    keyboard.wait(|watch, _| watch.pending().snapshot().line == "for the prompt");
    keyboard.send("\r");
    keyboard.wait(|watch, _| !watch.pending().snapshot().queue.is_empty());
    assert_eq!(keyboard.watch.pending().take_queued().as_deref(), Some("for the prompt"));
    assert_eq!(keyboard.watch.pending().take_queued(), None);
}

#[test]
fn stopping_in_a_paste_waits_for_its_end() {
    let keyboard = keyboard(SOON);
    keyboard.send("\x1b[200~one\r");
    let (hand, mut watch) = (keyboard.hand.unwrap(), keyboard.watch);
    // The thread has to have begun the paste.
    let start = Instant::now();
    while crate::platform::io::ioctl_fionread(&watch.shared.input).unwrap() > 0
        && start.elapsed() < Duration::from_secs(20)
    {
        std::thread::yield_now();
    }
    let (tell, told) = std::sync::mpsc::channel();
    let stopping = std::thread::spawn(move || {
        watch.pause();
        tell.send(()).unwrap();
        watch
    });
    assert!(told.recv_timeout(Duration::from_millis(60)).is_err(), "it did not wait for the end of the paste");
    crate::platform::io::write(&hand, b"two\x1b[201~").unwrap();
    assert_eq!(stopping.join().unwrap().pending().snapshot().line, "one\ntwo");
}

#[test]
fn stopping_does_not_wait_for_keys_that_nobody_presses() {
    let keyboard = keyboard(NEVER);
    let Keyboard { watch, hand, .. } = keyboard;
    assert_eq!(watch.stop(), Pressed::default());
    drop(hand);
}

#[test]
fn the_late_rest_of_an_arrow_key_is_no_text() {
    for (rest, text) in [("[C", ""), ("[1;5D", ""), ("OD", ""), ("[x", "[x"), ("]", "]"), ("[12", "[12")] {
        let keyboard = keyboard(SOON);
        keyboard.send("\x1b");
        keyboard.wait(|_, _| keyboard.cancel.is_cancelled());
        keyboard.send(rest);
        if text.is_empty() {
            keyboard.send("!");
            keyboard.wait(|watch, _| watch.pending().snapshot().line == "!");
        }
        keyboard.wait(|watch, _| text.is_empty() || watch.pending().snapshot().line == text);
    }
}

#[test]
fn a_flood_of_rows_is_one_text_and_queues_nothing() {
    let keyboard = keyboard(SOON);
    keyboard.send("one\rtwo\rthree\rfour\rfive");
    keyboard.wait(|watch, _| watch.pending().snapshot().line == "one\ntwo\nthree\nfour\nfive");
    assert_eq!(keyboard.watch.pending().snapshot().queue, Vec::<String>::new());
}
