//! The status row: what happens, for how long, and what is being typed. Pure; its words come in translated.

use std::time::Duration;

use unicode_segmentation::UnicodeSegmentation as _;

use super::layout::{cut, measure};
use super::line::{Line, Span};
use super::theme::Theme;

/// How long the spinner shows one frame.
pub const FRAME: Duration = Duration::from_millis(80);
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// An activity with more cells, such as a long command, is cut so that the details stay visible.
const LONG_ACTIVITY: usize = 24;

/// The content of the status row, in the person's language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status<'a> {
    /// Time since the turn began; chooses the spinner's frame.
    pub elapsed: Duration,
    /// What is happening: "thinking", "running cargo test".
    pub activity: &'a str,
    /// Details, the most important first: seconds, tokens, the key that stops.
    pub details: &'a [&'a str],
    /// What is being typed.
    pub typed: &'a str,
    /// How many lines wait, such as "2 queued"; empty for none.
    pub queued: &'a str,
}

/// Returns the frame of the spinner after `elapsed`.
pub fn spinner(elapsed: Duration) -> &'static str {
    let frame = elapsed.as_millis() / FRAME.as_millis();
    FRAMES[usize::try_from(frame % FRAMES.len() as u128).unwrap_or(0)]
}

/// Composes the row for a terminal with `columns` columns. Details that do not fit are left out, beginning with the
/// last one; of the typed text the end is shown; the rest is cut.
pub fn status_line(status: &Status<'_>, theme: &Theme, columns: usize) -> Line {
    let width = columns.saturating_sub(1);
    let typed = last_row(status.typed);
    // The typed text gets up to half of the row, if there is any.
    let reserved =
        if typed.is_empty() { 0 } else { (measure(&Line::styled(&*typed, theme.strong)).0 + 3).min(width / 2) };
    let details: usize = [status.queued]
        .iter()
        .chain(status.details)
        .filter(|detail| !detail.is_empty())
        .map(|detail| measure(&Line::styled(*detail, theme.dim)).0 + 3)
        .sum();
    let mut line = Line::new();
    line.push(Span::new(spinner(status.elapsed), theme.accent));
    line.push(Span::new(format!(" {}", status.activity), theme.dim));
    let mut line = cut(&line, width.saturating_sub(reserved + details).max(LONG_ACTIVITY));
    for detail in [status.queued].iter().chain(status.details).filter(|detail| !detail.is_empty()) {
        let mut longer = line.clone();
        longer.push(Span::new(format!(" · {detail}"), theme.dim));
        if measure(&longer).0 + reserved > width {
            break;
        }
        line = longer;
    }
    if typed.is_empty() {
        return cut(&line, width);
    }
    let mut line = cut(&line, width - reserved);
    let left = width.saturating_sub(measure(&line).0 + 3);
    line.push(Span::new(" › ", theme.accent));
    line.push(Span::new(tail(&typed, left), theme.strong));
    cut(&line, width)
}

/// Returns the last line of a text; a mark stands for the lines before it.
fn last_row(typed: &str) -> String {
    match typed.rsplit_once('\n') {
        Some((_, last)) => format!("⏎ {last}"),
        None => typed.to_owned(),
    }
}

/// Returns the end of `text` that fits in `width` cells; an ellipsis shows that something is missing.
fn tail(text: &str, width: usize) -> String {
    let cells = |text: &str| {
        let (cells, doubt) = measure(&Line::styled(text, nu_ansi_term::Style::default()));
        cells + doubt
    };
    if cells(text) <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let mut start = text.len();
    for (index, cluster) in text.grapheme_indices(true).rev() {
        used += cells(cluster);
        if used > width {
            break;
        }
        start = index;
    }
    format!("…{}", &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(status: &Status<'_>, columns: usize) -> String {
        status_line(status, &Theme::plain(), columns).text()
    }

    #[test]
    fn details_leave_before_the_activity_is_cut() {
        let status = Status {
            elapsed: Duration::from_millis(170),
            activity: "running cargo test",
            details: &["4 s", "1.2k tokens", "esc to stop"],
            ..Status::default()
        };
        assert_eq!(line(&status, 80), "⠹ running cargo test · 4 s · 1.2k tokens · esc to stop");
        assert_eq!(line(&status, 45), "⠹ running cargo test · 4 s · 1.2k tokens");
        assert_eq!(line(&status, 22), "⠹ running cargo test");
        assert_eq!(line(&status, 12), "⠹ running …");
        assert_eq!(line(&status, 1), "");
        let status = Status { activity: "running for i in 1 2 3 4 5 6 7 8; do sleep 1; done", ..status };
        assert_eq!(line(&status, 60), "⠹ running for i in 1 2 3… · 4 s · 1.2k tokens · esc to stop");
    }

    #[test]
    fn the_end_of_what_is_typed_is_always_seen() {
        let status = Status {
            activity: "thinking",
            details: &["12 s", "esc to stop"],
            typed: "first row\nwhy does this test fail on 中文 machines?",
            queued: "2 queued",
            ..Status::default()
        };
        assert_eq!(
            line(&status, 100),
            "⠋ thinking · 2 queued · 12 s · esc to stop › ⏎ why does this test fail on 中文 machines?"
        );
        assert_eq!(line(&status, 40), "⠋ thinking › …st fail on 中文 machines?");
        for columns in 0..100 {
            assert!(measure(&status_line(&status, &Theme::plain(), columns)).0 < columns.max(1), "{columns}");
        }
    }

    #[test]
    fn the_spinner_turns_every_80_ms() {
        assert_eq!(spinner(Duration::ZERO), "⠋");
        assert_eq!(spinner(Duration::from_millis(79)), "⠋");
        assert_eq!(spinner(Duration::from_millis(80)), "⠙");
        assert_eq!(spinner(Duration::from_millis(800)), "⠋");
    }
}
