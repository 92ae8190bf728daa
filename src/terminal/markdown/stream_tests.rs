//! The laws: any cutting gives the same rows, streamed or whole, and no text makes it panic.

use proptest::prelude::*;

use super::*;
use crate::terminal::{Theme, Wrap};

/// What random documents are made of: every construct, and the characters that open and close them.
const PIECES: &[&str] = &[
    "a",
    "word ",
    "Some longer words here ",
    "x | y ",
    " ",
    "  ",
    "    ",
    "\n",
    "\n\n",
    "\t",
    "*",
    "**",
    "***",
    "_",
    "__",
    "~~",
    "~",
    "`",
    "``",
    "```",
    "```rust\n",
    "~~~\n",
    "````md\n",
    "[",
    "]",
    "](http://x.y/z)",
    "](",
    ")",
    "![",
    "[^1]",
    "[^1]: ",
    "[a]: /u\n",
    "[a]",
    "> [!NOTE]\n",
    "<",
    ">",
    "<b>",
    "<br>",
    "<div>",
    "<!--",
    "-->",
    "<http://a.b>",
    "https://a.b/c_d",
    "www.x.org",
    "me@x.org",
    "&amp;",
    "&#27;",
    "&",
    ";",
    "\\",
    "\\*",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "$",
    "$$",
    "$x$",
    "# ",
    "## ",
    " ##",
    "- ",
    "+ ",
    "* ",
    "1. ",
    "2) ",
    "10. ",
    "- [ ] ",
    "- [x] ",
    "> ",
    ">",
    "| a | b |\n",
    "|---|:-:|\n",
    "|",
    "---",
    "===",
    "***\n",
    "- - -",
    "   ",
    "中文",
    "テスト。",
    "「",
    "」",
    "한국어",
    "👩‍👩‍👧‍👦",
    "e\u{301}",
    "\u{301}",
    "\u{202E}",
    "\u{1b}[31m",
    "\u{200B}",
    "\r\n",
    "\r",
    "\0",
    "<think>",
    "</think>",
    "superlongwordthatwillnotfitintoarowatall",
    "$5",
    "!",
    ":",
    "\"",
    "'",
    "(",
    "**bold** ",
    "*em* ",
    "`code` ",
    "\n- item\n  - nested ",
    "\n\n```\ncode\n```\n",
    "\n| h |\n|---|\n| c |\n",
    "中**文**字",
];

fn documents() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..60).prop_map(|pieces| pieces.concat())
}

fn layouts() -> impl Strategy<Value = Layout> {
    (20..120_usize, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(width, soft, hyperlinks, plain)| {
        Layout {
            width,
            prose: 60,
            wrap: if soft { Wrap::Soft } else { Wrap::Word },
            theme: if plain { Theme::plain() } else { Theme::ansi() },
            hyperlinks,
            highlight: true,
            fences: plain,
        }
    })
}

fn whole(text: &str, layout: &Layout) -> Vec<Line> {
    let mut stream = MarkdownStream::new(*layout);
    let mut rows = stream.push(text);
    rows.extend(stream.finish());
    rows
}

fn cut(text: &str, cuts: &[usize], layout: &Layout, with_tail: bool) -> Vec<Line> {
    let mut stream = MarkdownStream::new(*layout);
    let mut rows = Vec::new();
    let mut piece = String::new();
    let mut sizes = cuts.iter().copied().cycle();
    let mut left = sizes.next().unwrap_or(1);
    for character in text.chars() {
        piece.push(character);
        left -= 1;
        if left == 0 {
            rows.extend(stream.push(&std::mem::take(&mut piece)));
            if with_tail {
                let tail = stream.tail();
                let cells: usize = tail.spans.iter().map(|span| crate::terminal::width::width(&span.text)).sum();
                assert!(cells <= layout.width, "a tail wider than the row: {tail:?}");
            }
            left = sizes.next().unwrap_or(1);
        }
    }
    rows.extend(stream.push(&piece));
    rows.extend(stream.finish());
    rows
}

/// Joins neighbours of one style, for rows are the same however their spans are cut.
fn shown(rows: Vec<Line>) -> Vec<Line> {
    rows.into_iter()
        .map(|row| {
            let mut line = Line::new();
            row.spans.into_iter().for_each(|span| line.push(span));
            line
        })
        .collect()
}

