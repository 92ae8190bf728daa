//! How a person sees a finished call: one title line, and the important part of its output.

use std::io::Write;
use std::sync::Arc;

use super::file_address::file_address;
use super::painter::{HANG, Painter, Section};
use super::steps::Requested;
use super::{diff, propose};
use crate::agent::{APPLIED_FROM_TRIAL, REPEATS};
use crate::approval::command::LineJudgement;
use crate::conversation::{Outcome, Preview, Subject, ToolVerb};
use crate::frontend::words;
use crate::locale::Word;
use crate::terminal::{Line, Span, Theme, cut, sanitize_line};
use crate::tool::ToolFacts;

/// How the shell tool tells the model of the exit code, in the last line.
const EXIT_CODE: &str = "[exit code ";
/// How a tool tells the model that there is none.
const NO_OUTPUT: &str = "(no output)";
/// How many lines of a failed or noisy tool's output are shown.
const OUTPUT_LINES: usize = 5;
/// A title says at least so many cells of what it is about.
const SHORTEST_SUBJECT: usize = 12;
/// How many rows of a change that nobody was asked about are shown.
const CHANGE_ROWS: usize = 20;

/// A call that has its result.
pub(super) struct Finished<'a> {
    pub(super) name: &'a str,
    pub(super) verb: ToolVerb,
    pub(super) outcome: Outcome,
    pub(super) content: &'a str,
    pub(super) facts: &'a ToolFacts,
    pub(super) duration_ms: u64,
    /// The change it made.
    pub(super) change: Option<&'a Preview>,
}

/// Prints what came of a call; `askable` says whether there is a prompt to ask for more at. Returns the judgement of the
/// command that it proposes.
pub(super) fn finish<W: Write>(
    painter: &mut Painter<W>,
    known: &Requested,
    result: &Finished<'_>,
    askable: bool,
) -> Option<Arc<LineJudgement>> {
    if let (Some(proposal), Outcome::Ok) = (&known.proposal, result.outcome) {
        return Some(propose::proposal(painter, proposal));
    }
    painter.begin(Section::Tool);
    let title = title(painter, &known.subject, &known.about, result, known.allowed);
    painter.commit_rows(&title, HANG);
    match (result.change.filter(|_| !known.seen), result.outcome) {
        (Some(form), Outcome::Ok) => change(painter, form, askable),
        (_, Outcome::Ok) if result.verb == ToolVerb::Plan => {
            for row in &plan(painter.theme(), result.content) {
                painter.commit_rows(row, HANG);
            }
        }
        (_, Outcome::Ok) if result.verb != ToolVerb::Run => {}
        (_, Outcome::Denied) => {}
        // They have just seen it all.
        (_, Outcome::Ok) if result.content.starts_with(APPLIED_FROM_TRIAL) => {}
        // A notice has said so.
        (_, Outcome::Failed) if result.content == REPEATS => {}
        // It never began.
        (_, Outcome::Interrupted) if *result.facts == ToolFacts::default() => {}
        (_, Outcome::Ok | Outcome::Failed | Outcome::Interrupted) => output(painter, result, askable),
    }
    None
}

