//! What a key does to the line as it will be when the key is handled. The line may be ahead of what was painted.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use reedline::{EditCommand, MotionTarget, ReedlineEvent};

use super::{LineMode, WORDS};
use crate::frontend::repl::line::mentions;

impl LineMode {
    /// Does what a key that takes ghost text or a row of the menu would do, were the line painted: reedline would
    /// take what fitted the line of the last paint.
    pub(super) fn complete_unpainted(&mut self, key: KeyEvent) -> Option<ReedlineEvent> {
        const NONE: KeyModifiers = KeyModifiers::NONE;
        const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
        const ALT: KeyModifiers = KeyModifiers::ALT;
        match (key.modifiers, key.code) {
            (NONE, KeyCode::Tab | KeyCode::Right) | (CONTROL, KeyCode::Char('f')) => {
                let otherwise = if key.code == KeyCode::Tab { ReedlineEvent::None } else { ReedlineEvent::Right };
                let Some(line) = self.known() else { return Some(otherwise) };
                let Some((start, text)) = (self.complete)(&line) else { return Some(otherwise) };
                let mut completed = line.get(..start)?.to_owned();
                completed.push_str(&text);
                self.state.pending().set_line(&completed);
                Some(ReedlineEvent::Multiple(vec![
                    ReedlineEvent::Edit(vec![
                        EditCommand::Erase(MotionTarget::Position(start)),
                        EditCommand::InsertString(text),
                    ]),
                    ReedlineEvent::Menu(WORDS.to_owned()),
                ]))
            }
            (NONE, KeyCode::End) | (CONTROL, KeyCode::Char('e')) => {
                Some(ReedlineEvent::Edit(vec![EditCommand::MoveToLineEnd { select: false }]))
            }
            (CONTROL | ALT, KeyCode::Right) | (ALT, KeyCode::Char('f')) => {
                self.known = false;
                Some(ReedlineEvent::Edit(vec![EditCommand::MoveWordRight { select: false }]))
            }
            (_, _) => None,
        }
    }

    /// Deletes an attached path as one block.
    pub(super) fn delete_block(&mut self, backwards: bool, fresh: bool) -> Option<ReedlineEvent> {
        let line = if fresh { self.state.line() } else { self.known()? };
        let state = self.state.lock();
        // Of a line that is known and not painted, the cursor is at the end.
        let cursor = if fresh { state.cursor } else { line.len() };
        let block = mentions(&line).into_iter().find(|mention| {
            let edge = if backwards { mention.range.end } else { mention.range.start };
            edge == cursor && line.get(mention.range.clone()).is_some_and(|text| state.attached.contains(text))
        })?;
        drop(state);
        let target = if backwards { block.range.start } else { block.range.end };
        if block.range.end == line.len() && backwards {
            self.next = line.get(..target).map(str::to_owned);
        }
        Some(ReedlineEvent::Edit(vec![EditCommand::Erase(MotionTarget::Position(target))]))
    }

    /// Notes what a key that edits the line makes of it.
    pub(super) fn note(&mut self, key: KeyEvent) {
        let typing = !self.is_vi_normal();
        let types = match (key.modifiers, key.code) {
            (KeyModifiers::NONE | KeyModifiers::SHIFT, KeyCode::Char(character)) if typing => Some(character),
            (KeyModifiers::ALT, KeyCode::Enter) | (KeyModifiers::CONTROL, KeyCode::Char('j')) => Some('\n'),
            (_, _) => None,
        };
        let erases =
            typing && (key.modifiers, key.code) == (KeyModifiers::NONE, KeyCode::Backspace) && !self.is_own(key);
        // Of other characters several are erased as one.
        let erases = erases && self.state.line().ends_with(|last: char| last.is_ascii());
        self.known &= types.is_some() || erases;
        if self.known {
            self.state.pending().change(|unsent| match types {
                Some(character) => unsent.line.push(character),
                None => drop(unsent.line.pop()),
            });
            self.painted = self.painted.min(self.state.line().len());
        }
        self.state.lock().browsing = false;
    }
}
