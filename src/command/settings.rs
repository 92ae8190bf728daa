//! `/settings`: the values that hold and where they come from, and changing one by a menu.

use super::sessions::in_a_column;
use super::{Context, Outcome, Problem};
use crate::config::{Applies, Form, Held, Origin, Shape, is_named, nearest};
use crate::locale::{self, Locale, word};

/// Takes a setting out of the person's file.
const UNSET: &str = "unset";
/// Prints all of them instead of offering them.
const LIST: &str = "list";

/// What may follow `/settings`, besides a setting.
pub(super) const WORDS: &[&str] = &[LIST];

pub(super) fn settings(context: &mut Context<'_>, argument: &str) -> Outcome {
    let held = effective(context);
    let (key, value) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    match (key, value.trim()) {
        ("", _) => pick(context, &held),
        (LIST, _) => listed(context, &held),
        (key, value) => match held.iter().find(|held| held.key == key) {
            None => unknown(context.locale, key, &held),
            Some(held) if value == UNSET => unset(context, held),
            Some(held) if value.is_empty() => offer(context, held),
            Some(held) => set(context, held, value),
        },
    }
}

/// What holds; the session's own model and effort above what settings say.
fn effective(context: &mut Context<'_>) -> Vec<Held> {
    let mut held = context.world.settings();
    let model = Some(context.agent.model().id());
    let effort = context.agent.wishes().effort.map(|effort| effort.word().to_owned());
    for (key, now) in [("model", model), ("effort", effort)] {
        let now = now.map(|now| format!("{now:?}")).unwrap_or_default();
        if let Some(row) = held.iter_mut().find(|held| held.key == key && held.value != now) {
            (row.value, row.origins) = (now, Vec::new());
        }
    }
    held
}

fn unknown(locale: &Locale, key: &str, held: &[Held]) -> Outcome {
    let near = nearest(key, held.iter().map(|held| held.key.as_str()));
    Outcome::Fail(Problem {
        what: locale.with(word::settings::Unknown { key }),
        hint: near.map(|near| locale.with(word::settings::UnknownHint { near })).unwrap_or_default(),
    })
}

/// The value as people read it.
fn value(locale: &Locale, held: &Held) -> String {
    match held.value.as_str() {
        "" => locale.text(word::settings::NOT_SET).to_owned(),
        _ if held.is_secret() => locale.text(word::settings::NOT_SHOWN).to_owned(),
        value => value.to_owned(),
    }
}

/// Where a value comes from, as people read it; none for what only this session says.
fn from(context: &Context<'_>, held: &Held) -> String {
    let locale = context.locale;
    let place = |spot: &crate::config::Spot| format!("{}:{}", context.world.shown(&spot.file), spot.line);
    let words = held.origins.iter().map(|origin| match origin {
        Origin::Default => locale.text(word::settings::FROM_DEFAULT).to_owned(),
        Origin::File(spot) => place(spot),
        Origin::Project(spot) => locale.with(word::settings::FromProject { place: &place(spot) }),
        Origin::Variable(name) => locale.with(word::settings::FromVariable { name }),
        Origin::Flag(flag) => locale.with(word::settings::FromFlag { flag }),
    });
    let words: Vec<String> = words.collect();
    let from =
        if words.is_empty() { locale.text(word::settings::FROM_SESSION).to_owned() } else { words.join(" + ") };
    if context.world.waits_for_start(&held.key) {
        return format!("{from} · {}", locale.text(word::settings::WAITS));
    }
    from
}

fn listed(context: &Context<'_>, held: &[Held]) -> Outcome {
    let locale = context.locale;
    let says = |held: &Held| match (held.value.as_str(), held.origins.as_slice()) {
        ("", [Origin::Default]) => value(locale, held),
        _ => format!("{} · {}", value(locale, held), from(context, held)),
    };
    Outcome::List(held.iter().map(|held| (held.key.clone(), says(held))).collect())
}