/// Composes a title line, with what the call is about in words: `✓ Ran cargo test · 4.1 s`. A single file is a link where the terminal can open it.
pub(super) fn title<W: Write>(
    painter: &Painter<W>,
    subject: &Subject,
    about: &str,
    result: &Finished<'_>,
    allowed: Option<Word>,
) -> Line {
    let Finished { name, verb, outcome, facts, duration_ms, .. } = result;
    let theme = painter.theme();
    let words = |what: &str| {
        let text = words::title_about(painter.locale(), what, (*name, *verb), *outcome, facts, *duration_ms);
        let allowed = allowed.map_or_else(String::new, |word| format!(" · {}", painter.locale().text(word)));
        format!(" {}{allowed}", sanitize_line(&text))
    };
    let whole = sanitize_line(about).into_owned();
    let (shown, text) = fitting(painter, whole, words);
    let good = *outcome == Outcome::Ok && facts.exit_code.unwrap_or(0) == 0;
    let (mark, style) = if good { ("✓", theme.success) } else { ("✗", theme.error) };
    let mut line = Line::new();
    line.push(Span::new(mark, style));
    let file = match subject {
        Subject::Paths { paths } => paths.first().filter(|_| paths.len() == 1 && painter.looks().file_links),
        Subject::Command { .. } | Subject::Host { .. } | Subject::Whole => None,
    };
    match file.and_then(|path| Some((path, text.find(&shown)?))) {
        Some((path, start)) if !shown.is_empty() => {
            let (before, after) = (&text[..start], &text[start + shown.len()..]);
            line.push(Span::plain(before));
            line.push(Span { link: Some(file_address(path)), ..Span::plain(shown) });
            line.push(Span::plain(after));
        }
        Some(_) | None => line.push(Span::plain(text)),
    }
    line
}

/// Shortens the subject of a title until the title is one row: the result stands at its end and must be seen.
fn fitting<W: Write>(painter: &Painter<W>, whole: String, words: impl Fn(&str) -> String) -> (String, String) {
    let cells = |text: &str| crate::terminal::width::column_after(text, 0);
    let text = words(&whole);
    let room = painter.width().saturating_sub(1);
    let (over, about) = (cells(&text).saturating_sub(room), cells(&whole));
    if over == 0 || about <= SHORTEST_SUBJECT || painter.is_linear() {
        return (whole, text);
    }
    let left = about.saturating_sub(over).max(SHORTEST_SUBJECT);
    let shown = cut(&Line::styled(whole, nu_ansi_term::Style::default()), left).text();
    let text = words(&shown);
    (shown, text)
}

/// Prints what a change did that nobody was asked about.
fn change<W: Write>(painter: &mut Painter<W>, change: &Preview, askable: bool) {
    let rows = diff::rows(change, painter.locale(), painter.roots(), painter.ink());
    let hidden = rows.len().saturating_sub(CHANGE_ROWS);
    painter.screen().commit_all(rows.iter().take(CHANGE_ROWS));
    if hidden > 0 {
        painter.more(hidden, askable);
    }
}

/// Lays out a plan as boxes: open, under way, done, dropped.
pub(super) fn plan(theme: &Theme, content: &str) -> Vec<Line> {
    let row = |text: &str| {
        let (mark, style, rest) = match text.split_at_checked(4) {
            Some(("[ ] ", rest)) => ("☐", nu_ansi_term::Style::default(), rest),
            Some(("[>] ", rest)) => ("▸", theme.strong, rest),
            Some(("[x] ", rest)) => ("☑", theme.dim, rest),
            Some(("[-] ", rest)) => ("☒", theme.dim, rest),
            Some(_) | None => return None,
        };
        Some(Line::styled(format!("  {mark} {}", sanitize_line(rest)), style))
    };
    content.lines().filter_map(row).collect()
}

/// Prints the last lines of a tool's output, each cut to one row.
fn output<W: Write>(painter: &mut Painter<W>, result: &Finished<'_>, askable: bool) {
    // A tool tells the model in a sentence that there is no output; a person does not see it as output.
    let shown = |line: &&str| !line.trim().is_empty() && *line != NO_OUTPUT;
    let mut lines: Vec<&str> = result.content.lines().filter(shown).collect();
    if result.facts.exit_code.is_some() && lines.last().is_some_and(|line| line.starts_with(EXIT_CODE)) {
        // The title says so.
        lines.pop();
    }
    let hidden = lines.len().saturating_sub(OUTPUT_LINES);
    if hidden > 0 {
        painter.more(hidden, askable);
    }
    for text in &lines[hidden..] {
        let line = Line::styled(format!("  {}", sanitize_line(text)), painter.theme().dim);
        // Without a width nothing is too wide.
        let line = if painter.is_linear() { line } else { cut(&line, painter.width()) };
        painter.screen().commit(&line);
    }
}
