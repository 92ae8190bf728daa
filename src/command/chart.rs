//! Bars and the words beside them, laid out for as much room as there is. Pure.

use crate::locale::grouped;
use crate::terminal::width::width;

/// The most cells of a bar, and the fewest that still compare anything.
const LONGEST_BAR: usize = 40;
const SHORTEST_BAR: usize = 8;

/// The indent of rows below a name, and the gap between columns, in cells.
const INDENT: usize = 2;

/// What is drawn: the front end knows for how many columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chart {
    /// A row of words.
    Line(String),
    /// A bar in each row, to compare amounts.
    Bars(Vec<Bar>),
    /// One bar of several parts, and a row for each.
    Parts {
        /// What takes room.
        parts: Vec<Part>,
        /// The free room and its name; `None` if the size of the whole is not known.
        free: Option<Part>,
    },
}

/// An amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// Whose it is.
    pub name: String,
    /// How much, in the same unit for all bars.
    pub size: u64,
    /// The amount in words.
    pub words: String,
}

/// A part of a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The cell that stands for it.
    pub cell: char,
    /// What it is.
    pub name: String,
    /// How much, in the same unit for all parts.
    pub size: u64,
}

impl Chart {
    /// Lays it out: rows of at most `columns` cells as far as its names and words allow. Without columns (a screen reader)
    /// there are names and words alone.
    #[must_use]
    pub fn rows(&self, columns: Option<usize>) -> Vec<String> {
        match self {
            Self::Line(words) => vec![words.clone()],
            Self::Bars(bars) => bar_rows(bars, columns),
            Self::Parts { parts, free } => part_rows(parts, free.as_ref(), columns),
        }
    }
}

fn bar_rows(bars: &[Bar], columns: Option<usize>) -> Vec<String> {
    let names = bars.iter().map(|bar| width(&bar.name)).max().unwrap_or(0);
    let words = bars.iter().map(|bar| width(&bar.words)).max().unwrap_or(0);
    let largest = bars.iter().map(|bar| bar.size).max().unwrap_or(0).max(1);
    let Some(columns) = columns else {
        return bars.iter().map(|bar| format!("{}  {}", bar.name, bar.words)).collect();
    };
    let drawn = |bar: &Bar, room: usize| {
        let full = cells(bar.size, largest, room);
        format!("{}{}", "█".repeat(full), "·".repeat(room.saturating_sub(full)))
    };
    let beside = columns.saturating_sub(names + words + 2 * INDENT);
    if beside >= SHORTEST_BAR {
        let room = beside.min(LONGEST_BAR);
        let row = |bar: &Bar| format!("{}  {}  {}", padded(&bar.name, names), drawn(bar, room), bar.words);
        return bars.iter().map(row).collect();
    }
    // The name stands above its bar: bars that the terminal breaks into two rows cannot be compared.
    let room = columns.saturating_sub(words + 2 * INDENT).clamp(SHORTEST_BAR, LONGEST_BAR);
    let rows = |bar: &Bar| [bar.name.clone(), format!("  {}  {}", drawn(bar, room), bar.words)];
    bars.iter().flat_map(rows).collect()
}

fn part_rows(parts: &[Part], free: Option<&Part>, columns: Option<usize>) -> Vec<String> {
    let all: Vec<&Part> = parts.iter().filter(|part| part.size > 0).chain(free).collect();
    let whole = all.iter().map(|part| part.size).sum::<u64>().max(1);
    let names = all.iter().map(|part| width(&part.name)).max().unwrap_or(0);
    let sizes = all.iter().map(|part| grouped(part.size).len()).max().unwrap_or(0);
    let row = |part: &&Part| {
        let (name, size, share) = (padded(&part.name, names), grouped(part.size), percent(part.size, whole));
        let cell = if columns.is_some() { format!("{} ", part.cell) } else { String::new() };
        format!("{cell}{name}  {size:>sizes$}  {share:>4}")
    };
    let rows = all.iter().map(row);
    let Some(columns) = columns else { return rows.collect() };
    std::iter::once(bar_of_parts(&all, whole, columns.min(LONGEST_BAR))).chain(rows).collect()
}

