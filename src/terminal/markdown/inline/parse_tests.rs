//! Inline constructs, and what of a growing text is safe.

use super::super::links;
use super::*;
use crate::terminal::{Layout, Line, MarkdownStream, Theme};

fn marked(markdown: &str) -> String {
    let mut stream = MarkdownStream::new(Layout { hyperlinks: false, ..Layout::new(200, Theme::plain()) });
    let mut rows = stream.push(markdown);
    rows.extend(stream.finish());
    rows.iter().map(Line::text).collect::<Vec<_>>().join("\n")
}

#[test]
fn emphasis_beside_chinese_japanese_and_korean() {
    for (source, expected) in [
        ("**注意：**これは", "**注意：**これは"),
        ("これは**「強調」**です", "これは**「強調」**です"),
        ("中文*斜体*中文", "中文*斜体*中文"),
        ("**テスト。**テスト", "**テスト。**テスト"),
        ("**한국어(Korean)**은", "**한국어(Korean)**은"),
        ("**foo(bar)**は", "**foo(bar)**は"),
    ] {
        // The plain theme shows marks for emphasis that is read; literal ones would look the same, so style them.
        let mut stream = MarkdownStream::new(Layout::new(200, Theme::ansi()));
        stream.push(source);
        let row = stream.finish().remove(0);
        assert!(!row.text().contains('*'), "{source}: {}", row.text());
        assert_eq!(marked(source), expected);
    }
}

#[test]
fn a_formula_is_said_in_one_row_or_stays_source() {
    for (source, expected) in [
        ("$a_1 * b_2 * c$", "a₁ * b₂ * c"),
        ("so \\(x_1 \\to y_1\\) holds", "so x₁ → y₁ holds"),
        ("costs $5 and $10 *not* maths", "costs $5 and $10 *not* maths"),
        ("$$\\frac{a}{b}$$", "a/b"),
        ("$$\n\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}\n$$", "∑ᵢ₌₁ⁿ i = (n(n+1))/2"),
        ("\\[\n\\begin{pmatrix} a & b \\end{pmatrix}\n\\]", "\\begin{pmatrix} a & b \\end{pmatrix}"),
        ("keyword $Id$, `$x^2$`, $HOME/a_b$", "keyword $Id$, `$x^2$`, $HOME/a_b$"),
    ] {
        assert_eq!(marked(source), expected, "{source}");
    }
}

#[test]
fn links_show_where_they_lead() {
    for (source, expected) in [
        ("[a](https://b.c)", "a (https://b.c)"),
        ("<https://b.c>", "https://b.c"),
        ("see https://b.c/d_e_f.", "see https://b.c/d_e_f."),
        ("[b.c](https://b.c/)", "b.c"),
        ("![alt](x.png)", "alt (x.png)"),
        ("![](a/b.png)", "b.png (a/b.png)"),
        ("[a](#top)", "a"),
        ("[a](<b c>)", "a (b%20c)"),
        ("[a]: /b\n\n[a] and [c]", "a (/b) and [c]"),
        ("[c]\n\n[c]: /d", "[c]\n\n[c]: /d"),
        ("x[^1]\n\n[^1]: note", "x[1]\n\n[1] note"),
    ] {
        assert_eq!(marked(source), expected, "{source}");
    }
}

#[test]
fn a_text_that_names_another_address_than_its_link_shows_the_true_one() {
    let mut stream = MarkdownStream::new(Layout::new(200, Theme::ansi()));
    stream.push("[https://bank.example](https://evil.example)");
    assert_eq!(stream.finish()[0].text(), "https://bank.example (https://evil.example)");
}

#[test]
fn what_may_still_change_is_not_safe() {
    let definitions = Definitions::default();
    for (text, safe) in [
        ("plain words", 11),
        ("some *open words", 5),
        ("some *closed* words", 19),
        ("a [b *c* d", 2),
        ("*a [b* c", 0),
        ("a `b *c*", 2),
        ("a <b c", 2),
        ("a < b", 5),
        ("a [b](c", 2),
        ("a [b] c", 7),
        ("2 * 3", 5),
    ] {
        let mut parsed = Parsed::default();
        read(&mut parsed, text, '\n', Ending::Open(' '), &definitions);
        assert_eq!(parsed.safe, safe, "{text:?}");
    }
}

#[test]
fn nothing_is_held_beyond_its_reach() {
    let mut stream = MarkdownStream::new(Layout::new(80, Theme::plain()));
    let rows = stream.push(&format!("*open {}", "word ".repeat(1000)));
    assert!(rows.len() > 20, "{} rows", rows.len());
}

#[test]
fn brackets_in_brackets_are_no_labels_to_remember() {
    let text = "[a".repeat(600) + &"]".repeat(600) + " b";
    let mut parsed = Parsed::default();
    read(&mut parsed, &text, '\n', Ending::Closed, &Definitions::default());
    assert_eq!(parsed.unresolved.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(), ["A"]);
}

#[test]
fn a_target_has_so_many_brackets_in_each_other_and_no_more() {
    let target = |depth: usize| format!("({}x{})", "(".repeat(depth), ")".repeat(depth));
    let suffix = |text: &str| links::inline_suffix(text, 1, text.len());
    assert!(matches!(suffix(&target(32)), links::Suffix::Found { .. }));
    assert_eq!(suffix(&target(33)), links::Suffix::None);
    assert_eq!(suffix(&"(".repeat(40)), links::Suffix::None, "it is not waited for");
    assert_eq!(suffix(&"(".repeat(20)), links::Suffix::Incomplete);
}
