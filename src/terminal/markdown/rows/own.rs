//! Breaks axi's own lines, which are no markdown, into rows by the same rules.

use super::output::Output;
use super::wrapper::{Prefix, Spaces, Wrapper};
use crate::terminal::line::Line;
use crate::terminal::markdown::layout::{NARROWEST, Wrap};

/// Breaks a line into rows of at most `width` cells, between words or next to Chinese and Japanese letters. The
/// rows after the first get the first row's indentation and `hang` cells more. A word wider than a row is cut.
/// Returns at least one row.
#[must_use]
pub fn in_rows(line: &Line, width: usize, hang: usize) -> Vec<Line> {
    let width = width.max(NARROWEST);
    let text = line.text();
    let lead = text.len() - text.trim_start_matches(' ').len();
    let mut rest = Prefix::default();
    rest.push(&" ".repeat((lead + hang).min(width / 2)), nu_ansi_term::Style::default());
    let mut out = Output::default();
    let mut wrapper = Wrapper::new(width, Wrap::Word).cutting_long_words();
    wrapper.start(width, Prefix::default(), rest);
    for span in &line.spans {
        wrapper.push(&span.text, span.style, span.link.as_ref(), Spaces::Keep, &mut out);
    }
    wrapper.finish(&mut out);
    let rows = out.take();
    if rows.is_empty() { vec![Line::new()] } else { rows }
}

#[cfg(test)]
mod tests {
    use nu_ansi_term::Style;

    use super::*;
    use crate::terminal::width::width;

    fn rows(text: &str, width: usize, hang: usize) -> Vec<String> {
        in_rows(&Line::styled(text, Style::default()), width, hang).iter().map(Line::text).collect()
    }

    #[test]
    fn rows_end_between_words_and_are_set_in_as_the_first_one() {
        assert_eq!(rows("short", 20, 2), ["short"]);
        assert_eq!(rows("", 20, 2), [""]);
        assert_eq!(rows("error: the file cannot be read", 20, 2), ["error: the file", "  cannot be read"]);
        assert_eq!(rows("    the file cannot be read", 20, 0), ["    the file cannot", "    be read"]);
        assert_eq!(rows("n  No, and say what to do", 20, 3), ["n  No, and say what", "   to do"]);
    }

    #[test]
    fn a_word_wider_than_a_row_is_cut_rather_than_left_alone() {
        assert_eq!(rows("see https://example.com/a/long/path", 20, 0), ["see https://example.", "com/a/long/path"]);
        assert_eq!(
            rows("some words: https://example.com/path", 16, 0),
            ["some words:", "https://example.", "com/path"]
        );
    }

    #[test]
    fn chinese_breaks_anywhere_but_before_closing_marks() {
        assert_eq!(
            rows("这个文件夹带有自己的设置，要信任吗？", 25, 0),
            ["这个文件夹带有自己的设", "置，要信任吗？"]
        );
        for (text, room) in (8..40).flat_map(|room| {
            ["是，本次会话内都允许：shell(touch:*)", "a 👩‍👩‍👧‍👦 b", "one  two", "  - 列表 item"].map(|text| (text, room))
        }) {
            let rows = rows(text, room, 5);
            assert!(rows.iter().all(|row| width(row) <= room), "{rows:?}");
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&rows.concat()), bare(text));
        }
    }
}
