//! A pseudo-terminal with a person's eyes and hands: starts a program on it, types, resizes, and reads the screen.
//!
//! The program is started through util-linux `setsid --ctty`, so that the pseudo-terminal is its controlling
//! terminal without `unsafe`. The screen is a vt100 parser with scrollback (it does not reflow on resize; for
//! that, use tmux). Questions of the program (`CSI 5n`, `CSI 6n`, `CSI c`, `CSI ? u`, OSC 10/11) are answered
//! as asked for.
//!
//! ```ignore
//! let home = Home::new();
//! let mut pty = Pty::options().size(80, 24).spawn(&home.axi());
//! pty.wait_for("❯");                                   // panics with the screen after 10 s
//! pty.send("/exit\r");
//! assert!(pty.wait_exit().success());
//! assert!(!pty.transcript().contains("panicked"));
//! ```

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

/// How long [`Pty::wait_for`] and [`Pty::wait_exit`] wait: long, because the machine may be loaded.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What the terminal is like.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    columns: u16,
    rows: u16,
    answers_cursor: bool,
    answers_kitty: bool,
    background: Option<&'static str>,
}

/// A running program on a pseudo-terminal. Killed, with its process group, when dropped.
pub(crate) struct Pty {
    master: Arc<File>,
    child: Child,
    state: Arc<(Mutex<State>, Condvar)>,
}

struct State {
    parser: vt100::Parser<Answers>,
    raw: Vec<u8>,
    closed: bool,
    instead: Option<Instead>,
}

/// What is done in place of the next answer.
type Instead = Box<dyn FnOnce(Question<'_>) + Send>;

/// A question that a program has asked its terminal.
pub(crate) struct Question<'a> {
    master: &'a File,
    screen: &'a mut vt100::Screen,
    answer: &'a [u8],
}

impl Question<'_> {
    /// Answers it.
    pub(crate) fn answer(&self) {
        let mut master = self.master;
        master.write_all(self.answer).unwrap();
    }

    /// See [`Pty::resize`].
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        resize(self.master, self.screen, columns, rows);
    }
}

/// Answers to what a program asks its terminal.
struct Answers {
    options: Options,
    pending: Vec<u8>,
    titles: Vec<String>,
}

/// The screen at one moment.
pub(crate) struct View<'a> {
    state: &'a mut State,
}

impl Options {
    /// Columns and rows; 80 × 24 unless told.
    pub(crate) fn size(mut self, columns: u16, rows: u16) -> Self {
        (self.columns, self.rows) = (columns, rows);
        self
    }

    /// A terminal that never answers `CSI 5n`, `CSI 6n` and `CSI c`.
    pub(crate) fn mute(mut self) -> Self {
        self.answers_cursor = false;
        self
    }

    /// A terminal that knows the kitty keyboard protocol.
    pub(crate) fn kitty(mut self) -> Self {
        self.answers_kitty = true;
        self
    }

    /// A terminal that tells its background, such as `rgb:ffff/ffff/ffff`.
    pub(crate) fn background(mut self, colour: &'static str) -> Self {
        self.background = Some(colour);
        self
    }

    /// Starts `command` in a new session with the pseudo-terminal as its standard streams and controlling
    /// terminal. Only variables set on the command itself are passed on: the environment is always cleared.
    pub(crate) fn spawn(self, command: &Command) -> Pty {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, winsize(self.columns, self.rows)).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();

        let mut wrapped = Command::new("/usr/bin/setsid");
        wrapped.arg("--ctty").arg(command.get_program()).args(command.get_args()).env_clear();
        for (key, value) in command.get_envs() {
            if let Some(value) = value {
                wrapped.env(key, value);
            }
        }
        if let Some(directory) = command.get_current_dir() {
            wrapped.current_dir(directory);
        }
        wrapped.stdin(Stdio::from(slave.try_clone().unwrap()));
        wrapped.stdout(Stdio::from(slave.try_clone().unwrap()));
        wrapped.stderr(Stdio::from(slave));
        let child = wrapped.spawn().unwrap();
        drop(wrapped);

        let answers = Answers { options: self.clone(), pending: Vec::new(), titles: Vec::new() };
        let parser = vt100::Parser::new_with_callbacks(self.rows, self.columns, 1_000_000, answers);
        let state =
            Arc::new((Mutex::new(State { parser, raw: Vec::new(), closed: false, instead: None }), Condvar::new()));
        let master = Arc::new(File::from(master));
        // Ends by itself when the last program on the terminal has gone.
        let (reader, shared) = (Arc::clone(&master), Arc::clone(&state));
        std::thread::spawn(move || read_all(&reader, &shared));
        Pty { master, child, state }
    }
}

