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

/// Lays out a change: line number, sign, text; unchanged stretches are left out.
fn changes(old: &str, new: &str, theme: &Theme) -> Vec<Line> {
    let diff = TextDiff::from_lines(old, new);
    let digits = old.lines().count().max(new.lines().count()).to_string().len();
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push(Line::styled(format!("{:>digits$} ⋮", ""), theme.furniture));
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let (sign, style, number) = match change.tag() {
                ChangeTag::Equal => (" ", theme.dim, change.new_index()),
                ChangeTag::Insert => ("+", theme.added, change.new_index()),
                ChangeTag::Delete => ("-", theme.removed, change.old_index()),
            };
            let number = number.map_or_else(String::new, |number| (number + 1).to_string());
            let mut line = Line::new();
            line.push(Span::new(format!("{number:>digits$} "), theme.furniture));
            let text = change.value().trim_end_matches(['\n', '\r']).replace('\t', "    ");
            line.push(Span::new(format!("{sign} {}", sanitize_line(&text)), style));
            lines.push(line);
        }
    }
    lines
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
