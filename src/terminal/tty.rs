//! The only owner of the terminal's mode.
//!
//! From the first prompt to the end the terminal is in axi's baseline mode: keys are not echoed, not collected into
//! lines, and send no signals; output is processed as usual. The line editor's raw mode nests inside it (the editor
//! saves and restores the mode it finds), so there is no moment in which typed keys echo or get lost. The person's
//! own mode comes back only for interactive children, on suspend, on exit and on panic.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::platform::event::{PollFd, PollFlags, poll};
use crate::platform::io::Errno;
use crate::platform::os::fd::{AsFd, BorrowedFd};
use crate::platform::process::{Signal, getpgrp, kill_process_group};
use crate::platform::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr,
};

/// Ends what a program may have left on: a style, a hidden cursor, disabled wrapping, bracketed paste, focus
/// events, synchronized output.
pub(super) const UNDO: &[u8] = b"\x1b[?2026l\x1b[m\x1b[?7h\x1b[?25h\x1b[?2004l\x1b[?1004l";
/// Leaves the alternate screen.
pub(super) const UNDO_SCREEN: &[u8] = b"\x1b[?1049l";
/// Removes one level of kitty's keyboard flags.
const UNDO_KEYBOARD: &[u8] = b"\x1b[<u";
/// A signal to our own process group stops us a moment after the call.
const STOP_TAKES: Duration = Duration::from_millis(50);

/// Size of a terminal, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// Keeps the terminal in axi's baseline mode until it is dropped.
#[derive(Debug)]
pub struct Tty {
    restorer: Restorer,
    /// When a question was answered by Ctrl+C.
    interrupted: Cell<Option<Instant>>,
}

/// Restores the terminal, from any thread and any number of times: for panic hooks and signal handlers.
#[derive(Clone)]
pub struct Restorer {
    held: Arc<Held>,
}

struct Held {
    user: Termios,
    taken: AtomicBool,
    keyboard_flags: AtomicBool,
    plain: AtomicBool,
    /// The bytes that restore the window's own title, while it has another one.
    title: Mutex<Option<Vec<u8>>>,
    directory: Mutex<Option<Directory>>,
}

/// The bytes that tell the terminal the directory of axi, and the one it was in before.
struct Directory {
    here: Vec<u8>,
    before: Vec<u8>,
    is_here: bool,
}

/// Keeps the terminal in the person's own mode until it is dropped.
#[derive(Debug)]
#[must_use = "the terminal is taken back when this is dropped"]
pub struct Lent<'a> {
    tty: &'a Tty,
}

impl fmt::Debug for Restorer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Restorer").field("taken", &self.held.taken).finish_non_exhaustive()
    }
}

impl Tty {
    /// Saves the person's mode and sets the baseline.
    ///
    /// # Errors
    /// If standard input is no terminal (`ENOTTY`), or is gone.
    pub fn take() -> io::Result<Self> {
        let user = tcgetattr(crate::platform::stdio::stdin())?;
        let off = || AtomicBool::new(false);
        let (title, directory) = (Mutex::default(), Mutex::default());
        let held = Held { user, taken: off(), keyboard_flags: off(), plain: off(), title, directory };
        let tty = Self { restorer: Restorer { held: Arc::new(held) }, interrupted: Cell::new(None) };
        tty.retake()?;
        Ok(tty)
    }

