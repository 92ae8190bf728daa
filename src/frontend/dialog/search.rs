//! A list too long for digits: letters narrow it, arrows choose in it.
//!
//! dialoguer's own draws over what stands above where it begins on the first row, counts bytes of an item for cells,
//! and knows neither Ctrl+D nor Ctrl+Z.

use std::borrow::Cow;
use std::fmt::Write as _;

use dialoguer::theme::Theme;
use fuzzy_matcher::FuzzyMatcher as _;
use fuzzy_matcher::skim::SkimMatcherV2;

use super::open::{Dialog, NoChoice, add, one_row};
use crate::terminal::width::{ends, width as width_of};
use crate::terminal::{Press, sanitize_line};

/// At most so many items are seen at once.
const MOST_SEEN: usize = 12;

/// Tells more of the item at a place, in a few rows.
pub(super) type Preview<'a> = &'a dyn Fn(usize) -> Vec<String>;

/// How many rows of a preview are shown.
const PREVIEWED: usize = 2;

/// A list that is searched.
pub(super) struct Search<'a> {
    question: &'a str,
    items: &'a [String],
    /// What is told of the item that Enter takes, in a row each.
    preview: Option<Preview<'a>>,
    /// So many items are seen at once.
    seen: usize,
    query: String,
    /// Indices of the items that match, best first.
    found: Vec<usize>,
    /// Which of those Enter takes.
    chosen: usize,
    matcher: SkimMatcherV2,
}

impl<'a> Search<'a> {
    /// Makes a list on a terminal of `rows` rows.
    pub(super) fn new(question: &'a str, items: &'a [String], rows: usize, preview: Option<Preview<'a>>) -> Self {
        let below = if preview.is_some() { PREVIEWED } else { 0 };
        Self {
            preview,
            question,
            items,
            seen: MOST_SEEN.min(rows.saturating_sub(3 + below)).max(1),
            query: String::new(),
            found: (0..items.len()).collect(),
            chosen: 0,
            matcher: SkimMatcherV2::default().ignore_case(),
        }
    }

    fn narrow(&mut self) {
        let score = |index: usize| self.matcher.fuzzy_match(&self.items[index], &self.query);
        let mut found: Vec<(i64, usize)> =
            (0..self.items.len()).filter_map(|index| Some((score(index)?, index))).collect();
        // Stable: equals stay in the order of the list.
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        self.found = found.into_iter().map(|(_, index)| index).collect();
        self.chosen = 0;
    }
}

/// An item whose name, which two blanks part from what is said of it, is too wide for a row: its beginning and its end.
fn name_whole(item: &str, room: usize) -> Cow<'_, str> {
    let name = item.split("  ").next().unwrap_or(item);
    if width_of(name) <= room { Cow::Borrowed(item) } else { Cow::Owned(ends(name, room)) }
}

impl Dialog for Search<'_> {
    type Answer = usize;

    fn frame(&self, theme: &dyn Theme, columns: usize) -> String {
        let mut frame = String::new();
        let room = columns.saturating_sub(1);
        // The marks of the theme and its cursor take seven cells.
        let question = one_row(self.question, room.saturating_sub(7 + width_of(&self.query)).max(8));
        add(&mut frame, |text| theme.format_fuzzy_select_prompt(text, &question, &self.query, self.query.len()));
        let first = (self.chosen + 1).saturating_sub(self.seen);
        for (at, index) in self.found.iter().enumerate().skip(first).take(self.seen) {
            let item = one_row(&name_whole(&self.items[*index], room.saturating_sub(2)), room.saturating_sub(2));
            let (active, marked) = (at == self.chosen, !self.query.is_empty());
            add(&mut frame, |text| {
                theme.format_fuzzy_select_prompt_item(text, &item, active, marked, &self.matcher, &self.query)
            });
        }
        let hidden = self.found.len().saturating_sub(self.seen);
        if hidden > 0 {
            // Writing to a String cannot fail.
            let _ = writeln!(frame, "  {}/{}", self.chosen + 1, self.found.len());
        }
        let chosen = self.found.get(self.chosen).zip(self.preview);
        for row in chosen.into_iter().flat_map(|(index, preview)| preview(*index)).take(PREVIEWED) {
            let _ = writeln!(frame, "  {}", one_row(&sanitize_line(&row), room.saturating_sub(2)));
        }
        frame
    }

    fn take(&mut self, press: Press) -> Option<Result<usize, NoChoice>> {
        let count = self.found.len().max(1);
        match press {
            Press::Up => self.chosen = (self.chosen + count - 1) % count,
            Press::Down => self.chosen = (self.chosen + 1) % count,
            Press::Enter => return self.found.get(self.chosen).map(|index| Ok(*index)),
            Press::Escape => return Some(Err(NoChoice::Escaped)),
            Press::End if self.query.is_empty() => return Some(Err(NoChoice::Escaped)),
            Press::Interrupt | Press::Gone => return Some(Err(NoChoice::Interrupted)),
            Press::Backspace => {
                self.query.pop();
                self.narrow();
            }
            Press::DeleteLine => {
                self.query.clear();
                self.narrow();
            }
            Press::Character(character) if !character.is_control() => {
                self.query.push(character);
                self.narrow();
            }
            Press::Character(_) | Press::End | Press::Suspend => {}
        }
        None
    }
}
