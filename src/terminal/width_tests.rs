//! Cells of clusters as terminals draw them.

use super::*;

#[test]
fn counts_cells_of_clusters() {
    for (text, cells) in [
        ("", 0),
        ("abc", 3),
        ("é", 1),
        ("e\u{301}", 1),
        ("中文", 4),
        ("한국", 4),
        ("\u{1112}\u{1161}\u{11ab}", 2),
        ("👩‍👩‍👧‍👦", 2),
        ("👍🏽", 2),
        ("🇫🇷", 2),
        ("❤\u{FE0F}", 2),
        ("1\u{FE0F}\u{20E3}", 2),
        ("ｶﾞ", 2),
        ("क्ष", 2),
        ("สวัสดี", 4),
        ("─│", 2),
        ("\u{200B}", 0),
    ] {
        assert_eq!(width(text), cells, "{text:?}");
    }
}

#[test]
fn tabs_lead_to_multiples_of_eight() {
    assert_eq!(
        [column_after("\t", 0), column_after("a\tb", 0), column_after("a\tb", 7), column_after("12345678\t", 0)],
        [8, 9, 17, 16]
    );
}

#[test]
fn fitting_never_cuts_a_cluster() {
    assert_eq!(
        [fitting("中文", 3), fitting("a👩‍👩‍👧‍👦b", 2), fitting("abc", 2), fitting("abc", 9), fitting("e\u{301}x", 1)],
        ["中", "a", "ab", "abc", "e\u{301}"]
    );
}

#[test]
fn a_text_that_is_too_wide_keeps_its_beginning() {
    let family = "👩‍👩‍👧‍👦";
    let cut =
        [("abc", 3), ("abc", 2), ("abc", 0), ("中文", 3), (&format!("a{family}b"), 3), (&format!("a{family}b"), 4)];
    let expected = ["abc", "a…", "", "中…", "a…", &format!("a{family}b")];
    assert_eq!(cut.map(|(text, cells)| beginning(text, cells)), expected.map(str::to_owned));
    assert_eq!([fitting_end("中文", 3), fitting_end("ab", 9), fitting_end("ab", 0)], ["文", "ab", ""]);
}

#[test]
fn of_a_name_that_is_too_wide_the_beginning_and_the_end_are_kept() {
    assert_eq!(ends("openrouter/anthropic/claude-sonnet-mini-0", 24), "openrout…e-sonnet-mini-0");
    assert_eq!(ends("short", 5), "short");
    assert_eq!(ends("标题标题标题", 7), "标…标题");
    assert_eq!((ends("abc", 0), ends("abc", 1), ends("abc", 2)), (String::new(), "…".into(), "…c".into()));
}