    /// Sets the baseline again: after SIGCONT, or after another program may have changed the mode. In the
    /// background this stops the process until it is in the foreground again.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn retake(&self) -> io::Result<()> {
        let held = &self.restorer.held;
        // Set first: a signal in between then restores once too often, rather than never.
        held.taken.store(true, Ordering::Release);
        set_mode(&baseline(&held.user))
    }

    /// Gives a child that talks to the person the person's own mode, until the guard is dropped.
    pub fn lend(&self) -> Lent<'_> {
        self.restorer.restore_mode();
        Lent { tty: self }
    }

    /// Remembers that Ctrl+C answered a question: a second one soon after leaves axi.
    pub fn note_interrupt(&self) {
        self.interrupted.set(Some(Instant::now()));
    }

    /// When a question was last answered by Ctrl+C.
    pub fn interrupted(&self) -> Option<Instant> {
        self.interrupted.get()
    }

    /// Returns a handle that restores the terminal.
    pub fn restorer(&self) -> Restorer {
        self.restorer.clone()
    }

    /// Sets whether no sequences are sent to the terminal: then there are none to undo.
    pub fn keep_plain(&self, plain: bool) {
        self.restorer.held.plain.store(plain, Ordering::Release);
    }

    /// Sets whether kitty's keyboard flags are pushed, so that restoring removes them.
    pub fn keyboard_flags(&self, pushed: bool) {
        self.restorer.held.keyboard_flags.store(pushed, Ordering::Release);
    }

    /// Sets the bytes that restore the window's own title; `None` once it is restored. Returns whether there were
    /// any before.
    pub fn title(&self, undo: Option<Vec<u8>>) -> bool {
        let mut title = self.restorer.held.title.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *title, undo).is_some()
    }

    /// Tells the terminal by `here` in which directory axi is, and by `before`, whenever the terminal is restored, in
    /// which it was.
    pub fn directory(&self, here: Vec<u8>, before: Vec<u8>) {
        let told = Directory { here, before, is_here: false };
        *self.restorer.held.directory.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        self.restorer.tell_directory(true);
    }

    /// Stops this job as Ctrl+Z does. Returns when it is in the foreground again, with the baseline set. The caller
    /// removes its live rows before, and paints them again afterwards. Without job control it returns at once.
    ///
    /// # Errors
    /// If the signal cannot be sent, or the terminal is gone.
    pub fn suspend(&self) -> io::Result<()> {
        self.restorer.restore();
        let sent = kill_process_group(getpgrp(), Signal::TSTP);
        std::thread::sleep(STOP_TAKES);
        self.retake()?;
        self.restorer.tell_directory(true);
        Ok(sent?)
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        self.restorer.restore();
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // If the terminal is gone, the next read notices it.
        let _ = self.tty.retake();
    }
}

impl Restorer {
    /// Restores cursor, wrapping, bracketed paste, focus events, keyboard flags, title and directory, and sets the
    /// person's mode; of these only the directory if the terminal is not held. Errors are ignored: they mean that the
    /// terminal is gone.
    pub fn restore(&self) {
        // Also while the person's mode is set, as for a program that has the terminal.
        self.tell_directory(false);
        if !self.held.taken.load(Ordering::Acquire) {
            return;
        }
        // Without the lock: another thread that writes may hold it for ever by now.
        let mut output = Output { locked: false, ..Output::new() };
        if isatty(crate::platform::stdio::stdout()) && !self.held.plain.load(Ordering::Acquire) {
            let _ = output.write_all(UNDO);
            if self.held.keyboard_flags.swap(false, Ordering::AcqRel) {
                let _ = output.write_all(UNDO_KEYBOARD);
            }
            if let Some(undo) = self.held.title.lock().unwrap_or_else(PoisonError::into_inner).take() {
                let _ = output.write_all(&undo);
            }
        }
        self.restore_mode();
    }

    /// Tells that the terminal is in axi's directory, or again in the one before; nothing twice.
    fn tell_directory(&self, is_here: bool) {
        let mut directory = self.held.directory.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(told) = directory.as_mut().filter(|told| told.is_here != is_here) else { return };
        told.is_here = is_here;
        let bytes = if is_here { told.here.clone() } else { told.before.clone() };
        // A terminal that takes nothing must not keep the one who ends axi waiting for the lock.
        drop(directory);
        let _ = Output { locked: false, ..Output::new() }.write_all(&bytes);
    }

