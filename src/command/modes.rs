//! `/agent` and `/plan`: how far the agent goes.

use super::{Context, Outcome, Problem};
use crate::approval::Mode;
use crate::locale::{Word, word};

/// What may follow `/agent`.
pub(super) const WORDS: &[&str] = &["build", "plan", "explore"];

pub(super) fn agent(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    if argument.is_empty() {
        let items = Mode::ALL
            .iter()
            .map(|(word, mode)| (format!("{word}  {}", locale.text(described(*mode))), (*word).to_owned()));
        return Outcome::Pick {
            command: "agent",
            question: locale.with(word::said::AgentIs { agent: context.agent.policy().mode().word() }),
            items: items.collect(),
        };
    }
    let Some((_, mode)) = Mode::ALL.iter().find(|(word, _)| *word == argument) else {
        let what = locale.with(word::said::WordUnknown { word: argument, known: &WORDS.join(", ") });
        return Outcome::Fail(Problem { what, hint: String::new() });
    };
    context.agent.set_mode(*mode);
    said(context)
}

pub(super) fn plan(context: &mut Context<'_>, argument: &str) -> Outcome {
    context.agent.set_mode(Mode::Plan);
    if argument.is_empty() { said(context) } else { Outcome::Ask(argument.to_owned()) }
}

fn said(context: &Context<'_>) -> Outcome {
    let mode = context.agent.policy().mode();
    let text = context.locale.text(described(mode));
    Outcome::Say(format!("{}: {text}", mode.word()))
}

const fn described(mode: Mode) -> Word {
    match mode {
        Mode::Build => word::agent::BUILD,
        Mode::Plan => word::agent::PLAN,
        Mode::Explore => word::agent::EXPLORE,
    }
}
