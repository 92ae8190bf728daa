//! What nobody means and a model that has lost its way says all the same, over and over: it costs no more than its length.

use super::*;
use crate::terminal::Theme;

/// So deep containers stand in each other at most, the document among them.
const DEEPEST: usize = 100;

fn streamed(text: &str) -> (Vec<String>, MarkdownStream) {
    let mut stream = MarkdownStream::new(Layout::new(40, Theme::plain()));
    let mut rows = Vec::new();
    for letter in text.chars() {
        rows.extend(stream.push(letter.encode_utf8(&mut [0; 4])));
    }
    (rows.iter().map(Line::text).collect(), stream)
}

fn whole(text: &str) -> Vec<String> {
    let mut stream = MarkdownStream::new(Layout::new(40, Theme::plain()));
    let rows = [stream.push(text), stream.finish()].concat();
    rows.iter().map(Line::text).collect()
}

/// Bytes that are laid out anew for the last row.
fn guessed(stream: &MarkdownStream) -> usize {
    let copy = stream.abridged();
    copy.blocks.held() + copy.pending.len()
}

#[test]
fn of_a_long_word_or_line_only_the_ends_are_laid_out_again_and_again() {
    for (start, unit) in [
        ("", "x"),
        ("", "["),
        ("", "](a"),
        ("", "กำ"),
        ("```\n", "let a = 1; "),
        ("    ", "code "),
        ("<!-- ", "a b "),
    ] {
        let mut stream = MarkdownStream::new(Layout::new(40, Theme::plain()));
        stream.push(start);
        let piece = unit.repeat(500);
        for _ in 0..40 {
            stream.push(&piece);
            assert!(guessed(&stream) < 6000, "{start:?} {unit:?}: {}", guessed(&stream));
        }
        stream.push("the-end");
        assert!(stream.tail().text().ends_with("the-end"), "{unit:?}: {}", stream.tail().text());
        let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).count();
        let rows: usize = stream.finish().iter().map(|row| letters(&row.text())).sum();
        assert!(rows >= letters(&piece) * 40, "{unit:?}: nothing is lost");
    }
}

#[test]
fn a_long_start_of_a_line_is_not_looked_at_for_each_letter() {
    let mut stream = MarkdownStream::new(Layout::new(40, Theme::plain()));
    let mut looks = 0;
    for _ in 0..100_000 {
        let before = stream.looked_at;
        stream.push("#");
        looks += usize::from(stream.looked_at != before);
    }
    assert!(looks < 2 * LONG, "{looks}");
}

#[test]
fn containers_stand_in_each_other_to_a_limit_and_what_is_deeper_is_text() {
    for (unit, sign) in [(">", '>'), ("> ", '>'), ("- ", '-')] {
        let text = unit.repeat(1_000) + "text that goes on for some words\nand on\n";
        let (mut rows, mut stream) = streamed(&text);
        assert!(stream.blocks.depth() <= DEEPEST);
        rows.extend(stream.finish().iter().map(Line::text));
        assert_eq!(rows, whole(&text), "{unit:?}");
        let left: usize = rows.iter().map(|row| row.matches(sign).count()).sum();
        assert_eq!(left, 1_001 - DEEPEST, "{unit:?}: the document is the first one");
    }
}
