//! Answers that stream while the terminal's size changes: every word stands there once and in order.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use axi::agent::{Activity, AgentEvent, Frontend as _, TurnEnd};
use axi::command::{Notify, ReasoningView, ThemeChoice};
use axi::frontend::human::{Human, HumanOptions, Looks, Nobody, Palette, Rules};
use axi::locale::Locale;
use axi::terminal::{Depth, Dress, Output, Screen, Size, Wrap};
use axi::tool::{Place, Toolbox};

use crate::support::reflow::Reflowing;

/// What a person sees is in here; where it goes.
#[derive(Clone, Default)]
struct Wire(Rc<RefCell<Vec<u8>>>);

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

thread_local! {
    /// The size as axi is told it.
    static SIZE: Cell<(u16, u16)> = const { Cell::new((80, 24)) };
}

/// Small and the same everywhere; xorshift.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Markdown of about so many bytes whose words are numbered, in every kind of block.
pub(crate) fn numbered_markdown(bytes: usize) -> String {
    let (mut text, mut number) = (String::new(), 0);
    let mut words = |count: usize, wide: bool| {
        let mut words = String::new();
        for _ in 0..count {
            number += 1;
            let separator = if words.is_empty() || wide { "" } else { " " };
            let word = match number % 9 {
                _ if wide => format!("文字{number}有，「中文」。"),
                3 => format!("**w{number}strong**"),
                5 => format!("`w{number}code`"),
                7 => format!("_w{number}_"),
                8 => format!("w{number}[link](http://a.b)"),
                _ => format!("w{number}"),
            };
            words.push_str(separator);
            words.push_str(&word);
        }
        words
    };
    while text.len() < bytes {
        write!(text, "## {}\n\n", words(4, false)).unwrap();
        write!(text, "{}\n\n", words(40, false)).unwrap();
        write!(text, "- {}\n- {}\n", words(25, false), words(3, false)).unwrap();
        write!(text, "  - {}\n    1. {}\n\n", words(30, false), words(25, false)).unwrap();
        write!(text, "> {}\n> > {}\n\n", words(30, false), words(20, false)).unwrap();
        write!(text, "{}\n\n- {}\n\n", words(14, true), words(9, true)).unwrap();
        write!(text, "```\n{}\n    {}\n```\n\n", words(2, false), words(22, false)).unwrap();
        write!(text, "{}\n===\n\n", words(6, false)).unwrap();
    }
    text
}

/// The letters of a text, without blanks, marks of markdown and furniture of rows.
pub(crate) fn letters(text: &str) -> String {
    let text = text.replace("](http://a.b)", "]");
    let is_letter = |it: &char| it.is_alphanumeric() || "，。「」".contains(*it);
    text.chars().filter(is_letter).collect()
}

fn human<W: Write>(writer: W, size: fn() -> (u16, u16), clock: Box<dyn Fn() -> Instant>, wrap: Wrap) -> Human<W> {
    let palette = Palette { choice: ThemeChoice::Dark, depth: Depth::Ansi, background: None };
    let looks = Looks {
        theme: palette.theme(),
        palette,
        styles: Vec::new(),
        wrap,
        hyperlinks: true,
        file_links: false,
        highlight: false,
        reasoning: ReasoningView::Show,
        notify: Notify::Never,
    };
    let options = HumanOptions {
        size,
        looks,
        locale: Locale::new("en"),
        place: Place { cwd: "/work".into(), workspace: "/work".into(), home: None },
        asker: Box::new(Nobody),
        rules: Rules::default(),
        tools: Toolbox::new(Vec::new()),
        keep_background: Box::new(|_| {}),
        clock,
    };
    let (columns, rows) = size();
    Human::new(Screen::new(writer, columns, rows, Dress::FULL), options)
}

