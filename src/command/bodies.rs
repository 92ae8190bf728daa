//! What the commands do.

use super::sessions::in_a_column;
use super::{Context, KeyAction, Outcome, Problem};
use crate::config::{ReasoningView, ThemeChoice};
use crate::conversation::{Conversation, Message, Role};
use crate::locale;
use crate::locale::word;

pub(super) fn help(_: &mut Context<'_>, _: &str) -> Outcome {
    Outcome::Help
}

/// While a turn runs, the keyboard's reader does it (see `terminal::keys`); here there is nothing to stop.
pub(super) fn stop(context: &mut Context<'_>, _: &str) -> Outcome {
    Outcome::Say(context.locale.text(word::said::STOP_NONE).to_owned())
}

pub(super) fn exit(_: &mut Context<'_>, _: &str) -> Outcome {
    Outcome::Exit
}

pub(super) fn new(_: &mut Context<'_>, _: &str) -> Outcome {
    Outcome::NewSession { clear: false }
}

pub(super) fn clear(_: &mut Context<'_>, _: &str) -> Outcome {
    Outcome::NewSession { clear: true }
}

/// Where models run, as the menu groups them.
const MODEL_GROUPS: [&str; 3] = ["local", "cloud", "custom"];

/// The argument of `/model` that keeps the choice for the next start.
pub(crate) const SAVE: &str = "--save";

pub(super) fn model(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    let saves = argument.split_whitespace().any(|word| word == SAVE);
    let mut words: Vec<&str> = argument.split_whitespace().filter(|word| *word != SAVE).collect();
    // The menu puts a group before the model; the group alone names no model.
    if words.first().is_some_and(|first| MODEL_GROUPS.contains(first)) {
        words.remove(0);
    }
    let argument = &words.join(" ");
    if argument.is_empty() && saves {
        let id = context.agent.model().id();
        return match context.world.remember("model", &id, locale) {
            Ok(()) => Outcome::Say(locale.with(word::said::ModelSaved { model: &id })),
            Err(problem) => Outcome::Fail(problem),
        };
    }
    if argument.is_empty() {
        let models = context.world.models(locale);
        if models.is_empty() {
            return Outcome::Say(locale.with(word::said::ModelIs { model: &context.agent.model().id() }));
        }
        return Outcome::Pick {
            command: "model",
            question: locale.text(word::repl::PICK_MODEL).to_owned(),
            items: in_columns(models),
        };
    }
    match context.world.connect(argument, locale) {
        Ok(provider) => {
            context.agent.set_provider(provider);
            let id = context.agent.model().id();
            if !saves {
                return Outcome::Say(locale.with(word::said::Model { model: &id }));
            }
            Outcome::Say(match context.world.remember("model", &id, locale) {
                Ok(()) => locale.with(word::said::ModelAndSaved { model: &id }),
                // This session uses the model all the same: only the next start will not know it.
                Err(problem) => format!("{} ({})", locale.with(word::said::Model { model: &id }), problem.what),
            })
        }
        Err(problem) => Outcome::Fail(problem),
    }
}

/// Names and what is said of each, the names in a column.
fn in_columns(models: Vec<(String, String)>) -> Vec<(String, String)> {
    let names: Vec<String> = in_a_column(models.iter().map(|(model, _)| model.as_str())).collect();
    models.into_iter().zip(names).map(|((model, says), name)| (format!("{name}  {says}"), model)).collect()
}

pub(super) fn language(context: &mut Context<'_>, argument: &str) -> Outcome {
    if argument.is_empty() {
        let items = locale::tags().map(|tag| {
            let name = locale::Locale::new(tag).text(word::language::NAME).to_owned();
            (format!("{tag}  {name}"), tag.to_owned())
        });
        return Outcome::Pick {
            command: "language",
            question: context.locale.text(word::repl::PICK_LANGUAGE).to_owned(),
            items: items.collect(),
        };
    }
    let Some(tag) = locale::matching(argument) else {
        let known: Vec<&str> = locale::tags().collect();
        return Outcome::Fail(Problem {
            what: context.locale.with(word::said::LanguageUnknown { tag: argument, known: &known.join(", ") }),
            hint: String::new(),
        });
    };
    match context.world.remember("language", tag, context.locale) {
        Ok(()) => Outcome::Language(tag),
        // This session uses the language all the same: only the next start will not know it.
        Err(problem) => and_failed(Outcome::Language(tag), problem),
    }
}

pub(super) fn retry(context: &mut Context<'_>, _: &str) -> Outcome {
    match context.agent.said().last().filter(|text| !text.is_empty()) {
        Some(text) => Outcome::Ask(text),
        None => Outcome::Say(context.locale.text(word::said::RETRY_NONE).to_owned()),
    }
}

pub(super) fn copy(context: &mut Context<'_>, argument: &str) -> Outcome {
    answer(context, argument).map_or_else(|none| none, Outcome::Copy)
}

/// An answer as the model wrote it.
pub(super) fn raw(context: &mut Context<'_>, argument: &str) -> Outcome {
    answer(context, argument).map_or_else(|none| none, Outcome::Raw)
}

