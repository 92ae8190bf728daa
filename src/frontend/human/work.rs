//! Tools as a person sees them: what runs, one title line when it has run, and what of its output matters.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::paint::PAINT_STEP;
use super::said::HANG;
use super::turn::Requested;
use super::{Human, Section, diff, words};
use crate::agent::{Activity, REPEATS};
use crate::conversation::{Effect, Outcome, Preview, Subject, ToolCall, ToolVerb};
use crate::locale::word;
use crate::provider::SILENCE_TOLD_AFTER;
use crate::terminal::{Line, Span, cut, sanitize_line};
use crate::tool::{Proposal, ToolFacts};

/// How the shell tool tells the model of the exit code, in the last line.
const EXIT_CODE: &str = "[exit code ";
/// How many lines of a failed or noisy tool's output are shown.
const OUTPUT_LINES: usize = 5;
/// A title says at least so many cells of what it is about.
const SHORTEST_SUBJECT: usize = 12;
/// How many rows of a change that nobody was asked about are shown.
const CHANGE_ROWS: usize = 20;

/// A call that has its result.
pub(super) struct Result<'a> {
    pub(super) name: &'a str,
    pub(super) outcome: Outcome,
    pub(super) content: &'a str,
    pub(super) facts: &'a ToolFacts,
    pub(super) duration_ms: u64,
}

impl<W: Write> Human<W> {
    pub(super) fn waiting(&mut self, activity: &Activity) {
        if matches!(
            activity,
            Activity::Connecting
                | Activity::WritingCall { .. }
                | Activity::Running { .. }
                | Activity::Exploring { .. }
        ) {
            self.end_stream();
        }
        if let Activity::Running { .. } = activity {
            self.look_ahead();
        }
        self.explorers_changed(activity);
        let words = words::activity(&self.locale, &self.place, &self.tools, activity);
        // What is thought and written is seen as it arrives.
        let is_seen = match activity {
            // Reading is told at every step of some seconds' work: a line each is too much.
            // Of sub-agents each is told when it begins.
            Activity::Thinking
            | Activity::Answering
            | Activity::WritingCall { .. }
            | Activity::Reading { .. }
            | Activity::Exploring { .. } => true,
            Activity::Connecting | Activity::Loading | Activity::Running { .. } => false,
            // Told once, not as it grows.
            Activity::Silent { seconds } => *seconds > SILENCE_TOLD_AFTER.as_secs(),
        };
        self.busy_with(&words, !is_seen);
    }

    /// Shows what the agent is busy with: in the status row, or as a line where there is none and `line` is set.
    pub(super) fn busy_with(&mut self, words: &str, line: bool) {
        let words = sanitize_line(words).into_owned();
        if self.screen.is_linear() && line {
            self.begin(Section::Tool);
            self.screen.commit(&Line::styled(format!("{words} …"), self.looks.theme.dim));
        }
        if let Some(turn) = &mut self.turn {
            self.status.changed |= turn.activity != words;
            turn.activity = words;
            turn.output.clear();
        }
        self.paint_live();
    }

    pub(super) fn requested(&mut self, call: &ToolCall, effect: Effect, subject: &Subject) {
        let Some(turn) = &mut self.turn else { return };
        let changes = matches!(effect, Effect::Write | Effect::Delete).then(|| call.clone());
        let proposal = (self.tools.identity(&call.name).verb == ToolVerb::Propose)
            .then(|| Proposal::parse(&call.input).ok())
            .flatten();
        let about = words::about(&self.locale, &self.place, &self.tools, call, subject);
        turn.requested.insert(
            call.id.clone(),
            Requested { subject: subject.clone(), changes, change: None, proposal, about },
        );
    }

    /// Takes down what the call that runs now will change, unless a person has seen it: the files are still as they were.
    fn look_ahead(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        for requested in turn.requested.values_mut() {
            let Some(call) = requested.changes.take() else { continue };
            let change = self.tools.find(&call.name).and_then(|tool| tool.preview(&call.input, &self.place).ok());
            // What is told in words the title says as well.
            let is_told = |change: &Preview| matches!(change, Preview::Diff { .. } | Preview::Many { .. });
            requested.change = change.filter(is_told);
        }
    }

    /// Shows a line a running tool printed.
    pub(super) fn running(&mut self, line: &str) {
        if let Some(turn) = &mut self.turn {
            sanitize_line(line).trim().clone_into(&mut turn.output);
        }
        let now = self.now();
        if self.painted.is_none_or(|painted| now >= painted + PAINT_STEP) {
            self.painted = Some(now);
            self.paint_live();
        }
    }

