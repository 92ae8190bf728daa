//! Programs that stream text to a terminal whose size changes, one update at a time, and the terminals they stream to.
//!
//! A terminal changes its size between two updates, and the program is told some updates later: so nothing depends on
//! how fast the machine is, and what a terminal does wrong by itself is told apart from what the program did.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use axi::agent::{Activity, AgentEvent, Frontend as _, TurnEnd};
use axi::approval::Surroundings;
use axi::config::{Notifications, Notify, ReasoningView, ThemeChoice};
use axi::frontend::human::{Human, HumanOptions, Looks, Nobody, Notifier, Palette, Rules};
use axi::locale::Locale;
use axi::terminal::{Capabilities, Depth, Line, NotifyBy, Screen, Span, Wrap};
use axi::tool::{Toolbox, table};
use nu_ansi_term::{Color, Style};
use unicode_width::UnicodeWidthStr as _;

/// The most updates between a change of the size and the program's knowledge of it.
const LAG: u64 = 12;

/// Streams text, an update at a time.
pub(crate) trait Program {
    /// Goes on, on a terminal that it believes to be of this size; `random` is how the time passes. `None` at the end.
    fn step(&mut self, size: (u16, u16), random: u64) -> Option<Vec<u8>>;

    /// Checks what stands on the terminal: all of it, or what was there when the terminal itself lost its place, with
    /// whatever was live then at its end.
    fn check(&self, found: &str, whole: bool);
}

/// What shows text.
pub(crate) trait Terminal {
    /// Takes an update whole.
    fn process(&mut self, bytes: &[u8]);

    /// Changes the size. Returns false if the terminal lost its place or its text over it, all by itself.
    fn resize(&mut self, columns: u16, rows: u16) -> bool;
}

/// Small and the same everywhere; xorshift.
pub(crate) fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// How often and how a terminal changes its size.
#[derive(Clone, Copy)]
pub(crate) struct Resizes {
    pub(crate) count: usize,
    /// Updates between two of them.
    pub(crate) every: usize,
    /// The least rows, and of how many numbers of rows one is taken.
    pub(crate) rows: (u64, u64),
}

/// Lets the program stream to its end, or to the place where the terminal lost its own. Returns how many sizes the
/// terminal took, and whether it came to the end.
pub(crate) fn drive(
    program: &mut dyn Program,
    terminal: &mut dyn Terminal,
    start: (u16, u16),
    resizes: Resizes,
    state: &mut u64,
) -> (usize, bool) {
    let (mut known, mut told, mut done) = (start, None, 0);
    for index in 0.. {
        if done < resizes.count && index % resizes.every.max(1) == 0 {
            let (columns, rows) = (20 + random(state) % 120, resizes.rows.0 + random(state) % resizes.rows.1);
            let size = (u16::try_from(columns).unwrap(), u16::try_from(rows).unwrap());
            if !terminal.resize(size.0, size.1) {
                return (done, false);
            }
            done += 1;
            told = Some((index + usize::try_from(random(state) % LAG).unwrap(), size));
        }
        if let Some((_, size)) = told.filter(|(at, _)| *at <= index) {
            known = size;
            told = None;
        }
        let Some(bytes) = program.step(known, random(state)) else { break };
        if !bytes.is_empty() {
            terminal.process(&bytes);
        }
    }
    (done, true)
}

pub(crate) fn first_difference(found: &str, expected: &str) -> String {
    let same = found.chars().zip(expected.chars()).take_while(|(one, two)| one == two).count();
    let part = |text: &str| text.chars().skip(same.saturating_sub(40)).take(90).collect::<String>();
    format!("found {:?}, expected {:?}", part(found), part(expected))
}

/// What is written to a terminal.
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

/// An answer in markdown with blocks of every kind, as a person sees it.
pub(crate) struct Answer {
    markdown: String,
    characters: std::vec::IntoIter<char>,
    human: Human<Wire>,
    wire: Wire,
    clock: Rc<Cell<Instant>>,
    ended: bool,
}

impl Answer {
    pub(crate) fn new(bytes: usize, wrap: Wrap, size: (u16, u16)) -> Self {
        SIZE.set(size);
        let markdown = numbered_markdown(bytes);
        let (wire, clock) = (Wire::default(), Rc::new(Cell::new(Instant::now())));
        let now = Rc::clone(&clock);
        let mut human = human(wire.clone(), || SIZE.get(), Box::new(move || now.get()), wrap, Notify::Never);
        human.show(&AgentEvent::TurnStarted { session: "s".to_owned(), model: "p/m".to_owned() });
        human.show(&AgentEvent::Waiting { activity: Activity::Connecting });
        let characters = markdown.chars().collect::<Vec<_>>().into_iter();
        Self { markdown, characters, human, wire, clock, ended: false }
    }

