//! What a key does, where reedline's tables do not know enough: Enter, `?`, Ctrl+C, pastes, blocks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use reedline::{
    EditCommand, EditMode, MotionTarget, PromptEditMode, PromptViMode, ReedlineEvent, ReedlineRawEvent,
};

use super::bindings::{self, EDIT, HISTORY, KeyBinding, WORDS};
use super::burst::{self, Burst};
use super::escape::{Escape, Followed, Late};
use super::in_step::InStep;
use crate::frontend::repl::files::dropped_mentions;
use crate::frontend::repl::line::{
    Ended, MenuView, PasteStore, SharedState, Subject, is_long_paste, mentions, sanitise_paste,
};

mod unpainted;

/// A second Ctrl+C within this time leaves.
const TWICE: Duration = Duration::from_secs(1);

/// The edit mode of one editor, around reedline's emacs or vi.
pub(super) struct LineMode {
    inner: Box<dyn EditMode>,
    state: SharedState,
    pastes: PasteStore,
    paste_label: Arc<dyn Fn(&str) -> String + Send + Sync>,
    /// Reads what else is waiting; a seam for tests.
    burst: fn() -> Burst,
    /// Keys that the person has bound: they do only what they are bound to.
    own: Vec<KeyBinding>,
    /// Ctrl+X was pressed.
    prefix: bool,
    interrupted: Option<Instant>,
    /// Whether the pending line is what it will be when this key is handled, the cursor at its end.
    known: bool,
    /// The same after this key, where it is not what the key types.
    next: Option<String>,
    /// The bytes of it that are painted.
    painted: usize,
    /// The menu as painted, as long as the keys since only moved in it.
    view: Option<MenuView>,
    /// The same after this key.
    next_view: Option<MenuView>,
    /// Tells what Tab does to a line that is not painted yet: from where on it is replaced, and by what.
    complete: Complete,
    escape: Escape,
    /// Whether the last ESC ended vi's inserting.
    left_inserting: bool,
    in_step: InStep,
}

/// See [`LineMode`].
pub(super) type Complete = Box<dyn FnMut(&str) -> Option<(usize, String)> + Send>;

impl LineMode {
    /// Wraps reedline's mode.
    pub(super) fn new(
        inner: Box<dyn EditMode>,
        state: SharedState,
        pastes: PasteStore,
        paste_label: Arc<dyn Fn(&str) -> String + Send + Sync>,
        complete: Complete,
    ) -> Self {
        Self {
            inner,
            state,
            pastes,
            paste_label,
            burst: burst::read,
            own: Vec::new(),
            prefix: false,
            interrupted: None,
            known: false,
            next: None,
            painted: 0,
            view: None,
            next_view: None,
            complete,
            escape: Escape::new(Duration::ZERO),
            left_inserting: false,
            in_step: InStep::default(),
        }
    }

    /// Believes a lone ESC after this long.
    #[must_use]
    pub(super) fn with_escape_wait(mut self, wait: Duration) -> Self {
        self.escape = Escape::new(wait);
        self
    }

    /// Tells when reedline will ask the terminal where the cursor is.
    #[must_use]
    pub(super) fn with_in_step(mut self, in_step: InStep) -> Self {
        self.in_step = in_step;
        self
    }

    /// Leaves the person's own keys alone.
    #[must_use]
    pub(super) fn with_own_keys(mut self, own: Vec<KeyBinding>) -> Self {
        self.own = own;
        self
    }

    fn is_own(&self, key: KeyEvent) -> bool {
        self.own.iter().any(|own| (own.modifiers, own.code) == (key.modifiers, key.code))
    }

    fn is_vi_normal(&self) -> bool {
        matches!(self.inner.edit_mode(), PromptEditMode::Vi(PromptViMode::Normal | PromptViMode::Visual))
    }

    fn is_empty(&self) -> bool {
        self.known && self.state.pending().look(|unsent| unsent.line.is_empty())
    }

    /// The line as it will be when this key is handled, if that is known.
    fn known(&self) -> Option<String> {
        self.known.then(|| self.state.line())
    }

    /// Ends the line without sending it. It goes the way of a sent line, since only there the ghost text is taken
    /// off the screen.
    fn end(&self, ended: Ended) -> ReedlineEvent {
        self.state.lock().ended = Some(ended);
        send()
    }

