//! `/compact`, `/pin`, `/context`: what of the conversation is sent.

use super::chart::{Chart, Part};
use super::{Context, Outcome, Problem};
use crate::agent::{DroppedTurn, Shortening};
use crate::conversation::{Cut, tokens};
use crate::locale::{grouped, word};

/// What may follow `/compact`; anything else is what the summary is to care for.
pub(super) const WORDS: &[&str] = &["show", "undo", "status", "on", "off"];

/// The most turns that are listed one by one, and the longest beginning of each, in characters.
const MOST_TURNS: usize = 20;
const LONGEST_BEGINNING: usize = 50;

/// The most of a file that is kept at hand, in bytes.
const LONGEST_PIN: usize = 16 * 1024;

pub(super) fn compact(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    match argument {
        "show" => match context.agent.conversation().cut() {
            None => Outcome::Say(locale.text(word::said::COMPACT_NONE).to_owned()),
            Some(cut) if cut.frame.is_empty() => status(context),
            Some(cut) => Outcome::Show(difference(context, cut)),
        },
        "undo" => match context.agent.undo_shortening() {
            Ok(false) => Outcome::Say(locale.text(word::said::COMPACT_NONE).to_owned()),
            Ok(true) => status(context),
            Err(error) => Outcome::Fail(super::session_problem(locale, &error)),
        },
        "status" => status(context),
        "on" => turn(context, Shortening::On),
        "off" => turn(context, Shortening::Off),
        focus => Outcome::Shorten(focus.to_owned()),
    }
}

/// What is not sent any more as a diff, a row a turn, and below it what stands for it; as markdown.
fn difference(context: &Context<'_>, cut: &Cut) -> String {
    let (locale, gone) = (context.locale, context.agent.said().dropped());
    let row = |turn: &DroppedTurn| {
        let said: String = turn.said.chars().take(LONGEST_BEGINNING).collect::<String>().replace('`', "'");
        let (turn, tokens) = (&turn.number.to_string(), &turn.tokens.to_string());
        format!("- {}\n", locale.with(word::said::CompactGone { turn, said: &said, tokens }))
    };
    let older = gone.len().saturating_sub(MOST_TURNS);
    let mut diff: String = gone[older..].iter().map(row).collect();
    if older > 0 {
        let tokens = gone[..older].iter().map(|turn| turn.tokens).sum::<u64>().to_string();
        diff = format!("- {} · {tokens}\n{diff}", locale.count(word::said::COMPACT_GONE_BEFORE, older as u64));
    }
    let stands = locale.with(word::said::CompactStands { tokens: &tokens::estimate(&cut.frame).to_string() });
    // As it is sent: read as markdown, `__init__` would lose its underscores.
    let fence = super::export::fence(&cut.frame);
    format!("```diff\n{diff}+ {stands}\n```\n\n{fence}text\n{}\n{fence}", cut.frame.trim())
}

fn turn(context: &mut Context<'_>, shortening: Shortening) -> Outcome {
    context.agent.wishes().shortening = shortening;
    status(context)
}

/// What is sent now, and whether it is shortened by itself.
fn status(context: &mut Context<'_>) -> Outcome {
    let is_off = context.agent.wishes().shortening == Shortening::Off;
    let (agent, locale) = (&*context.agent, context.locale);
    let conversation = agent.conversation();
    let sent = &agent.said().sent_tokens().to_string();
    let window = agent.said().window();
    let window =
        &window.map_or_else(|| locale.text(word::said::COMPACT_UNKNOWN).to_owned(), |window| window.to_string());
    let earlier = conversation.earlier();
    let all = earlier + conversation.messages().len();
    let dropped = conversation.cut().map_or(0, |cut| earlier + cut.dropped);
    let (all, dropped) = (&all.to_string(), &dropped.to_string());
    let mut said = locale.with(word::said::CompactStatus { sent, window, all, dropped });
    if is_off {
        said.push_str(locale.text(word::said::COMPACT_OFF));
    }
    Outcome::Say(said)
}

pub(super) fn pin(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    if argument.is_empty() {
        let pins = context.agent.conversation().pins();
        if pins.is_empty() {
            return Outcome::Say(locale.text(word::said::PIN_NONE).to_owned());
        }
        return Outcome::Say(pins.join("\n"));
    }
    let path = context.agent.roots().cwd.join(argument);
    let place = context.agent.roots();
    if crate::secret::found::is_hidden_secret(&path, place.home.as_deref(), &place.cwd) {
        let what = format!("{argument}: {}", locale.text(word::attach::refusal::SECRET));
        return Outcome::Fail(Problem { what, hint: String::new() });
    }
    let text = if path.is_file() {
        match std::fs::read_to_string(&path) {
            Ok(text) if text.len() <= LONGEST_PIN => format!("{argument}:\n{text}"),
            Ok(_) => {
                let most = &(LONGEST_PIN / 1024).to_string();
                let what = locale.with(word::said::PinTooLarge { path: argument, most });
                return Outcome::Fail(Problem { what, hint: String::new() });
            }
            Err(error) => {
                let what = locale.with(word::error::Io { path: argument, cause: &error.to_string() });
                return Outcome::Fail(Problem { what, hint: String::new() });
            }
        }
    } else {
        argument.to_owned()
    };
    match context.agent.pin(text) {
        Ok(()) => Outcome::Say(locale.text(word::said::PINNED).to_owned()),
        Err(error) => Outcome::Fail(super::session_problem(locale, &error)),
    }
}

pub(super) fn context(context: &mut Context<'_>, _: &str) -> Outcome {
    let locale = context.locale;
    let shares = context.agent.shares();
    let part = |cell, name, size| Part { cell, name: locale.text(name).to_owned(), size };
    let parts = vec![
        part('█', word::said::CONTEXT_SYSTEM, shares.system),
        part('▙', word::said::CONTEXT_INSTRUCTIONS, shares.instructions),
        part('▓', word::said::CONTEXT_TOOLS, shares.tools),
        part('▚', word::said::CONTEXT_FILES, shares.files),
        part('▒', word::said::CONTEXT_CONVERSATION, shares.conversation),
        part('░', word::said::CONTEXT_OUTPUTS, shares.outputs),
        part('▞', word::said::CONTEXT_PICTURES, shares.pictures),
    ];
    let (used, window) = (shares.total(), shares.window);
    let free = window.map(|window| part('·', word::said::CONTEXT_FREE, window.saturating_sub(used)));
    let used = &grouped(used);
    let said = match window {
        Some(window) => locale.with(word::said::ContextOf { used, window: &grouped(window) }),
        None => locale.with(word::said::ContextEstimated { used }),
    };
    Outcome::Chart(vec![Chart::Parts { parts, free }, Chart::Line(said)])
}
