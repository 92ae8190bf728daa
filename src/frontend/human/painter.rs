//! Rows as a person reads them: sections that stand apart, errors with what to do now, markdown at once.
//!
//! It owns the screen, the looks and the words, and knows no turn, no keyboard and no question.

use std::io::Write;
use std::path::Path;

use nu_ansi_term::Style;

use super::diff::Ink;
use super::file_address::file_address;
use super::looks::Looks;
use crate::approval::Surroundings;
use crate::command::Chart;
use crate::frontend::words::Diagnostic;
use crate::locale::{Locale, Word, word};
use crate::terminal::width::width;
use crate::terminal::{
    Capabilities, Layout, Line, Mark, MarkdownStream, Screen, Span, Theme, Wrap, in_rows, sanitize_line,
};
use crate::tool::Roots;

/// How far the rows after the first one of an error or a question are set in, in cells.
pub(super) const HANG: usize = 2;

/// Rows of prose are no longer than this, in cells: the eye loses its way back from the end of a longer one.
pub const PROSE_WIDTH: usize = 100;

/// What was printed last, so that sections stand apart by one empty row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Start,
    Reasoning,
    Text,
    Tool,
    Question,
    Notice,
}

/// Paints rows on a screen. See the module.
pub struct Painter<W: Write> {
    screen: Screen<W>,
    size: fn() -> (u16, u16),
    looks: Looks,
    locale: Locale,
    roots: Roots,
    /// Where a proposed line is judged.
    pub(super) place: Surroundings,
    section: Section,
    /// Whether what is being answered has failed.
    failed: bool,
}

impl<W: Write> Painter<W> {
    pub(super) fn new(
        screen: Screen<W>,
        size: fn() -> (u16, u16),
        looks: Looks,
        locale: Locale,
        place: Surroundings,
    ) -> Self {
        let Surroundings { cwd, workspace, home, .. } = place.clone();
        let roots = Roots { cwd, workspace, home };
        Self { screen, size, looks, locale, roots, place, section: Section::Start, failed: false }
    }

    /// Returns the user's words.
    pub const fn locale(&self) -> &Locale {
        &self.locale
    }

    /// Speaks another language from now on.
    pub fn set_locale(&mut self, locale: Locale) {
        self.locale = locale;
    }

    /// Returns the screen, for what is printed between turns.
    pub const fn screen(&mut self) -> &mut Screen<W> {
        &mut self.screen
    }

    /// Returns the styles.
    pub const fn theme(&self) -> &Theme {
        &self.looks.theme
    }

    /// Returns what decides the looks.
    pub const fn looks(&self) -> &Looks {
        &self.looks
    }

    /// Changes what decides the looks.
    pub const fn looks_mut(&mut self) -> &mut Looks {
        &mut self.looks
    }

    /// Returns where the agent works: paths are shown relative to it.
    pub(super) const fn roots(&self) -> &Roots {
        &self.roots
    }

