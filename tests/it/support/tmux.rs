//! A real tmux as a terminal: what it is given it has taken when the call returns, so that sizes change between two
//! updates and never inside of one.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::time::Duration;

use super::home::Home;
use super::streams::Terminal;

/// Set for the program in the terminal; its value is the path of the socket to listen to.
const FEED: &str = "AXI_TEST_FEED";
/// How long tmux may take for anything.
const PATIENCE: Duration = Duration::from_mins(1);
/// So many rows of history are compared over a change of the size.
const COMPARED: &str = "-80";

/// The terminal.
pub(crate) struct Tmux {
    home: Home,
    feed: UnixStream,
    /// What stood there before the last change of the size.
    before: String,
}

impl Tmux {
    /// Starts a server of its own with one terminal; `program` is the name of the test that calls [`feed`].
    pub(crate) fn start(program: &str, columns: u16, rows: u16) -> Self {
        let home = Home::new();
        let path = home.work().join("feed");
        let listener = UnixListener::bind(&path).unwrap();
        let line = format!(
            "{FEED}='{}' '{}' --exact {program} --nocapture >/dev/null 2>&1",
            path.display(),
            std::env::current_exe().unwrap().display()
        );
        let (columns, rows) = (columns.to_string(), rows.to_string());
        // The history's length holds for terminals made after it is told.
        run(&home, &["-f", "/dev/null", "new-session", "-d", "-x", "10", "-y", "5", "sleep 600"]);
        run(&home, &["set", "-g", "history-limit", "1000000"]);
        run(&home, &["new-session", "-d", "-s", "test", "-x", &columns, "-y", &rows, &line]);
        let (feed, _) = listener.accept().unwrap();
        feed.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut tmux = Self { home, feed, before: String::new() };
        tmux.process(b"\r\nBEGIN\r\n");
        tmux
    }

    /// History and screen behind the beginning, wrapped rows joined.
    pub(crate) fn text(&self) -> String {
        let text = run(&self.home, &["capture-pane", "-t", "test", "-p", "-J", "-S", "-", "-E", "-"]);
        body(&text)
    }

    /// The same as it was before the last change of the size.
    pub(crate) fn text_before(&self) -> String {
        body(&self.before)
    }
}

fn body(text: &str) -> String {
    text.split_once("BEGIN").map(|(_, body)| body.to_owned()).unwrap()
}

impl Terminal for Tmux {
    fn process(&mut self, bytes: &[u8]) {
        let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        self.feed.write_all(&[&length, bytes].concat()).unwrap();
        self.feed.read_exact(&mut [0]).expect("tmux answers");
    }

    /// Where rows that go on meet empty ones, or wide characters the margin, tmux 3.3 puts the cursor into another text or
    /// forgets that a row goes on, whatever program runs.
    fn resize(&mut self, columns: u16, rows: u16) -> bool {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let keep = ["capture-pane", "-t", "test", "-J", "-b", "before", "-S", "-", ";"];
        let state = [
            "display-message",
            "-p",
            "-t",
            "test",
            "PART#{cursor_x},#{cursor_y}PART",
            ";",
            "capture-pane",
            "-p",
            "-t",
            "test",
            ";",
            "display-message",
            "-p",
            "PART",
            ";",
            "capture-pane",
            "-p",
            "-J",
            "-S",
            COMPARED,
            "-t",
            "test",
            ";",
        ];
        let resize = ["resize-window", "-t", "test", "-x", &columns, "-y", &rows, ";"];
        let commands = [&keep[..], &state, &resize, &state[..state.len() - 1]].concat();
        let said = run(&self.home, &commands);
        let parts: Vec<&str> = said.split("PART").collect();
        let [_, cursor, screen, text, after_cursor, after_screen, after_text] = parts[..] else { panic!("{said}") };
        // The text before the second cursor ends where that is told.
        let stays = ends_alike(&until(screen, cursor), &until(after_screen, after_cursor), 12)
            && same_words(text, after_text);
        if !stays {
            self.before = run(&self.home, &["show-buffer", "-b", "before"]);
        }
        stays
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.home.command("tmux").args(["-S", &socket(&self.home), "kill-server"]).output();
    }
}

fn socket(home: &Home) -> String {
    home.path().join("tmux").display().to_string()
}

fn run(home: &Home, arguments: &[&str]) -> String {
    let mut command: Command = home.command("tmux");
    let output = command.args(["-S", &socket(home)]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What a screen shows before its cursor, without blanks.
fn until(screen: &str, cursor: &str) -> String {
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

fn ends_alike(one: &str, two: &str, most: usize) -> bool {
    let known = one.chars().count().min(two.chars().count()).min(most);
    one.chars().rev().take(known).eq(two.chars().rev().take(known))
}

/// Whether two captures that begin at different places hold the same words as far as both reach, the status row apart: a
/// terminal that becomes lower drops what is below the cursor.
fn same_words(one: &str, two: &str) -> bool {
    let is_status =
        |line: &str| line.starts_with("* STATUS") || line.starts_with(|it| matches!(it, '\u{2800}'..='\u{28FF}'));
    let words = |text: &str| {
        let lines = text.lines().filter(|line| !is_status(line));
        lines
            .flat_map(str::split_whitespace)
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
    };
    let (one, two) = (words(one), words(two));
    // The first one may be cut.
    let known = one.len().min(two.len()).saturating_sub(1);
    one[..known] == two[..known]
}

/// The program in the terminal: writes what it is given, and tells when the terminal has taken it. Returns at once where
/// nobody asked for it.
pub(crate) fn feed() {
    let Some(path) = std::env::var_os(FEED) else { return };
    let mut from = UnixStream::connect(path).unwrap();
    crossterm::terminal::enable_raw_mode().unwrap();
    // Not standard output: there the test runner says how long this takes.
    let mut terminal = std::fs::File::options().read(true).write(true).open("/dev/tty").unwrap();
    let mut length = [0; 4];
    while from.read_exact(&mut length).is_ok() {
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        from.read_exact(&mut bytes).unwrap();
        terminal.write_all(&bytes).unwrap();
        // The terminal's answer comes when it has read so far.
        terminal.write_all(b"\x1b[5n").unwrap();
        let mut byte = [0];
        while byte != *b"n" {
            terminal.read_exact(&mut byte).unwrap();
        }
        from.write_all(&[0]).unwrap();
    }
}