    fn insertion(&self, text: &str) -> ReedlineEvent {
        let text = sanitise_paste(text);
        let block = if is_long_paste(&text) {
            self.pastes.keep(text.clone().into_owned(), &(self.paste_label)(&text))
        } else {
            None
        };
        ReedlineEvent::Edit(vec![EditCommand::InsertString(block.unwrap_or_else(|| text.into_owned()))])
    }

    fn enter(&mut self) -> ReedlineEvent {
        if let Some(menu) = &self.view {
            let take = match menu.subject {
                Subject::History => true,
                Subject::Command | Subject::File => menu.navigated || !menu.exact,
                Subject::Argument => menu.navigated,
            };
            let and_send = matches!(menu.subject, Subject::Command | Subject::Argument) && !menu.more;
            if take && and_send {
                return ReedlineEvent::Multiple(vec![ReedlineEvent::MenuAccept, send()]);
            }
            if take {
                return ReedlineEvent::MenuAccept;
            }
        }
        let known = self.known();
        let goes_on = known.as_ref().and_then(|line| line.strip_suffix('\\'));
        if let Some(line) = goes_on.filter(|line| !line.ends_with('\\')) {
            self.next = Some(format!("{line}\n"));
            return ReedlineEvent::Edit(vec![EditCommand::Backspace, EditCommand::InsertNewline]);
        }
        match (self.burst)() {
            Burst::Nothing => send(),
            Burst::Paste(rest) => self.insert_burst(&rest),
            Burst::Keys(events) => {
                self.state.lock().leftover = events;
                send()
            }
        }
    }

    /// Puts a paste that came as keys into the line. If it is long, its first line, which was typed into the line as keys, is
    /// removed first, so that the whole paste is one insertion.
    fn insert_burst(&self, rest: &str) -> ReedlineEvent {
        let known = self.known();
        let typed = known.as_ref().and_then(|line| line.get(self.painted..));
        let whole = format!("{}\n{rest}", typed.unwrap_or_default());
        if typed.is_none() || !is_long_paste(&whole) {
            return self.insertion(&format!("\n{rest}"));
        }
        let mut commands = vec![EditCommand::Erase(MotionTarget::Position(self.painted))];
        if let ReedlineEvent::Edit(insertion) = self.insertion(&whole) {
            commands.extend(insertion);
        }
        ReedlineEvent::Edit(commands)
    }

    fn special(&mut self, key: KeyEvent, fresh: bool) -> Option<ReedlineEvent> {
        const NONE: KeyModifiers = KeyModifiers::NONE;
        const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
        if std::mem::take(&mut self.prefix) && key.modifiers == CONTROL && key.code == KeyCode::Char('e') {
            return Some(bindings::leave(EDIT));
        }
        match (key.modifiers, key.code) {
            (NONE, KeyCode::Up | KeyCode::Down) => {
                let up = key.code == KeyCode::Up;
                let (in_menu, in_history) = if up {
                    (ReedlineEvent::MenuUp, ReedlineEvent::Up)
                } else {
                    (ReedlineEvent::MenuDown, ReedlineEvent::Down)
                };
                if self.is_vi_normal() {
                    return None;
                }
                if let Some(mut view) = self.view.take() {
                    // Which row is selected now, the next paint will tell.
                    (view.navigated, view.more) = (true, true);
                    self.next_view = Some(view);
                    return Some(in_menu);
                }
                self.state.lock().browsing = true;
                // A menu that no paint has shown yet would take the key.
                Some(if fresh { in_history } else { ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, in_history]) })
            }
            (CONTROL, KeyCode::Char('x')) => {
                self.prefix = true;
                Some(ReedlineEvent::None)
            }
            (CONTROL, KeyCode::Char('c')) => {
                let twice = self.interrupted.replace(Instant::now()).is_some_and(|last| last.elapsed() < TWICE);
                Some(match (self.is_empty(), twice) {
                    (false, _) => {
                        self.next = Some(String::new());
                        let clear = ReedlineEvent::Edit(vec![EditCommand::Clear]);
                        ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, clear])
                    }
                    (true, true) => self.end(Ended::End),
                    (true, false) => self.end(Ended::Interrupted),
                })
            }
            (CONTROL, KeyCode::Char('d')) if self.is_empty() => Some(self.end(Ended::End)),
            (NONE, KeyCode::Char('?')) if self.is_empty() && !self.is_vi_normal() => {
                self.state.lock().ended = Some(Ended::Help);
                Some(ReedlineEvent::Multiple(vec![ReedlineEvent::Edit(vec![EditCommand::InsertChar('?')]), send()]))
            }
            (NONE, KeyCode::Enter) => {
                // Vi goes back to inserting.
                let _ = ReedlineRawEvent::try_from(Event::Key(key)).map(|raw| self.inner.parse_event(raw));
                Some(self.enter())
            }
            (NONE, KeyCode::Backspace) if !self.is_vi_normal() => self.delete_block(true, fresh),
            (NONE, KeyCode::Delete) if fresh => self.delete_block(false, fresh),
            (NONE, KeyCode::Esc) => {
                let known = self.known();
                let mut state = self.state.lock();
                if let Some(menu) = &self.view {
                    state.dismissed = Some(menu.start);
                    state.menu = None;
                } else {
                    state.unhinted = known;
                }
                None
            }
            (CONTROL, KeyCode::Char('r')) => {
                let searching = self.view.as_ref().is_some_and(|menu| menu.subject == Subject::History);
                (!searching).then(|| {
                    ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::Menu(HISTORY.to_owned())])
                })
            }
            (_, _) => None,
        }
    }
}

