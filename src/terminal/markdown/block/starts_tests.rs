//! The beginnings of lines, and what a part of one says.

use super::*;

#[test]
fn rules_and_underlines() {
    assert_eq!(
        ["***", " - - -", "__ _", "--", "*-*", "***a"].map(is_rule),
        [true, true, true, false, false, false]
    );
    assert_eq!(["===", "-", "--- ", "=-", "= ="].map(setext), [Some(1), Some(2), Some(2), None, None]);
}

#[test]
fn headings() {
    assert_eq!(
        ["# a", "###### a", "####### a", "#a", "#"].map(heading),
        [Some((1, 2)), Some((6, 7)), None, None, Some((1, 1))]
    );
    assert_eq!(["a ##", "a#", "## ", "a # b", "a \\#"].map(heading_text), ["a", "a#", "", "a # b", "a \\#"]);
}

#[test]
fn markers() {
    assert_eq!(list_marker("- a"), Some((Marker::Bullet(b'-'), 1)));
    assert_eq!(list_marker("12) a"), Some((Marker::Ordered(12, b')'), 3)));
    assert_eq!(["-a", "1.a", "1234567890. a", "1"].map(list_marker), [None; 4]);
}

#[test]
fn fences() {
    let start = fence("```` rust x").unwrap();
    assert_eq!((start.mark, start.length, start.info.as_str()), (b'`', 4, "rust x"));
    assert_eq!([fence("``"), fence("``` a`b")], [None, None]);
    assert!(closes_fence("`````  ", b'`', 4) && !closes_fence("```", b'`', 4) && !closes_fence("```` x", b'`', 4));
}

#[test]
fn a_part_of_a_line_says_what_it_is_as_soon_as_it_can() {
    let words = "words that go on until the window for tables has passed";
    for (start, expected) in [
        (words.to_owned(), Certainty::Text),
        ("short".to_owned(), Certainty::Unsure),
        ("a | table row that goes on until the window has passed".to_owned(), Certainty::Unsure),
        (format!("a | b, {}", words.repeat(3)), Certainty::Text),
        (format!("| a {}", words.repeat(3)), Certainty::Unsure),
        (format!("**{words}"), Certainty::Text),
        ("***".to_owned(), Certainty::Unsure),
        ("- - ".to_owned(), Certainty::Unsure),
        ("- a".to_owned(), Certainty::Item),
        ("1".to_owned(), Certainty::Unsure),
        ("1. a".to_owned(), Certainty::Item),
        ("# a".to_owned(), Certainty::Heading),
        ("#".to_owned(), Certainty::Unsure),
        (">".to_owned(), Certainty::Quote),
        ("```".to_owned(), Certainty::Unsure),
        (format!("`code` {words}"), Certainty::Text),
        (format!("[link](x) {words}"), Certainty::Text),
        ("[label]: ".to_owned(), Certainty::Unsure),
        ("<div>".to_owned(), Certainty::Unsure),
    ] {
        assert_eq!(certainty(&start, false), expected, "{start:?}");
    }
}
