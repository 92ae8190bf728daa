//! What the commands do.

use super::{Context, KeyAction, Outcome, Problem, ReasoningView, ThemeChoice};
use crate::conversation::{Message, Role, Usage};
use crate::locale;

pub(super) fn help(_: &mut Context<'_>, _: &str) -> Outcome {
    Outcome::Help
}

/// While a turn runs, the keyboard's reader does it (see `terminal::keys`); here there is nothing to stop.
pub(super) fn stop(context: &mut Context<'_>, _: &str) -> Outcome {
    Outcome::Say(context.locale.text("said.stop_none").to_owned())
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

pub(super) fn model(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    // The menu's group may stand before the model; alone it names none.
    let (first, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let argument = if MODEL_GROUPS.contains(&first) { rest.trim() } else { argument };
    if argument.is_empty() {
        let models = context.world.models();
        if models.is_empty() {
            return Outcome::Say(locale.with("said.model_is", &[("model", &context.agent.model().id())]));
        }
        return Outcome::Pick {
            command: "model",
            question: locale.text("repl.pick_model").to_owned(),
            items: models.into_iter().map(|model| (model.clone(), model)).collect(),
        };
    }
    match context.world.connect(argument, locale) {
        Ok(provider) => {
            context.agent.set_provider(provider);
            let id = context.agent.model().id();
            let mut said = locale.with("said.model", &[("model", &id)]);
            if let Err(problem) = context.world.remember("model", &id, locale) {
                said = format!("{said} ({})", problem.what);
            }
            Outcome::Say(said)
        }
        Err(problem) => Outcome::Fail(problem),
    }
}

pub(super) fn language(context: &mut Context<'_>, argument: &str) -> Outcome {
    if argument.is_empty() {
        let items = locale::tags().map(|tag| {
            let name = locale::Locale::new(tag).text("language.name").to_owned();
            (format!("{tag}  {name}"), tag.to_owned())
        });
        return Outcome::Pick {
            command: "language",
            question: context.locale.text("repl.pick_language").to_owned(),
            items: items.collect(),
        };
    }
    let Some(tag) = locale::matching(argument) else {
        let known: Vec<&str> = locale::tags().collect();
        let values = [("tag", argument), ("known", &known.join(", "))];
        return Outcome::Fail(Problem {
            what: context.locale.with("said.language_unknown", &values),
            hint: String::new(),
        });
    };
    match context.world.remember("language", tag, context.locale) {
        // The language changes all the same: only the next start will not know it.
        Ok(()) | Err(_) => Outcome::Language(tag),
    }
}

pub(super) fn retry(context: &mut Context<'_>, _: &str) -> Outcome {
    let messages = context.agent.conversation().messages();
    let last = messages.iter().rev().filter(|message| message.role == Role::User).map(Message::text);
    match last.into_iter().find(|text| !text.is_empty()) {
        Some(text) => Outcome::Ask(text),
        None => Outcome::Say(context.locale.text("said.retry_none").to_owned()),
    }
}

pub(super) fn copy(context: &mut Context<'_>, argument: &str) -> Outcome {
    let back = argument.parse::<usize>().unwrap_or(1).max(1);
    let messages = context.agent.conversation().messages();
    let answers = messages.iter().rev().filter(|message| message.role == Role::Assistant).map(Message::text);
    match answers.filter(|text| !text.trim().is_empty()).nth(back - 1) {
        Some(text) => Outcome::Copy(text),
        None => Outcome::Say(context.locale.text("said.copy_none").to_owned()),
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
        // It holds for now all the same.
        Ok(()) | Err(_) => Outcome::Reasoning(Some(view)),
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
        // As above.
        Ok(()) | Err(_) => Outcome::Theme(Some(choice)),
    }
}

fn wrong_word(context: &Context<'_>, word: &str, known: &[&str]) -> Outcome {
    let what = context.locale.with("said.word_unknown", &[("word", word), ("known", &known.join(", "))]);
    Outcome::Fail(Problem { what, hint: String::new() })
}

pub(super) fn tools(context: &mut Context<'_>, _: &str) -> Outcome {
    let rows = context.agent.tools().specs().into_iter().map(|spec| {
        let first = spec.description.split(". ").next().unwrap_or_default().to_owned();
        format!("- `{}` {}", spec.name, first.trim_end_matches('.'))
    });
    Outcome::Show(rows.collect::<Vec<_>>().join("\n"))
}

pub(super) fn usage(context: &mut Context<'_>, _: &str) -> Outcome {
    let said = |key: &str, usage: Usage| {
        let values = [("input", usage.input_tokens.to_string()), ("output", usage.output_tokens.to_string())];
        context.locale.with(key, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
    };
    let usage = context.agent.usage();
    let ghost = context.world.ghost_usage();
    let mut rows = Vec::new();
    if usage.input_tokens + usage.output_tokens > 0 {
        rows.push(said("said.usage", usage));
    }
    if ghost.input_tokens + ghost.output_tokens > 0 {
        rows.push(said("said.usage_ghost", ghost));
    }
    if rows.is_empty() {
        return Outcome::Say(context.locale.text("said.usage_none").to_owned());
    }
    Outcome::Say(rows.join("\n"))
}

pub(super) fn login(context: &mut Context<'_>, argument: &str) -> Outcome {
    if argument.is_empty() {
        let items = context.world.providers().into_iter().map(|name| (name.clone(), name)).collect();
        return Outcome::Pick {
            command: "login",
            question: context.locale.text("command.login").to_owned(),
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
            question: context.locale.text("command.logout").to_owned(),
            items,
        };
    }
    match context.world.keychain(KeyAction::Remove, argument, context.locale) {
        Ok(said) => Outcome::Say(said),
        Err(problem) => Outcome::Fail(problem),
    }
}

pub(super) fn doctor(context: &mut Context<'_>, _: &str) -> Outcome {
    Outcome::Show(context.world.doctor(context.locale))
}
