//! How far the turn is: what the agent is doing, for how long, and what a tool printed last. Composes the status
//! row and the row above it.

use std::io::Write;
use std::time::{Duration, Instant};

use super::explorers;
use super::keyboard::Keyboard;
use super::painter::Painter;
use super::tokens::Tokens;
use crate::agent::Explorer;
use crate::conversation::{Bill, Money};
use crate::frontend::words;
use crate::locale::word;
use crate::terminal::{FRAME, Line, Status, cut, sanitize_line, status_line};

/// The least time between two status rows: at most 20 a second.
const STATUS_STEP: Duration = Duration::from_millis(50);

/// A turn under way.
struct Turn {
    started: Instant,
    /// Whether axi itself runs the model.
    own: bool,
    /// What the agent is busy with, in the user's words.
    activity: String,
    tokens: Tokens,
    /// What it cost so far, where that is worth a line: what runs on this machine and has no price costs nothing.
    bill: Option<Bill>,
    /// The last line that the running tool printed.
    output: String,
    /// The sub-agents that run.
    explorers: Vec<Explorer>,
}

/// The turn that runs, if one does, and its status row as it was composed last.
#[derive(Default)]
pub(super) struct Progress {
    turn: Option<Turn>,
    row: Line,
    composed: Option<Instant>,
    /// What would change the row: typed keys, or anything else.
    keys: u64,
    changed: bool,
}

impl Progress {
    /// Begins a turn; `own` says whether axi itself runs the model.
    pub(super) fn start(&mut self, now: Instant, own: bool) {
        let turn = Turn {
            started: now,
            own,
            activity: String::new(),
            tokens: Tokens::default(),
            bill: None,
            output: String::new(),
            explorers: Vec::new(),
        };
        *self = Self { turn: Some(turn), ..Self::default() };
    }

    /// Ends the turn; tells how long it took.
    pub(super) fn end(&mut self, now: Instant) -> Option<Duration> {
        self.turn.take().map(|turn| now.saturating_duration_since(turn.started))
    }

    /// Counts the keys anew: another watch counts from zero.
    pub(super) const fn watch_anew(&mut self) {
        self.keys = 0;
    }

    /// Counts text towards the tokens.
    pub(super) fn arrived(&mut self, text: &str) {
        if let Some(turn) = &mut self.turn {
            turn.tokens.arrived(text);
        }
    }

    /// Takes what the provider says the message cost.
    pub(super) fn told(&mut self, tokens: u64) {
        if let Some(turn) = &mut self.turn {
            turn.tokens.told(tokens);
            self.changed = true;
        }
    }

    /// Takes what a request cost.
    pub(super) fn billed(&mut self, bill: Bill, local: bool) {
        let told = bill.cost().map_or(!local, |cost| cost > Money::default());
        if let Some(turn) = self.turn.as_mut().filter(|turn| told || turn.bill.is_some()) {
            turn.bill.get_or_insert_default().add(bill);
        }
    }

    /// What the turn cost so far, where that is worth a line.
    pub(super) fn bill(&self) -> Option<Bill> {
        self.turn.as_ref()?.bill
    }

    /// Says what the agent is busy with.
    pub(super) fn busy_with(&mut self, words: &str) {
        if let Some(turn) = &mut self.turn {
            self.changed |= turn.activity != words;
            words.clone_into(&mut turn.activity);
            turn.output.clear();
        }
    }

    /// Takes a line that the running tool printed.
    pub(super) fn printed(&mut self, line: &str) {
        if let Some(turn) = &mut self.turn {
            sanitize_line(line).trim().clone_into(&mut turn.output);
        }
    }

    /// A call has its result.
    pub(super) fn call_ended(&mut self, call_id: &str) {
        if let Some(turn) = &mut self.turn {
            turn.output.clear();
            turn.explorers.retain(|explorer| explorer.call_id != call_id);
        }
    }

    /// Takes down which sub-agents run; returns those that are new.
    pub(super) fn explore(&mut self, now: &[Explorer]) -> Vec<Explorer> {
        let Some(turn) = &mut self.turn else { return Vec::new() };
        let before = std::mem::replace(&mut turn.explorers, now.to_vec());
        now.iter().filter(|it| before.iter().all(|known| known.call_id != it.call_id)).cloned().collect()
    }

    /// Composes the row above the status row, where no text is open: what sub-agents do, or a tool's last line.
    pub(super) fn tail<W: Write>(&self, painter: &mut Painter<W>) -> Line {
        match &self.turn {
            Some(turn) if !turn.explorers.is_empty() => {
                let width = painter.screen().tail_columns();
                explorers::row(painter, &turn.explorers, width)
            }
            Some(turn) if !turn.output.is_empty() => {
                let line = Line::styled(format!("  {}", turn.output), painter.theme().dim);
                cut(&line, painter.width())
            }
            Some(_) | None => Line::new(),
        }
    }

    /// Tells when the status row is to be painted next; `None` where none is.
    pub(super) fn next(&self, keyboard: &Keyboard, now: Instant) -> Option<Instant> {
        self.turn.as_ref()?;
        let last = self.composed.unwrap_or(now);
        // Whether the row would change in more than the spinner's next frame.
        let is_old = self.changed || keyboard.version() != self.keys;
        Some(last + if is_old { STATUS_STEP } else { FRAME })
    }

    /// Composes the status row.
    pub(super) fn status<W: Write>(&mut self, painter: &mut Painter<W>, keyboard: &Keyboard, now: Instant) -> Line {
        let Some(turn) = &self.turn else { return Line::new() };
        if self.composed.is_some_and(|at| now < at + STATUS_STEP) {
            return self.row.clone();
        }
        let typed = keyboard.typed();
        self.keys = keyboard.version();
        let columns = painter.screen().status_columns();
        let (locale, theme) = (painter.locale(), painter.theme());
        let elapsed = now.saturating_duration_since(turn.started);
        let seconds = if elapsed.as_secs() == 0 { String::new() } else { words::whole_seconds(elapsed.as_secs()) };
        let tokens = match turn.tokens.count() {
            0 => String::new(),
            count => locale.count(word::status::TOKENS, count),
        };
        let queued = match typed.queue.len() {
            0 => String::new(),
            count => locale.with(word::status::Queued { count: &count.to_string() }),
        };
        let own = if turn.own { locale.text(word::status::OWN) } else { "" };
        // In print mode nobody can press the key.
        let stop = if keyboard.is_watched() { locale.text(word::status::STOP) } else { "" };
        let status = Status {
            elapsed,
            activity: &turn.activity,
            details: &[own, &seconds, &tokens, stop],
            typed: &typed.line,
            queued: &queued,
        };
        self.row = status_line(&status, theme, columns);
        self.composed = Some(now);
        self.changed = false;
        self.row.clone()
    }
}