fn read_all(master: &File, shared: &(Mutex<State>, Condvar)) {
    let mut buffer = [0; 16 * 1024];
    loop {
        // Linux says EIO when the other side is closed.
        let count = match (&*master).read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        let mut state = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        if count == 0 {
            state.closed = true;
            shared.1.notify_all();
            return;
        }
        state.raw.extend_from_slice(&buffer[..count]);
        state.parser.process(&buffer[..count]);
        let answers = std::mem::take(&mut state.parser.callbacks_mut().pending);
        // Before anybody sees the screen: a terminal answers what a person has not seen yet.
        if !answers.is_empty() {
            match state.instead.take_if(|_| answers.ends_with(b"R")) {
                Some(instead) => {
                    instead(Question { master, screen: state.parser.screen_mut(), answer: &answers });
                }
                None => drop((&*master).write_all(&answers)),
            }
        }
        shared.1.notify_all();
    }
}

impl vt100::Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        i1: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        c: char,
    ) {
        match (i1, c, params) {
            (None, 'n', [[6]]) if self.options.answers_cursor => {
                let (row, column) = screen.cursor_position();
                let column = column.min(screen.size().1 - 1);
                self.pending.extend(format!("\x1b[{};{}R", row + 1, column + 1).bytes());
            }
            (None, 'n', [[5]]) if self.options.answers_cursor => self.pending.extend(b"\x1b[0n"),
            (None, 'c', _) if self.options.answers_cursor => self.pending.extend(b"\x1b[?62;22c"),
            (Some(b'?'), 'u', _) if self.options.answers_kitty => self.pending.extend(b"\x1b[?0u"),
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        if let ([b"11", b"?"], Some(colour)) = (params, self.options.background) {
            self.pending.extend(format!("\x1b]11;{colour}\x1b\\").bytes());
        }
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.titles.push(String::from_utf8_lossy(title).into_owned());
    }
}

impl View<'_> {
    /// The visible rows, without trailing blanks.
    pub(crate) fn text(&self) -> String {
        self.state.parser.screen().contents()
    }

    /// Scrollback and screen: one string a physical row, without trailing blanks; empty rows at the end are cut.
    pub(crate) fn rows(&mut self) -> Vec<String> {
        all_rows(self.state.parser.screen_mut()).into_iter().map(|(text, _)| text).collect()
    }

    /// Scrollback and screen, rows that the terminal wrapped joined again.
    pub(crate) fn transcript(&mut self) -> String {
        let mut text = String::new();
        for (row, wrapped) in all_rows(self.state.parser.screen_mut()) {
            text.push_str(&row);
            if !wrapped {
                text.push('\n');
            }
        }
        text
    }

    /// The vt100 screen itself: cells, colours, modes.
    pub(crate) fn screen(&self) -> &vt100::Screen {
        self.state.parser.screen()
    }

    /// The window titles that were set, oldest first.
    pub(crate) fn titles(&self) -> &[String] {
        &self.state.parser.callbacks().titles
    }

    /// Every byte the program has written.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.state.raw
    }
}

/// Reads scrollback and screen: the text of each row and whether the terminal wrapped it into the next.
pub(crate) fn all_rows(screen: &mut vt100::Screen) -> Vec<(String, bool)> {
    let columns = screen.size().1;
    let mut rows = Vec::new();
    screen.set_scrollback(usize::MAX);
    for offset in (1..=screen.scrollback()).rev() {
        screen.set_scrollback(offset);
        rows.push((screen.rows(0, columns).next().unwrap(), screen.row_wrapped(0)));
    }
    screen.set_scrollback(0);
    let visible: Vec<_> = screen.rows(0, columns).collect();
    for (index, row) in visible.into_iter().enumerate() {
        rows.push((row, screen.row_wrapped(u16::try_from(index).unwrap())));
    }
    while rows.last().is_some_and(|(row, _)| row.is_empty()) {
        rows.pop();
    }
    rows
}

impl Pty {
    /// An 80 × 24 terminal that answers the cursor query and knows no kitty protocol.
    pub(crate) fn options() -> Options {
        Options { columns: 80, rows: 24, answers_cursor: true, answers_kitty: false, background: None }
    }

    /// Types.
    pub(crate) fn send(&mut self, keys: impl AsRef<[u8]>) {
        (&*self.master).write_all(keys.as_ref()).unwrap();
    }

