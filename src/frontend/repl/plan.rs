//! What becomes of a plan: accepted, edited, talked over or dropped.

use super::run::{Ahead, Next, Repl};
use crate::approval::Mode;
use crate::conversation::Role;

/// What can be done with a plan, in the order it is offered.
const CHOICES: [(Choice, &str); 4] = [
    (Choice::Accept, "plan.accept"),
    (Choice::Edit, "plan.edit"),
    (Choice::Talk, "plan.talk"),
    (Choice::Drop, "plan.drop"),
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
        let picked = self.stage.terminal.pick(locale.text("plan.question"), &items);
        self.human.screen().forget();
        match picked.map_or(Choice::Talk, |index| CHOICES[index].0) {
            Choice::Accept => self.build(locale.text("plan.accepted").to_owned(), ahead),
            Choice::Edit => self.edit_plan(ahead),
            Choice::Talk => {
                self.say("plan.goes_on");
                Next::Line
            }
            Choice::Drop => {
                self.agent.set_mode(Mode::Build);
                self.say("plan.dropped");
                Next::Line
            }
        }
    }

    /// Has the plan edited: in the person's editor where they have one, else on the line.
    fn edit_plan(&mut self, ahead: &mut Ahead) -> Next {
        let messages = self.agent.conversation().messages();
        let plan = messages.iter().rev().find(|message| message.role == Role::Assistant);
        let plan = plan.map(crate::conversation::Message::text).unwrap_or_default();
        let lead = self.human.locale().text("plan.accepted_edited").to_owned();
        let edited = match self.editor.edit_text(plan.trim()) {
            Some(Ok(edited)) => edited,
            Some(Err((editor, cause))) => {
                let values = [("editor", editor.as_str()), ("cause", cause.as_str())];
                let what = self.human.locale().with("error.editor_failed", &values);
                self.human.fail(&what, "");
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
            self.say("plan.dropped");
            return Next::Line;
        }
        self.build(format!("{lead}\n\n{edited}"), ahead)
    }

    fn build(&mut self, message: String, ahead: &mut Ahead) -> Next {
        self.agent.set_mode(Mode::Build);
        self.human.echo(&message);
        self.turn(message, ahead)
    }
}
