//! The screen in a terminal that reflows its history: words are on it once and in order, whatever happens to its size.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use axi::terminal::Wrap;

use crate::support::skip::has;
use crate::support::streams::{Answer, Kind, Program, Resizes, Words, drive};
use crate::support::tmux::{self, Tmux};

/// Not a test: the program that the tests below run in a terminal.
#[test]
fn feeds_when_asked_to() {
    tmux::feed();
}

/// One terminal at a time is enough for a small machine.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const START: (u16, u16) = (80, 24);

/// Streams while tmux changes its size. Where tmux loses its place all by itself, what came so far is checked, and the
/// next terminal goes on, until so many sizes were taken.
fn resize_while_streaming(make: impl Fn(usize) -> (Box<dyn Program>, usize)) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if !has("tmux") {
        return;
    }
    let number = |name, otherwise| std::env::var(name).map_or(otherwise, |value| value.parse().unwrap());
    let (mut left, mut lost): (usize, usize) = (number("AXI_TEST_RESIZES", 25), 0);
    let lowest = number("AXI_TEST_LOWEST", 10) as u64;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number("AXI_TEST_SEED", 1) as u64);
    // Some terminals lose their place at once; as long as some do not, all sizes are taken.
    while left > 0 && lost < 100 {
        let (mut program, steps) = make(200 * left);
        let mut terminal = Tmux::start("screen::feeds_when_asked_to", START.0, START.1);
        let resizes = Resizes { count: left, every: steps / left, rows: (lowest, 40) };
        let (done, whole) = drive(program.as_mut(), &mut terminal, START, resizes, &mut state);
        program.check(&if whole { terminal.text() } else { terminal.text_before() }, whole);
        left -= done.min(left);
        lost += usize::from(!whole);
    }
    let _ = writeln!(std::io::stderr(), "{left} sizes left; tmux lost its place {lost} times");
    assert_eq!(left, 0, "tmux loses its place too often to show anything");
}

fn answer(wrap: Wrap) {
    resize_while_streaming(|bytes| {
        let answer = Answer::new(bytes, wrap, START);
        let steps = answer.steps();
        (Box::new(answer), steps)
    });
}

fn words(kind: Kind) {
    // A step is a part of a word.
    resize_while_streaming(|bytes| (Box::new(Words::new(kind, bytes, START)), bytes / 5));
}

#[test]
fn tmux_holds_every_word_once_when_resized_while_streaming() {
    words(Kind::Rows);
}

#[test]
fn tmux_holds_every_word_of_long_lines_once_when_resized_while_streaming() {
    words(Kind::Long);
}

#[test]
fn tmux_holds_every_word_of_code_once_when_resized_while_streaming() {
    words(Kind::Code);
}

#[test]
fn tmux_holds_every_wide_word_once_when_resized_while_streaming() {
    words(Kind::Wide);
}

#[test]
fn tmux_holds_no_text_that_was_taken_back() {
    words(Kind::Unsure);
}

#[test]
fn tmux_holds_every_word_of_an_answer_once_when_resized_while_streaming() {
    answer(Wrap::Word);
}

#[test]
fn tmux_holds_every_word_of_an_answer_that_it_wraps_once_when_resized_while_streaming() {
    answer(Wrap::Soft);
}