fn difference(left: &[Line], right: &[Line]) -> String {
    let at = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let text =
        |rows: &[Line]| rows.iter().skip(at).take(3).map(|row| format!("{:?}", row.text())).collect::<Vec<_>>();
    format!("row {at}: streamed {:?}, whole {:?}", text(left), text(right))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_cutting_gives_the_same_rows(
        text in documents(),
        layout in layouts(),
        cuts in prop::collection::vec(1..12_usize, 1..8),
    ) {
        let expected = shown(whole(&text, &layout));
        for cuts in [&cuts[..], &[1]] {
            let streamed = shown(cut(&text, cuts, &layout, cuts.len() > 1));
            prop_assert!(streamed == expected, "width {}\n{}", layout.width, difference(&streamed, &expected));
        }
    }

    #[test]
    fn any_bytes_are_shown_without_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        layout in layouts(),
        cuts in prop::collection::vec(1..9_usize, 1..5),
    ) {
        let text = String::from_utf8_lossy(&bytes);
        prop_assert_eq!(shown(cut(&text, &cuts, &layout, true)), shown(whole(&text, &layout)));
    }

    #[test]
    fn no_control_character_reaches_a_span(text in documents(), layout in layouts()) {
        for row in whole(&text, &layout) {
            for span in &row.spans {
                let hostile = |character: char| character.is_control() && character != '\t'
                    || matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200B}');
                prop_assert!(!span.text.contains(hostile), "{:?}", span);
                prop_assert!(!span.link.as_deref().unwrap_or_default().contains(hostile), "{:?}", span);
            }
        }
    }

    #[test]
    fn resizing_loses_and_doubles_no_word(
        words in prop::collection::vec("[a-z]{1,9}", 1..80),
        widths in prop::collection::vec(20..120_usize, 1..6),
        cuts in prop::collection::vec(1..12_usize, 1..4),
    ) {
        let text = words.join(" ");
        let rows = resized(&text, &widths, &cuts, &Layout::new(50, Theme::plain()))?;
        let shown: Vec<String> = rows.iter().map(Line::text).collect();
        prop_assert_eq!(shown.join(" "), text);
    }

    #[test]
    fn what_is_shown_of_a_row_stays_while_the_width_changes(
        text in documents(),
        layout in layouts(),
        widths in prop::collection::vec(20..120_usize, 1..6),
        cuts in prop::collection::vec(1..12_usize, 1..8),
    ) {
        resized(&text, &widths, &cuts, &layout)?;
    }
}

/// Streams a text while its width changes at every piece; returns its rows. What was shown of the open row has to be
/// the start of what comes next.
fn resized(text: &str, widths: &[usize], cuts: &[usize], layout: &Layout) -> Result<Vec<Line>, TestCaseError> {
    let mut stream = MarkdownStream::new(*layout);
    let mut rows = Vec::new();
    let mut open = String::new();
    let mut characters = text.chars().peekable();
    let mut steps = widths.iter().zip(cuts.iter().cycle()).cycle();
    while characters.peek().is_some() {
        let (width, count) = steps.next().unwrap_or((&40, &1));
        let piece: String = characters.by_ref().take(*count).collect();
        stream.resize(*width);
        let mut next = stream.push(&piece);
        next.extend(stream.take_gap());
        let (settled, _) = stream.live();
        let first = next.first().unwrap_or(&settled).text();
        prop_assert!(first.starts_with(&open), "{open:?} was shown, then came {first:?}");
        open = settled.text();
        rows.extend(next);
    }
    stream.resize(widths[0]);
    let next = stream.finish();
    let first = next.first().map(Line::text).unwrap_or_default();
    prop_assert!(first.starts_with(&open), "{open:?} was shown, then came {first:?}");
    rows.extend(next);
    Ok(rows)
}

#[test]
fn a_list_item_keeps_its_row_when_the_terminal_becomes_narrow() {
    let text = "- The second request has a latency of 12 ms on the slow network, and more on others.";
    let mut stream = MarkdownStream::new(Layout::new(79, Theme::ansi()));
    let mut rows = stream.push(&text[..50]);
    assert_eq!(stream.live().0.text(), "• The second request has a latency of 12 ms on");
    stream.resize(49);
    rows.extend(stream.push(&text[50..]));
    rows.extend(stream.finish());
    let rows: Vec<String> = rows.iter().map(Line::text).collect();
    let expected = ["• The second request has a latency of 12 ms on the slow network, and more on", "  others."];
    assert_eq!(rows, expected);
}

#[test]
fn prose_is_no_wider_than_it_may_be_and_code_and_tables_are() {
    let layout = Layout { prose: 40, ..Layout::new(120, Theme::plain()) };
    let words = "word ".repeat(30);
    let cell = "c".repeat(50);
    let text = format!("{words}\n\n> {words}\n\n| a | b |\n|---|---|\n| {cell} | x |\n\n```\n{cell}\n```\n");
    let rows: Vec<String> = whole(&text, &layout).iter().map(Line::text).collect();
    let (prose, rest): (Vec<&String>, Vec<&String>) = rows.iter().partition(|row| row.contains("word"));
    assert!(prose.len() > 6 && prose.iter().all(|row| row.chars().count() <= 40), "{rows:?}");
    assert_eq!(rest.iter().filter(|row| row.contains(&cell)).count(), 2, "{rows:?}");
}

#[test]
fn keys_and_folds_are_read_without_their_tags() {
    let text = "Press <kbd>Ctrl</kbd>+<kbd>C</kbd>.\n\n<details>\n<summary>More of it</summary>\n\nInside.\n\n</details>\n\nAfter, a<sub>1</sub>.\n";
    let rows: Vec<String> = whole(text, &Layout::new(80, Theme::plain())).iter().map(Line::text).collect();
    assert_eq!(rows, ["Press Ctrl+C.", "", "▸ More of it", "", "Inside.", "", "After, a<sub>1</sub>."]);
}
