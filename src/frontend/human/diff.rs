//! What a person reads before they say yes: the command, or the change line by line.

use similar::{ChangeTag, TextDiff};

use crate::agent::ApprovalRequest;
use crate::conversation::Preview;
use crate::frontend::words;
use crate::locale::Locale;
use crate::terminal::{Line, Span, Theme, sanitize_line};
use crate::tool::Place;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// Up to so many bytes of both versions the words of changed lines are compared.
const MARKED_BYTES: usize = 256 * 1024;

/// The most lines of a change that are shown; the rest is counted.
const MOST_LINES: usize = 400;

/// Lays out the preview and the reasons of a request.
pub(super) fn preview(locale: &Locale, place: &Place, theme: &Theme, request: &ApprovalRequest) -> Vec<Line> {
    let mut lines = Vec::new();
    add(&request.preview, locale, place, theme, &mut lines);
    for reason in words::reasons(locale, place, &request.reasons) {
        let mut line = Line::new();
        line.push(Span::new("! ", theme.warning));
        line.push(Span::new(sanitize_line(&reason), theme.warning));
        lines.push(line);
    }
    lines
}

fn add(preview: &Preview, locale: &Locale, place: &Place, theme: &Theme, lines: &mut Vec<Line>) {
    match preview {
        // A command is never cut: nobody approves what was not shown.
        Preview::Command { line } => {
            for (index, text) in line.lines().enumerate() {
                let mut row = Line::new();
                row.push(Span::new(if index == 0 { "$ " } else { "  " }, theme.accent));
                row.push(Span::new(sanitize_line(text), theme.strong));
                lines.push(row);
            }
        }
        Preview::Text { text } => {
            lines.extend(text.lines().map(|text| Line::styled(sanitize_line(text), theme.dim)));
        }
        Preview::Many { parts } => {
            for part in parts {
                add(part, locale, place, theme, lines);
            }
        }
        Preview::Diff { path, old, new } => {
            let mut title = Line::new();
            let shown = place.shown(path).display().to_string();
            title.push(Span::new(sanitize_line(&shown).into_owned(), theme.strong));
            let note = match (old, new) {
                (None, _) => locale.text("approve.new_file"),
                (_, None) => locale.text("approve.deleted"),
                (Some(_), Some(_)) => "",
            };
            if !note.is_empty() {
                title.push(Span::new(format!(" · {note}"), theme.dim));
            }
            lines.push(title);
            let rows = changes(old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default(), theme);
            let hidden = rows.len().saturating_sub(MOST_LINES);
            lines.extend(rows.into_iter().take(MOST_LINES));
            if hidden > 0 {
                let text = locale.with("approve.too_long", &[("count", &hidden.to_string())]);
                lines.push(Line::styled(text, theme.warning));
            }
        }
    }
}

/// Lays out the changes of a preview without their titles, set in: what is shown under the title of a finished call.
pub(super) fn rows(preview: &Preview, theme: &Theme) -> Vec<Line> {
    match preview {
        Preview::Diff { old, new, .. } => {
            let rows = changes(old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default(), theme);
            let indent = |row: Line| {
                let mut line = Line::new();
                line.push(Span::plain("  "));
                row.spans.into_iter().for_each(|span| line.push(span));
                line
            };
            rows.into_iter().map(indent).collect()
        }
        Preview::Many { parts } => parts.iter().flat_map(|part| rows(part, theme)).collect(),
        Preview::Command { .. } | Preview::Text { .. } => Vec::new(),
    }
}

/// Lays out a change of which nobody knows where it stands in its file: without numbers, set in.
pub(super) fn plain_changes(old: &str, new: &str, theme: &Theme) -> Vec<Line> {
    layout(old, new, Numbers::Unknown, theme)
}

/// Lays out a change: line number, sign, text; unchanged stretches are left out. Where a line became another, what
/// is different within it is marked.
fn changes(old: &str, new: &str, theme: &Theme) -> Vec<Line> {
    let digits = old.lines().count().max(new.lines().count()).to_string().len();
    layout(old, new, Numbers::Wide(digits), theme)
}

/// What stands before the sign of a changed line.
#[derive(Debug, Clone, Copy)]
enum Numbers {
    /// The line's number, in so many columns.
    Wide(usize),
    /// White space.
    Unknown,
}

