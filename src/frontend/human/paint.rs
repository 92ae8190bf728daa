//! Text as it arrives, and the rows below it that live.

use std::io::Write;
use std::time::Duration;

use nu_ansi_term::Style;

use super::turn::Thinking;
use super::{Human, Section, words};
use crate::config::ReasoningView;
use crate::locale::word;
use crate::terminal::{Layout, Line, MarkdownStream, Span, Status, Theme, cut, status_line};

/// The least time between two paintings of arriving text.
pub(super) const PAINT_STEP: Duration = Duration::from_millis(16);
/// The least time between two status rows: at most 20 a second.
pub(super) const STATUS_STEP: Duration = Duration::from_millis(50);

impl<W: Write> Human<W> {
    pub(super) fn layout(&self, theme: Theme) -> Layout {
        Layout {
            // A row that is filled to the last cell makes terminals differ about where the cursor is.
            width: self.screen.columns() - 1,
            wrap: self.looks.wrap,
            theme,
            hyperlinks: self.looks.hyperlinks,
            highlight: self.looks.highlight,
        }
    }

    pub(super) fn resized(&mut self) {
        let (columns, rows) = (self.size)();
        let before = self.screen.columns();
        self.screen.resize(columns, rows);
        let now = self.screen.columns();
        if let Some((_, stream)) = self.stream.as_mut().filter(|_| now != before) {
            stream.resize(now - 1);
        }
    }

    /// Counts text towards the tokens of the status row.
    pub(super) fn count(&mut self, text: &str) {
        if let Some(turn) = &mut self.turn {
            turn.tokens.arrived(text);
        }
    }

    pub(super) fn text(&mut self, section: Section, text: &str) {
        if self.stream.as_ref().is_some_and(|(open, _)| *open != section) {
            self.end_stream();
        }
        if self.stream.is_none() {
            // Models often begin with empty lines; a section begins with its first word.
            if self.pending.is_empty() && text.trim().is_empty() {
                return;
            }
            if section != Section::Reasoning || self.looks.reasoning == ReasoningView::Show {
                self.begin(section);
            }
            self.stream = Some((section, MarkdownStream::new(self.layout(self.looks.theme))));
        }
        self.pending.push_str(text);
        if self.painted.is_none_or(|painted| self.now() >= painted + PAINT_STEP) {
            self.paint();
        }
    }

    /// Takes a piece of reasoning; what is seen of it is the person's choice.
    pub(super) fn reason(&mut self, text: &str) {
        let now = self.now();
        if let Some(turn) = &mut self.turn {
            turn.thinking.get_or_insert(Thinking { since: now, rows: 0 });
        }
        match self.looks.reasoning {
            ReasoningView::Show | ReasoningView::Summary => self.text(Section::Reasoning, text),
            ReasoningView::Hide => {
                if self.stream.is_some() {
                    self.end_stream();
                }
            }
        }
    }

    /// Commits rows of a section, or only counts them where they are not to be seen.
    fn out(&mut self, section: Section, rows: &[Line]) {
        if section == Section::Reasoning {
            if let Some(thinking) = self.turn.as_mut().and_then(|turn| turn.thinking.as_mut()) {
                thinking.rows += rows.iter().filter(|row| !row.is_empty()).count() as u64;
            }
            if self.looks.reasoning == ReasoningView::Show {
                let style = self.looks.theme.dim;
                self.screen.commit_all(&rows.iter().map(|row| dimmed(row, style)).collect::<Vec<_>>());
            }
            return;
        }
        self.screen.commit_all(rows);
    }

    pub(super) fn paint(&mut self) {
        self.resized();
        if let Some((section, stream)) = self.stream.as_mut().filter(|_| !self.pending.is_empty()) {
            let (section, rows) = (*section, stream.push(&self.pending));
            self.pending.clear();
            self.out(section, &rows);
        }
        self.painted = Some(self.now());
        self.paint_live();
    }

