//! Answers that stream while the terminal's size changes: every word stands there once and in order.

use axi::terminal::Wrap;

use crate::support::reflow::Reflowing;
use crate::support::streams::{Answer, Program as _, Resizes, Terminal, drive};

impl Terminal for Reflowing {
    fn process(&mut self, bytes: &[u8]) {
        Self::process(self, bytes);
    }

    fn resize(&mut self, columns: u16, rows: u16) -> bool {
        Self::resize(self, columns, rows);
        true
    }
}

fn check(bytes: usize, wrap: Wrap, rows: (u64, u64)) {
    // The second one once left a letter of the status row in a row of wide letters.
    let seeds = std::env::var("AXI_TEST_SEEDS").map_or(vec![1, 11], |count| (1..=count.parse().unwrap()).collect());
    for seed in seeds {
        let start = (80, u16::try_from(rows.0).unwrap());
        let mut answer = Answer::new(bytes, wrap, start);
        let mut terminal = Reflowing::new(start.0, start.1);
        let resizes = Resizes { count: 500, every: answer.steps() / 500, rows };
        let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed);
        let (done, _) = drive(&mut answer, &mut terminal, start, resizes, &mut state);
        assert_eq!((done, terminal.cursor_is_hidden()), (500, false));
        eprintln!("seed {seed}");
        answer.check(&terminal.text(), true);
    }
}

#[test]
fn an_answer_holds_every_word_once_over_500_resizes() {
    check(100_000, Wrap::Word, (10, 40));
}

#[test]
fn an_answer_that_the_terminal_wraps_holds_every_word_once_over_500_resizes() {
    check(100_000, Wrap::Soft, (10, 40));
}

#[test]
fn an_answer_on_a_terminal_of_four_rows_holds_every_word_once() {
    check(30_000, Wrap::Word, (4, 1));
}