impl Numbers {
    fn of(self, number: Option<usize>) -> String {
        match self {
            Self::Wide(digits) => {
                let number = number.map_or_else(String::new, |number| (number + 1).to_string());
                format!("{number:>digits$} ")
            }
            Self::Unknown => "  ".to_owned(),
        }
    }
}

fn layout(old: &str, new: &str, numbers: Numbers, theme: &Theme) -> Vec<Line> {
    // Within two whole files of another content no words correspond, and looking for them takes long.
    let mark = old.len() + new.len() <= MARKED_BYTES;
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push(Line::styled(format!("{}⋮", numbers.of(None)), theme.furniture));
        }
        for operation in group {
            if mark {
                for change in diff.iter_inline_changes(operation) {
                    let number = change.new_index().filter(|_| change.tag() != ChangeTag::Delete);
                    let parts: Vec<(bool, String)> =
                        change.iter_strings_lossy().map(|(marked, text)| (marked, text.into_owned())).collect();
                    lines.push(row(change.tag(), number.or(change.old_index()), numbers, &parts, theme));
                }
            } else {
                for change in diff.iter_changes(operation) {
                    let number = change.new_index().filter(|_| change.tag() != ChangeTag::Delete);
                    let parts = [(false, change.value().to_owned())];
                    lines.push(row(change.tag(), number.or(change.old_index()), numbers, &parts, theme));
                }
            }
        }
    }
    lines
}

fn row(tag: ChangeTag, number: Option<usize>, numbers: Numbers, parts: &[(bool, String)], theme: &Theme) -> Line {
    let (sign, style, marked) = match tag {
        ChangeTag::Equal => (" ", theme.dim, theme.dim),
        ChangeTag::Insert => ("+", theme.added, theme.added_word),
        ChangeTag::Delete => ("-", theme.removed, theme.removed_word),
    };
    let mut line = Line::new();
    line.push(Span::new(numbers.of(number), theme.furniture));
    line.push(Span::new(format!("{sign} "), style));
    // A line that is marked from end to end is simply another line.
    let whole = parts.iter().all(|(marked, text)| *marked || text.trim().is_empty());
    for (is_marked, text) in parts {
        let text = text.trim_end_matches(['\n', '\r']).replace('\t', "    ");
        line.push(Span::new(sanitize_line(&text), if *is_marked && !whole { marked } else { style }));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_numbers_signs_and_context_only_where_needed() {
        let old: Vec<String> = (1..=12).map(|number| format!("line {number}\n")).collect();
        let old = old.concat();
        let new = old.replace("line 2\n", "LINE 2\n").replace("line 12\n", "line 12\nlast\n");
        let text: Vec<String> = changes(&old, &new, &Theme::plain()).iter().map(Line::text).collect();
        assert_eq!(
            text,
            [
                " 1   line 1",
                " 2 - line 2",
                " 2 + LINE 2",
                " 3   line 3",
                " 4   line 4",
                " 5   line 5",
                "   ⋮",
                "10   line 10",
                "11   line 11",
                "12   line 12",
                "13 + last",
            ]
        );
    }

    #[test]
    fn what_changed_within_a_line_is_marked() {
        let theme = Theme::ansi();
        let rows = changes("let total = one + two;\n", "let total = one + three;\n", &theme);
        let marked = |line: &Line, style| {
            let spans = line.spans.iter().filter(|span| span.style == style);
            spans.map(|span| span.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(marked(&rows[0], theme.removed_word), ["two;"]);
        assert_eq!(marked(&rows[1], theme.added_word), ["three;"]);
        let another = changes("one\n", "something else\n", &theme);
        assert!(another.iter().all(|line| marked(line, theme.added_word).is_empty()));
    }

    #[test]
    fn nothing_in_a_preview_commands_the_terminal() {
        let mut lines = Vec::new();
        let preview = Preview::Command { line: "echo \u{1b}[2J\u{202e}x\nrm\r-rf".into() };
        let place = Place { cwd: "/".into(), workspace: "/".into(), home: None };
        add(&preview, &Locale::new("en"), &place, &Theme::plain(), &mut lines);
        let text: String = lines.iter().map(Line::text).collect();
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\r']), "{text:?}");
        assert!(text.contains("rm") && text.contains("-rf"), "{text:?}");
    }
}