    /// Looks at the screen now.
    pub(crate) fn view<T>(&self, look: impl FnOnce(&mut View<'_>) -> T) -> T {
        let mut state = self.state.0.lock().unwrap_or_else(PoisonError::into_inner);
        look(&mut View { state: &mut state })
    }

    /// Waits until `condition` holds. Returns whether it did within `limit`; looks at every change of the screen.
    pub(crate) fn wait_until(&self, mut condition: impl FnMut(&mut View<'_>) -> bool, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut state = self.state.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if condition(&mut View { state: &mut state }) {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || state.closed {
                return false;
            }
            state = self.state.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the visible screen contains `text`; panics with the screen and the last bytes if it never does.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let seen = self.wait_until(|view| view.text().contains(text), PATIENCE);
        assert!(seen, "never saw {text:?} in:\n{}", self.describe());
    }

    /// The screen and the last bytes, for messages of failing tests.
    pub(crate) fn describe(&self) -> String {
        self.view(|view| {
            let raw = view.raw();
            let tail = String::from_utf8_lossy(&raw[raw.len().saturating_sub(400)..]).escape_debug().to_string();
            format!("{}\n---- last bytes: {tail}", view.text())
        })
    }

    /// The number of the choice whose row has this text.
    pub(crate) fn number(&self, text: &str) -> String {
        self.wait_for(text);
        let shown = self.transcript();
        let row = shown.lines().rev().find(|row| row.contains(text)).unwrap();
        row.trim_start_matches(['❯', ' ']).chars().take(1).collect()
    }

    /// Scrollback and screen as text, wrapped rows joined.
    pub(crate) fn transcript(&self) -> String {
        let mut text = String::new();
        self.view(|view| text = view.transcript());
        text
    }

    /// Changes the size; the kernel sends SIGWINCH to the foreground group.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let mut state = self.state.0.lock().unwrap_or_else(PoisonError::into_inner);
        resize(&self.master, state.parser.screen_mut(), columns, rows);
    }

    /// Does this in place of the terminal's next answer; the program waits for it meanwhile.
    pub(crate) fn instead_of_answer(&self, instead: impl FnOnce(Question<'_>) + Send + 'static) {
        self.state.0.lock().unwrap_or_else(PoisonError::into_inner).instead = Some(Box::new(instead));
    }

    /// The terminal's mode, as `stty` would show it.
    pub(crate) fn termios(&self) -> Termios {
        tcgetattr(&*self.master).unwrap()
    }

    /// Process id of the program.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for the program to end, at most [`PATIENCE`], and for all its output to be on the screen.
    #[track_caller]
    pub(crate) fn wait_exit(&mut self) -> ExitStatus {
        let status = ended(&mut self.child).unwrap_or_else(|| panic!("still running:\n{}", self.describe()));
        // What it wrote is still on its way through the kernel.
        self.wait_until(|view| view.state.closed, Duration::from_secs(1));
        status
    }

    /// Waits until the program has read all that was typed.
    #[track_caller]
    pub(crate) fn wait_read(&self) {
        let name = ptsname(&*self.master, Vec::new()).unwrap();
        read_up(
            &rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
                .unwrap(),
        );
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // The program leads its session, so its group has its own number. Gone already is fine.
        let _ = rustix::process::kill_process_group(self.pid(), Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a process to end, at most [`PATIENCE`]; `None` for one that still runs.
pub(crate) fn ended(child: &mut Child) -> Option<ExitStatus> {
    let (id, options) = (Pid::from_child(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    let (tell, told) = std::sync::mpsc::channel();
    // Ends with the process, which its owner kills.
    std::thread::spawn(move || tell.send(waitid(WaitId::Pid(id), options).is_ok()));
    told.recv_timeout(PATIENCE).ok()?;
    child.wait().ok()
}

/// Waits until nothing that was typed on a terminal is unread. The kernel tells nobody when that is.
#[track_caller]
pub(crate) fn read_up(terminal: &impl AsFd) {
    let until = Instant::now() + PATIENCE;
    while rustix::io::ioctl_fionread(terminal).unwrap() > 0 {
        assert!(Instant::now() < until, "what was typed is not read");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn resize(master: &File, screen: &mut vt100::Screen, columns: u16, rows: u16) {
    screen.set_size(rows, columns);
    tcsetwinsize(master, winsize(columns, rows)).unwrap();
}

fn winsize(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Tells whether a program is installed, for tests that need one (`tmux`, `zsh`).
pub(crate) fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path)
            .any(|directory| !directory.as_os_str().as_bytes().is_empty() && directory.join(program).is_file())
    })
}