    /// Paints the unfinished text row, or a running tool's last line, and the status row.
    pub(super) fn paint_live(&mut self) {
        let status = self.status();
        let quiet = self.looks.reasoning != ReasoningView::Show;
        if let Some((section, stream)) = &mut self.stream
            && let Some(gap) = stream.take_gap()
        {
            let section = *section;
            self.out(section, &[gap]);
        }
        let width = self.screen.columns() - 1;
        let (open, tail) = match (&self.stream, &self.turn) {
            // What will not be printed is seen in passing.
            (Some((Section::Reasoning, stream)), _) if quiet => {
                (Line::new(), cut(&dimmed(&stream.tail(), self.looks.theme.dim), width))
            }
            (Some((Section::Reasoning, stream)), _) => {
                let (open, tail) = stream.live();
                (dimmed(&open, self.looks.theme.dim), dimmed(&tail, self.looks.theme.dim))
            }
            (Some((_, stream)), _) => stream.live(),
            (None, Some(turn)) if !turn.explorers.is_empty() => {
                (Line::new(), self.explorers_row(turn, self.screen.tail_columns()))
            }
            (None, Some(turn)) if !turn.output.is_empty() => {
                let line = Line::styled(format!("  {}", turn.output), self.looks.theme.dim);
                (Line::new(), cut(&line, width))
            }
            (None, _) => (Line::new(), Line::new()),
        };
        self.screen.live(&open, &status);
        self.screen.tail(&tail);
        self.screen.flush();
    }

    /// Tells whether the status row would say something else than the spinner's next frame.
    pub(super) fn is_status_old(&self) -> bool {
        let typed = self.keyboard.as_ref().is_some_and(|keyboard| keyboard.keys.version() != self.status.keys);
        typed || self.status.changed
    }

    fn status(&mut self) -> Line {
        let now = self.now();
        let Some(turn) = &self.turn else { return Line::new() };
        if self.status.at.is_some_and(|at| now < at + STATUS_STEP) {
            return self.status.line.clone();
        }
        let typed = self.keyboard.as_ref().map(|keyboard| keyboard.keys.typed()).unwrap_or_default();
        self.status.keys = self.keyboard.as_ref().map_or(0, |keyboard| keyboard.keys.version());
        let elapsed = now.saturating_duration_since(turn.started);
        let seconds = if elapsed.as_secs() == 0 { String::new() } else { words::whole_seconds(elapsed.as_secs()) };
        let tokens = match turn.tokens.count() {
            0 => String::new(),
            count => self.locale.count(word::status::TOKENS, count),
        };
        let queued = match typed.queue.len() {
            0 => String::new(),
            count => self.locale.with(word::status::Queued { count: &count.to_string() }),
        };
        let own = if turn.own { self.locale.text(word::status::OWN) } else { "" };
        // Nobody can press it in print mode.
        let stop = if self.keyboard.is_some() { self.locale.text(word::status::STOP) } else { "" };
        let status = Status {
            elapsed,
            activity: &turn.activity,
            details: &[own, &seconds, &tokens, stop],
            typed: &typed.text,
            queued: &queued,
        };
        self.status.line = status_line(&status, &self.looks.theme, self.screen.status_columns());
        self.status.at = Some(now);
        self.status.changed = false;
        self.status.line.clone()
    }

    /// Commits what is open of the text.
    pub(super) fn end_stream(&mut self) {
        self.resized();
        if let Some((section, mut stream)) = self.stream.take() {
            let mut rows = stream.push(&self.pending);
            rows.extend(stream.finish());
            self.out(section, &rows);
        }
        self.pending.clear();
        self.end_reasoning();
    }

    fn end_reasoning(&mut self) {
        let Some(Thinking { since, rows }) = self.turn.as_mut().and_then(|turn| turn.thinking.take()) else {
            return;
        };
        if self.looks.reasoning == ReasoningView::Hide || rows == 0 {
            return;
        }
        let spent = self.now().saturating_duration_since(since).as_secs();
        let lines = self.locale.count(word::title::LINES, rows);
        let text = if spent == 0 {
            self.locale.with(word::repl::Thought { lines: &lines })
        } else {
            let seconds = words::whole_seconds(spent);
            self.locale.with(word::repl::ThoughtLong { lines: &lines, seconds: &seconds })
        };
        if self.looks.reasoning == ReasoningView::Summary {
            self.begin(Section::Reasoning);
        }
        self.commit_rows(&Line::styled(text, self.looks.theme.dim), 0);
    }
}

/// The same row as what matters little looks: attributes stay, colours give way.
pub(super) fn dimmed(row: &Line, dim: Style) -> Line {
    let mut line = Line::new();
    for span in &row.spans {
        let style = Style {
            foreground: dim.foreground.or(span.style.foreground),
            is_dimmed: dim.is_dimmed || span.style.is_dimmed,
            ..span.style
        };
        line.push(Span { style, ..span.clone() });
    }
    line
}
