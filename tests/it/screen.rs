//! The screen in a terminal that reflows: words are on it once and in order, whatever happens to its size.

use std::io::Write as _;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axi::terminal::{Dress, Line, Output, Screen, Size, Wrap};
use nu_ansi_term::{Color, Style};

use crate::resize::{self, first_difference, letters};
use crate::support::home::Home;
use crate::support::pty::is_installed;

/// Set for the program that streams; its value is `MODE BYTES PAUSE_MICROSECONDS`.
const STREAM: &str = "AXI_TEST_STREAM";

/// Not a test: the program that the tests below run in a terminal.
#[test]
fn streams_when_asked_to() {
    let Ok(task) = std::env::var(STREAM) else { return };
    let [mode, bytes, pause] = task.split(' ').collect::<Vec<_>>()[..] else { panic!("{task}") };
    let (bytes, pause): (usize, u64) = (bytes.parse().unwrap(), pause.parse().unwrap());
    if let "answer" | "wrapped" = mode {
        let wrap = if mode == "answer" { Wrap::Word } else { Wrap::Soft };
        let lines = |text: &str| Output::new().write_all(text.as_bytes()).unwrap();
        lines("\r\nBEGIN\r\n");
        resize::stream_answer(bytes, Duration::from_micros(pause), wrap);
        lines("END\r\n");
        std::thread::sleep(Duration::from_mins(10));
    }
    let size = Size::of_terminal(None, None);
    let mut screen = Screen::new(Output::new(), size.columns, size.rows, Dress::FULL);
    screen.commit(&Line::styled("", Style::default()));
    screen.commit(&Line::styled("BEGIN", Style::default()));
    let (mut open, mut row_width, mut total, mut number) = (Line::new(), usize::from(size.columns), 0, 0);
    let (mut painted, mut status) = (None::<Instant>, String::new());
    while total < bytes {
        let word = word(mode, number);
        let style = if number % 7 == 0 { Style::new().bold().fg(Color::Green) } else { Style::default() };
        number += 1;
        total += word.len() + 1;
        let limit = match mode {
            "word" | "wide" | "unsure" => row_width,
            "soft" => 700,
            _ => [3, 20, 60, 90, 200][number / 10 % 5],
        };
        let cells = unicode_width::UnicodeWidthStr::width(open.text().as_str());
        if cells + 1 + unicode_width::UnicodeWidthStr::width(word.as_str()) > limit && !open.is_empty() {
            screen.commit(&open);
            open = Line::new();
            row_width = screen.columns();
        }
        if !open.is_empty() {
            open.push(axi::terminal::Span::plain(" "));
        }
        let characters: Vec<char> = word.chars().collect();
        for part in characters.chunks(4) {
            open.push(axi::terminal::Span::new(part.iter().collect::<String>(), style));
            let size = Size::of_terminal(None, None);
            screen.resize(size.columns, size.rows);
            // As a front end does: at most 20 new status rows a second.
            if painted.is_none_or(|at| at.elapsed() >= Duration::from_millis(50)) {
                painted = Some(Instant::now());
                status = format!("* STATUS {number} and some more words to fill the row · esc to stop");
            }
            let unsure = if mode == "unsure" && number % 4 == 0 { "**[unsure" } else { "" };
            screen.tail(&Line::styled(unsure, Style::default()));
            screen.live(&open, &Line::styled(status.as_str(), Style::new().dimmed()));
            screen.flush();
            std::thread::sleep(Duration::from_micros(pause));
        }
    }
    screen.commit(&open);
    screen.commit(&Line::styled("END", Style::default()));
    screen.end_live();
    // The pane has to stay until it was read.
    std::thread::sleep(Duration::from_mins(10));
}

fn word(mode: &str, number: usize) -> String {
    let tail = ["", "a", "ong", if mode == "wide" { "中文" } else { "é" }, "ery-long-word", "x"][number % 6];
    format!("w{number}{tail}")
}

struct Tmux {
    socket: String,
    home: Home,
}

impl Tmux {
    fn start(task: &str, columns: u16, rows: u16) -> Self {
        let socket = format!("axi-test-{}-{}", std::process::id(), task.replace(' ', "-"));
        let tmux = Self { socket, home: Home::new() };
        let program = std::env::current_exe().unwrap();
        let line =
            format!("{STREAM}='{task}' {} --exact screen::streams_when_asked_to --nocapture", program.display());
        tmux.run(&["-f", "/dev/null", "new-session", "-d", "-x", "10", "-y", "5", "sleep 600"]);
        tmux.run(&["set", "-g", "history-limit", "1000000"]);
        tmux.run(&["new-session", "-d", "-s", "test", "-x", &columns.to_string(), "-y", &rows.to_string(), &line]);
        tmux
    }