    pub(super) const fn ink(&self) -> Ink<'_> {
        Ink { theme: &self.looks.theme, highlight: self.looks.highlight }
    }

    /// Cells of a row. One that is filled to the last cell makes terminals differ about where the cursor is.
    pub(super) fn width(&self) -> usize {
        self.screen.columns() - 1
    }

    /// Tells whether rows are only ever appended: nothing there lives.
    pub(super) fn is_linear(&self) -> bool {
        self.screen.is_linear()
    }

    pub(super) fn layout(&self) -> Layout {
        Layout {
            width: self.width(),
            prose: PROSE_WIDTH,
            wrap: self.looks.wrap,
            theme: self.looks.theme,
            hyperlinks: self.looks.hyperlinks,
            highlight: self.looks.highlight,
            fences: self.looks.theme.code_block.is_plain(),
        }
    }

    /// Takes over the terminal's size; returns the width of a row when it has changed.
    pub(super) fn resize(&mut self) -> Option<usize> {
        let (columns, rows) = (self.size)();
        let before = self.screen.columns();
        self.screen.resize(columns, rows);
        (self.screen.columns() != before).then(|| self.width())
    }

    /// Starts a section: one empty row between different ones, none between two tools.
    pub(super) fn begin(&mut self, section: Section) {
        let apart = self.section != section || section == Section::Text;
        if apart && self.section != Section::Start {
            self.screen.commit(&Line::new());
        }
        self.section = section;
    }

    /// Puts no blank row between the last section and the next one, if that is of this kind.
    pub(super) const fn continue_as(&mut self, section: Section) {
        self.section = section;
    }

    /// Ends what a section printed between turns: one empty row, the cursor ready for the next prompt.
    pub(super) fn end_section(&mut self) {
        self.screen.commit(&Line::new());
        self.screen.end_live();
        self.section = Section::Start;
    }

    /// Breaks a line of ours into rows as prose is; rows after the first are set in by `hang` cells more.
    pub(super) fn in_rows(&self, line: &Line, hang: usize) -> Vec<Line> {
        if self.screen.is_linear() || self.looks.wrap == Wrap::Soft {
            // Without a width nothing is too wide; or the terminal wraps, so that a copy is one line.
            return vec![line.clone()];
        }
        in_rows(line, self.width(), hang)
    }

    /// Prints a line of ours, broken into rows as prose is; rows after the first are set in by `hang` cells more.
    pub(super) fn commit_rows(&mut self, line: &Line, hang: usize) {
        let rows = self.in_rows(line, hang);
        self.screen.commit_all(&rows);
    }

    /// Lays markdown out at once.
    pub(super) fn laid_out(&self, source: &str) -> Vec<Line> {
        let mut stream = MarkdownStream::new(self.layout());
        let mut rows = stream.push(source);
        rows.extend(stream.finish());
        rows
    }

    /// Prints markdown at once, as a section of its own.
    pub fn markdown(&mut self, source: &str) {
        self.resize();
        self.begin(Section::Text);
        let rows = self.laid_out(source);
        self.screen.commit_all(&rows);
        self.end_section();
    }

    /// Prints rows that are laid out already.
    pub fn print(&mut self, rows: &[Line]) {
        self.resize();
        self.screen.commit_all(rows);
        self.end_section();
    }

    /// Lays out names and what is said of each, the names in a column; under a heading unless that is empty.
    pub fn columns(&self, heading: &str, entries: &[(String, String)]) -> Vec<Line> {
        let mut rows = Vec::new();
        if !heading.is_empty() {
            rows.push(Line::styled(heading, self.looks.theme.heading));
        }
        let widest = entries.iter().map(|(name, _)| width(name)).max().unwrap_or(0).min(self.width() / 2);
        for (name, said) in entries {
            let (name, said) = (sanitize_line(name), sanitize_line(said));
            let mut line = Line::new();
            line.push(Span::plain("  "));
            line.push(Span::new(name.clone(), self.looks.theme.accent));
            line.push(Span::plain(" ".repeat(widest.saturating_sub(width(&name)) + 2)));
            line.push(Span::plain(said));
            rows.extend(self.in_rows(&line, widest + 2));
        }
        rows
    }

    /// Returns how many rows the terminal has.
    pub(super) fn height(&self) -> usize {
        usize::from((self.size)().1)
    }

    /// Tells whether rows fill more than the screen.
    pub fn is_long(&self, rows: &[Line]) -> bool {
        rows.len() + 2 > usize::from((self.size)().1)
    }

    /// Writes rows as bytes for a pager: styled as on the screen, without links and marks.
    pub fn bytes(&self, rows: &[Line]) -> Vec<u8> {
        let styles = self.looks.theme != Theme::plain();
        let mut screen = Screen::linear(Vec::new(), Capabilities { styles, ..Capabilities::PLAIN });
        screen.commit_all(rows);
        screen.flush();
        screen.into_writer()
    }

    /// Prints one quiet line.
    pub fn say(&mut self, text: &str) {
        self.resize();
        let style = self.looks.theme.dim;
        for line in text.lines() {
            self.commit_rows(&Line::styled(sanitize_line(line), style), 0);
        }
        self.screen.end_live();
    }

    /// Prints the path of a file, as a link to it where the terminal knows links.
    pub fn file(&mut self, shown: &str, path: &Path) {
        self.resize();
        let style = self.looks.theme.dim;
        let span = Span { link: Some(file_address(path)), ..Span::new(sanitize_line(shown), style) };
        let mut line = Line::new();
        line.push(span);
        self.commit_rows(&line, 0);
        self.screen.end_live();
    }

    /// Prints charts as quietly, for as many columns as there are.
    pub fn charts(&mut self, charts: &[Chart]) {
        self.resize();
        let columns = (!self.is_linear()).then(|| self.width());
        let rows: Vec<String> = charts.iter().flat_map(|chart| chart.rows(columns)).collect();
        self.say(&rows.join("\n"));
    }

    /// Prints a line that did not come through the editor as the editor would have left it.
    pub fn echo(&mut self, text: &str) {
        for line in self.person(text) {
            self.screen.commit(&line);
        }
        self.screen.end_live();
    }

    /// Lays out what a person said, each line as one row.
    pub(super) fn person(&self, text: &str) -> Vec<Line> {
        let row = |(index, text): (usize, &str)| {
            let mut line = Line::new();
            line.push(Span::new(if index == 0 { "❯ " } else { "  " }, self.looks.theme.accent));
            line.push(Span::new(sanitize_line(text), self.looks.theme.person));
            line
        };
        text.lines().enumerate().map(row).collect()
    }

    /// Prints an error and what to do now.
    pub fn fail(&mut self, what: &str, hint: &str) {
        self.resize();
        self.error(&Diagnostic { what: what.to_owned(), hint: hint.to_owned() });
        self.screen.end_live();
    }

    /// Prints a warning.
    pub fn warn(&mut self, what: &str) {
        self.resize();
        self.notice(word::error::WARNING, &Diagnostic { what: what.to_owned(), hint: String::new() });
        self.screen.end_live();
    }

    /// Adds an error to the section.
    pub(super) fn error(&mut self, told: &Diagnostic) {
        self.failed = true;
        self.tell(word::error::LABEL, self.looks.theme.error, told);
    }

    /// Adds a notice to the section, under its label.
    pub(super) fn notice(&mut self, label: Word, told: &Diagnostic) {
        let theme = &self.looks.theme;
        let style = if label == word::error::NOTE { theme.dim } else { theme.warning };
        self.tell(label, style, told);
    }

    fn tell(&mut self, label: Word, style: Style, told: &Diagnostic) {
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

    /// Says how much is not shown; `askable` says whether there is a prompt to ask for it at.
    pub(super) fn more(&mut self, hidden: usize, askable: bool) {
        let count = &hidden.to_string();
        let text = if askable {
            self.locale.with(word::approve::MoreToShow { count })
        } else {
            self.locale.with(word::approve::TooLong { count })
        };
        self.commit_rows(&Line::styled(format!("  {text}"), self.looks.theme.dim), 0);
    }

    /// Marks that the answer to a line begins here: terminals jump between answers, and know that the prompt above is
    /// over (they erase a prompt on a resize).
    pub fn begin_answer(&mut self) {
        self.failed = false;
        self.screen.mark(&Mark::OutputStart);
        self.screen.flush();
    }

    /// Marks that the answer is over, and whether it was one.
    pub fn end_answer(&mut self) {
        self.screen.mark(&Mark::OutputEnd(u8::from(self.failed)));
        self.screen.flush();
    }

    /// Records that the answer is not complete.
    pub(super) const fn has_failed(&mut self) {
        self.failed = true;
    }
}
