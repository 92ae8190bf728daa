//! The menu under the line: at most ten rows, as wide as the terminal; it disappears when there is nothing to
//! offer.
//!
//! It owns the source of its rows, and is registered with reedline as a *history* menu. reedline assumes that the
//! completer of any other menu may have printed something, and asks the terminal for the cursor's position at each
//! key (nushell/reedline#1130): a round trip that can be felt over ssh.

use std::cell::Cell;

use nu_ansi_term::Style;
use reedline::{Completer, Editor, Menu, MenuEvent, MenuSettings, Painter, Suggestion, UndoBehavior};

use crate::frontend::prompt::SIGN;
use crate::frontend::repl::line::{MenuView, Offer, Row, SharedState, Subject};
use crate::terminal::width::{beginning, ends, width};
use crate::terminal::{Theme, sanitize_line};

/// From this width on, descriptions have at least a third of the width.
const ROOMY: usize = 60;

/// Rows shown at once; fewer on a low terminal.
const ROWS: usize = 10;

/// Where the rows come from. Called once a paint while the menu is open.
pub(crate) trait Source: Send {
    /// Returns what fits the line at `cursor` (bytes), or `None` when the cursor is nowhere to complete.
    fn offer(&mut self, line: &str, cursor: usize) -> Option<Offer>;
}

/// The menu.
pub(crate) struct LineMenu {
    settings: MenuSettings,
    source: Box<dyn Source>,
    state: SharedState,
    theme: Theme,
    active: bool,
    stale: bool,
    offer: Option<Offer>,
    /// The rows as reedline wants to see them: it only asks how many there are.
    values: Vec<Suggestion>,
    selected: usize,
    first: usize,
    navigated: bool,
    height: usize,
    width: usize,
    /// Set when a row that asks for more was taken: the menu then opens again instead of closing.
    reopen: Cell<bool>,
}

impl LineMenu {
    /// Makes a closed menu.
    pub(crate) fn new(name: &str, source: Box<dyn Source>, state: SharedState, theme: &Theme) -> Self {
        Self {
            settings: MenuSettings::default().with_name(name).with_marker(SIGN),
            source,
            state,
            theme: *theme,
            active: false,
            stale: false,
            offer: None,
            values: Vec::new(),
            selected: 0,
            first: 0,
            navigated: false,
            height: ROWS,
            width: 80,
            reopen: Cell::new(false),
        }
    }

    fn rows(&self) -> &[Row] {
        self.offer.as_ref().map_or(&[], |offer| &offer.rows)
    }

    fn close(&mut self) {
        self.active = false;
        self.offer = None;
        self.values.clear();
        self.navigated = false;
        self.state.lock().menu = None;
    }

    fn step(&mut self, by: isize) {
        let count = self.rows().len();
        if count > 0 {
            self.selected = (self.selected + count).saturating_add_signed(by) % count;
            self.navigated = true;
        }
    }

    fn reload(&mut self) {
        let (line, cursor) = (self.state.line(), self.state.lock().cursor);
        let before = self.rows().get(self.selected).cloned();
        self.offer = self.source.offer(&line, cursor);
        let kept = before.and_then(|row| self.rows().iter().position(|other| other.value == row.value));
        self.selected = if self.navigated { kept.unwrap_or(0) } else { 0 };
        self.navigated &= kept.is_some();
        self.values = vec![Suggestion::default(); self.rows().len()];
    }

    fn publish(&self) {
        let mut state = self.state.lock();
        state.menu = self.offer.as_ref().and_then(|offer| {
            let row = offer.rows.get(self.selected)?;
            let (subject, exact, start) = (offer.subject, offer.exact, offer.span.start);
            Some(MenuView { subject, navigated: self.navigated, exact, start, more: row.more })
        });
    }

    fn shown(&self) -> usize {
        self.rows().len().min(self.height)
    }

    fn draw_row(&self, row: &Row, selected: bool, label_width: usize, color: bool) -> String {
        let marker = if selected { "› " } else { "  " };
        let label = ends(&clean(row.label.as_deref().unwrap_or(&row.value)), label_width);
        let padding = label_width.saturating_sub(width(&label)) + 2;
        let room = self.width.saturating_sub(2 + label_width + 2 + 1);
        let description = if room < 8 { String::new() } else { beginning(&clean(&row.description), room) };
        if !color {
            let line = format!("{marker}{label}{:padding$}{description}", "");
            return line.trim_end().to_owned();
        }
        let style = if selected { self.theme.accent.bold() } else { Style::new() };
        let mut line = style.paint(format!("{marker}{label}")).to_string();
        if !description.is_empty() {
            line.push_str(&" ".repeat(padding));
            line.push_str(&self.theme.dim.paint(description).to_string());
        }
        line
    }
}

/// Shows names from outside on one row: nothing commands the terminal, nothing is unseen.
fn clean(text: &str) -> String {
    let blanks: String =
        text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    sanitize_line(&blanks).into_owned()
}