    fn run(&self, arguments: &[&str]) -> String {
        let mut command: Command = self.home.command("tmux");
        let output = command.args(["-L", &self.socket]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Changes the size. Tells whether tmux lost the cursor over it: where rows that go on meet empty ones, or wide
    /// characters the margin, it sometimes puts the cursor into another text, whatever program runs.
    fn resize(&self, columns: u16, rows: u16) -> bool {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let tell = ["display-message", "-p", "-t", "test", "CURSOR#{cursor_x},#{cursor_y}CURSOR", ";"];
        let show = ["capture-pane", "-p", "-t", "test", ";"];
        let resize = ["resize-window", "-t", "test", "-x", &columns, "-y", &rows, ";"];
        let said = self.run(&[&tell[..], &show, &resize, &tell, &show[..4]].concat());
        let parts: Vec<&str> = said.split("CURSOR").collect();
        let [_, before, screen_before, after, screen_after] = parts[..] else { panic!("{said}") };
        let (before, after) = (text_before(screen_before, before), text_before(screen_after, after));
        let known = before.chars().count().min(after.chars().count()).min(12);
        !before.chars().rev().take(known).eq(after.chars().rev().take(known))
    }

    /// History and screen, wrapped rows joined.
    fn text(&self) -> String {
        self.run(&["capture-pane", "-t", "test", "-p", "-J", "-S", "-", "-E", "-"])
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.home.command("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}

/// What a screen shows before its cursor, without blanks.
fn text_before(screen: &str, cursor: &str) -> String {
    let (column, row) = cursor.split_once(',').unwrap();
    let (column, row): (usize, usize) = (column.parse().unwrap(), row.parse().unwrap());
    let mut text = String::new();
    for (index, line) in screen.strip_prefix('\n').unwrap_or(screen).lines().enumerate().take(row + 1) {
        let cells = if index == row { column } else { usize::MAX };
        let mut used = 0;
        text.extend(line.chars().take_while(|character| {
            used += unicode_width::UnicodeWidthChar::width(*character).unwrap_or(0);
            used <= cells
        }));
    }
    text.retain(|character| !character.is_whitespace());
    text
}

/// Small and the same everywhere; xorshift.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// One terminal at a time: the later tmux tells of a size, the more is asked of the screen.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn resize_while_streaming(mode: &str) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_installed("tmux") {
        let _ = std::io::stderr().write_all(b"skipped: tmux is not installed\n");
        return;
    }
    let resizes: u64 = std::env::var("AXI_TEST_RESIZES").map_or(60, |count| count.parse().unwrap());
    let bytes = usize::try_from(200 * resizes.max(20)).unwrap();
    // An answer of a fast model: several rows in each update tell of nothing but tmux's own loss of the cursor.
    let pause = if let "answer" | "wrapped" = mode { 1000 } else { 200 };
    let tmux = Tmux::start(&format!("{mode} {bytes} {pause}"), 80, 24);
    let (mut state, mut count) = (0x9e37_79b9_7f4a_7c15, 0);
    let mut lost_cursor = false;
    let lowest: u64 = std::env::var("AXI_TEST_LOWEST").map_or(10, |rows| rows.parse().unwrap());
    let deadline = Instant::now() + Duration::from_secs(60 + resizes);
    loop {
        if count < resizes {
            let (columns, rows) = (20 + random(&mut state) % 120, lowest + random(&mut state) % 40);
            let (columns, rows) = (u16::try_from(columns).unwrap(), u16::try_from(rows).unwrap());
            lost_cursor |= tmux.resize(columns, rows);
            count += 1;
        }
        std::thread::sleep(Duration::from_millis(random(&mut state) % 30));
        if count == resizes && tmux.text().contains("\nEND") {
            break;
        }
        assert!(Instant::now() < deadline, "{}", tmux.text());
    }
    let text = tmux.text();
    if let Ok(path) = std::env::var("AXI_TEST_KEEP") {
        std::fs::write(format!("{path}.{mode}"), &text).unwrap();
    }
    let body = text.split_once("BEGIN").unwrap().1.split_once("END").unwrap().0;
    if lost_cursor {
        let _ = std::io::stderr().write_all(b"skipped: tmux lost the cursor\n");
        return;
    }
    if let "answer" | "wrapped" = mode {
        let (found, expected) = (letters(body), letters(&resize::numbered_markdown(bytes)));
        assert!(found == expected, "{}", first_difference(&found, &expected));
        return;
    }
    assert!(!text.contains("STATUS") && !text.contains("**"));
    if mode == "wide" {
        // A wide character that does not fit leaves a cell empty, which tmux keeps when it joins the rows again.
        let found: String = body.split_whitespace().collect();
        let (mut expected, mut number) = (String::new(), 0);
        while expected.len() < found.len() {
            expected.push_str(&word(mode, number));
            number += 1;
        }
        assert!(found == expected, "{}", first_difference(&found, &expected));
        return;
    }
    let words: Vec<_> = body.split_whitespace().collect();
    for (number, found) in words.iter().enumerate() {
        assert_eq!(*found, word(mode, number), "after {:?}", &words[number.saturating_sub(8)..number]);
    }
    assert!(words.len() > 10);
}

#[test]
fn tmux_holds_every_word_once_when_resized_while_streaming() {
    resize_while_streaming("word");
}

#[test]
fn tmux_holds_every_word_of_long_lines_once_when_resized_while_streaming() {
    resize_while_streaming("soft");
}

#[test]
fn tmux_holds_every_word_of_code_once_when_resized_while_streaming() {
    resize_while_streaming("code");
}

#[test]
fn tmux_holds_every_wide_word_once_when_resized_while_streaming() {
    resize_while_streaming("wide");
}

#[test]
fn tmux_holds_no_text_that_was_taken_back() {
    resize_while_streaming("unsure");
}

#[test]
fn tmux_holds_every_word_of_an_answer_once_when_resized_while_streaming() {
    resize_while_streaming("answer");
}

#[test]
fn tmux_holds_every_word_of_an_answer_that_it_wraps_once_when_resized_while_streaming() {
    resize_while_streaming("wrapped");
}
