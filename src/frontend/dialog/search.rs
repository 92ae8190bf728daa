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
    /// The details of the selected item, a row each.
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
        // Each word has to be there, in whatever order.
        let words: Vec<&str> = self.query.split_whitespace().collect();
        let score = |index: usize| {
            words.iter().map(|word| self.matcher.fuzzy_match(&self.items[index], word)).sum::<Option<i64>>()
        };
        let mut found: Vec<(i64, usize)> =
            (0..self.items.len()).filter_map(|index| Some((score(index)?, index))).collect();
        // Stable: equals stay in the order of the list.
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        self.found = found.into_iter().map(|(_, index)| index).collect();
        self.chosen = 0;
    }
}

/// The fewest cells of a description that are of any use.
const TELLING: usize = 8;

/// Returns the name of an item: two blanks separate it from its description.
pub(super) fn name(item: &str) -> &str {
    item.split("  ").next().unwrap_or(item)
}

/// Returns the part of a description that people choose by: the text before the first ` · `, such as the window and the price
/// of a model. A description in columns has no such part.
fn deciding(said: &str) -> Option<&str> {
    said.split(" · ").next().filter(|first| !first.is_empty() && !first.contains("  "))
}

/// A name tells something from so many cells on.
const NAMING: usize = 12;

/// An item in one row. What decides stands whole, at the right edge where its column leaves no room for it, and of the
/// name its beginning and its end. Where nothing decides, the name is whole, and what is said of it stands beside it
/// where there is room for more than a few letters of that.
fn item_row(item: &str, room: usize) -> Cow<'_, str> {
    let name = name(item);
    let said = item[name.len()..].trim_start();
    let place = width_of(item) - width_of(said);
    let decides = deciding(said).filter(|decides| width_of(decides) + 2 + NAMING <= room);
    match decides {
        _ if width_of(item) <= room => Cow::Borrowed(item),
        Some(decides) if place + width_of(decides) > room => {
            let name = ends(name, room - width_of(decides) - 2);
            let gap = " ".repeat(room - width_of(decides) - width_of(&name));
            Cow::Owned(format!("{name}{gap}{decides}"))
        }
        _ if width_of(name) > room => Cow::Owned(ends(name, room)),
        _ if place + TELLING <= room => Cow::Borrowed(item),
        _ => Cow::Borrowed(name),
    }
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
            let item = one_row(&item_row(&self.items[*index], room.saturating_sub(2)), room.saturating_sub(2));
            let (active, word) = (at == self.chosen, self.query.split_whitespace().next());
            let (marked, word) = (word.is_some(), word.unwrap_or_default());
            add(&mut frame, |text| {
                theme.format_fuzzy_select_prompt_item(text, &item, active, marked, &self.matcher, word)
            });
        }
        if self.found.len() > self.seen || self.found.is_empty() {
            // Writing to a String cannot fail.
            let _ = writeln!(frame, "  {}/{}", (self.chosen + 1).min(self.found.len()), self.found.len());
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
            Press::PageUp => self.chosen = self.chosen.saturating_sub(self.seen),
            Press::PageDown => self.chosen = (self.chosen + self.seen).min(count - 1),
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

#[cfg(test)]
mod tests {
    use dialoguer::theme::SimpleTheme;

    use super::*;

    fn items() -> Vec<String> {
        let item = |number: usize| format!("lab/qwen-coder-{number:03}  131k, $0.25/$1 · tools");
        (0..300).map(item).chain(["lab/通义千问  32k".to_owned()]).collect()
    }

    fn typed<'a>(items: &'a [String], text: &str) -> Search<'a> {
        let mut search = Search::new("Which model?", items, 24, None);
        for letter in text.chars() {
            assert_eq!(search.take(Press::Character(letter)), None);
        }
        search
    }

    #[test]
    fn each_word_narrows_the_list_in_whatever_order() {
        let items = items();
        let names = |text: &str| typed(&items, text).found.len();
        assert_eq!((names(""), names("coder"), names("nothing like it")), (301, 300, 0));
        assert_eq!(typed(&items, "299 qwen").found, [299]);
        assert_eq!(typed(&items, "  通义 ").found, [300]);
        assert!(typed(&items, "zzz").frame(&SimpleTheme, 80).contains("0/0"));
    }

    #[test]
    fn pages_go_as_far_as_the_list() {
        let items = items();
        let mut search = typed(&items, "");
        let mut at = |press| {
            search.take(press);
            search.chosen
        };
        assert_eq!((at(Press::PageDown), at(Press::PageDown), at(Press::PageUp)), (12, 24, 12));
        assert_eq!((at(Press::PageUp), at(Press::PageUp), at(Press::Up)), (0, 0, 300));
        assert_eq!((at(Press::PageDown), at(Press::Down)), (300, 0));
    }

    #[test]
    fn a_name_is_whole_and_what_is_said_of_it_stands_beside_it_where_it_tells_something() {
        let item = "a better parser      2 h  12 KB  lab/qwen";
        assert_eq!(item_row(item, 60), item);
        assert_eq!(item_row(item, 29), item);
        assert_eq!(item_row(item, 28), "a better parser");
        assert_eq!(width_of(&item_row(item, 12)), 12);
    }

    #[test]
    fn what_decides_stands_whole_at_any_width_that_has_room_for_it_and_a_name() {
        let item = "lab/qwen-coder-001        131k, $0.25/$1 · tools, pictures";
        assert_eq!(item_row(item, 60), item);
        assert_eq!(item_row(item, 40), item, "cut behind what decides");
        assert_eq!(item_row(item, 39), "lab/qwen-coder-001       131k, $0.25/$1");
        for room in 28..60 {
            let row = item_row(item, room);
            assert!(row.contains("  131k, $0.25/$1") && (width_of(&row) <= room || *row == *item), "{room}: {row}");
        }
        assert_eq!(item_row("lab/x  price unknown", 20), "lab/x  price unknown");
        assert_eq!(item_row(item, 12), "lab/…der-001");
    }
}
