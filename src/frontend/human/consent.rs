//! "Always": the rule in words, what it would have run before, and only then a yes to keeping it.

use std::io::Write;

use super::said::HANG;
use super::{Human, Question};
use crate::agent::Approval;
use crate::approval::{Decision, Rule};
use crate::frontend::words;
use crate::locale::word;
use crate::terminal::{Line, Span, sanitize_line};

/// The most earlier commands that are shown.
const MOST_EXAMPLES: usize = 5;

/// What a rule would have run, and where one is kept. Made by the composition root.
pub struct Rules {
    /// Looks the last commands up.
    pub matches: Box<dyn Fn(&Rule) -> Matches>,
    /// Keeps a rule for good.
    pub keep: Box<dyn Fn(&Rule) -> Kept>,
}

/// The file a rule is kept in, as people read it; or why it is not.
pub type Kept = Result<String, String>;

/// What a rule would have let run unasked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// How many commands were looked at.
    pub of: usize,
    /// Those it is about, the newest first.
    pub lines: Vec<String>,
}

impl Default for Rules {
    /// Knows no commands and keeps nothing.
    fn default() -> Self {
        Self { matches: Box::new(|_| Matches::default()), keep: Box::new(|_| Err(String::new())) }
    }
}

impl<W: Write> Human<W> {
    /// Puts the question; "always" is asked back, with the rule in words.
    pub(super) fn answer(&mut self, question: &Question) -> Approval {
        loop {
            let approval = self.asker.ask(question, &mut self.screen);
            self.screen.forget();
            match &approval {
                Approval::Always(rule) => {
                    if self.keeps(rule) {
                        return approval;
                    }
                }
                Approval::Once
                | Approval::ForSession
                | Approval::Deny(_)
                | Approval::Abort
                | Approval::Unavailable => return approval,
            }
        }
    }

    /// Shows a rule and asks whether to keep it; false goes back to the question.
    fn keeps(&mut self, rule: &Rule) -> bool {
        let matches = (self.rules.matches)(rule);
        let mut line = Line::new();
        line.push(Span::new(words::describe(&self.locale, Decision::Allow, rule), self.looks.theme.strong));
        let mut lines =
            vec![line, Line::styled(sanitize_line(&rule.to_string()).into_owned(), self.looks.theme.accent)];
        lines.push(Line::styled(
            self.locale.with(word::approve::keep::Matches {
                count: &matches.lines.len().to_string(),
                of: &matches.of.to_string(),
            }),
            self.looks.theme.dim,
        ));
        let mut shown: Vec<&str> = Vec::new();
        for line in matches.lines.iter().map(String::as_str) {
            if shown.len() < MOST_EXAMPLES && !shown.contains(&line) {
                shown.push(line);
                let text = format!("  {}", words::first_line(line));
                lines.push(Line::styled(sanitize_line(&text).into_owned(), self.looks.theme.dim));
            }
        }
        for line in &lines {
            self.commit_rows(line, HANG);
        }
        self.screen.end_live();
        let answer = self.asker.ask(&Question::keep(&self.locale), &mut self.screen);
        self.screen.forget();
        if answer != Approval::Once {
            return false;
        }
        let said = match (self.rules.keep)(rule) {
            Ok(path) => self.locale.with(word::approve::keep::Kept { path: &path }),
            Err(cause) => self.locale.with(word::approve::keep::NotKept { cause: &cause }),
        };
        self.commit_rows(&Line::styled(sanitize_line(&said), self.looks.theme.dim), 0);
        self.screen.end_live();
        true
    }
}