    pub(super) fn finished(&mut self, known: Requested, result: &Result<'_>) {
        self.end_stream();
        if let (Some(proposal), Outcome::Ok) = (&known.proposal, result.outcome) {
            self.proposal(proposal);
            return self.paint_live();
        }
        self.begin(Section::Tool);
        let title = self.title(&known.subject, &known.about, result);
        self.commit_rows(&title, HANG);
        let verb = self.tools.identity(result.name).verb;
        match (known.change, result.outcome) {
            (Some(change), Outcome::Ok) => self.change(&change),
            (_, Outcome::Ok) if verb == ToolVerb::Plan => {
                let rows = self.plan(result.content);
                for row in &rows {
                    self.commit_rows(row, HANG);
                }
            }
            (_, Outcome::Ok) if verb != ToolVerb::Run => {}
            (_, Outcome::Denied) => {}
            // A notice has said so.
            (_, Outcome::Failed) if result.content == REPEATS => {}
            // It never began.
            (_, Outcome::Interrupted) if *result.facts == ToolFacts::default() => {}
            (_, Outcome::Ok | Outcome::Failed | Outcome::Interrupted) => self.output(result),
        }
        if let Some(turn) = &mut self.turn {
            turn.output.clear();
        }
        self.paint_live();
    }

    /// Composes a title line, with what the call is about in words: `✓ Ran cargo test · 4.1 s`. A single file is a link where the terminal can open it.
    pub(super) fn title(&self, subject: &Subject, about: &str, result: &Result<'_>) -> Line {
        let Result { name, outcome, facts, duration_ms, .. } = result;
        let theme = &self.looks.theme;
        let tool = (*name, self.tools.identity(name).verb);
        let words = |what: &str| {
            let text = words::title_about(&self.locale, what, tool, *outcome, facts, *duration_ms);
            format!(" {}", sanitize_line(&text))
        };
        let whole = sanitize_line(about).into_owned();
        let (shown, text) = self.fitting(whole, words);
        let good = *outcome == Outcome::Ok && facts.exit_code.unwrap_or(0) == 0;
        let (mark, style) = if good { ("✓", theme.success) } else { ("✗", theme.error) };
        let mut line = Line::new();
        line.push(Span::new(mark, style));
        let file = match subject {
            Subject::Paths { paths } => paths.first().filter(|_| paths.len() == 1 && self.looks.file_links),
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

    /// Shortens what a title is about until the title is one row: what came of it stands at its end.
    fn fitting(&self, whole: String, words: impl Fn(&str) -> String) -> (String, String) {
        let cells = |text: &str| crate::terminal::width::column_after(text, 0);
        let text = words(&whole);
        let room = self.screen.columns().saturating_sub(2);
        let (over, about) = (cells(&text).saturating_sub(room), cells(&whole));
        if over == 0 || about <= SHORTEST_SUBJECT || self.screen.is_linear() {
            return (whole, text);
        }
        let left = about.saturating_sub(over).max(SHORTEST_SUBJECT);
        let shown = cut(&Line::styled(whole, nu_ansi_term::Style::default()), left).text();
        let text = words(&shown);
        (shown, text)
    }

    /// Prints what a change did that nobody was asked about.
    fn change(&mut self, change: &Preview) {
        let rows = diff::rows(change, &self.locale, &self.place, self.ink());
        let hidden = rows.len().saturating_sub(CHANGE_ROWS);
        self.screen.commit_all(rows.iter().take(CHANGE_ROWS));
        if hidden > 0 {
            self.more(hidden);
        }
    }

    /// Lays out a plan as boxes: open, under way, done, dropped.
    pub(super) fn plan(&self, content: &str) -> Vec<Line> {
        let theme = self.looks.theme;
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
    fn output(&mut self, result: &Result<'_>) {
        let mut lines: Vec<&str> = result.content.lines().filter(|line| !line.trim().is_empty()).collect();
        if result.facts.exit_code.is_some() && lines.last().is_some_and(|line| line.starts_with(EXIT_CODE)) {
            // The title says so.
            lines.pop();
        }
        let hidden = lines.len().saturating_sub(OUTPUT_LINES);
        if hidden > 0 {
            self.more(hidden);
        }
        for text in &lines[hidden..] {
            let line = Line::styled(format!("  {}", sanitize_line(text)), self.looks.theme.dim);
            // Without a width nothing is too wide.
            let line = if self.screen.is_linear() { line } else { cut(&line, self.screen.columns() - 1) };
            self.screen.commit(&line);
        }
    }

    /// Says how much is not shown, and what shows it where there is a prompt to ask at.
    fn more(&mut self, hidden: usize) {
        let count = &hidden.to_string();
        let text = if self.keyboard.is_some() {
            self.locale.with(word::approve::MoreToShow { count })
        } else {
            self.locale.with(word::approve::TooLong { count })
        };
        self.commit_rows(&Line::styled(format!("  {text}"), self.looks.theme.dim), 0);
    }
}

/// The address of a file (RFC 8089), for terminals that open what is clicked.
fn file_address(path: &Path) -> Arc<str> {
    let mut address = String::from("file://");
    for byte in std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                address.push(char::from(*byte));
            }
            // RFC 3986, 2.1.
            other => {
                // Writing to a String cannot fail.
                let _ = write!(address, "%{other:02X}");
            }
        }
    }
    address.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_only_what_an_address_may() {
        assert_eq!(&*file_address(Path::new("/tmp/a b/中;\u{1b}.rs")), "file:///tmp/a%20b/%E4%B8%AD%3B%1B.rs");
    }
}
