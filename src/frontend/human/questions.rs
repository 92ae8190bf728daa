//! Asks the person: whether a call may run, whether a rule is saved, what a running tool wants to know.
//!
//! What the question is about is on the screen already; the caller pauses the keyboard.

use std::io::Write;

use super::diff;
use super::painter::{HANG, Painter, Section};
use super::question::{Answers, Asker, Question};
use super::rules::Rules;
use crate::agent::{Approval, ApprovalRequest};
use crate::approval::{Decision, Rule};
use crate::conversation::{Answer, Bill};
use crate::frontend::words;
use crate::locale::word;
use crate::terminal::{Line, Span, sanitize_line};

/// The most earlier commands that are shown.
const MOST_EXAMPLES: usize = 5;

/// See the module.
pub(super) struct Questions<W: Write> {
    asker: Box<dyn Asker<W>>,
    rules: Rules,
}

impl<W: Write> Questions<W> {
    pub(super) fn new(asker: Box<dyn Asker<W>>, rules: Rules) -> Self {
        Self { asker, rules }
    }

    /// Tells whether commands can be tried here.
    pub(super) fn can_try(&self) -> bool {
        (self.rules.can_try)()
    }

    /// Takes the answer to a running tool's question.
    pub(super) fn answer(&mut self, painter: &mut Painter<W>, answers: &Answers) -> Answer {
        let answer = self.asker.answer(answers, painter.screen());
        painter.screen().forget();
        answer
    }

    /// Asks the question; after "always" it shows the rule in words and asks for confirmation.
    pub(super) fn ask(&mut self, painter: &mut Painter<W>, question: &Question) -> Approval {
        loop {
            let approval = self.asker.ask(question, painter.screen());
            painter.screen().forget();
            match &approval {
                Approval::Always(rule) => {
                    if self.keeps(painter, rule) {
                        return approval;
                    }
                }
                Approval::Try => {
                    // One that could not be made said why.
                    if let Some(tried) = question.trial.as_ref().and_then(|trial| (self.rules.tries)(trial)) {
                        return Approval::Tried(tried);
                    }
                }
                Approval::Explain => self.explain(painter, question.line.as_deref().unwrap_or_default()),
                Approval::Once
                | Approval::Tried(_)
                | Approval::ForSession
                | Approval::Deny(_)
                | Approval::Abort
                | Approval::Unavailable => return approval,
            }
        }
    }

    /// Says what is known of a line, from the pages installed here and the judge.
    fn explain(&self, painter: &mut Painter<W>, line: &str) {
        for said in (self.rules.explains)(line) {
            painter.commit_rows(&Line::styled(sanitize_line(&said).into_owned(), painter.theme().dim), HANG);
        }
        painter.screen().end_live();
    }

    /// Shows a rule and asks whether to keep it; false goes back to the question.
    fn keeps(&mut self, painter: &mut Painter<W>, rule: &Rule) -> bool {
        let matches = (self.rules.matches)(rule);
        let mut line = Line::new();
        line.push(Span::new(words::describe(painter.locale(), Decision::Allow, rule), painter.theme().strong));
        let mut lines =
            vec![line, Line::styled(sanitize_line(&rule.to_string()).into_owned(), painter.theme().accent)];
        lines.push(Line::styled(
            painter.locale().with(word::approve::keep::Matches {
                count: &matches.lines.len().to_string(),
                of: &matches.of.to_string(),
            }),
            painter.theme().dim,
        ));
        let mut shown: Vec<&str> = Vec::new();
        for line in matches.lines.iter().map(String::as_str) {
            if shown.len() < MOST_EXAMPLES && !shown.contains(&line) {
                shown.push(line);
                let text = format!("  {}", words::first_line(line));
                lines.push(Line::styled(sanitize_line(&text).into_owned(), painter.theme().dim));
            }
        }
        for line in &lines {
            painter.commit_rows(line, HANG);
        }
        painter.screen().end_live();
        let answer = {
            let question = Question::keep(painter.locale());
            self.asker.ask(&question, painter.screen())
        };
        painter.screen().forget();
        if answer != Approval::Once {
            return false;
        }
        let said = match (self.rules.keep)(rule) {
            Ok(path) => painter.locale().with(word::approve::keep::Kept { path: &path }),
            Err(cause) => painter.locale().with(word::approve::keep::NotKept { cause: &cause }),
        };
        painter.commit_rows(&Line::styled(sanitize_line(&said), painter.theme().dim), 0);
        painter.screen().end_live();
        true
    }
}

/// Shows what a question is about: the call, and what is to be said of it.
pub(super) fn show<W: Write>(painter: &mut Painter<W>, request: &ApprovalRequest) {
    // A blank row separates a question from the tool before it; the result follows without one.
    painter.begin(Section::Question);
    let lines = diff::preview(painter.locale(), painter.roots(), painter.ink(), request);
    painter.screen().commit_all(&lines);
    for row in &diff::doubts(painter.locale(), painter.roots(), painter.theme(), request) {
        painter.commit_rows(row, HANG);
    }
    painter.continue_as(Section::Tool);
}

/// Says what a turn cost.
pub(super) fn bill<W: Write>(painter: &mut Painter<W>, bill: &Bill) {
    let line = Line::styled(words::bill(painter.locale(), bill), painter.theme().dim);
    painter.begin(Section::Notice);
    painter.commit_rows(&line, 0);
}
