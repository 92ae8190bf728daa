//! The geometry of tables: the widths of columns, and rows of cells side by side.

use nu_ansi_term::Style;

use crate::terminal::{
    line::{Line, Span},
    width::width,
};

/// Stands between two columns, and where rules cross.
const BORDER: &str = " │ ";
const CROSSING: &str = "─┼─";
/// Narrower columns are hard to read.
const NARROWEST: usize = 3;
/// The length of the rule between two records.
const RECORD_RULE: usize = 8;

/// How the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alignment {
    Left,
    Center,
    Right,
}

/// How a table is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Columns {
    /// Columns side by side; with rules between the rows if a cell takes more than one row.
    Side { widths: Vec<usize>, ruled: bool },
    /// Each row as lines of "name: value", because side by side a word would be cut.
    Records,
}

impl Columns {
    /// Chooses the widths for cells that were laid out without a limit, within `room` cells.
    pub(super) fn fit(rows: &[Vec<Vec<Line>>], room: usize) -> Self {
        let count = rows.first().map_or(0, Vec::len);
        let column = |index: usize| rows.iter().filter_map(move |row| row.get(index));
        let natural: Vec<usize> =
            (0..count).map(|index| column(index).map(|cell| widest(cell)).max().unwrap_or(0).max(1)).collect();
        let tall = rows.iter().flatten().any(|cell| cell.len() > 1);
        let borders = width(BORDER) * count.saturating_sub(1);
        if natural.iter().sum::<usize>() + borders <= room {
            return Self::Side { widths: natural, ruled: tall };
        }
        let mut widths: Vec<usize> = (0..count)
            .map(|index| {
                let word = column(index).flatten().map(longest_word).max().unwrap_or(0);
                // A word or a number that is cut in two reads as a different one.
                natural[index].min(word.max(NARROWEST))
            })
            .collect();
        let Some(mut left) = room.checked_sub(widths.iter().sum::<usize>() + borders) else {
            return Self::Records;
        };
        // The narrowest column grows first, until it is as wide as it needs.
        while left > 0 {
            let narrowest =
                (0..count).filter(|index| widths[*index] < natural[*index]).min_by_key(|index| widths[*index]);
            let Some(index) = narrowest else { break };
            widths[index] += 1;
            left -= 1;
        }
        Self::Side { widths, ruled: true }
    }
}

pub(super) fn widest(rows: &[Line]) -> usize {
    rows.iter().map(line_width).max().unwrap_or(0)
}

fn line_width(line: &Line) -> usize {
    line.spans.iter().map(|span| width(&span.text)).sum()
}

fn longest_word(line: &Line) -> usize {
    line.text().split(' ').map(width).max().unwrap_or(0)
}

/// Builds the rows of cells side by side.
pub(super) fn row(
    cells: &[Vec<Line>],
    widths: &[usize],
    alignments: &[Alignment],
    furniture: Style,
    out: &mut Vec<Line>,
) {
    let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
    for level in 0..height {
        let mut line = Line::new();
        for (index, width) in widths.iter().enumerate() {
            let part = cells.get(index).and_then(|cell| cell.get(level));
            let free = width.saturating_sub(part.map_or(0, line_width));
            let (left, right) = match alignments.get(index).copied().unwrap_or(Alignment::Left) {
                Alignment::Left => (0, free),
                Alignment::Center => (free / 2, free - free / 2),
                Alignment::Right => (free, 0),
            };
            if index > 0 {
                line.push(Span::new(BORDER, furniture));
            }
            line.push(Span::plain(" ".repeat(left)));
            part.into_iter().flat_map(|part| part.spans.iter().cloned()).for_each(|span| line.push(span));
            if index + 1 < widths.len() {
                line.push(Span::plain(" ".repeat(right)));
            }
        }
        trim_end(&mut line);
        out.push(line);
    }
}

fn trim_end(line: &mut Line) {
    while let Some(last) = line.spans.last_mut() {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if !last.text.is_empty() {
            return;
        }
        line.spans.pop();
    }
}

pub(super) fn rule(widths: &[usize], furniture: Style) -> Line {
    let parts: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    Line::styled(parts.join(CROSSING), furniture)
}

/// Builds the short rule between two records.
pub(super) fn record_rule(room: usize, furniture: Style) -> Line {
    Line::styled("─".repeat(room.min(RECORD_RULE)), furniture)
}