    fn restore_mode(&self) {
        // A process in the background would be stopped if it set the mode, which belongs to the foreground job.
        let foreground = tcgetpgrp(crate::platform::stdio::stdin()).is_ok_and(|group| group == getpgrp());
        if self.held.taken.swap(false, Ordering::AcqRel) && foreground {
            let _ = set_mode(&self.held.user);
        }
    }

    /// Makes a panic restore the terminal before its message is printed, so that the message can be read.
    pub fn install_panic_hook(&self) {
        let restorer = self.clone();
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restorer.restore();
            before(info);
        }));
    }
}

/// Returns axi's own mode, based on the person's: character size, speed, flow control and special keys stay.
fn baseline(user: &Termios) -> Termios {
    let mut mode = user.clone();
    mode.local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ISIG | LocalModes::IEXTEN);
    mode.input_modes
        .remove(InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR | InputModes::IXON | InputModes::ISTRIP);
    mode.output_modes.insert(OutputModes::OPOST | OutputModes::ONLCR);
    mode.special_codes[SpecialCodeIndex::VMIN] = 1;
    mode.special_codes[SpecialCodeIndex::VTIME] = 0;
    mode
}

fn set_mode(mode: &Termios) -> io::Result<()> {
    loop {
        match tcsetattr(crate::platform::stdio::stdin(), OptionalActions::Now, mode) {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

impl Size {
    /// Returns the terminal's size. A value that the terminal does not tell is taken from `columns` or `lines` (the
    /// variables of those names), and is 80 × 24 otherwise.
    pub fn of_terminal(columns: Option<&str>, lines: Option<&str>) -> Self {
        let told =
            [crate::platform::stdio::stdout(), crate::platform::stdio::stderr(), crate::platform::stdio::stdin()]
                .into_iter()
                .find_map(size_of)
                .unwrap_or(Self { columns: 0, rows: 0 });
        let choose = |told: u16, variable: Option<&str>, otherwise: u16| match told {
            0 => variable.and_then(|value| value.trim().parse().ok()).filter(|&it| it > 0).unwrap_or(otherwise),
            told => told,
        };
        Self { columns: choose(told.columns, columns, 80), rows: choose(told.rows, lines, 24) }
    }
}

/// Returns the width and the height of a cell in pixels; a common size if the terminal does not tell.
pub fn cell_pixels() -> (u32, u32) {
    let told = tcgetwinsize(crate::platform::stdio::stdout()).ok();
    let cell = |pixels: u16, cells: u16| u32::from(pixels).checked_div(u32::from(cells)).filter(|&size| size > 0);
    let width = told.and_then(|size| cell(size.ws_xpixel, size.ws_col));
    let height = told.and_then(|size| cell(size.ws_ypixel, size.ws_row));
    (width.unwrap_or(8), height.unwrap_or(16))
}

fn size_of(descriptor: BorrowedFd<'_>) -> Option<Size> {
    let size = tcgetwinsize(descriptor).ok()?;
    (size.ws_col > 0).then_some(Size { columns: size.ws_col, rows: size.ws_row })
}

/// Standard output without a buffer of its own; waits if the terminal is full and non-blocking, instead of failing.
#[derive(Debug)]
pub struct Output {
    descriptor: BorrowedFd<'static>,
    /// Whether each write takes the standard library's lock, so that nobody writes once a signal handler holds it.
    locked: bool,
}

impl Output {
    /// Makes a writer to standard output.
    pub fn new() -> Self {
        Self { descriptor: crate::platform::stdio::stdout(), locked: true }
    }
}

impl Default for Output {
    fn default() -> Self {
        Self::new()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _held = self.locked.then(|| io::stdout().lock());
        loop {
            match crate::platform::io::write(self.descriptor, bytes) {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                // Another program on the same terminal may have made it non-blocking.
                Err(Errno::AGAIN) => {
                    let mut descriptors = [PollFd::from_borrowed_fd(self.descriptor.as_fd(), PollFlags::OUT)];
                    match poll(&mut descriptors, None) {
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
