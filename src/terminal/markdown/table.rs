//! Tables: held until they end, because the last row may be the widest.
//!
//! termimad lays out tables too, and measures them right; but its cells carry no hyperlinks, and where columns are more
//! than fit it cuts words and drops whole columns (tried with 0.35.5). So rows are laid out here.

use nu_ansi_term::Style;

use super::{
    Wrap,
    block::{Blocks, Leaf},
    emit::{Emitter, overlay},
    inline::{self, Ending},
    output::Output,
    table_layout::{self, Columns},
    wrap::{Prefix, Wrapper},
};
use crate::terminal::line::Line;

/// How much of a table is held, in bytes of source; a longer one keeps the columns of its first rows.
const HELD: usize = 128 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alignment {
    Left,
    Center,
    Right,
}

/// An open table.
#[derive(Debug, Clone)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    /// Rows not laid out yet, the head first.
    rows: Vec<Vec<String>>,
    bytes: usize,
    first: Prefix,
    rest: Prefix,
    /// The columns, once rows are out.
    columns: Option<Columns>,
    /// The head, for records.
    head: Vec<String>,
}

impl Table {
    /// Reads a head and the rule under it; none when they make no table.
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

/// Splits a row at its `|`s; an escaped one is part of a cell, also inside code.
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

impl Blocks {
    /// Prints the rows of a table that has grown too long to be held.
    pub(super) fn settle_table(&mut self) {
        if matches!(&self.leaf, Leaf::Table(table) if table.bytes > HELD)
            && let Leaf::Table(mut table) = std::mem::replace(&mut self.leaf, Leaf::None)
        {
            self.print_table(&mut table);
            self.leaf = Leaf::Table(table);
        }
    }

    pub(super) fn end_table(&mut self, mut table: Table) {
        self.print_table(&mut table);
    }

    fn print_table(&mut self, table: &mut Table) {
        let rows = std::mem::take(&mut table.rows);
        table.bytes = 0;
        let room = self.layout.width.saturating_sub(table.rest.width);
        let first_time = table.columns.is_none();
        let base = self.base();
        let strong = overlay(base, self.layout.theme.strong);
        let natural: Vec<Vec<Vec<Line>>> = rows
            .iter()
            .enumerate()
            .map(|(index, row)| {
                let style = if first_time && index == 0 { strong } else { base };
                row.iter().map(|cell| self.cell(cell, usize::MAX / 2, style)).collect()
            })
            .collect();
        let columns = table.columns.get_or_insert_with(|| Columns::fit(&natural, room)).clone();
        let furniture = self.layout.theme.furniture;
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
                                self.cell(source, *width, style)
                            }
                        })
                        .collect();
                    if ruled && !is_head && !(first_time && index == 1) {
                        out.push(table_layout::rule(&widths, furniture));
                    }
                    table_layout::row(&cells, &widths, &table.alignments, furniture, &mut out);
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
                    for (name, value) in table.head.clone().iter().zip(row) {
                        out.extend(self.record(name, value, room, strong, base));
                    }
                }
            }
        }
        for row in out {
            let prefix = std::mem::replace(&mut table.first, table.rest.clone());
            let mut line = Line { spans: prefix.spans };
            row.spans.into_iter().for_each(|span| line.push(span));
            self.out.row(line);
        }
    }

    /// Lays out one cell's text at this width.
    fn cell(&mut self, source: &str, width: usize, style: Style) -> Vec<Line> {
        let mut wrapper = Wrapper::new(width, Wrap::Word);
        let mut out = Output::default();
        self.cell_text(source, style, &mut wrapper, &mut out);
        wrapper.finish(&mut out);
        out.take()
    }

    fn record(&mut self, name: &str, value: &str, width: usize, strong: Style, base: Style) -> Vec<Line> {
        let mut wrapper = Wrapper::new(width, Wrap::Word);
        let mut out = Output::default();
        let mut rest = Prefix::default();
        rest.push("  ", base);
        wrapper.start(width, Prefix::default(), rest);
        self.cell_text(name, strong, &mut wrapper, &mut out);
        wrapper.push(": ", strong, None, super::wrap::Spaces::Collapse, &mut out);
        self.cell_text(value, base, &mut wrapper, &mut out);
        wrapper.finish(&mut out);
        out.take()
    }

    fn cell_text(&mut self, source: &str, style: Style, wrapper: &mut Wrapper, out: &mut Output) {
        let mut emitter = Emitter { layout: &self.layout, base: style, wrapper, out };
        if inline::is_plain(source) {
            emitter.plain(source);
            return;
        }
        self.parsed.read(source, '\n', Ending::Closed, &self.definitions);
        emitter.tokens(&self.parsed, source, source.len());
        for (_, label) in self.parsed.unresolved.drain(..) {
            self.definitions.miss(label);
        }
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
