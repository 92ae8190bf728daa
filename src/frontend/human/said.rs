//! What is said between turns and around them: quiet lines, errors with what to do now, markdown at once.

use std::io::Write;

use super::{Human, Section};
use crate::frontend::words::Told;
use crate::locale::{Word, word};
use crate::terminal::width::width;
use crate::terminal::{Line, MarkdownStream, Span, Wrap, in_rows, sanitize_line};

/// How far the rows after the first one of an error or a question are set in, in cells.
pub(super) const HANG: usize = 2;

impl<W: Write> Human<W> {
    /// Prints markdown at once, as a section of its own.
    pub fn markdown(&mut self, source: &str) {
        self.resized();
        self.begin(Section::Text);
        let mut stream = MarkdownStream::new(self.layout(self.looks.theme));
        let mut rows = stream.push(source);
        rows.extend(stream.finish());
        self.screen.commit_all(&rows);
        self.end_section();
    }

    /// Prints one quiet line.
    pub fn say(&mut self, text: &str) {
        self.resized();
        let style = self.looks.theme.dim;
        for line in text.lines() {
            self.commit_rows(&Line::styled(sanitize_line(line), style), 0);
        }
        self.screen.end_live();
    }

    /// Prints a line that did not come through the editor as the editor would have left it.
    pub fn echo(&mut self, text: &str) {
        let theme = self.looks.theme;
        for (index, row) in text.lines().enumerate() {
            let mut line = Line::new();
            line.push(Span::new(if index == 0 { "❯ " } else { "  " }, theme.accent));
            line.push(Span::plain(sanitize_line(row).into_owned()));
            self.screen.commit(&line);
        }
        self.screen.end_live();
    }

    /// Prints an error and what to do now.
    pub fn fail(&mut self, what: &str, hint: &str) {
        self.failed = true;
        self.resized();
        let told = Told { what: what.to_owned(), hint: hint.to_owned() };
        self.tell(word::error::LABEL, self.looks.theme.error, &told);
        self.screen.end_live();
    }

    /// Prints a warning.
    pub fn warn(&mut self, what: &str) {
        self.resized();
        let told = Told { what: what.to_owned(), hint: String::new() };
        self.tell(word::error::WARNING, self.looks.theme.warning, &told);
        self.screen.end_live();
    }

    /// Ends what a section printed between turns: one empty row, the cursor ready for the next prompt.
    pub(super) fn end_section(&mut self) {
        self.screen.commit(&Line::new());
        self.screen.end_live();
        self.section = Section::Start;
    }

    pub(super) fn tell(&mut self, label: Word, style: nu_ansi_term::Style, told: &Told) {
        let label = self.locale.text(label).to_owned();
        for (index, text) in told.what.lines().enumerate() {
            let mut line = Line::new();
            if index == 0 {
                line.push(Span::new(label.clone(), style));
                line.push(Span::plain(" "));
            }
            line.push(Span::plain(sanitize_line(text).into_owned()));
            self.commit_rows(&line, HANG);
        }
        let hint = self.locale.text(word::error::HINT).to_owned();
        for (index, text) in told.hint.lines().enumerate() {
            let mut line = Line::new();
            let lead = if index == 0 { hint.clone() } else { " ".repeat(width(&hint)) };
            line.push(Span::new(format!("{lead} {}", sanitize_line(text)), self.looks.theme.dim));
            self.commit_rows(&line, if index == 0 { HANG } else { 0 });
        }
    }

    /// Prints a line of ours, broken into rows as prose is; rows after the first are set in by `hang` cells more.
    pub(super) fn commit_rows(&mut self, line: &Line, hang: usize) {
        let rows = self.in_rows(line, hang);
        self.screen.commit_all(&rows);
    }

    /// Breaks a line of ours into rows as prose is; rows after the first are set in by `hang` cells more.
    pub(super) fn in_rows(&self, line: &Line, hang: usize) -> Vec<Line> {
        if self.screen.is_linear() || self.looks.wrap == Wrap::Soft {
            // Without a width nothing is too wide; or the terminal wraps, so that a copy is one line.
            return vec![line.clone()];
        }
        in_rows(line, self.screen.columns() - 1, hang)
    }

    /// Starts a section: one empty row between different ones, none between two tools.
    pub(super) fn begin(&mut self, section: Section) {
        let apart = self.section != section || section == Section::Text;
        if apart && self.section != Section::Start {
            self.screen.commit(&Line::new());
        }
        self.section = section;
    }
}
