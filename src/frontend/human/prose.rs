//! Text and reasoning as they arrive: held back for a moment, laid out, and shown below the rows while they are
//! open.

use std::io::Write;
use std::time::Instant;

use nu_ansi_term::Style;

use super::painter::{Painter, Section};
use crate::config::ReasoningView;
use crate::frontend::words;
use crate::locale::word;
use crate::terminal::{Line, MarkdownStream, Span, cut};

/// Reasoning under way.
#[derive(Debug, Clone, Copy)]
struct Thinking {
    since: Instant,
    /// Rows that are out.
    rows: u64,
}

/// What arrives of a message. Empty between messages.
#[derive(Default)]
pub(super) struct Prose {
    /// The section under way, and its text.
    stream: Option<(Section, MarkdownStream)>,
    /// What has arrived and is not laid out.
    pending: String,
    thinking: Option<Thinking>,
}

impl Prose {
    /// Tells whether something waits to be painted.
    pub(super) fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes a piece of the answer.
    pub(super) fn answer<W: Write>(&mut self, painter: &mut Painter<W>, text: &str, now: Instant) {
        self.take(painter, Section::Text, text, now);
    }

    /// Takes a piece of reasoning; the person's settings say how much of it is shown.
    pub(super) fn reason<W: Write>(&mut self, painter: &mut Painter<W>, text: &str, now: Instant) {
        self.thinking.get_or_insert(Thinking { since: now, rows: 0 });
        match painter.looks().reasoning {
            ReasoningView::Show | ReasoningView::Summary => self.take(painter, Section::Reasoning, text, now),
            ReasoningView::Hide if self.stream.is_some() => self.end(painter, now),
            ReasoningView::Hide => {}
        }
    }

    fn take<W: Write>(&mut self, painter: &mut Painter<W>, section: Section, text: &str, now: Instant) {
        if self.stream.as_ref().is_some_and(|(open, _)| *open != section) {
            self.end(painter, now);
        }
        if self.stream.is_none() {
            // Models often begin with empty lines; a section begins with its first word.
            if self.pending.is_empty() && text.trim().is_empty() {
                return;
            }
            if section != Section::Reasoning || painter.looks().reasoning == ReasoningView::Show {
                painter.begin(section);
            }
            self.stream = Some((section, MarkdownStream::new(painter.layout())));
        }
        self.pending.push_str(text);
    }

    /// Changes the width of the rows to come.
    pub(super) fn resize(&mut self, width: usize) {
        if let Some((_, stream)) = &mut self.stream {
            stream.resize(width);
        }
    }

    /// Lays out what has arrived.
    pub(super) fn advance<W: Write>(&mut self, painter: &mut Painter<W>) {
        if let Some((section, stream)) = self.stream.as_mut().filter(|_| !self.pending.is_empty()) {
            let (section, rows) = (*section, stream.push(&self.pending));
            self.pending.clear();
            self.out(painter, section, &rows);
        }
    }

    /// Commits the unfinished row.
    pub(super) fn end<W: Write>(&mut self, painter: &mut Painter<W>, now: Instant) {
        if let Some((section, mut stream)) = self.stream.take() {
            let mut rows = stream.push(&self.pending);
            rows.extend(stream.finish());
            self.out(painter, section, &rows);
        }
        self.pending.clear();
        self.end_reasoning(painter, now);
    }

    /// Returns the unfinished row, and what stands behind it and may still change; `None` when no text is open.
    pub(super) fn live<W: Write>(&mut self, painter: &mut Painter<W>) -> Option<(Line, Line)> {
        if let Some((section, stream)) = &mut self.stream
            && let Some(gap) = stream.take_gap()
        {
            let section = *section;
            self.out(painter, section, &[gap]);
        }
        let (section, stream) = self.stream.as_ref()?;
        let dim = painter.theme().dim;
        Some(match section {
            // Reasoning that will not be printed is shown in passing.
            Section::Reasoning if painter.looks().reasoning != ReasoningView::Show => {
                (Line::new(), cut(&dimmed(&stream.tail(), dim), painter.width()))
            }
            Section::Reasoning => {
                let (open, tail) = stream.live();
                (dimmed(&open, dim), dimmed(&tail, dim))
            }
            Section::Start | Section::Text | Section::Tool | Section::Question | Section::Notice => stream.live(),
        })
    }

    /// Commits rows of a section, or only counts them where they are not to be seen.
    fn out<W: Write>(&mut self, painter: &mut Painter<W>, section: Section, rows: &[Line]) {
        if section != Section::Reasoning {
            painter.screen().commit_all(rows);
            return;
        }
        if let Some(thinking) = &mut self.thinking {
            thinking.rows += rows.iter().filter(|row| !row.is_empty()).count() as u64;
        }
        if painter.looks().reasoning == ReasoningView::Show {
            let style = painter.theme().dim;
            painter.screen().commit_all(&rows.iter().map(|row| dimmed(row, style)).collect::<Vec<_>>());
        }
    }

    fn end_reasoning<W: Write>(&mut self, painter: &mut Painter<W>, now: Instant) {
        let Some(Thinking { since, rows }) = self.thinking.take() else { return };
        // Right under a thought that was just shown, no row has to say that there was one.
        if painter.looks().reasoning != ReasoningView::Summary || rows == 0 {
            return;
        }
        let spent = now.saturating_duration_since(since).as_secs();
        let lines = &painter.locale().count(word::title::LINES, rows);
        let text = if spent == 0 {
            painter.locale().with(word::repl::Thought { lines })
        } else {
            let seconds = &words::whole_seconds(spent);
            painter.locale().with(word::repl::ThoughtLong { lines, seconds })
        };
        painter.begin(Section::Reasoning);
        painter.commit_rows(&Line::styled(text, painter.theme().dim), 0);
    }
}

/// Returns the same row in the style of less important text: attributes stay, colours are replaced.
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
