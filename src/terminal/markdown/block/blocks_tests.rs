//! Blocks as rows: spacing, markers, nesting, code, reasoning, and the live row.

use crate::terminal::{Layout, Line, MarkdownStream, Theme};

fn layout(width: usize) -> Layout {
    Layout::new(width, Theme { heading: Theme::ansi().heading, ..Theme::plain() })
}

fn rows(markdown: &str, width: usize) -> Vec<String> {
    let mut stream = MarkdownStream::new(layout(width));
    let mut rows = stream.push(markdown);
    rows.extend(stream.finish());
    rows.iter().map(Line::text).collect()
}

#[test]
fn one_blank_row_stands_between_blocks() {
    assert_eq!(
        rows("# A\ntext\n\n\n\n- b\n***\n> c\n", 20),
        ["A", "", "text", "", "• b", "", "────────────────────", "", "│ c"]
    );
}

#[test]
fn lists_hang_nest_and_count() {
    assert_eq!(
        rows(
            "- one two three four five\n  - five\n    1. six\n    1. seven\n- [x] done\n- [ ] to do\n\n- loose\n\n  more",
            20
        ),
        [
            "• one two three four",
            "  five",
            "  ◦ five",
            "    1. six",
            "    2. seven",
            "☑ done",
            "☐ to do",
            "",
            "• loose",
            "",
            "  more"
        ]
    );
    assert_eq!(rows("7) a\n7) b\n\n-\n- x", 16), ["7) a", "8) b", "", "•", "• x"]);
}

#[test]
fn quotes_nest_and_hold_blocks() {
    assert_eq!(rows("> a\nlazy\n>\n> > b\n> - c", 20), ["│ a lazy", "│", "│ │ b", "│", "│ • c"]);
}

#[test]
fn fences_are_shown_where_no_style_tells_code_from_prose() {
    let fenced = |markdown: &str| {
        let mut stream = MarkdownStream::new(Layout { fences: true, ..layout(20) });
        let mut rows = stream.push(markdown);
        rows.extend(stream.finish());
        rows.iter().map(Line::text).collect::<Vec<_>>()
    };
    assert_eq!(fenced("a\n```sh\nls\n```\nb"), ["a", "", "```sh", "ls", "```", "", "b"]);
    assert_eq!(fenced("- a\n  ~~~~\n  x\nb"), ["• a", "", "~~~~", "x", "~~~~", "", "b"]);
    assert_eq!(fenced("```\nopen at the end"), ["```", "open at the end", "```"]);
}

#[test]
fn code_stands_at_column_0_and_is_never_wrapped() {
    assert_eq!(
        rows("- a\n  ```\n  let long_line_of_code = 1;\n    indented\n  ```\n- b\n\n    indented code", 12),
        ["• a", "", "let long_line_of_code = 1;", "  indented", "", "• b", "", "  indented", "  code"]
    );
    assert_eq!(rows("> ```\n> \ttab\n> ```\n\n    x\n\n    y\n", 20), ["\ttab", "", "x", "", "y"]);
    assert_eq!(rows("~~~\nopen at the end\n", 20), ["open at the end"]);
}

#[test]
fn a_fence_of_markdown_holds_fences() {
    assert_eq!(rows("```markdown\n```py\nx\n```\ny\n```\nafter", 20), ["```py", "x", "```", "y", "", "after"]);
}

#[test]
fn underlined_headings_are_headings_while_they_fit_one_row() {
    assert_eq!(rows("Title\n===\n\ntwo\nlines\n---\n", 20), ["Title", "", "two lines"]);
    assert_eq!(
        rows("A text that is longer than a row\n---\n", 20),
        ["A text that is", "longer than a row", "", "────────────────────"]
    );
}

#[test]
fn reasoning_in_tags_is_told() {
    let mut stream = MarkdownStream::new(layout(40));
    let rows = stream.push("<think>\nfirst\n\nsecond</thi");
    assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>(), ["first"]);
    assert!(stream.reasoning().is_open);
    let rows = stream.push("nk>\n\nThe answer.\n\n");
    assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>(), ["", "second", "", "The answer."]);
    assert_eq!((stream.reasoning().is_open, stream.reasoning().rows), (false, 2));
}

#[test]
fn deep_nesting_leaves_text_its_room() {
    let lines: Vec<String> = (0..40).map(|depth| "  ".repeat(depth) + &format!("- item {depth}\n")).collect();
    let deep = lines.concat();
    let rows = rows(&deep, 30);
    assert_eq!(rows.len(), 40);
    assert!(rows.iter().all(|row| row.chars().count() <= 30), "{rows:?}");
}

#[test]
fn the_tail_shows_what_is_not_final() {
    let mut stream = MarkdownStream::new(layout(20));
    let mut tails = Vec::new();
    for piece in [
        "Some **bo",
        "ld",
        "** text that",
        " goes on\n",
        "- ",
        "it",
        "em\n\n```rust\n",
        "fn ma",
        "in() {}\n",
        "| a",
    ] {
        stream.push(piece);
        tails.push(stream.tail().text());
    }
    let expected =
        ["Some **bo", "Some **bold", "that", "that goes on", "that goes on", "• it", "", "fn ma", "", "| a"];
    assert_eq!(tails, expected);
}

#[test]
fn every_line_end_is_one() {
    assert_eq!(rows("a  \r\nb\rc\n\r\nd", 20), ["a", "b c", "", "d"]);
}
