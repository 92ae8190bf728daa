//! Reading a line: what ends it, what was typed before it, and what happens to it while others need the screen.

use std::io;
use std::time::{Instant, SystemTime};

use crossterm::event::{Event, KeyCode, KeyModifiers};
use reedline::{EditCommand, Signal};

use super::bindings::{EDIT, MODE, PICTURE, SUSPEND};
use super::burst::{self, Burst};
use super::kick;
use super::line_editor::{Editor, ReadOutcome};
use super::outside;
use crate::frontend::prompt::columns;
use crate::frontend::repl::files::{NoPicture, picture_mention};
use crate::frontend::repl::line::{Ended, LateUp, is_long_paste, sanitise_paste};
use crate::terminal::cooked_lines;

impl Editor {
    /// Reads a line; it begins with what was typed before and not sent.
    ///
    /// Blocks until the line is ended. The terminal is in raw mode meanwhile, and afterwards in the mode it was in.
    ///
    /// # Errors
    /// When standard input is no terminal, or is gone.
    pub fn read(&mut self) -> io::Result<ReadOutcome> {
        self.history.refresh();
        self.prompt.width = columns();
        if let Some(suggestions) = self.suggestions() {
            suggestions.new_line();
        }
        {
            let mut state = self.state.lock();
            state.unhinted = None;
            state.late_up = LateUp::default();
        }
        let line = self.state.pending().line_for_editor();
        // What was set aside is on the line already, the cursor where it was.
        if line != self.reedline.current_buffer_contents() {
            self.replace_line(&line);
        }
        let typed = cooked_lines();
        if !typed.is_empty() {
            // Behind what is on the line already.
            let mut state = self.state.lock();
            state.leftover.insert(0, Event::Paste(line));
            state.leftover.extend(typed);
        }
        let outcome = self.read_signals();
        if let Ok(ReadOutcome::Line(_) | ReadOutcome::Interrupted | ReadOutcome::End | ReadOutcome::Help) = outcome
        {
            // The painted line is sent or given up: nothing of it is pending any more.
            self.state.pending().set_line("");
            self.state.pending().tell();
            self.state.lock().fresh = false;
        }
        outcome
    }

    fn read_signals(&mut self) -> io::Result<ReadOutcome> {
        loop {
            if kick::is_flooded() && self.reedline.current_buffer_contents().is_empty() {
                match burst::read() {
                    Burst::Nothing => {}
                    Burst::Paste(text) => self.replace_line(&text),
                    Burst::Keys(keys) => self.state.lock().leftover.extend(keys),
                }
            }
            let signal = match self.type_ahead() {
                Some(signal) => Ok(signal),
                None => self.read_line(),
            };
            if signal.is_err() && kick::is_flooded() {
                // The flood of input came while the terminal was asked for the cursor's position.
                continue;
            }
            let ended = self.state.lock().ended.take();
            match (signal?, ended) {
                (Signal::Success(_), Some(Ended::Help)) => return Ok(ReadOutcome::Help),
                (Signal::Success(_), Some(Ended::Interrupted)) | (Signal::CtrlC, _) => {
                    return Ok(ReadOutcome::Interrupted);
                }
                (Signal::Success(_), Some(Ended::End)) | (Signal::CtrlD, _) => return Ok(ReadOutcome::End),
                (Signal::Success(line), None | Some(Ended::Kept)) => {
                    if !line.trim().is_empty() {
                        return Ok(ReadOutcome::Line(self.pastes.expand(&line)));
                    }
                }
                (Signal::HostCommand(command), _) if command == EDIT => {
                    if let Some(failed) = self.edit_outside() {
                        // A message about the line is printed on rows of its own.
                        self.set_line_aside()?;
                        return Ok(failed);
                    }
                }
                (Signal::HostCommand(command), _) if command == PICTURE => {
                    if let Err(why) = self.attach_clipboard() {
                        self.set_line_aside()?;
                        return Ok(ReadOutcome::NoPicture(why));
                    }
                }
                // The line stays where it is: the next read paints it behind another prompt.
                (Signal::HostCommand(command), _) if command == MODE => return Ok(ReadOutcome::NextMode),
                (Signal::HostCommand(command), _) if command == SUSPEND => {
                    self.set_line_aside()?;
                    return Ok(ReadOutcome::Suspended);
                }
                (Signal::ExternalBreak(line), _) => {
                    self.set_line_aside()?;
                    return Ok(ReadOutcome::Broken(self.pastes.expand(&line)));
                }
                // Signal is non-exhaustive: an unknown one reads on.
                (_, _) => {}
            }
        }
    }

    fn read_line(&mut self) -> io::Result<Signal> {
        self.in_step.begins();
        let signal = self.reedline.read_line(&self.prompt);
        self.in_step.asked();
        signal
    }

    /// Notes when ESC stopped the turn: what looks like the late rest of an arrow key is no typing then.
    pub fn escaped(&mut self, at: Option<Instant>) {
        self.state.lock().escaped = at;
    }