impl Menu for LineMenu {
    fn settings(&self) -> &MenuSettings {
        &self.settings
    }

    fn is_active(&self) -> bool {
        // reedline repaints without a key only for a menu, so ghost text that has arrived asks for it through the
        // menu.
        self.active || self.state.lock().repaint
    }

    fn set_active(&mut self, active: bool) {
        self.active = active;
    }

    fn clear_input(&mut self) {}

    fn menu_event(&mut self, event: MenuEvent) {
        match event {
            MenuEvent::Activate(_) => {
                self.active = true;
                self.stale = true;
                self.navigated = false;
                self.selected = 0;
            }
            MenuEvent::Edit(_) => {
                self.stale = true;
                self.navigated = false;
            }
            MenuEvent::Deactivate => {
                self.close();
                if self.reopen.take() {
                    self.active = true;
                    self.stale = true;
                }
            }
            MenuEvent::NextElement | MenuEvent::MoveDown | MenuEvent::MoveRight => self.step(1),
            MenuEvent::PreviousElement | MenuEvent::MoveUp | MenuEvent::MoveLeft => self.step(-1),
            MenuEvent::NextPage => {
                let last = self.rows().len().saturating_sub(1);
                self.selected = (self.selected + self.height).min(last);
                self.navigated = true;
            }
            MenuEvent::PreviousPage => {
                self.selected = self.selected.saturating_sub(self.height);
                self.navigated = true;
            }
        }
    }

    fn can_quick_complete(&self) -> bool {
        false
    }

    fn can_partially_complete(&mut self, _: bool, _: &mut Editor, _: &mut dyn Completer) -> bool {
        false
    }

    fn update_values(&mut self, _editor: &mut Editor, _completer: &mut dyn Completer) {
        // Called when more rows have come, or ghost text; the paint that follows asks the source again.
        let ghost_text = std::mem::take(&mut self.state.lock().repaint);
        self.stale |= self.active || !ghost_text;
    }

    fn reset_position(&mut self) {
        self.selected = 0;
        self.first = 0;
    }

    fn update_working_details(&mut self, _editor: &mut Editor, _completer: &mut dyn Completer, painter: &Painter) {
        self.width = usize::from(painter.screen_width());
        self.height = ROWS.min(usize::from(painter.screen_height()) / 2).max(1);
        if std::mem::take(&mut self.stale) {
            self.reload();
        }
        if self.rows().is_empty() && !self.offer.as_ref().is_some_and(|offer| offer.pending) {
            self.close();
            return;
        }
        self.first = self.first.min(self.selected).max((self.selected + 1).saturating_sub(self.height));
        self.first = self.first.min(self.rows().len().saturating_sub(self.height));
        self.publish();
    }

    fn replace_in_buffer(&self, editor: &mut Editor) {
        let Some(offer) = &self.offer else { return };
        let Some(row) = offer.rows.get(self.selected) else { return };
        let span = offer.span.clone();
        if editor.get_buffer().get(span.clone()).is_none() {
            return;
        }
        editor.edit_buffer(
            |buffer| {
                buffer.replace_range(span.clone(), &row.value);
                buffer.set_insertion_point(span.start + row.value.len());
            },
            UndoBehavior::CreateUndoPoint,
        );
        if offer.subject == Subject::File && !row.more {
            self.state.lock().attached.insert(row.value.trim_end().to_owned());
        }
        self.reopen.set(row.more);
    }

    fn menu_required_lines(&self, _terminal_columns: u16) -> u16 {
        u16::try_from(self.shown()).unwrap_or(u16::MAX)
    }

    fn menu_string(&self, available_lines: u16, use_ansi_coloring: bool) -> String {
        let count = self.shown().min(usize::from(available_lines));
        let widest = self.rows().iter().map(|row| width(&clean(row.label.as_ref().unwrap_or(&row.value)))).max();
        let has_descriptions = self.rows().iter().any(|row| !row.description.is_empty());
        // One column stays free at the right: a row that fills the terminal leaves the cursor in limbo.
        let most = self.width.saturating_sub(3);
        // Two names that are cut after the same beginning look equal: in a narrow terminal names take precedence
        // over descriptions.
        let for_labels = if has_descriptions && self.width >= ROOMY { most * 2 / 3 } else { most };
        let label_width = widest.unwrap_or(0).min(for_labels);
        let rows = self.rows().iter().enumerate().skip(self.first).take(count);
        let drawn =
            rows.map(|(index, row)| self.draw_row(row, index == self.selected, label_width, use_ansi_coloring));
        drawn.collect::<Vec<_>>().join("\r\n")
    }

    fn min_rows(&self) -> u16 {
        u16::try_from(self.shown()).unwrap_or(u16::MAX)
    }

    fn get_values(&self) -> &[Suggestion] {
        &self.values
    }

    fn results_are_provisional(&self) -> bool {
        // Keys came after the rows were made: the rows fit another line.
        self.stale
    }

    fn is_awaiting_first_answer(&self) -> bool {
        self.rows().is_empty()
    }
}
