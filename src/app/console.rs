//! Plain output of commands that are not conversations: results on stdout, everything else on stderr.

use std::io::{IsTerminal as _, Write};

use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::locale::{Locale, word};
use crate::terminal::{Line, Size, escape_json, in_rows, sanitize, sanitize_line};

/// The columns and rows of the terminal.
pub(super) fn terminal_size() -> (u16, u16) {
    let size = Size::of_terminal(None, None);
    (size.columns, size.rows)
}

/// Indents the lines of a parser's message after the first.
pub(super) fn indented(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("\n  ")
}

/// Writes for a command.
pub(super) struct Console<'a> {
    locale: &'a Locale,
}

impl<'a> Console<'a> {
    pub(super) const fn new(locale: &'a Locale) -> Self {
        Self { locale }
    }

    /// Prints a result; a closed pipe counts as success. Text for a terminal is sanitised, whoever wrote it; a pipe
    /// gets it unchanged.
    pub(super) fn print(&self, text: &str) -> Exit {
        let text = if std::io::stdout().is_terminal() { sanitize(text) } else { text.into() };
        let mut out = std::io::stdout().lock();
        let newline = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        match write!(out, "{text}{newline}").and_then(|()| out.flush()) {
            Ok(()) => Exit::Done,
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Done,
            Err(error) => {
                self.fail(&Problem {
                    what: self.locale.with(word::error::Io { path: "stdout", cause: &error.to_string() }),
                    hint: String::new(),
                });
                Exit::Failed
            }
        }
    }

    /// Prints lines of a page: a terminal gets them broken at words, the rows after the first further in. A line that
    /// begins with four blanks is for the shell: the terminal wraps it, so that it is copied as one.
    pub(super) fn page(&self, text: &str) -> Exit {
        if !std::io::stdout().is_terminal() {
            return self.print(text);
        }
        let width = usize::from(terminal_size().0).saturating_sub(1);
        let rows = text.lines().flat_map(|line| {
            let whole = Line::styled(sanitize_line(line), nu_ansi_term::Style::default());
            if line.starts_with("    ") { vec![whole] } else { in_rows(&whole, width, 2) }
        });
        let rows: Vec<String> = rows.map(|row| row.text()).collect();
        self.print(&rows.join("\n"))
    }

    /// Writes a sequence that a terminal does not show, where there is one.
    #[expect(clippy::unused_self, reason = "all that is printed goes through here")]
    pub(super) fn control(&self, sequence: &str) {
        let mut out = std::io::stdout().lock();
        if out.is_terminal() {
            drop(out.write_all(sequence.as_bytes()).and_then(|()| out.flush()));
        }
    }

    /// Prints a result for programs. Wherever it goes, nothing in it controls a terminal or hides.
    pub(super) fn json(&self, value: &serde_json::Value) -> Exit {
        self.print(&escape_json(format!("{value:#}")))
    }

    /// Reports what failed, and what to do now.
    pub(super) fn fail(&self, problem: &Problem) {
        self.lines(self.locale.text(word::error::LABEL), &problem.what);
        self.lines(self.locale.text(word::error::HINT), &problem.hint);
    }

    /// Reports something that is not an error.
    pub(super) fn warn(&self, text: &str) {
        self.lines(self.locale.text(word::error::WARNING), text);
    }

    /// Prints something less important.
    #[expect(clippy::unused_self, reason = "the console is the one way to say anything")]
    pub(super) fn note(&self, text: &str) {
        write(&sanitize_line(text), 0);
    }

    /// The same, of several lines.
    pub(super) fn notes(&self, text: &str) {
        text.lines().for_each(|line| self.note(line));
    }

    /// Asks a question; the answer is typed behind it.
    #[cfg(feature = "local")]
    #[expect(clippy::unused_self, reason = "as above")]
    pub(super) fn ask(&self, question: &str) {
        let question = laid_out(&sanitize_line(question), 0);
        let mut error = std::io::stderr().lock();
        drop(write!(error, "{} ", question.trim_end()).and_then(|()| error.flush()));
    }

    /// Writes a line of progress over the one before, without a newline.
    #[cfg(feature = "local")]
    #[expect(clippy::unused_self, reason = "as above")]
    pub(super) fn rewrite(&self, text: &str) {
        let line = Line::styled(sanitize_line(text), nu_ansi_term::Style::default());
        // A row that wraps could not be overwritten.
        let line = width().map_or_else(|| line.clone(), |width| crate::terminal::cut(&line, width)).text();
        let mut error = std::io::stderr().lock();
        drop(write!(error, "\r\x1b[K{line}").and_then(|()| error.flush()));
    }

    #[expect(clippy::unused_self, reason = "as above")]
    fn lines(&self, label: &str, text: &str) {
        for (index, line) in text.lines().enumerate() {
            let (lead, hang) = if index == 0 { (format!("{label} "), 2) } else { ("  ".to_owned(), 0) };
            write(&format!("{lead}{}", sanitize_line(line)), hang);
        }
    }
}

/// Writes a line. A terminal, which would break it anywhere, gets it broken into rows like prose; the rows after
/// the first are indented by `hang` more cells.
fn write(line: &str, hang: usize) {
    // If standard error is gone, there is no place to report it.
    drop(std::io::stderr().write_all(laid_out(line, hang).as_bytes()));
}

fn laid_out(line: &str, hang: usize) -> String {
    let Some(width) = width() else { return format!("{line}\n") };
    let rows = in_rows(&Line::styled(line, nu_ansi_term::Style::default()), width, hang);
    rows.iter().map(|row| row.text() + "\n").collect()
}

/// Returns the width of a row on standard error, if that is a terminal.
fn width() -> Option<usize> {
    std::io::stderr().is_terminal().then(|| usize::from(terminal_size().0).saturating_sub(1))
}
