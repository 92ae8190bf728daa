//! Slash commands in an editor: which are offered, and what becomes of what they come to.

use serde_json::{Value, json};

use crate::command::{Argument, COMMANDS, Outcome, Problem, SlashCommand};
use crate::frontend::repl::UserCommands;
use crate::locale::{Locale, word};

/// How wide charts are in an editor's panel, in letters of a block of code.
const EDITOR_COLUMNS: usize = 60;

/// The commands that are of use where an editor shows what they say. Modes and models are the editor's to choose.
const OFFERED: &[&str] = &[
    "agent",
    "budget",
    "compact",
    "context",
    "doctor",
    "effort",
    "jobs",
    "model",
    "permissions",
    "pin",
    "plan",
    "recall",
    "tools",
    "undo",
    "usage",
];

/// Tells whether a command of axi is offered here.
pub(super) fn is_offered(name: &str) -> bool {
    OFFERED.contains(&name)
}

/// The commands as the protocol lists them: those of axi, then those that are the person's files. One of the project
/// that nobody has agreed to is not among them.
pub(super) fn list(own: &UserCommands, locale: &Locale) -> Vec<Value> {
    let input = |hint: &str| json!({"hint": hint});
    let offered = COMMANDS.iter().filter(|row| is_offered(row.name)).map(|row| {
        let mut entry = json!({"name": row.name, "description": locale.text(row.says)});
        if let Some(hint) = hint(row) {
            entry["input"] = input(&hint);
        }
        entry
    });
    let agreed = own.list().iter().filter(|command| !own.needs_asking(command));
    let files = agreed.map(|command| {
        let mut entry = json!({"name": command.name, "description": command.description});
        if !command.usage.is_empty() {
            entry["input"] = input(&command.usage);
        }
        entry
    });
    offered.chain(files).collect()
}

/// What may follow a command, as an editor shows it where nothing is typed yet.
fn hint(row: &SlashCommand) -> Option<String> {
    match row.argument {
        Argument::Model => Some("PROVIDER/MODEL".to_owned()),
        Argument::Word(words) => Some(words.join(" | ")),
        Argument::None | Argument::Language | Argument::Session | Argument::SessionId | Argument::Provider => {
            matches!(row.name, "budget" | "pin" | "plan" | "recall").then(|| "…".to_owned())
        }
    }
}

/// What a command comes to in an editor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing, or only this markdown.
    Say(String),
    /// This message goes to the model.
    Ask(String),
    /// Shorten what is sent of the conversation.
    Shorten(String),
}

/// Does in an editor what the loop does in a terminal, as far as that has a meaning there.
pub(super) fn act(outcome: Outcome, command: &str, locale: &Locale) -> Act {
    match outcome {
        Outcome::Continue => Act::Say(String::new()),
        Outcome::Show(text) | Outcome::Say(text) | Outcome::Raw(text) => Act::Say(text),
        // Letters of an editor have no cells: bars stand in a block of code.
        Outcome::Chart(charts) => {
            let rows: Vec<String> = charts.iter().flat_map(|chart| chart.rows(Some(EDITOR_COLUMNS))).collect();
            Act::Say(format!("```text\n{}\n```", rows.join("\n")))
        }
        Outcome::Fail(Problem { what, hint }) => Act::Say(format!("{what}\n\n{hint}").trim_end().to_owned()),
        Outcome::Ask(message) => Act::Ask(message),
        Outcome::Shorten(focus) => Act::Shorten(focus),
        Outcome::List(entries) => {
            let rows = entries.iter().map(|(name, says)| format!("- `{name}` {says}"));
            Act::Say(rows.collect::<Vec<_>>().join("\n"))
        }
        Outcome::Share { lines, said, log } => Act::Say(format!("```\n{lines}\n```\n{said}\n{}", log.shown)),
        // Nothing can be picked from: each choice is a command that can be typed.
        Outcome::Pick { command, question, items } => {
            let rows = items.iter().map(|(shown, value)| format!("- `/{command} {value}` {shown}"));
            Act::Say(format!("{question}\n\n{}", rows.collect::<Vec<_>>().join("\n")))
        }
        Outcome::PickLine { question, items } => {
            let rows = items.iter().map(|(shown, _)| format!("- {shown}"));
            Act::Say(format!("{question}\n\n{}", rows.collect::<Vec<_>>().join("\n")))
        }
        Outcome::Both(first, second) => match (act(*first, command, locale), act(*second, command, locale)) {
            (Act::Say(first), Act::Say(second)) => Act::Say(format!("{first}\n\n{second}").trim().to_owned()),
            (Act::Say(_), other) | (other, _) => other,
        },
        Outcome::Edit(_)
        | Outcome::AskKey(_)
        | Outcome::Language(_)
        | Outcome::NewSession { .. }
        | Outcome::Resume(_)
        | Outcome::Fork { .. }
        | Outcome::Copy(_)
        | Outcome::ShowTurn(_)
        | Outcome::Reasoning(_)
        | Outcome::Theme(_)
        | Outcome::Help
        | Outcome::SetUp
        | Outcome::Exit => Act::Say(locale.with(word::acp::NotHere { command })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_offered_is_one() {
        for name in OFFERED {
            assert!(COMMANDS.iter().any(|row| row.name == *name), "{name}");
        }
    }

    #[test]
    fn a_choice_is_told_as_commands_to_type() {
        let locale = Locale::new("en");
        let items = vec![("build  does all".to_owned(), "build".to_owned())];
        let pick = Outcome::Pick { command: "agent", question: "Which?".into(), items };
        assert_eq!(act(pick, "agent", &locale), Act::Say("Which?\n\n- `/agent build` build  does all".into()));
        let both = Outcome::Both(Box::new(Outcome::Say("a".into())), Box::new(Outcome::Ask("b".into())));
        assert_eq!(act(both, "plan", &locale), Act::Ask("b".into()));
    }
}