    /// Removes ESC and Ctrl+C from the keys that were read along with the last line's Enter. Returns whether there
    /// was one: it was meant for what that line started.
    pub fn take_interrupt(&mut self) -> bool {
        let mut state = self.state.lock();
        let before = state.leftover.len();
        state.leftover.retain(|event| match event {
            Event::Key(key) => !matches!(
                (key.modifiers, key.code),
                (KeyModifiers::NONE, KeyCode::Esc) | (KeyModifiers::CONTROL, KeyCode::Char('c'))
            ),
            Event::Paste(_) | Event::Resize(..) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost => true,
        });
        state.leftover.len() < before
    }

    /// Puts keys that were read along with the last line's Enter onto the line; returns how it ended if they end it.
    fn type_ahead(&mut self) -> Option<Signal> {
        let mut keys = std::mem::take(&mut self.state.lock().leftover).into_iter();
        let mut text = String::new();
        while let Some(event) = keys.next() {
            match event {
                Event::Key(key) => match (key.modifiers, key.code) {
                    (KeyModifiers::NONE | KeyModifiers::SHIFT, KeyCode::Char(character)) => text.push(character),
                    (KeyModifiers::NONE, KeyCode::Backspace) => drop(text.pop()),
                    (KeyModifiers::CONTROL, KeyCode::Char('j')) => text.push('\n'),
                    (KeyModifiers::CONTROL, KeyCode::Char('c')) if text.is_empty() => return Some(Signal::CtrlC),
                    (KeyModifiers::CONTROL, KeyCode::Char('c' | 'u')) => text.clear(),
                    (KeyModifiers::CONTROL, KeyCode::Char('d')) if text.is_empty() => return Some(Signal::CtrlD),
                    (KeyModifiers::NONE, KeyCode::Enter) => {
                        self.state.lock().leftover = keys.collect();
                        self.replace_line(&text);
                        return self.send_at_once().ok();
                    }
                    (_, _) => {}
                },
                Event::Paste(pasted) => text.push_str(&pasted),
                Event::Resize(..) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost => {}
            }
        }
        if !text.is_empty() {
            self.replace_line(&text);
        }
        None
    }

    /// Shows the line under the prompt and ends it as Enter does.
    fn send_at_once(&mut self) -> io::Result<Signal> {
        self.rebuild(|reedline| reedline.with_immediately_accept(true));
        let signal = self.read_line();
        self.rebuild(|reedline| reedline.with_immediately_accept(false));
        signal
    }

    /// Finishes the rows of the line, so that others can write below them, and keeps the line for the next read.
    fn set_line_aside(&mut self) -> io::Result<()> {
        let line = self.reedline.current_buffer_contents().to_owned();
        let position = self.reedline.current_insertion_point();
        self.state.lock().ended = Some(Ended::Kept);
        let finished = self.send_at_once();
        self.state.lock().ended = None;
        let back = EditCommand::MoveToPosition { position, select: false };
        self.reedline.run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(line), back]);
        finished.map(drop)
    }

    fn replace_line(&mut self, text: &str) {
        let text = sanitise_paste(text);
        let block = if is_long_paste(&text) {
            self.pastes.keep(text.clone().into_owned(), &(self.paste_label)(&text))
        } else {
            None
        };
        let text = block.unwrap_or_else(|| text.into_owned());
        self.state.pending().set_line(&text);
        self.reedline.run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(text)]);
    }

    /// Has a text edited in the person's own editor; `None` where they have named none. An error names the editor and
    /// says why.
    pub(crate) fn edit_text(&mut self, text: &str) -> Option<Result<String, (String, String)>> {
        let editor = self.outside.clone()?;
        let edited = outside::edit(text, Some(&editor), &mut self.foreground);
        Some(edited.map_err(|failed| (failed.command, failed.error.to_string())))
    }

    /// Puts the clipboard's picture into the line, as a mention that is deleted as one.
    fn attach_clipboard(&mut self) -> Result<(), NoPicture> {
        let path = self.clipboard.picture(SystemTime::now())?;
        let mention = picture_mention(&path).ok_or(NoPicture::NotKept)?;
        self.state.lock().attached.insert(mention.clone());
        let before = self.reedline.current_buffer_contents();
        let blank = before[..self.reedline.current_insertion_point()].chars().next_back();
        let gap = if blank.is_none_or(char::is_whitespace) { "" } else { " " };
        self.reedline.run_edit_commands(&[EditCommand::InsertString(format!("{gap}{mention} "))]);
        Ok(())
    }

    fn edit_outside(&mut self) -> Option<ReadOutcome> {
        let line = self.pastes.expand(self.reedline.current_buffer_contents());
        match outside::edit(&line, self.outside.as_deref(), &mut self.foreground) {
            Ok(edited) if edited == line => None,
            Ok(edited) => {
                self.replace_line(&edited);
                None
            }
            Err(failed) => {
                Some(ReadOutcome::EditorFailed { command: failed.command, reason: failed.error.to_string() })
            }
        }
    }
}
