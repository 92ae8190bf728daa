//! Tables: cells, widths, wrapping inside cells, and records when columns are too many.

use std::fmt::Write as _;

use super::*;
use crate::terminal::{Layout, MarkdownStream, Theme};

fn rows(markdown: &str, width: usize) -> Vec<String> {
    let mut stream = MarkdownStream::new(Layout::new(width, Theme::plain()));
    let mut rows = stream.push(markdown);
    rows.extend(stream.finish());
    rows.iter().map(Line::text).collect()
}

#[test]
fn cells_are_split_at_bars_that_are_not_escaped() {
    assert_eq!(cells("| a | b \\| c | `d \\| e` |"), ["a", "b | c", "`d | e`"]);
    assert_eq!(cells("a|b"), ["a", "b"]);
    assert_eq!(cells("| a | |"), ["a", ""]);
}

#[test]
fn columns_are_as_wide_as_their_widest_cell() {
    assert_eq!(
        rows("| Name | 中文 | N |\n|:--|:-:|--:|\n| 👩‍👩‍👧‍👦 | 字 | 1 |\n| e\u{301}\u{302} | a | 22 |", 40),
        ["Name │ 中文 │  N", "─────┼──────┼───", "👩‍👩‍👧‍👦   │  字  │  1", "e\u{301}\u{302}    │  a   │ 22"]
    );
}

#[test]
fn wide_cells_are_wrapped_inside_the_cell() {
    assert_eq!(
        rows("| a | b |\n|---|---|\n| one two three four | x<br>y |\n| z | w |", 16),
        [
            "a            │ b",
            "─────────────┼──",
            "one two      │ x",
            "three four   │ y",
            "─────────────┼──",
            "z            │ w"
        ]
    );
}

#[test]
fn more_columns_than_fit_are_records() {
    let table = "| Alpha | Beta | Gamma | Delta |\n|---|---|---|---|\n| some words | other words | more words | last words |\n| a | b | c | d |";
    assert_eq!(
        rows(table, 20),
        [
            "Alpha: some words",
            "Beta: other words",
            "Gamma: more words",
            "Delta: last words",
            "────────",
            "Alpha: a",
            "Beta: b",
            "Gamma: c",
            "Delta: d"
        ]
    );
}

#[test]
fn a_table_may_follow_a_paragraph_and_stand_in_a_list() {
    assert_eq!(
        rows("text\n| a |\n|---|\n| b |\n\n- | c |\n  |---|\n", 40),
        ["text", "", "a", "─", "b", "", "• c", "  ─"]
    );
}

#[test]
fn a_table_after_a_list_is_a_table() {
    assert_eq!(rows("- a\n\n| b | c |\n|---|---|\n", 40), ["• a", "", "b │ c", "──┼──"]);
}

#[test]
fn a_long_table_keeps_the_columns_of_its_first_rows() {
    let mut markdown = "| a | b |\n|---|---|\n".to_owned();
    for number in 0..9000 {
        writeln!(markdown, "| row {number:05} | x |").unwrap();
    }
    let mut stream = MarkdownStream::new(Layout::new(40, Theme::plain()));
    let rows = stream.push(&markdown);
    assert!(rows.len() > 5000, "a table without end must not be held for ever");
    let last = stream.finish();
    assert_eq!(last.last().unwrap().text(), "row 08999 │ x");
}

#[test]
fn where_a_word_would_be_cut_rows_are_stacked() {
    let table = "| year | revenue | note |\n|---|---|---|\n| 2024 | 98,221,004 | restated_after_the_audit |\n";
    assert!(rows(table, 60).iter().any(|row| row.contains("98,221,004 │ restated_after_the_audit")));
    let stacked = rows(table, 30);
    assert_eq!(stacked, ["year: 2024", "revenue: 98,221,004", "note: restated_after_the_audit"]);
}
