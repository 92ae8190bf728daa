//! Tables: held back until they end, because the last row may be the widest.
//!
//! termimad also lays out tables, and measures them correctly. But its cells have no hyperlinks, and if there are
//! more columns than fit it cuts words and drops whole columns (tried with 0.35.5). So rows are laid out here.

use nu_ansi_term::Style;

use super::page::Page;
use super::table_layout::{self, Alignment, Columns};
use crate::terminal::line::Line;
use crate::terminal::markdown::inline::overlay;
use crate::terminal::markdown::layout::Wrap;
use crate::terminal::markdown::rows::{Output, Prefix, Spaces, Wrapper};

/// How many bytes of a table's source are held back; a longer table keeps the columns of its first rows.
const HELD: usize = 128 * 1024;

/// An open table.
#[derive(Debug, Clone)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    /// Rows that are not laid out yet; the head comes first.
    rows: Vec<Vec<String>>,
    bytes: usize,
    first: Prefix,
    rest: Prefix,
    /// The columns, once rows are printed.
    columns: Option<Columns>,
    /// The head, for tables printed as records.
    head: Vec<String>,
}

impl Table {
    /// Reads a head and the rule under it; `None` if they make no table.
    pub(super) fn new(head: &str, rule: &str) -> Option<Self> {
        if !rule.contains('|') {
            return None;
        }
        let alignments: Vec<Alignment> = cells(rule).iter().map(|cell| alignment(cell)).collect::<Option<_>>()?;
        let head = cells(head);
        (head.len() == alignments.len()).then(|| Self {
            alignments,
            bytes: 0,
            rows: vec![head.clone()],
            first: Prefix::default(),
            rest: Prefix::default(),
            columns: None,
            head,
        })
    }

    pub(super) fn with_prefixes(mut self, first: Prefix, rest: Prefix) -> Self {
        (self.first, self.rest) = (first, rest);
        self
    }

    pub(super) fn push(&mut self, line: &str) {
        let mut row = cells(line);
        row.resize(self.alignments.len(), String::new());
        self.bytes += line.len();
        self.rows.push(row);
    }

    /// Tells whether it is too long to be held back.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > HELD
    }

    /// Prints the rows that were held back.
    pub(super) fn print(&mut self, page: &mut Page) {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let room = page.layout.width.saturating_sub(self.rest.width);
        let first_time = self.columns.is_none();
        let base = page.base();
        let strong = overlay(base, page.layout.theme.strong);
        let natural: Vec<Vec<Vec<Line>>> = rows
            .iter()
            .enumerate()
            .map(|(index, row)| {
                let style = if first_time && index == 0 { strong } else { base };
                row.iter().map(|cell| lay_out(page, cell, usize::MAX / 2, style)).collect()
            })
            .collect();
        let columns = self.columns.get_or_insert_with(|| Columns::fit(&natural, room)).clone();
        let furniture = page.layout.theme.furniture;
        let mut out = Vec::new();
        match columns {
            Columns::Side { widths, ruled } => {
                for (index, row) in rows.iter().enumerate() {
                    let is_head = first_time && index == 0;
                    let style = if is_head { strong } else { base };
                    let cells: Vec<Vec<Line>> = row
                        .iter()
                        .zip(&natural[index])
                        .zip(&widths)
                        .map(|((source, natural), width)| {
                            if table_layout::widest(natural) <= *width {
                                natural.clone()
                            } else {
                                lay_out(page, source, *width, style)
                            }
                        })
                        .collect();
                    if ruled && !is_head && !(first_time && index == 1) {
                        out.push(table_layout::rule(&widths, furniture));
                    }
                    table_layout::row(&cells, &widths, &self.alignments, furniture, &mut out);
                    if is_head {
                        out.push(table_layout::rule(&widths, furniture));
                    }
                }
            }
            Columns::Records => {
                for (index, row) in rows.iter().enumerate() {
                    if first_time && index == 0 && rows.len() > 1 {
                        continue;
                    }
                    if !(first_time && index <= 1) {
                        out.push(table_layout::record_rule(room, furniture));
                    }
                    for (name, value) in self.head.clone().iter().zip(row) {
                        out.extend(record(page, name, value, room, strong, base));
                    }
                }
            }
        }
        for row in out {
            let prefix = std::mem::replace(&mut self.first, self.rest.clone());
            let mut line = Line { spans: prefix.spans };
            row.spans.into_iter().for_each(|span| line.push(span));
            page.out.row(line);
        }
    }
}

/// Lays out one cell's text at this width.
fn lay_out(page: &mut Page, source: &str, width: usize, style: Style) -> Vec<Line> {
    let mut wrapper = Wrapper::new(width, Wrap::Word);
    let mut out = Output::default();
    page.text_into(source, style, &mut wrapper, &mut out);
    wrapper.finish(&mut out);
    out.take()
}

fn record(page: &mut Page, name: &str, value: &str, width: usize, strong: Style, base: Style) -> Vec<Line> {
    let mut wrapper = Wrapper::new(width, Wrap::Word);
    let mut out = Output::default();
    let mut rest = Prefix::default();
    rest.push("  ", base);
    wrapper.start(width, Prefix::default(), rest);
    page.text_into(name, strong, &mut wrapper, &mut out);
    wrapper.push(": ", strong, None, Spaces::Collapse, &mut out);
    page.text_into(value, base, &mut wrapper, &mut out);
    wrapper.finish(&mut out);
    out.take()
}

fn alignment(cell: &str) -> Option<Alignment> {
    let dashes = cell.strip_prefix(':').unwrap_or(cell);
    let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
    if dashes.is_empty() || !dashes.bytes().all(|byte| byte == b'-') {
        return None;
    }
    Some(match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Alignment::Center,
        (false, true) => Alignment::Right,
        (true | false, false) => Alignment::Left,
    })
}

/// Splits a row at its `|`s; an escaped `|` belongs to a cell, even inside code.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut escaped = false;
    for character in line.strip_prefix('|').unwrap_or(line).chars() {
        match character {
            '|' if escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            other => cell.push(other),
        }
        escaped = character == '\\' && !escaped;
    }
    if !cell.trim().is_empty() || cells.is_empty() {
        cells.push(cell.trim().to_owned());
    }
    cells
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