/// Streams `bytes` of markdown while the terminal changes its size; `seed` decides when and how.
fn stream_and_resize(
    bytes: usize,
    resizes: usize,
    wrap: Wrap,
    (lowest, heights): (u64, u64),
    seed: u64,
) -> (String, String) {
    SIZE.set((80, u16::try_from(lowest).unwrap()));
    let markdown = numbered_markdown(bytes);
    let (wire, clock) = (Wire::default(), Rc::new(Cell::new(Instant::now())));
    let now = Rc::clone(&clock);
    let mut human = human(wire.clone(), || SIZE.get(), Box::new(move || now.get()), wrap);
    let mut terminal = Reflowing::new(80, SIZE.get().1);
    let mut state = seed;
    let characters: Vec<char> = markdown.chars().collect();
    let every = characters.len() / 4 / resizes.max(1);
    human.show(&AgentEvent::TurnStarted { session: "s".to_owned(), model: "p/m".to_owned() });
    human.show(&AgentEvent::Waiting { activity: Activity::Connecting });
    let mut told_at = None;
    for (index, delta) in characters.chunks(4).enumerate() {
        if index % every.max(1) == 0 {
            let (columns, rows) = (20 + random(&mut state) % 120, lowest + random(&mut state) % heights);
            let size = (u16::try_from(columns).unwrap(), u16::try_from(rows).unwrap());
            terminal.resize(size.0, size.1);
            // It is known only some output later.
            told_at = Some((index + usize::try_from(random(&mut state) % 6).unwrap(), size));
        }
        if let Some((_, size)) = told_at.filter(|(at, _)| *at <= index) {
            SIZE.set(size);
            told_at = None;
        }
        clock.set(clock.get() + Duration::from_millis(random(&mut state) % 20));
        human.show(&AgentEvent::TextDelta { text: delta.iter().collect() });
        terminal.process(&std::mem::take(&mut *wire.0.borrow_mut()));
    }
    human.show(&AgentEvent::TurnEnded { end: TurnEnd::Done });
    terminal.process(&std::mem::take(&mut *wire.0.borrow_mut()));
    assert!(!terminal.cursor_is_hidden());
    (letters(&terminal.text()), letters(&markdown))
}

pub(crate) fn first_difference(found: &str, expected: &str) -> String {
    let same = found.chars().zip(expected.chars()).take_while(|(one, two)| one == two).count();
    let part = |text: &str| text.chars().skip(same.saturating_sub(40)).take(90).collect::<String>();
    format!("found {:?}, expected {:?}", part(found), part(expected))
}

/// Streams so many bytes of markdown to this very terminal, as an answer, with a pause after each delta.
pub(crate) fn stream_answer(bytes: usize, pause: Duration, wrap: Wrap) {
    let size = || {
        let size = Size::of_terminal(None, None);
        (size.columns, size.rows)
    };
    let mut human = human(Output::new(), size, Box::new(Instant::now), wrap);
    human.show(&AgentEvent::TurnStarted { session: "s".to_owned(), model: "p/m".to_owned() });
    human.show(&AgentEvent::Waiting { activity: Activity::Connecting });
    let characters: Vec<char> = numbered_markdown(bytes).chars().collect();
    for delta in characters.chunks(4) {
        human.show(&AgentEvent::TextDelta { text: delta.iter().collect() });
        if human.next_tick().is_some_and(|at| at <= Instant::now()) {
            human.tick();
        }
        std::thread::sleep(pause);
    }
    human.show(&AgentEvent::TurnEnded { end: TurnEnd::Done });
}

fn check(bytes: usize, wrap: Wrap, heights: (u64, u64)) {
    // The last one once left a letter of the status row in a row of wide letters.
    let seeds = std::env::var("AXI_TEST_SEEDS").map_or(vec![1, 11], |count| (1..=count.parse().unwrap()).collect());
    for seed in seeds.into_iter().map(|seed: u64| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) {
        let (found, expected) = stream_and_resize(bytes, 500, wrap, heights, seed);
        assert!(found == expected, "seed {seed:x}: {}", first_difference(&found, &expected));
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
