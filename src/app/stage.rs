//! The terminal, taken for a conversation: what a REPL and a hand-off stand on.

use std::rc::Rc;

use super::Base;
use super::setup::Failed;
use crate::command::Problem;
use crate::frontend::approve::Terminal;
use crate::frontend::exit::Exit;
use crate::frontend::signals::Signals;
use crate::terminal::{Depth, Tty};

/// A terminal that is ours, and is given back whatever happens: signals and a panic restore it.
pub(super) struct Stage {
    pub(super) tty: Rc<Tty>,
    pub(super) signals: Signals,
    /// Questions outside of a turn.
    pub(super) terminal: Terminal,
    /// Whether it gets no escape sequence.
    pub(super) plain: bool,
}

impl Stage {
    /// Takes the terminal.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn take(base: &Base) -> Result<Self, Failed> {
        let tty = Tty::take().map_err(|error| {
            let what = base.locale.with("error.terminal", &[("cause", &error.to_string())]);
            Failed::new(Problem { what, hint: String::new() }, Exit::Failed)
        })?;
        let tty = Rc::new(tty);
        let plain = base.linear();
        tty.keep_plain(plain);
        tty.restorer().install_panic_hook();
        let signals = Signals::start(Some(tty.restorer()));
        let terminal = Terminal {
            color: base.depth() >= Depth::Ansi,
            plain,
            tty: Some(Rc::clone(&tty)),
            signals: signals.clone(),
        };
        Ok(Self { tty, signals, terminal, plain })
    }
}
