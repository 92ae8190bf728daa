//! The rows as they lie in the binary: a binary search finds them, and only the rows it compares are read.

use time::{Date, Month};

use super::abilities::{Abilities, Cache, Effort, Known, Thinking};
use crate::conversation::Price;

/// The copy of models.dev's, sorted by its first column, byte by byte.
const COPY: &str = include_str!("models.tsv");

/// What it did not have: few, and in no order.
const ADDITIONS: &str = include_str!("additions.tsv");

/// Finds the row of a model.
pub(super) fn exact(provider: &str, model: &str) -> Option<&'static str> {
    let is_it = |row: &&str| key(row).split_once('/') == Some((provider, model));
    added().find(is_it).or_else(|| {
        let name = format!("{provider}/{model}");
        let at = from(&name);
        COPY[at..].lines().next().filter(is_it)
    })
}

/// Lists the rows of a provider's models, those that were added first.
pub(super) fn of(provider: &str) -> impl Iterator<Item = &'static str> {
    let begins = format!("{provider}/");
    let own = begins.clone();
    let added_of = added().filter(move |row| row.starts_with(&own));
    let own = begins.clone();
    let copied = COPY[from(&begins)..].lines().take_while(move |row| row.starts_with(&own));
    added_of.chain(copied.filter(|row| !added().any(|newer| key(newer) == key(row))))
}

fn added() -> impl Iterator<Item = &'static str> {
    ADDITIONS.lines().filter(|row| !row.starts_with('#'))
}

fn key(row: &str) -> &str {
    row.split('\t').next().unwrap_or_default()
}

/// Where the first row begins whose name is not before this one; the heading is before all.
fn from(name: &str) -> usize {
    let (mut low, mut high) = (0, COPY.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        let begin = COPY.as_bytes()[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end =
            COPY.as_bytes()[middle..].iter().position(|byte| *byte == b'\n').map_or(COPY.len(), |at| middle + at);
        // Rows are cut at line feeds, which are no part of another character.
        let row = COPY.get(begin..end).unwrap_or_default();
        if row.starts_with('#') || key(row) < name {
            low = end + 1;
        } else {
            high = begin;
        }
    }
    low.min(COPY.len())
}

/// Reads a row; `None` where it is none.
pub(super) fn read(row: &str) -> Option<Known> {
    let mut columns = row.split('\t');
    let mut next = || columns.next().unwrap_or_default();
    let (_, name) = next().split_once('/')?;
    let released = day(next());
    let as_of = day(next());
    let tokens = |text: &str| text.parse::<u64>().ok().filter(|tokens| *tokens > 0);
    let (window, most_read, most_written) = (tokens(next()), tokens(next()), tokens(next()));
    let marks = next();
    let has = |mark: char| marks.contains(mark);
    let efforts =
        next().bytes().filter_map(|digit| Effort::ALL.get(usize::from(digit.wrapping_sub(b'0'))).copied());
    let abilities = Abilities {
        most_read,
        most_written,
        reasons: Some(has('r')),
        efforts: efforts.collect(),
        thinking: thinking(next()),
        sampling: has('s'),
        forced_choice: !has('F'),
        tools_on_responses: has('R'),
        cache: if has('m') {
            Cache::Marks
        } else if has('a') {
            Cache::Automatic
        } else {
            Cache::None
        },
        price: Price::parse(next()),
    };
    Some(Known {
        name: name.to_owned(),
        released,
        as_of: if as_of == 0 { released } else { as_of },
        context_window: window,
        tools: has('t'),
        vision: has('v'),
        abilities,
        inherited: false,
    })
}

/// Seconds from 1970 to the day of the copy.
pub(super) fn made() -> u64 {
    made_on().and_then(|date| date.midnight().as_utc().unix_timestamp().try_into().ok()).unwrap_or(0)
}

fn made_on() -> Option<Date> {
    let day = COPY.lines().next().and_then(|heading| heading.trim_end_matches('.').rsplit(' ').next());
    let parts: Vec<&str> = day.unwrap_or_default().split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
    Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()
}

/// A day or a month as a number that sorts.
fn day(text: &str) -> u32 {
    let number: u32 = text.parse().unwrap_or(0);
    if text.len() == 6 { number * 100 } else { number }
}

fn thinking(text: &str) -> Thinking {
    let mut said = Thinking::default();
    for part in text.split(',') {
        match part.split_at_checked(1) {
            Some(("t", "")) => said.switch = true,
            Some(("a", "")) => said.adaptive = true,
            Some(("b", range)) => {
                let (least, most) = range.split_once('-').unwrap_or_default();
                said.budget = Some((least.parse().ok(), most.parse().ok()));
            }
            Some(_) | None => {}
        }
    }
    said
}
