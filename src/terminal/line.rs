//! Styled text before it becomes bytes: spans over [`nu_ansi_term::Style`].

use std::sync::Arc;

use nu_ansi_term::Style;

/// A run of text in one style. Has no control characters: text from outside is sanitised first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// Its style.
    pub style: Style,
    /// The target of its link, for terminals that know OSC 8.
    pub link: Option<Arc<str>>,
}

/// One line, without its newline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// Its spans, left to right.
    pub spans: Vec<Span>,
}

impl Span {
    /// Makes a span without a link.
    #[must_use]
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, link: None }
    }

    /// Makes a span in the terminal's own style.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Style::default())
    }
}

impl Line {
    /// Makes an empty line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a line of one span.
    #[must_use]
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { spans: vec![Span::new(text, style)] }
    }

    /// Appends a span, and merges it with the last one if style and link are the same.
    pub fn push(&mut self, span: Span) {
        if span.text.is_empty() {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.style == span.style && last.link == span.link => last.text.push_str(&span.text),
            Some(_) | None => self.spans.push(span),
        }
    }

    /// Returns the text without styles.
    #[must_use]
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// Tells whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|span| span.text.is_empty())
    }
}
