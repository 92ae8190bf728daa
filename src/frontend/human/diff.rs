//! What a person reads before they say yes: the command, or the change line by line.

use std::path::Path;

use nu_ansi_term::Style;
use similar::{ChangeTag, TextDiff};

use crate::agent::ApprovalRequest;
use crate::approval::Reason;
use crate::conversation::{Preview, Subject};
use crate::frontend::{reach, words};
use crate::locale::{Locale, word};
use crate::terminal::{Highlighter, Line, Span, Theme, sanitize_line};
use crate::tool::Roots;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// Up to so many bytes of both versions the words of changed lines are compared.
const MARKED_BYTES: usize = 256 * 1024;

/// The most lines of a change that are shown; the rest is counted.
const MOST_LINES: usize = 400;

/// What changes are drawn with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ink<'a> {
    pub(super) theme: &'a Theme,
    /// Whether code is coloured.
    pub(super) highlight: bool,
}

/// Lays out the preview of a request.
pub(super) fn preview(locale: &Locale, roots: &Roots, ink: Ink<'_>, request: &ApprovalRequest) -> Vec<Line> {
    let mut lines = Vec::new();
    add(&request.preview, locale, roots, ink, &mut lines);
    lines
}

/// Lays out what speaks against a request: how much it affects, and why the person is asked.
pub(super) fn doubts(locale: &Locale, roots: &Roots, theme: &Theme, request: &ApprovalRequest) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut reasons = request.reasons.clone();
    if let (Subject::Command { line }, Some(radius)) = (&request.subject, &request.reach) {
        let rows = reach::rows(locale, roots, line, radius);
        if !rows.is_empty() {
            // The numbers say better how much the line can destroy.
            reasons.retain(|reason| !matches!(reason, Reason::Segment { text, .. } if text.trim() == line.trim()));
        }
        lines.extend(rows.into_iter().map(|row| Line::styled(row, theme.warning)));
    }
    let widened = request.widened.map(|widened| words::widened(locale, widened).to_owned());
    let outlives = request.outlives.then(|| locale.text(word::reason::OUTLIVES).to_owned());
    for reason in words::reasons(locale, roots, &reasons).into_iter().chain(widened).chain(outlives) {
        let mut line = Line::new();
        line.push(Span::new("! ", theme.warning));
        line.push(Span::new(sanitize_line(&reason), theme.warning));
        lines.push(line);
    }
    lines
}

fn add(preview: &Preview, locale: &Locale, roots: &Roots, ink: Ink<'_>, lines: &mut Vec<Line>) {
    let theme = ink.theme;
    match preview {
        // A command is never cut: nobody should approve what was not shown.
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
                add(part, locale, roots, ink, lines);
            }
        }
        Preview::Diff { path, old, new } => {
            lines.push(heading(locale, roots, ink.theme, (path, old.is_none(), new.is_none())));
            let rows = changes(path, old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default(), ink);
            let hidden = rows.len().saturating_sub(MOST_LINES);
            lines.extend(rows.into_iter().take(MOST_LINES));
            if hidden > 0 {
                let text = locale.with(word::approve::TooLong { count: &hidden.to_string() });
                lines.push(Line::styled(text, theme.warning));
            }
        }
    }
}

/// Names a file that comes, goes or changes.
fn heading(locale: &Locale, roots: &Roots, theme: &Theme, (path, comes, goes): (&Path, bool, bool)) -> Line {
    let mut title = Line::new();
    let shown = roots.shown(path).display().to_string();
    title.push(Span::new(sanitize_line(&shown).into_owned(), theme.strong));
    let note = match (comes, goes) {
        (true, _) => locale.text(word::approve::NEW_FILE),
        (_, true) => locale.text(word::approve::DELETED),
        (false, false) => "",
    };
    if !note.is_empty() {
        title.push(Span::new(format!(" · {note}"), theme.dim));
    }
    title
}

/// Lays out the changes of a preview, set in: what is shown under the title of a finished call. That names the file
/// if it is one; several are named each.
pub(super) fn rows(preview: &Preview, locale: &Locale, roots: &Roots, ink: Ink<'_>) -> Vec<Line> {
    match preview {
        Preview::Diff { path, old, new } => {
            let rows = changes(path, old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default(), ink);
            rows.into_iter().map(indented).collect()
        }
        Preview::Many { parts } if parts.len() > 1 => {
            let part = |part: &Preview| {
                let mut all = match part {
                    Preview::Diff { path, old, new } => {
                        vec![indented(heading(locale, roots, ink.theme, (path, old.is_none(), new.is_none())))]
                    }
                    Preview::Many { .. } | Preview::Command { .. } | Preview::Text { .. } => Vec::new(),
                };
                // Of a file that went its title says all.
                if !matches!(part, Preview::Diff { new: None, .. }) {
                    all.extend(rows(part, locale, roots, ink));
                }
                all
            };
            parts.iter().flat_map(part).collect()
        }
        Preview::Many { parts } => parts.iter().flat_map(|part| rows(part, locale, roots, ink)).collect(),
        Preview::Command { .. } | Preview::Text { .. } => Vec::new(),
    }
}