/// Sends the line, without what the menu would put into it.
fn send() -> ReedlineEvent {
    ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::Submit])
}

/// Tells whether an edit may change what the menu has to show.
fn changes_word(command: &EditCommand) -> bool {
    matches!(
        command,
        EditCommand::InsertChar(_)
            | EditCommand::Backspace
            | EditCommand::Delete
            | EditCommand::BackspaceWord
            | EditCommand::DeleteWord
            | EditCommand::CutWordLeft
            | EditCommand::CutWordRight
            | EditCommand::Erase(_)
            | EditCommand::Undo
            | EditCommand::Redo
    )
}

impl LineMode {
    /// Handles ESC when it is that, else the key it is the beginning of.
    fn escape(&mut self, key: KeyEvent) -> ReedlineEvent {
        let after = match self.escape.follow() {
            Followed::Key(whole) => return self.handle(Event::Key(whole)),
            Followed::Apart(after) => after,
        };
        self.left_inserting = matches!(self.inner.edit_mode(), PromptEditMode::Vi(PromptViMode::Insert));
        self.escape.believe(Instant::now());
        let mut events = vec![self.handle(Event::Key(key))];
        events.extend(after.into_iter().map(|event| self.unless_late(event)));
        one_event(events)
    }

    /// Handles an event, which may be the late rest of a sequence whose ESC was taken for the key: that is then taken
    /// back out of the line, and the key it belongs to handled.
    fn unless_late(&mut self, event: Event) -> ReedlineEvent {
        let Event::Key(key) = event else { return self.handle(event) };
        if let Some(at) = self.state.lock().escaped.take() {
            self.escape.believe(at);
        }
        // In vi's normal mode the characters of a sequence would be commands.
        let held = self.is_vi_normal();
        match self.escape.late(key, Instant::now()) {
            Late::Part if held => ReedlineEvent::None,
            Late::Part => self.handle(event),
            Late::Own(before) => {
                let before = if held { before } else { String::new() };
                let keys =
                    before.chars().map(|character| KeyEvent::new(KeyCode::Char(character), KeyModifiers::NONE));
                one_event(keys.chain([key]).map(|key| self.handle(Event::Key(key))).collect())
            }
            Late::Ends(whole, _) if held => {
                let insert = KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE);
                let back = self.left_inserting.then_some(insert);
                one_event(back.into_iter().chain([whole]).map(|key| self.handle(Event::Key(key))).collect())
            }
            Late::Ends(whole, typed) => {
                self.state.lock().fresh = false;
                self.known = false;
                let taken_back = ReedlineEvent::Edit(vec![EditCommand::Backspace; typed]);
                one_event(vec![taken_back, self.handle(Event::Key(whole))])
            }
        }
    }

    fn handle(&mut self, event: Event) -> ReedlineEvent {
        let fresh = std::mem::take(&mut self.state.lock().fresh);
        if fresh {
            self.painted = self.state.pending().look(|unsent| unsent.line.len());
            let state = self.state.lock();
            self.known = state.cursor == self.painted;
            self.view.clone_from(&state.menu);
        }
        let event = match event {
            Event::Paste(text) => {
                self.known = false;
                if let Some(written) = dropped_mentions(&text) {
                    let mut state = self.state.lock();
                    let found = mentions(&written);
                    state.attached.extend(found.into_iter().map(|mention| written[mention.range].to_owned()));
                    drop(state);
                    return ReedlineEvent::Edit(vec![EditCommand::InsertString(written)]);
                }
                return self.insertion(&text);
            }
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                let own = self.is_own(key);
                let special = if own { None } else { self.special(key, fresh) };
                self.view = self.next_view.take();
                if let Some(event) = special {
                    let next = self.next.take();
                    self.known = next.is_some();
                    self.painted = self.painted.min(next.as_ref().map_or(0, String::len));
                    if let Some(line) = next {
                        self.state.pending().set_line(&line);
                    }
                    return event;
                }
                if !fresh
                    && !own
                    && let Some(event) = self.complete_unpainted(key)
                {
                    return event;
                }
                self.note(key);
                Event::Key(key)
            }
            other @ (Event::Resize(..) | Event::FocusGained | Event::FocusLost) => {
                // The screen changes, the line does not.
                self.state.lock().fresh = fresh;
                other
            }
            other @ (Event::Key(_) | Event::Mouse(_)) => other,
        };
        let Ok(raw) = ReedlineRawEvent::try_from(event) else { return ReedlineEvent::None };
        match self.inner.parse_event(raw) {
            ReedlineEvent::Edit(commands) if commands.iter().any(changes_word) => {
                ReedlineEvent::Multiple(vec![ReedlineEvent::Edit(commands), ReedlineEvent::Menu(WORDS.to_owned())])
            }
            event => event,
        }
    }
}