    /// Updates that the whole answer takes.
    pub(crate) fn steps(&self) -> usize {
        self.characters.len() / 4
    }
}

impl Program for Answer {
    fn step(&mut self, size: (u16, u16), random: u64) -> Option<Vec<u8>> {
        SIZE.set(size);
        self.clock.set(self.clock.get() + Duration::from_millis(random % 20));
        let text: String = self.characters.by_ref().take(4).collect();
        if text.is_empty() {
            if self.ended {
                return None;
            }
            self.ended = true;
            self.human.show(&AgentEvent::TurnEnded { end: TurnEnd::Done });
        } else {
            self.human.show(&AgentEvent::TextDelta { text });
        }
        Some(std::mem::take(&mut *self.wire.0.borrow_mut()))
    }

    fn check(&self, found: &str, whole: bool) {
        let (mut found, expected) = (letters(found), letters(&self.markdown));
        if whole {
            assert!(found == expected, "{}", first_difference(&found, &expected));
        } else {
            let live = found.char_indices().rev().nth(250).map_or(0, |(at, _)| at);
            found.truncate(live);
            assert!(expected.starts_with(&found), "{}", first_difference(&found, &expected));
        }
    }
}

/// A front end for a person, with nobody to ask and no tools.
pub(crate) fn human<W: Write>(
    writer: W,
    size: fn() -> (u16, u16),
    clock: Box<dyn Fn() -> Instant>,
    wrap: Wrap,
    notify: Notify,
) -> Human<W> {
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
        notify,
        notifications: Notifications::default(),
        notifies_by: NotifyBy::Both,
        progress: true,
        resting_title: String::new(),
    };
    let options = HumanOptions {
        size,
        looks,
        locale: Locale::new("en"),
        place: Surroundings { cwd: "/work".into(), workspace: "/work".into(), ..Surroundings::default() },
        asker: Box::new(Nobody),
        rules: Rules::default(),
        tools: Toolbox::new(table::standard(None, None)),
        keep_background: Box::new(|_| {}),
        notifier: Notifier { desktop: Box::new(|_, _| {}), redact: Box::new(str::to_owned) },
        clock,
    };
    let (columns, rows) = size();
    Human::new(Screen::new(writer, columns, rows, Capabilities::FULL), options)
}