fn indented(row: Line) -> Line {
    let mut line = Line::new();
    line.push(Span::plain("  "));
    row.spans.into_iter().for_each(|span| line.push(span));
    line
}

/// Lays out a change whose position in its file is not known: indented, without line numbers.
pub(super) fn plain_changes(path: &Path, old: &str, new: &str, ink: Ink<'_>) -> Vec<Line> {
    layout(path, (old, new), Numbers::Unknown, ink)
}

/// Lays out a change: line number, sign, text. Unchanged stretches are left out. If a line became another one, the
/// parts that differ are marked.
pub(super) fn changes(path: &Path, old: &str, new: &str, ink: Ink<'_>) -> Vec<Line> {
    let digits = old.lines().count().max(new.lines().count()).to_string().len();
    layout(path, (old, new), Numbers::Wide(digits), ink)
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

fn layout(path: &Path, (old, new): (&str, &str), numbers: Numbers, ink: Ink<'_>) -> Vec<Line> {
    // If a whole file is replaced by different content, no words correspond, and searching for them takes long.
    let small = old.len() + new.len() <= MARKED_BYTES;
    let extension = path.extension().and_then(|extension| extension.to_str());
    let language = extension.filter(|_| small && ink.highlight).and_then(Highlighter::new);
    let colours =
        language.map(|language| [coloured(&language, old, ink.theme), coloured(&language, new, ink.theme)]);
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push(Line::styled(format!("{}⋮", numbers.of(None)), ink.theme.furniture));
        }
        for operation in group {
            let mut push =
                |tag: ChangeTag, (before, after): (Option<usize>, Option<usize>), parts: &[(bool, String)]| {
                    let number = if tag == ChangeTag::Delete { before } else { after };
                    let version = usize::from(tag != ChangeTag::Delete);
                    let colours = colours.as_ref().and_then(|versions| versions[version].get(number?));
                    lines.push(row(tag, &numbers.of(number), parts, colours, ink.theme));
                };
            if small {
                for change in diff.iter_inline_changes(operation) {
                    let parts: Vec<(bool, String)> =
                        change.iter_strings_lossy().map(|(marked, text)| (marked, text.into_owned())).collect();
                    push(change.tag(), (change.old_index(), change.new_index()), &parts);
                }
            } else {
                for change in diff.iter_changes(operation) {
                    let indices = (change.old_index(), change.new_index());
                    push(change.tag(), indices, &[(false, change.value().to_owned())]);
                }
            }
        }
    }
    lines
}

/// Colours every line of a text: what a line means depends on those before it.
fn coloured(language: &Highlighter, text: &str, theme: &Theme) -> Vec<Line> {
    let mut language = language.clone();
    text.lines().map(|line| language.line(&shown(line), theme)).collect()
}

/// Returns what the screen shows for a piece of a line.
fn shown(text: &str) -> String {
    sanitize_line(&text.trim_end_matches(['\n', '\r']).replace('\t', "    ")).into_owned()
}

fn row(tag: ChangeTag, number: &str, parts: &[(bool, String)], colours: Option<&Line>, theme: &Theme) -> Line {
    let (sign, style, marked) = match tag {
        ChangeTag::Equal => (" ", theme.dim, theme.dim),
        ChangeTag::Insert => ("+", theme.added, theme.added_word),
        ChangeTag::Delete => ("-", theme.removed, theme.removed_word),
    };
    let mut line = Line::new();
    line.push(Span::new(number, theme.furniture));
    line.push(Span::new(format!("{sign} "), style));
    // A line that is marked from end to end is simply a different line.
    let whole = parts.iter().all(|(marked, text)| *marked || text.trim().is_empty());
    let parts: Vec<(Style, String)> = parts
        .iter()
        .map(|(is_marked, text)| (if *is_marked && !whole { marked } else { style }, shown(text)))
        .collect();
    let text: String = parts.iter().map(|(_, text)| text.as_str()).collect();
    // If only the colour shows that a line changed, it keeps that colour.
    let free = tag == ChangeTag::Equal || style.background.is_some();
    match colours.filter(|colours| free && colours.text() == text) {
        Some(colours) => over(&parts, colours).into_iter().for_each(|span| line.push(span)),
        None => parts.into_iter().for_each(|(style, text)| line.push(Span::new(text, style))),
    }
    line
}

