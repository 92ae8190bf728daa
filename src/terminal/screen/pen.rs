//! Collects the bytes of one update, tracks the terminal's style, and writes them in one write.

use std::io::{self, Write};

use nu_ansi_term::Style;

use crate::terminal::line::Line;
use crate::terminal::marks::open_link;
use crate::terminal::sgr::transition;

/// What writes to the terminal.
#[derive(Debug)]
pub(super) struct Pen<W: Write> {
    pub(super) writer: W,
    /// The terminal's present style.
    pub(super) style: Style,
    /// Whether the update erases something, and so should appear at once.
    pub(super) erases: bool,
    buffer: Vec<u8>,
    /// The error that ended writing: everything after it is dropped.
    pub(super) broken: Option<io::ErrorKind>,
    /// Bytes written so far.
    pub(super) written: u64,
}

impl<W: Write> Pen<W> {
    pub(super) fn new(writer: W) -> Self {
        Self { writer, style: Style::default(), erases: false, buffer: Vec::new(), broken: None, written: 0 }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Writes `line` from byte `from` on.
    pub(super) fn put(&mut self, line: &Line, from: usize) {
        let mut start = 0;
        for span in &line.spans {
            let end = start + span.text.len();
            if end > from {
                let text = &span.text[from.saturating_sub(start)..];
                self.set_style(span.style);
                let address = span.link.as_deref().and_then(open_link);
                if let Some(opening) = &address {
                    self.buffer.extend_from_slice(opening.as_bytes());
                }
                self.buffer.extend_from_slice(text.as_bytes());
                if address.is_some() {
                    self.buffer.extend_from_slice(b"\x1b]8;;\x1b\\");
                }
            }
            start = end;
        }
    }

    pub(super) fn set_style(&mut self, style: Style) {
        transition(self.style, style, &mut self.buffer);
        self.style = style;
    }

    /// Switches the background off: erasing and scrolling fill rows with it.
    pub(super) fn drop_background(&mut self) {
        if self.style.background.is_some() || self.style.is_reverse {
            self.set_style(Style::default());
        }
    }

    pub(super) fn csi(&mut self, count: usize, command: char) {
        if count > 0 {
            let number = if count == 1 { String::new() } else { count.to_string() };
            self.buffer.extend_from_slice(format!("\x1b[{number}{command}").as_bytes());
        }
    }

    pub(super) fn go_to(&mut self, column: usize) {
        self.buffer.push(b'\r');
        self.csi(column, 'C');
    }

    pub(super) fn send(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        if self.erases {
            // Synchronized output: terminals that know it show the update in one piece, others ignore it.
            self.buffer.splice(0..0, *b"\x1b[?2026h");
            self.buffer.extend_from_slice(b"\x1b[?2026l");
        }
        self.erases = false;
        if self.broken.is_none() {
            match self.writer.write_all(&self.buffer).and_then(|()| self.writer.flush()) {
                Ok(()) => self.written += self.buffer.len() as u64,
                Err(error) => self.broken = Some(error.kind()),
            }
        }
        self.buffer.clear();
    }
}