/// The answer that so many answers ago was the last one; 1 is the last.
fn answer(context: &Context<'_>, argument: &str) -> Result<String, Outcome> {
    let back = match argument.parse::<usize>() {
        Ok(back @ 1..) => back,
        Ok(0) | Err(_) if argument.is_empty() => 1,
        Ok(_) | Err(_) => return Err(wrong_word(context, argument, &["1", "2", "…"])),
    };
    let nth = |conversation: &Conversation| {
        let messages = conversation.messages().iter().rev().filter(|message| message.role == Role::Assistant);
        messages.map(Message::text).filter(|text| !text.trim().is_empty()).nth(back - 1)
    };
    let found = nth(context.agent.conversation()).or_else(|| nth(&context.agent.said().whole()));
    found.ok_or_else(|| Outcome::Say(context.locale.text(word::said::ANSWER_NONE).to_owned()))
}

/// How many lines of a log are printed.
const LOG_LINES: usize = 10;

/// The last lines of the log, and a copy of it to hand on.
pub(super) fn log(context: &mut Context<'_>, _: &str) -> Outcome {
    let locale = context.locale;
    let (version, system, machine) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    let (model, session) = (context.agent.model().id(), context.agent.session().id());
    let about = format!("axi {version} · {system} {machine} · {model} · {session}");
    match context.world.log(&about) {
        Some(Ok(log)) => {
            let lines: Vec<&str> = log.lines.lines().collect();
            let last = lines[lines.len().saturating_sub(LOG_LINES)..].join("\n");
            Outcome::Share {
                lines: last,
                said: locale.with(word::said::LogShared { id: &log.id }),
                log: Box::new(log),
            }
        }
        Some(Err(cause)) => {
            let path = locale.text(word::said::LOG_COPY);
            let what = locale.with(word::error::Io { path, cause: &cause.to_string() });
            Outcome::Fail(Problem { what, hint: String::new() })
        }
        None => Outcome::Say(locale.text(word::error::NO_CONFIG_DIR).to_owned()),
    }
}

pub(super) fn show(context: &mut Context<'_>, argument: &str) -> Outcome {
    match argument.parse::<usize>() {
        Ok(back @ 1..) => Outcome::ShowTurn(back),
        Ok(0) | Err(_) if argument.is_empty() => Outcome::ShowTurn(1),
        Ok(_) | Err(_) => wrong_word(context, argument, &["1", "2", "…"]),
    }
}

pub(super) fn think(context: &mut Context<'_>, argument: &str) -> Outcome {
    if argument.is_empty() {
        return Outcome::Reasoning(None);
    }
    let Some(view) = ReasoningView::parse(argument) else {
        return wrong_word(context, argument, ReasoningView::WORDS);
    };
    match context.world.remember("reasoning", view.word(), context.locale) {
        Ok(()) => Outcome::Reasoning(Some(view)),
        Err(problem) => and_failed(Outcome::Reasoning(Some(view)), problem),
    }
}

pub(super) fn theme(context: &mut Context<'_>, argument: &str) -> Outcome {
    if argument.is_empty() {
        return Outcome::Theme(None);
    }
    let Some(choice) = ThemeChoice::parse(argument) else {
        return wrong_word(context, argument, ThemeChoice::WORDS);
    };
    match context.world.remember("theme", choice.word(), context.locale) {
        Ok(()) => Outcome::Theme(Some(choice)),
        Err(problem) => and_failed(Outcome::Theme(Some(choice)), problem),
    }
}

/// What holds for now, and that it was not kept.
fn and_failed(holds: Outcome, problem: Problem) -> Outcome {
    Outcome::Both(Box::new(holds), Box::new(Outcome::Fail(problem)))
}

fn wrong_word(context: &Context<'_>, word: &str, known: &[&str]) -> Outcome {
    let what = context.locale.with(word::said::WordUnknown { word, known: &known.join(", ") });
    Outcome::Fail(Problem { what, hint: String::new() })
}

pub(super) fn login(context: &mut Context<'_>, argument: &str) -> Outcome {
    if argument.is_empty() {
        let items = context.world.providers().into_iter().map(|name| (name.clone(), name)).collect();
        return Outcome::Pick {
            command: "login",
            question: context.locale.text(word::command::LOGIN).to_owned(),
            items,
        };
    }
    Outcome::AskKey(argument.to_owned())
}

pub(super) fn logout(context: &mut Context<'_>, argument: &str) -> Outcome {
    if argument.is_empty() {
        let items = context.world.providers().into_iter().map(|name| (name.clone(), name)).collect();
        return Outcome::Pick {
            command: "logout",
            question: context.locale.text(word::command::LOGOUT).to_owned(),
            items,
        };
    }
    match context.world.keychain(KeyAction::Remove, argument, context.locale) {
        Ok(said) => Outcome::Say(said),
        Err(problem) => Outcome::Fail(problem),
    }
}

pub(super) fn setup(_: &mut Context<'_>, _: &str) -> Outcome {
    Outcome::SetUp
}

pub(super) fn doctor(context: &mut Context<'_>, _: &str) -> Outcome {
    let model = context.agent.model().id();
    Outcome::Show(context.world.doctor(&model, context.locale))
}
