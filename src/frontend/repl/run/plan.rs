//! What becomes of a plan: accepted, edited, talked over or dropped.

use super::repl::{Ahead, Next, Repl};
use crate::approval::Mode;
use crate::conversation::Role;
use crate::locale::{Word, word};

/// What can be done with a plan, in the order it is offered.
const CHOICES: [(Choice, Word); 4] = [
    (Choice::Accept, word::plan::ACCEPT),
    (Choice::Edit, word::plan::EDIT),
    (Choice::Talk, word::plan::TALK),
    (Choice::Drop, word::plan::DROP),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Accept,
    Edit,
    Talk,
    Drop,
}

impl Repl {
    /// Asks what becomes of the plan the turn ended with. ESC goes on planning.
    pub(super) fn planned(&mut self, ahead: &mut Ahead) -> Next {
        let locale = self.human.locale().clone();
        let items = CHOICES.map(|(_, key)| locale.text(key).to_owned());
        let picked = self.stage.terminal.pick(locale.text(word::plan::QUESTION), &items);
        self.human.painter().screen().forget();
        match picked.map_or(Choice::Talk, |index| CHOICES[index].0) {
            Choice::Accept => self.build(locale.text(word::plan::ACCEPTED).to_owned(), ahead),
            Choice::Edit => self.edit_plan(ahead),
            Choice::Talk => {
                self.say(word::plan::GOES_ON);
                Next::Line
            }
            Choice::Drop => {
                self.agent.set_mode(Mode::Build);
                self.say(word::plan::DROPPED);
                Next::Line
            }
        }
    }

    /// Has the plan edited: in the person's editor where they have one, else on the line.
    fn edit_plan(&mut self, ahead: &mut Ahead) -> Next {
        let messages = self.agent.conversation().messages();
        let plan = messages.iter().rev().find(|message| message.role == Role::Assistant);
        let plan = plan.map(crate::conversation::Message::text).unwrap_or_default();
        let lead = self.human.locale().text(word::plan::ACCEPTED_EDITED).to_owned();
        let edited = match self.editor.edit_text(plan.trim()) {
            Some(Ok(edited)) => edited,
            Some(Err((editor, cause))) => {
                let what = self.human.locale().with(word::error::EditorFailed { editor: &editor, cause: &cause });
                self.human.painter().fail(&what, "");
                return Next::Line;
            }
            None => {
                self.agent.set_mode(Mode::Build);
                ahead.prefill = format!("{lead}\n\n{}", plan.trim());
                return Next::Line;
            }
        };
        if edited.trim().is_empty() {
            self.agent.set_mode(Mode::Build);
            self.say(word::plan::DROPPED);
            return Next::Line;
        }
        self.build(format!("{lead}\n\n{edited}"), ahead)
    }

    fn build(&mut self, message: String, ahead: &mut Ahead) -> Next {
        self.agent.set_mode(Mode::Build);
        self.human.painter().echo(&message);
        self.turn(message, ahead)
    }
}
