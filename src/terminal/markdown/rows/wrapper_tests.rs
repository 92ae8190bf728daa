//! Rows: words, wide letters, long words, prefixes, and rows the terminal wraps.

use super::*;

fn rows_of(text: &str, width: usize, mode: Wrap) -> Vec<String> {
    let mut wrapper = Wrapper::new(width, mode);
    let mut out = Output::default();
    wrapper.push(text, Style::default(), None, Spaces::Collapse, &mut out);
    wrapper.finish(&mut out);
    out.take().iter().map(Line::text).collect()
}

#[test]
fn words_fill_rows() {
    assert_eq!(rows_of("one  two three\tfour", 9, Wrap::Word), ["one two", "three", "four"]);
    assert_eq!(rows_of("  ", 9, Wrap::Word), [""; 0]);
}

#[test]
fn a_word_wider_than_a_row_begins_a_row_and_is_cut() {
    assert_eq!(rows_of("a abcdefghijkl m", 5, Wrap::Word), ["a", "abcde", "fghij", "kl m"]);
}

#[test]
fn wide_letters_break_anywhere_but_beside_punctuation() {
    assert_eq!(rows_of("中文段落没有空格。", 8, Wrap::Word), ["中文段落", "没有空", "格。"]);
    assert_eq!(rows_of("中文「強調」です", 6, Wrap::Word), ["中文", "「強", "調」で", "す"]);
    assert_eq!(rows_of("用Rust写", 6, Wrap::Word), ["用Rust", "写"]);
    assert_eq!(rows_of("한국어 문장", 8, Wrap::Word), ["한국어", "문장"]);
}

#[test]
fn clusters_are_never_cut() {
    assert_eq!(rows_of("👩‍👩‍👧‍👦👩‍👩‍👧‍👦e\u{301}", 4, Wrap::Word), ["👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "e\u{301}"]);
}

#[test]
fn a_text_that_the_terminal_wraps_is_one_row() {
    let mut wrapper = Wrapper::new(6, Wrap::Soft);
    let mut out = Output::default();
    wrapper.push("one two 中文 x", Style::default(), None, Spaces::Collapse, &mut out);
    assert_eq!(wrapper.rows(), 1);
    wrapper.finish(&mut out);
    assert_eq!(out.take().iter().map(Line::text).collect::<Vec<_>>(), ["one two 中文 x"]);
}

#[test]
fn text_in_pieces_fills_the_same_rows() {
    let text = "some words, 中文字, and averyveryverylongword at the end";
    let mut wrapper = Wrapper::new(11, Wrap::Word);
    let mut out = Output::default();
    for character in text.chars() {
        wrapper.push(&character.to_string(), Style::default(), None, Spaces::Collapse, &mut out);
    }
    wrapper.finish(&mut out);
    assert_eq!(out.take().iter().map(Line::text).collect::<Vec<_>>(), rows_of(text, 11, Wrap::Word));
}