impl LineMode {
    /// Presses ↑ again, before what an event that is no key does, where an answer has come.
    fn with_late_up(&mut self, does: ReedlineEvent) -> ReedlineEvent {
        let mut state = self.state.lock();
        let due = state.late_up.take_due();
        if due == 0 {
            return does;
        }
        state.fresh = false;
        drop(state);
        (self.known, self.view) = (false, None);
        ReedlineEvent::Multiple([vec![ReedlineEvent::PreviousHistory; due], vec![does]].concat())
    }
}

/// Joins two events into one that does both in order.
fn one_event(mut events: Vec<ReedlineEvent>) -> ReedlineEvent {
    if events.len() == 1 { events.pop().unwrap_or(ReedlineEvent::None) } else { ReedlineEvent::Multiple(events) }
}

impl EditMode for LineMode {
    fn parse_event(&mut self, raw: ReedlineRawEvent) -> ReedlineEvent {
        let mut event = Event::from(raw);
        if let Event::Resize(columns, rows) = event {
            // The prompt alone is one row.
            let is_one_row = self.state.pending().look(|unsent| unsent.line.is_empty());
            let (columns, rows) =
                if is_one_row { (columns, rows) } else { self.in_step.still_size((columns, rows)) };
            self.in_step.is_sized((columns, rows));
            self.in_step.asks();
            event = Event::Resize(columns, rows);
        }
        let presses = match event {
            Event::Key(key) => key.kind != KeyEventKind::Release,
            Event::Paste(_) => true,
            Event::Resize(..) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost => false,
        };
        let interrupts = matches!(event, Event::Key(key) if key.modifiers == KeyModifiers::CONTROL && key.code == KeyCode::Char('c'));
        if presses && !interrupts {
            self.interrupted = None;
        }
        let does = match event {
            Event::Key(key)
                if key.code == KeyCode::Esc
                    && key.modifiers.is_empty()
                    && key.kind != KeyEventKind::Release
                    && !self.is_own(key) =>
            {
                self.escape(key)
            }
            event => self.unless_late(event),
        };
        if presses {
            self.state.lock().late_up.pressed(&does);
            return does;
        }
        self.with_late_up(does)
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.inner.edit_mode()
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
