//! `/compact`, `/pin`, `/context`: what of the conversation is sent.

use super::{Context, Outcome, Problem};
use crate::agent::Shortening;
use crate::locale::word;

/// What may follow `/compact`; anything else is what the summary is to care for.
pub(super) const WORDS: &[&str] = &["show", "undo", "status", "on", "off"];

/// The most of a file that is kept at hand, in bytes.
const LONGEST_PIN: usize = 16 * 1024;

pub(super) fn compact(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    match argument {
        "show" => match context.agent.conversation().cut() {
            None => Outcome::Say(locale.text(word::said::COMPACT_NONE).to_owned()),
            Some(cut) if cut.frame.is_empty() => status(context),
            Some(cut) => Outcome::Show(cut.frame.clone()),
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
    let window = agent.model().context_window;
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
    let path = context.agent.place().cwd.join(argument);
    let text = if path.is_file() {
        match std::fs::read_to_string(&path) {
            Ok(text) if text.len() <= LONGEST_PIN => format!("{argument}:\n{text}"),
            Ok(_) => {
                let most = &(LONGEST_PIN / 1024).to_string();
                let what = locale.with(word::said::PinTooLarge { path: argument, most });
                return Outcome::Fail(Problem { what, hint: String::new() });
            }
            Err(error) => {
                let what = format!("{argument}: {error}");
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

/// How many cells the bar of `/context` has.
const BAR: u64 = 40;

pub(super) fn context(context: &mut Context<'_>, _: &str) -> Outcome {
    let locale = context.locale;
    let shares = context.agent.shares();
    let all = shares.total();
    let kinds = [
        (word::said::CONTEXT_SYSTEM, '█', shares.system),
        (word::said::CONTEXT_TOOLS, '▓', shares.tools),
        (word::said::CONTEXT_PERSON, '▒', shares.person),
        (word::said::CONTEXT_MODEL, '░', shares.model),
        (word::said::CONTEXT_OUTPUTS, '▚', shares.outputs),
        (word::said::CONTEXT_PICTURES, '▞', shares.pictures),
    ];
    let window = context.agent.model().context_window;
    let most = window.unwrap_or(all).max(all).max(1);
    let mut bar = String::new();
    let mut rows = Vec::new();
    for (kind, cell, tokens) in kinds.into_iter().filter(|(_, _, tokens)| *tokens > 0) {
        // What is there is seen, however small.
        let cells = (tokens * BAR / most).max(1);
        bar.extend((0..cells).map(|_| cell));
        rows.push(format!("{cell} {} {tokens} ({}%)", locale.text(kind), tokens * 100 / most));
    }
    if let Some(window) = window {
        let free = window.saturating_sub(all);
        let used = bar.chars().count() as u64;
        bar.extend((used..BAR).map(|_| '·'));
        rows.push(format!("· {} {free} ({}%)", locale.text(word::said::CONTEXT_FREE), free * 100 / most));
    }
    let rows = rows.join("\n");
    Outcome::Say(format!("{bar}\n{rows}\n{}", locale.text(word::said::CONTEXT_ESTIMATED)))
}