/// Makes one bar of exactly `room` cells if there are not more parts than cells.
fn bar_of_parts(parts: &[&Part], whole: u64, room: usize) -> String {
    let mut shares: Vec<usize> = parts.iter().map(|part| cells(part.size, whole, room)).collect();
    // Each part has at least one cell: the largest part gives that cell, and takes the cells that rounding leaves.
    while shares.iter().sum::<usize>() > room.max(parts.len()) {
        shares.iter_mut().max().into_iter().for_each(|largest| *largest -= 1);
    }
    let taken: usize = shares.iter().sum();
    shares.iter_mut().max().into_iter().for_each(|largest| *largest += room.saturating_sub(taken));
    parts.iter().zip(shares).flat_map(|(part, share)| std::iter::repeat_n(part.cell, share)).collect()
}

/// Returns how many of `room` cells an amount has: at least one unless it is zero.
fn cells(size: u64, whole: u64, room: usize) -> usize {
    let share = u128::from(size) * room as u128 / u128::from(whole.max(1));
    usize::try_from(share).unwrap_or(room).clamp(usize::from(size > 0), room)
}

fn percent(size: u64, whole: u64) -> String {
    match u128::from(size) * 100 / u128::from(whole) {
        0 if size > 0 => "<1%".to_owned(),
        share => format!("{share}%"),
    }
}

/// A text with blanks behind it, up to so many cells.
fn padded(text: &str, cells: usize) -> String {
    format!("{text}{}", " ".repeat(cells.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bars() -> Chart {
        let bar = |name: &str, size, words: &str| Bar { name: name.into(), size, words: words.into() };
        Chart::Bars(vec![
            bar("lab/通义", 50, "$0.50"),
            bar("lab/a-long-name", 100, "$1.00"),
            bar("lab/none", 0, "$0"),
        ])
    }

    #[test]
    fn a_bar_stands_beside_its_name_where_there_is_room_and_below_it_where_there_is_none() {
        assert_eq!(
            bars().rows(Some(34)),
            [
                "lab/通义         █████·····  $0.50",
                "lab/a-long-name  ██████████  $1.00",
                "lab/none         ··········  $0"
            ]
        );
        assert_eq!(
            bars().rows(Some(20))[..4],
            ["lab/通义", "  █████······  $0.50", "lab/a-long-name", "  ███████████  $1.00"]
        );
        assert_eq!(bars().rows(None)[0], "lab/通义  $0.50");
        assert_eq!(width(&bars().rows(Some(200))[0]), 15 + 2 + LONGEST_BAR + 2 + 5);
    }

    #[test]
    fn parts_are_one_bar_and_a_row_each() {
        let part = |cell, name: &str, size| Part { cell, name: name.into(), size };
        let parts = vec![part('█', "system", 1), part('▓', "工具", 2_999), part('░', "nothing", 0)];
        let chart = Chart::Parts { parts, free: Some(part('·', "free", 7_000)) };
        assert_eq!(
            chart.rows(Some(10)),
            ["█▓▓·······", "█ system      1   <1%", "▓ 工具    2,999   29%", "· free    7,000   70%"]
        );
        assert_eq!(chart.rows(None)[0], "system      1   <1%");
    }

    proptest! {
        #[test]
        fn a_bar_of_parts_fills_its_room_and_shows_each_part(
            sizes in prop::collection::vec(1_u64..1_000_000, 1..8), room in 8_usize..60,
        ) {
            let parts: Vec<Part> =
                sizes.iter().zip("abcdefgh".chars()).map(|(size, cell)| Part { cell, name: String::new(), size: *size }).collect();
            let all: Vec<&Part> = parts.iter().collect();
            let bar = bar_of_parts(&all, sizes.iter().sum(), room);
            prop_assert_eq!(bar.chars().count(), room);
            for part in &parts {
                prop_assert!(bar.contains(part.cell), "{} in {bar}", part.cell);
            }
        }

        #[test]
        fn no_row_is_wider_than_the_screen_where_its_words_fit(columns in 40_usize..220, size in any::<u64>()) {
            let name = "provider/a-model-with-a-name".to_owned();
            let chart = Chart::Bars(vec![Bar { name, size, words: "$0.0123 (1,234 + 56)".into() }]);
            for row in chart.rows(Some(columns)) {
                prop_assert!(width(&row) <= columns, "{row}");
            }
        }
    }
}