fn pick(context: &Context<'_>, held: &[Held]) -> Outcome {
    let locale = context.locale;
    let names: Vec<String> = in_a_column(held.iter().map(|held| held.key.as_str())).collect();
    let row = |held: &Held| format!("{} · {}", value(locale, held), from(context, held));
    let items = held.iter().zip(names).map(|(held, name)| (format!("{name}  {}", row(held)), held.key.clone()));
    Outcome::Pick {
        command: "settings",
        question: locale.text(word::settings::PICK).to_owned(),
        items: items.collect(),
    }
}

/// Says what a setting is, and offers its values; one that is typed is put on the line.
fn offer(context: &mut Context<'_>, held: &Held) -> Outcome {
    let locale = context.locale;
    let key = held.key.as_str();
    let mut said = vec![
        format!("**{key}** = {} · {}", value(locale, held), from(context, held)),
        locale.text(held.setting.says).to_owned(),
    ];
    if held.setting.applies == Applies::AtStart {
        said.push(locale.text(word::settings::AT_START).to_owned());
    }
    let is_named = is_named(&held.key);
    let choices: Vec<String> = match (held.setting.shape, held.setting.form) {
        _ if is_named => Vec::new(),
        (Shape::Choice(words), _) => words.iter().map(|word| (*word).to_owned()).collect(),
        (Shape::Switch, _) => vec![true.to_string(), false.to_string()],
        (_, Form::Language) => std::iter::once("auto").chain(locale::tags()).map(str::to_owned).collect(),
        (_, Form::Model | Form::GhostModel) => {
            context.world.models(locale).into_iter().map(|(model, _)| model).collect()
        }
        _ => Vec::new(),
    };
    let shown = Outcome::Show(said.join("\n\n"));
    let next = match held.setting.shape {
        Shape::List => Outcome::Say(locale.text(word::settings::BY_PERMISSIONS).to_owned()),
        _ if is_named => Outcome::Say(locale.with(word::settings::ByFile { key })),
        _ if choices.is_empty() => Outcome::Both(
            Box::new(Outcome::Say(locale.with(word::settings::TypeValue { key }))),
            Box::new(Outcome::Edit(format!("/settings {key} "))),
        ),
        _ => {
            let mut items: Vec<(String, String)> =
                choices.into_iter().map(|word| (word.clone(), format!("{key} {word}"))).collect();
            let default = (held.setting.default)();
            let none = match default.as_str() {
                "" => locale.text(word::settings::NOT_SET).to_owned(),
                value => locale.with(word::settings::ToDefault { value }),
            };
            items.push((none, format!("{key} {UNSET}")));
            let question = locale.with(word::settings::PickValue { key });
            Outcome::Pick { command: "settings", question, items }
        }
    };
    Outcome::Both(Box::new(shown), Box::new(next))
}

fn set(context: &mut Context<'_>, held: &Held, text: &str) -> Outcome {
    let locale = context.locale;
    let key = held.key.as_str();
    if matches!(held.setting.shape, Shape::List) {
        return Outcome::Say(locale.text(word::settings::BY_PERMISSIONS).to_owned());
    }
    if is_named(&held.key) {
        return Outcome::Say(locale.with(word::settings::ByFile { key }));
    }
    match context.world.choose(key, text, locale) {
        Err(problem) => Outcome::Fail(problem),
        Ok(path) => {
            let mut said = vec![locale.with(word::settings::Saved { key, value: text, path: &path })];
            let above = |origin: &&Origin| !matches!(origin, Origin::Default | Origin::File(_));
            if held.origins.iter().any(|origin| above(&origin)) {
                said.push(locale.with(word::settings::Overridden { by: &from(context, held) }));
            } else if held.setting.applies == Applies::AtStart {
                said.push(locale.text(word::settings::AT_START).to_owned());
            }
            Outcome::Say(said.join("; "))
        }
    }
}

fn unset(context: &mut Context<'_>, held: &Held) -> Outcome {
    let locale = context.locale;
    let key = held.key.as_str();
    if is_named(&held.key) {
        return Outcome::Say(locale.with(word::settings::ByFile { key }));
    }
    match context.world.unset(key, locale) {
        Err(problem) => Outcome::Fail(problem),
        Ok((path, true)) => Outcome::Say(locale.with(word::settings::Commented { key, path: &path })),
        Ok((path, false)) => Outcome::Say(locale.with(word::settings::WasNotSet { key, path: &path })),
    }
}
