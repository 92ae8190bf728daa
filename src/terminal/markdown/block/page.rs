//! The page on which blocks are laid out: the row being filled and its prefixes, the definitions, the finished
//! rows.
//!
//! The page knows no blocks: paragraphs, tables and code each lay themselves out on it.

use nu_ansi_term::Style;

use super::container::{self, Container, Kind};
use crate::terminal::line::{Line, Span};
use crate::terminal::markdown::html;
use crate::terminal::markdown::inline::{
    Definitions, Emitter, Ending, Parsed, formula_in_one_row, is_plain, overlay, read,
};
use crate::terminal::markdown::layout::Layout;
use crate::terminal::markdown::rows::{Output, Prefix, Spaces, Wrapper};

/// How wide a rule is at most, in cells.
const RULE_WIDTH: usize = 80;

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(super) containers: Vec<Container>,
    pub(super) wrapper: Wrapper,
    parsed: Parsed,
    pub(super) definitions: Definitions,
    pub(crate) out: Output,
    /// Whether the text is the model's reasoning.
    pub(crate) reasoning: bool,
}

impl Page {
    pub(super) fn new(layout: &Layout) -> Self {
        Self {
            layout: *layout,
            containers: vec![Container::new(Kind::Document)],
            wrapper: Wrapper::new(layout.prose_width(), layout.wrap),
            parsed: Parsed::default(),
            definitions: Definitions::default(),
            out: Output::default(),
            reasoning: false,
        }
    }

    /// Copies everything except the finished rows.
    pub(super) fn without_rows(&self) -> Self {
        Self {
            layout: self.layout,
            containers: self.containers.clone(),
            wrapper: self.wrapper.clone(),
            parsed: Parsed::default(),
            definitions: self.definitions.clone(),
            out: Output::default(),
            reasoning: self.reasoning,
        }
    }

    /// Returns the prefix of a block's first row, and that of its other rows; the markers count as printed.
    pub(super) fn prefixes(&mut self) -> (Prefix, Prefix) {
        container::prefixes(&mut self.containers, &self.layout)
    }

    /// Begins a block whose rows are filled.
    pub(super) fn start(&mut self) {
        let (first, rest) = self.prefixes();
        self.wrapper.start(self.layout.prose_width(), first, rest);
    }

    /// Returns the style of text here.
    pub(super) fn base(&self) -> Style {
        let theme = &self.layout.theme;
        let base = if self.reasoning { theme.dim } else { Style::default() };
        let quoted = self.containers.iter().any(|container| container.kind == Kind::Quote);
        if quoted { overlay(base, theme.quote) } else { base }
    }

    /// Appends words without markup to the row being filled.
    pub(super) fn words(&mut self, text: &str, style: Style, spaces: Spaces) {
        self.wrapper.push(text, style, None, spaces, &mut self.out);
    }

    /// Reads a text that follows the character `before`, and appends the part that no later text can change;
    /// returns how many bytes that is.
    pub(super) fn text(&mut self, text: &str, before: char, ending: Ending, base: Style) -> usize {
        let mut emitter = Emitter { layout: &self.layout, base, wrapper: &mut self.wrapper, out: &mut self.out };
        if is_plain(text) {
            emitter.plain(text);
            return text.len();
        }
        read(&mut self.parsed, text, before, ending, &self.definitions);
        let safe = self.parsed.safe;
        emitter.tokens(&self.parsed, text, safe);
        // A guess is shown for a moment only, so its labels do not count as missed.
        let missed = ending != Ending::Guess;
        for (_, label) in self.parsed.unresolved.drain(..).filter(|(place, _)| missed && *place < safe) {
            self.definitions.miss(label);
        }
        safe
    }

    /// Appends a whole text to rows that have another width than the page.
    pub(super) fn text_into(&mut self, text: &str, style: Style, wrapper: &mut Wrapper, out: &mut Output) {
        std::mem::swap(&mut self.wrapper, wrapper);
        std::mem::swap(&mut self.out, out);
        self.text(text, '\n', Ending::Closed, style);
        std::mem::swap(&mut self.wrapper, wrapper);
        std::mem::swap(&mut self.out, out);
    }

    /// Ends a block whose rows are filled.
    pub(super) fn finish(&mut self) {
        self.wrapper.finish(&mut self.out);
    }

    /// Prints the markers of items that have no row yet.
    pub(super) fn print_markers(&mut self, from: usize) {
        let waiting = |container: &Container| matches!(&container.kind, Kind::Item { marker: Some(_), .. });
        if self.containers.iter().skip(from).any(waiting) {
            self.start();
            self.wrapper.finish_with_prefix(&mut self.out);
        }
    }

    /// Prints a line of code as it is.
    pub(super) fn code(&mut self, row: Line) {
        self.print_markers(0);
        self.out.row(row);
    }

    /// Prints a line of maths after the prefixes of its containers. Its delimiters are left out: they tell a person
    /// nothing.
    pub(super) fn maths(&mut self, text: &str) {
        let inner = ["$$", "\\["].iter().find_map(|open| text.trim().strip_prefix(open)).unwrap_or(text.trim());
        let inner = ["$$", "\\]", "\\\\"].iter().find_map(|close| inner.strip_suffix(close)).unwrap_or(inner);
        if inner.is_empty() {
            return;
        }
        let said = formula_in_one_row(inner);
        let text = said.as_deref().unwrap_or(text);
        let (first, _) = self.prefixes();
        let mut row = Line { spans: first.spans };
        row.push(Span::new(text, self.layout.theme.code));
        self.out.row(row);
    }

    /// Prints a line of HTML as it is.
    pub(super) fn html(&mut self, line: &str) {
        let Some(line) = html::readable(line) else { return };
        self.start();
        self.words(line.trim_end(), self.layout.theme.dim, Spaces::Keep);
        // An HTML comment may contain blank lines.
        self.wrapper.finish_with_prefix(&mut self.out);
    }

    pub(super) fn rule(&mut self) {
        let (first, _) = self.prefixes();
        let cells = self.layout.width.saturating_sub(first.width).clamp(3, RULE_WIDTH);
        let mut row = Line { spans: first.spans };
        row.push(Span::new("─".repeat(cells), self.layout.theme.furniture));
        self.out.row(row);
    }
}
