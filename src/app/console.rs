//! Plain output of the commands that are no conversation: results on stdout, everything else on stderr.

use std::io::Write;

use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::locale::Locale;
use crate::terminal::sanitize_line;

/// Writes for a command.
pub(super) struct Console<'a> {
    locale: &'a Locale,
}

impl<'a> Console<'a> {
    pub(super) const fn new(locale: &'a Locale) -> Self {
        Self { locale }
    }

    /// Prints a result; a closed pipe is success.
    pub(super) fn print(&self, text: &str) -> Exit {
        let mut out = std::io::stdout().lock();
        let newline = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        match write!(out, "{text}{newline}").and_then(|()| out.flush()) {
            Ok(()) => Exit::Done,
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Done,
            Err(error) => {
                let values = [("path", "stdout"), ("cause", &error.to_string())];
                self.fail(&Problem { what: self.locale.with("error.io", &values), hint: String::new() });
                Exit::Failed
            }
        }
    }

    /// Says what failed and what to do now.
    pub(super) fn fail(&self, problem: &Problem) {
        self.lines(self.locale.text("error.label"), &problem.what);
        self.lines(self.locale.text("error.hint"), &problem.hint);
    }

    /// Says something that is no error.
    pub(super) fn warn(&self, text: &str) {
        self.lines(self.locale.text("error.warning"), text);
    }

    /// Says something quiet.
    #[expect(clippy::unused_self, reason = "the console is the one way to say anything")]
    pub(super) fn note(&self, text: &str) {
        write(&sanitize_line(text));
    }

    /// Asks something: the answer is typed behind it.
    #[cfg(feature = "local")]
    #[expect(clippy::unused_self, reason = "as above")]
    pub(super) fn ask(&self, question: &str) {
        let mut error = std::io::stderr().lock();
        drop(write!(error, "{} ", sanitize_line(question)).and_then(|()| error.flush()));
    }

    /// Writes a line of progress over the one before; nothing ends it.
    #[cfg(feature = "local")]
    #[expect(clippy::unused_self, reason = "as above")]
    pub(super) fn rewrite(&self, text: &str) {
        let mut error = std::io::stderr().lock();
        drop(write!(error, "\r\x1b[K{}", sanitize_line(text)).and_then(|()| error.flush()));
    }

    #[expect(clippy::unused_self, reason = "as above")]
    fn lines(&self, label: &str, text: &str) {
        for (index, line) in text.lines().enumerate() {
            let lead = if index == 0 { format!("{label} ") } else { "  ".to_owned() };
            write(&format!("{lead}{}", sanitize_line(line)));
        }
    }
}

fn write(line: &str) {
    // Standard error that is gone cannot be told about anywhere.
    drop(writeln!(std::io::stderr(), "{line}"));
}
