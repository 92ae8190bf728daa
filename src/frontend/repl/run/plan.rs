//! Decides what happens to a plan: it is accepted, edited, discussed or dropped.

use crate::conversation::{Conversation, Message, Role};
use crate::frontend::dialog::Terminal;
use crate::locale::{Locale, Word, word};

/// What can be done with a plan, in the order it is offered.
const CHOICES: [(Choice, Word); 4] = [
    (Choice::Accept, word::plan::ACCEPT),
    (Choice::Edit, word::plan::EDIT),
    (Choice::Talk, word::plan::TALK),
    (Choice::Drop, word::plan::DROP),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Accept,
    Edit,
    Talk,
    Drop,
}

/// Asks what becomes of the plan the turn ended with. ESC goes on planning.
pub(super) fn ask(terminal: &Terminal, locale: &Locale) -> Choice {
    let items = CHOICES.map(|(_, key)| locale.text(key).to_owned());
    let picked = terminal.pick(locale.text(word::plan::QUESTION), &items);
    picked.map_or(Choice::Talk, |index| CHOICES[index].0)
}

/// Finds the plan: the last words of the model.
pub(super) fn last_plan(conversation: &Conversation) -> String {
    let plan = conversation.messages().iter().rev().find(|message| message.role == Role::Assistant);
    plan.map(Message::text).unwrap_or_default().trim().to_owned()
}