/// Markdown of about so many bytes whose words are numbered, in every kind of block.
fn numbered_markdown(bytes: usize) -> String {
    use std::fmt::Write as _;
    let (mut text, mut number) = (String::new(), 0);
    let mut words = |count: usize, kind: char| {
        let mut words = String::new();
        for _ in 0..count {
            number += 1;
            let separator = if words.is_empty() || kind == 'w' { "" } else { " " };
            let word = match number % 9 {
                _ if kind == 'w' => format!("文字{number}有，「中文」。"),
                // What wraps inside a cell would stand on two rows.
                _ if kind == 'c' => format!("文{number}"),
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
        write!(text, "## {}\n\n", words(4, 'm')).unwrap();
        write!(text, "{}\n\n", words(40, 'm')).unwrap();
        write!(text, "- {}\n- {}\n", words(25, 'm'), words(3, 'm')).unwrap();
        write!(text, "  - {}\n    1. {}\n\n", words(30, 'm'), words(25, 'm')).unwrap();
        write!(text, "> {}\n> > {}\n\n", words(30, 'm'), words(20, 'm')).unwrap();
        write!(text, "{}\n\n- {}\n\n", words(14, 'w'), words(9, 'w')).unwrap();
        write!(text, "```\n{}\n    {}\n```\n\n", words(2, 'm'), words(22, 'm')).unwrap();
        for separator in ["\n|---|---|\n", "\n", "\n\n"] {
            write!(text, "| {} | {} |{separator}", words(1, 'c'), words(1, 'c')).unwrap();
        }
        write!(text, "{}\n===\n\n", words(6, 'm')).unwrap();
    }
    text
}

/// The letters of a text, without blanks, marks of markdown and furniture of rows.
fn letters(text: &str) -> String {
    let text = text.replace("](http://a.b)", "]");
    let is_letter = |it: &char| it.is_alphanumeric() || "，。「」".contains(*it);
    text.chars().filter(is_letter).collect()
}

/// Rows of a screen without a front end: words of this kind, numbered.
pub(crate) struct Words {
    kind: Kind,
    screen: Screen<Wire>,
    wire: Wire,
    bytes: usize,
    total: usize,
    number: usize,
    word: std::vec::IntoIter<char>,
    open: Line,
    width: usize,
    since_status: u64,
    status: String,
    ended: bool,
}

/// What the words are made of, and how long their rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rows of the terminal's width.
    Rows,
    /// Rows of 700 cells.
    Long,
    /// Rows of any length, as code has.
    Code,
    /// Wide letters among others.
    Wide,
    /// With text behind them that is taken back.
    Unsure,
}

impl Words {
    pub(crate) fn new(kind: Kind, bytes: usize, size: (u16, u16)) -> Self {
        let wire = Wire::default();
        Self {
            kind,
            screen: Screen::new(wire.clone(), size.0, size.1, Capabilities::FULL),
            wire,
            bytes,
            total: 0,
            number: 0,
            word: Vec::new().into_iter(),
            open: Line::new(),
            width: usize::from(size.0),
            since_status: u64::MAX,
            status: String::new(),
            ended: false,
        }
    }

    fn word(&self, number: usize) -> String {
        let fourth = if self.kind == Kind::Wide { "中文" } else { "é" };
        let tail = ["", "a", "ong", fourth, "ery-long-word", "x"][number % 6];
        format!("w{number}{tail}")
    }

    fn next_word(&mut self) {
        let word = self.word(self.number);
        self.number += 1;
        self.total += word.len() + 1;
        let limit = match self.kind {
            Kind::Rows | Kind::Wide | Kind::Unsure => self.width,
            Kind::Long => 700,
            Kind::Code => [3, 20, 60, 90, 200][self.number / 10 % 5],
        };
        if self.open.text().width() + 1 + word.width() > limit && !self.open.is_empty() {
            self.screen.commit(&self.open);
            self.open = Line::new();
            self.width = self.screen.columns();
        }
        if !self.open.is_empty() {
            self.open.push(Span::plain(" "));
        }
        self.word = word.chars().collect::<Vec<_>>().into_iter();
    }
}

impl Program for Words {
    fn step(&mut self, (columns, rows): (u16, u16), random: u64) -> Option<Vec<u8>> {
        self.screen.resize(columns, rows);
        if self.word.len() == 0 && self.total >= self.bytes {
            if self.ended {
                return None;
            }
            self.ended = true;
            self.screen.commit(&self.open);
            self.screen.end_live();
            return Some(std::mem::take(&mut *self.wire.0.borrow_mut()));
        }
        if self.word.len() == 0 {
            self.next_word();
        }
        let part: String = self.word.by_ref().take(4).collect();
        let style = if self.number % 7 == 1 { Style::new().bold().fg(Color::Green) } else { Style::default() };
        self.open.push(Span::new(part, style));
        // As a front end does: at most 20 new status rows a second.
        self.since_status = self.since_status.saturating_add(random % 20);
        if self.since_status >= 50 {
            self.since_status = 0;
            self.status = format!("* STATUS {} and some more words to fill the row · esc to stop", self.number);
        }
        let unsure = if self.kind == Kind::Unsure && self.number % 4 == 1 { "**[unsure" } else { "" };
        self.screen.tail(&Line::styled(unsure, Style::default()));
        self.screen.live(&self.open, &Line::styled(self.status.as_str(), Style::new().dimmed()));
        self.screen.flush();
        Some(std::mem::take(&mut *self.wire.0.borrow_mut()))
    }

    fn check(&self, found: &str, whole: bool) {
        assert!(!whole || !found.contains("STATUS") && !found.contains("**"), "{found}");
        let mut words: Vec<&str> = found.split_whitespace().collect();
        if !whole {
            words.truncate(words.len().saturating_sub(30));
        }
        if self.kind == Kind::Wide {
            // A wide character that does not fit leaves a cell empty, which may stay when rows are joined again.
            let found = words.concat();
            let expected: String = (0..self.number).map(|number| self.word(number)).collect();
            let alike = if whole { found == expected } else { expected.starts_with(&found) };
            assert!(alike, "{}", first_difference(&found, &expected));
            return;
        }
        for (number, found) in words.iter().enumerate() {
            assert_eq!(*found, self.word(number), "after {:?}", &words[number.saturating_sub(8)..number]);
        }
        assert!(!whole || words.len() == self.number, "{} of {}", words.len(), self.number);
    }
}