/// Lays the colours of code over the parts of a line; both say the same text.
fn over(parts: &[(Style, String)], colours: &Line) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut colours = colours.spans.iter().map(|span| (span.style, span.text.as_str()));
    let (mut colour, mut left) = colours.next().unwrap_or_default();
    for (style, text) in parts {
        let mut text = text.as_str();
        while !text.is_empty() {
            if left.is_empty() {
                match colours.next() {
                    Some(next) => (colour, left) = next,
                    None => break,
                }
                continue;
            }
            let (piece, rest) = text.split_at(text.floor_char_boundary(left.len().min(text.len())));
            spans.push(Span::new(piece, Style { foreground: colour.foreground, ..*style }));
            (text, left) = (rest, &left[piece.len()..]);
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{Background, Depth};

    fn plain(theme: &Theme) -> Ink<'_> {
        Ink { theme, highlight: false }
    }

    #[test]
    fn code_is_coloured_where_the_change_is_seen_all_the_same() {
        let (old, new) =
            ("/* a\n b */ let x = 1;\n\tlet y = \"s\";\n", "/* a\n b */ let x = 1;\n\tlet z = \"s\";\n");
        let row = |depth: Depth, number: usize| {
            let theme = Theme::choose(depth, Background::Dark);
            let ink = Ink { theme: &theme, highlight: true };
            changes(Path::new("a.rs"), old, new, ink).swap_remove(number)
        };
        let text: Vec<String> = (0..4).map(|number| row(Depth::Truecolor, number).text()).collect();
        assert_eq!(text, ["1   /* a", "2    b */ let x = 1;", "3 -     let y = \"s\";", "3 +     let z = \"s\";"]);
        let theme = Theme::choose(Depth::Truecolor, Background::Dark);
        let style = |line: &Line, text: &str| {
            line.spans.iter().find(|span| span.text.contains(text)).map(|span| span.style)
        };
        let word = |style: Style, colour: Style| Some(Style { foreground: colour.foreground, ..style });
        let added = row(Depth::Truecolor, 3);
        assert_eq!(style(&added, "let"), word(theme.added, theme.code_keyword));
        assert_eq!(style(&added, "z"), word(theme.added_word, Style::default()));
        assert_eq!(style(&row(Depth::Truecolor, 1), "b */"), word(theme.dim, theme.code_comment));
        // Sixteen colours: green is what says that the line is new.
        assert_eq!(style(&row(Depth::Ansi, 3), "let"), Some(Theme::ansi().added));
    }

    #[test]
    fn a_change_is_shown_with_numbers_signs_and_context_only_where_needed() {
        let old: Vec<String> = (1..=12).map(|number| format!("line {number}\n")).collect();
        let old = old.concat();
        let new = old.replace("line 2\n", "LINE 2\n").replace("line 12\n", "line 12\nlast\n");
        let text: Vec<String> =
            changes(Path::new("a.txt"), &old, &new, plain(&Theme::plain())).iter().map(Line::text).collect();
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
        let rows =
            changes(Path::new("a.txt"), "let total = one + two;\n", "let total = one + three;\n", plain(&theme));
        let marked = |line: &Line, style| {
            let spans = line.spans.iter().filter(|span| span.style == style);
            spans.map(|span| span.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(marked(&rows[0], theme.removed_word), ["two;"]);
        assert_eq!(marked(&rows[1], theme.added_word), ["three;"]);
        let another = changes(Path::new("a.txt"), "one\n", "something else\n", plain(&theme));
        assert!(another.iter().all(|line| marked(line, theme.added_word).is_empty()));
    }

    #[test]
    fn nothing_in_a_preview_commands_the_terminal() {
        let mut lines = Vec::new();
        let preview = Preview::Command { line: "echo \u{1b}[2J\u{202e}x\nrm\r-rf".into() };
        let roots = Roots { cwd: "/".into(), workspace: "/".into(), home: None };
        add(&preview, &Locale::new("en"), &roots, plain(&Theme::plain()), &mut lines);
        let text: String = lines.iter().map(Line::text).collect();
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\r']), "{text:?}");
        assert!(text.contains("rm") && text.contains("-rf"), "{text:?}");
    }
}
