//! What a key does, where reedline's tables do not know enough: Enter, `?`, Ctrl+C, pastes, blocks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use reedline::{
    EditCommand, EditMode, MotionTarget, PromptEditMode, PromptViMode, ReedlineEvent, ReedlineRawEvent,
};

use super::bindings::{EDIT, HISTORY, WORDS};
use super::burst::{self, Burst};
use super::mention;
use super::menu::{MenuView, Subject};
use super::paste::{self, PasteStore};
use super::state::{Ended, SharedState};

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
    /// Ctrl+X was pressed.
    prefix: bool,
    interrupted: Option<Instant>,
    /// What was typed since the last paint.
    typed: String,
    /// Whether something else than typing happened since.
    moved: bool,
}

impl LineMode {
    /// Wraps reedline's mode.
    pub(super) fn new(
        inner: Box<dyn EditMode>,
        state: SharedState,
        pastes: PasteStore,
        paste_label: Arc<dyn Fn(&str) -> String + Send + Sync>,
    ) -> Self {
        Self {
            inner,
            state,
            pastes,
            paste_label,
            burst: burst::read,
            prefix: false,
            interrupted: None,
            typed: String::new(),
            moved: false,
        }
    }

    fn is_vi_normal(&self) -> bool {
        matches!(self.inner.edit_mode(), PromptEditMode::Vi(PromptViMode::Normal | PromptViMode::Visual))
    }

    /// The menu as it is on the screen, if the screen is up to date.
    fn menu(&self, fresh: bool) -> Option<MenuView> {
        if fresh { self.state.lock().menu.clone() } else { None }
    }

    fn is_empty(&self) -> bool {
        self.state.lock().line.is_empty() && self.typed.is_empty() && !self.moved
    }

    /// Ends the line without sending it. It goes the way of a sent line, since only there the ghost text is taken
    /// off the screen.
    fn end(&self, ended: Ended) -> ReedlineEvent {
        self.state.lock().ended = Some(ended);
        send()
    }

    fn insertion(&self, text: &str) -> ReedlineEvent {
        let text = paste::sanitise(text);
        let block = if paste::is_long(&text) {
            self.pastes.keep(text.clone().into_owned(), &(self.paste_label)(&text))
        } else {
            None
        };
        ReedlineEvent::Edit(vec![EditCommand::InsertString(block.unwrap_or_else(|| text.into_owned()))])
    }

    fn enter(&mut self, fresh: bool) -> ReedlineEvent {
        if let Some(menu) = self.menu(fresh) {
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
        if self.continues(fresh) {
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

    /// Puts a paste that came as keys into the line: what was typed of it is taken back first, so that it is one.
    fn insert_burst(&self, rest: &str) -> ReedlineEvent {
        let whole = format!("{}\n{rest}", self.typed);
        if self.moved || !paste::is_long(&whole) {
            return self.insertion(&format!("\n{rest}"));
        }
        let count = self.typed.chars().count();
        let mut commands = vec![EditCommand::Backspace; count];
        if let ReedlineEvent::Edit(insertion) = self.insertion(&whole) {
            commands.extend(insertion);
        }
        ReedlineEvent::Edit(commands)
    }

    /// Tells whether a backslash at the end asks for another row.
    fn continues(&self, fresh: bool) -> bool {
        let state = self.state.lock();
        let at_end = state.cursor == state.line.len();
        let before = if fresh { &state.line } else { &self.typed };
        at_end && before.ends_with('\\') && !before.ends_with("\\\\")
    }

    /// Deletes an attached path as one block.
    fn delete_block(&self, backwards: bool) -> Option<ReedlineEvent> {
        let state = self.state.lock();
        let block = mention::mentions(&state.line).into_iter().find(|mention| {
            let edge = if backwards { mention.range.end } else { mention.range.start };
            edge == state.cursor
                && state.line.get(mention.range.clone()).is_some_and(|text| state.attached.contains(text))
        })?;
        let target = if backwards { block.range.start } else { block.range.end };
        Some(ReedlineEvent::Edit(vec![EditCommand::Erase(MotionTarget::Position(target))]))
    }

    fn special(&mut self, key: KeyEvent, fresh: bool) -> Option<ReedlineEvent> {
        const NONE: KeyModifiers = KeyModifiers::NONE;
        const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
        if std::mem::take(&mut self.prefix) && key.modifiers == CONTROL && key.code == KeyCode::Char('e') {
            return Some(ReedlineEvent::ExecuteHostCommand(EDIT.to_owned()));
        }
        match (key.modifiers, key.code) {
            (CONTROL, KeyCode::Char('x')) => {
                self.prefix = true;
                Some(ReedlineEvent::None)
            }
            (CONTROL, KeyCode::Char('c')) => {
                let twice = self.interrupted.replace(Instant::now()).is_some_and(|last| last.elapsed() < TWICE);
                Some(match (self.is_empty(), twice) {
                    (false, _) => ReedlineEvent::Multiple(vec![
                        ReedlineEvent::Esc,
                        ReedlineEvent::Edit(vec![EditCommand::Clear]),
                    ]),
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
                Some(self.enter(fresh))
            }
            (NONE, KeyCode::Backspace) if fresh && !self.is_vi_normal() => self.delete_block(true),
            (NONE, KeyCode::Delete) if fresh => self.delete_block(false),
            (NONE, KeyCode::Esc) => {
                let mut state = self.state.lock();
                if fresh && let Some(menu) = state.menu.take() {
                    state.dismissed = Some(menu.start);
                } else {
                    state.unhinted = Some(state.line.clone());
                }
                None
            }
            (CONTROL, KeyCode::Char('r')) => {
                let searching = self.menu(fresh).is_some_and(|menu| menu.subject == Subject::History);
                (!searching).then(|| {
                    ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::Menu(HISTORY.to_owned())])
                })
            }
            (_, _) => None,
        }
    }

    fn note(&mut self, key: KeyEvent) {
        match (key.modifiers, key.code) {
            (KeyModifiers::NONE | KeyModifiers::SHIFT, KeyCode::Char(character)) => self.typed.push(character),
            (_, _) => self.moved = true,
        }
        let browsing = matches!(key.code, KeyCode::Up | KeyCode::Down);
        self.state.lock().browsing = browsing;
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

impl EditMode for LineMode {
    fn parse_event(&mut self, raw: ReedlineRawEvent) -> ReedlineEvent {
        let fresh = std::mem::take(&mut self.state.lock().fresh);
        if fresh {
            self.typed.clear();
            self.moved = false;
        }
        let event = match Event::from(raw) {
            Event::Paste(text) => {
                self.moved = true;
                return self.insertion(&text);
            }
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                if let Some(event) = self.special(key, fresh) {
                    self.moved = true;
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

    fn edit_mode(&self) -> PromptEditMode {
        self.inner.edit_mode()
    }
}

#[cfg(test)]
#[path = "edit_mode_tests.rs"]
mod tests;
