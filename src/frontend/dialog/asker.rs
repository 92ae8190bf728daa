//! Puts the agent's questions: what may be run, and what a running tool wants to know.

use std::io::Write;

use super::ask;
use super::choose::Menu;
use super::terminal::Terminal;
use crate::agent::Approval;
use crate::conversation::Answer;
use crate::frontend::human::{Answers, Asker, Choice, Question};
use crate::terminal::Screen;

impl<W: Write> Asker<W> for Terminal {
    fn answer(&mut self, offer: &Answers, screen: &mut Screen<W>) -> Answer {
        ask::answer(self, offer, screen)
    }

    fn ask(&mut self, question: &Question, _: &mut Screen<W>) -> Approval {
        // None: ESC, Ctrl+C, or a terminal that has gone.
        let choice =
            choose(self, question).and_then(|index| question.choices.get(index)).map(|(choice, _)| *choice);
        match choice {
            Some(Choice::Once) => Approval::Once,
            Some(Choice::Try) => Approval::Try,
            Some(Choice::Explain) => Approval::Explain,
            Some(Choice::Session) => Approval::ForSession,
            Some(Choice::Always) => question.rule.clone().map_or(Approval::Once, Approval::Always),
            Some(Choice::No) => Approval::Deny(String::new()),
            Some(Choice::Feedback) => {
                self.feedback(&question.feedback_prompt).map_or(Approval::Abort, Approval::Deny)
            }
            None => Approval::Abort,
        }
    }
}

/// Shows the choices of a question; `None` when none was taken.
fn choose(terminal: &Terminal, question: &Question) -> Option<usize> {
    let items = question.choices.iter().map(|(choice, text)| (choice.letter(), text.clone()));
    let menu = Menu {
        prompt: question.prompt.clone(),
        hint: question.hint.clone(),
        items: items.collect(),
        start: question.choices.iter().position(|(choice, _)| *choice == question.start).unwrap_or(0),
        // The result of the choice reports it.
        leaves_answer: false,
    };
    terminal.open(menu).ok()
}
