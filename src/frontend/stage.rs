//! The terminal, taken for a conversation: what a REPL and a hand-off stand on.

use std::rc::Rc;

use tokio::runtime::Runtime;

use super::dialog::Terminal;
use super::signals::Signals;
use crate::terminal::Tty;

/// A terminal that is ours, and is given back whatever happens: signals and a panic restore it.
pub struct Stage {
    /// The terminal.
    pub tty: Rc<Tty>,
    /// Signals.
    pub signals: Signals,
    /// Questions outside a turn.
    pub terminal: Terminal,
    /// Runs turns.
    pub runtime: Rc<Runtime>,
    /// Whether the terminal is at the other end of an ssh connection.
    pub remote: bool,
    /// Whether the terminal edits lines itself and gets no escape sequence.
    pub plain: bool,
    /// Whether the terminal may be asked to copy text.
    pub copies: bool,
}

impl Stage {
    /// Takes the terminal; `color` says whether questions are coloured.
    ///
    /// # Errors
    /// The terminal cannot be opened or its modes cannot be read.
    pub fn take(runtime: Rc<Runtime>, remote: bool, plain: bool, color: bool) -> std::io::Result<Self> {
        let tty = Rc::new(Tty::take()?);
        tty.keep_plain(plain);
        tty.restorer().install_panic_hook();
        let signals = Signals::start(Some(tty.restorer()));
        let terminal = Terminal { color, plain, tty: Some(Rc::clone(&tty)), signals: signals.clone() };
        Ok(Self { tty, signals, terminal, runtime, remote, plain, copies: !plain })
    }
}
