//! `/undo` and `/rewind`: shown first, then asked, then done.

use std::fmt::Write as _;

use super::{Context, Outcome, Problem};
use crate::agent::PastTurn;
use crate::journal::{Author, Change, Foreign, JournalError, Kind, Plan, TakenBack};
use crate::locale::{Locale, Word, word};
use crate::tool::Roots;

/// More changes are only counted.
const MOST_SHOWN: usize = 40;
/// More turns are not offered.
const MOST_TURNS: usize = 50;

/// Takes back the last turn that changed files.
pub(super) fn undo(context: &mut Context<'_>, argument: &str) -> Outcome {
    let foreign = match argument {
        "" => None,
        "yes" => Some(Foreign::Leave),
        "all" => Some(Foreign::Overwrite),
        "no" => return Outcome::Say(context.locale.text(word::undo::NOTHING_DONE).to_owned()),
        word => return unknown(context, word, "yes, all, no"),
    };
    if !context.agent.keeps_journal() {
        return Outcome::Say(context.locale.text(word::undo::NOT_KEPT).to_owned());
    }
    let plan = match last_that_changed(context) {
        Ok(plan) => plan,
        Err(error) => return failed(context.locale, &error),
    };
    if plan.changes.is_empty() {
        let mut text = context.locale.text(word::undo::NONE).to_owned();
        add_unseen(context.locale, &mut text, &plan);
        return if plan.unseen.is_empty() { Outcome::Say(text) } else { Outcome::Show(text) };
    }
    if let Some(foreign) = foreign {
        return take_back(context, &plan, foreign);
    }
    let items = choices(context.locale, &plan);
    let question = context.locale.text(word::undo::QUESTION).to_owned();
    shown_then_asked(context, &plan, Outcome::Pick { command: "undo", question, items })
}

/// What takes back the last turn of which there is something to take back, and all after it; without changes where
/// there is no such turn.
fn last_that_changed(context: &Context<'_>) -> Result<Plan, JournalError> {
    let mut plan = Plan::default();
    for turn in context.agent.changed_turns()?.iter().rev() {
        plan = context.agent.plan_undo(turn.number)?;
        if !plan.changes.is_empty() {
            break;
        }
    }
    Ok(plan)
}

/// Goes back to before any turn: files, conversation, or both.
pub(super) fn rewind(context: &mut Context<'_>, argument: &str) -> Outcome {
    let turns = match context.agent.past_turns() {
        Ok(turns) => turns,
        Err(error) => return failed(context.locale, &error),
    };
    let mut words = argument.split_whitespace();
    let Some(number) = words.next() else { return pick_turn(context, &turns) };
    let Some(turn) = number.parse::<usize>().ok().and_then(|number| turns.get(number.checked_sub(1)?)) else {
        let what = context.locale.with(word::rewind::NoTurn { number, count: &turns.len().to_string() });
        return Outcome::Fail(Problem { what, hint: context.locale.text(word::rewind::NO_TURN_HINT).to_owned() });
    };
    let plan = match turn.journal.map(|first| context.agent.plan_undo(first)) {
        Some(Ok(plan)) => plan,
        Some(Err(error)) => return failed(context.locale, &error),
        None => Plan::default(),
    };
    let foreign = |all: bool| if all { Foreign::Overwrite } else { Foreign::Leave };
    match (words.next(), words.next()) {
        (None, _) => pick_what(context, number, &plan),
        (Some("no"), None) => Outcome::Say(context.locale.text(word::undo::NOTHING_DONE).to_owned()),
        (Some("files"), all @ (None | Some("all"))) => take_back(context, &plan, foreign(all.is_some())),
        (Some("conversation"), None) => go_back(context, turn),
        (Some("both"), all @ (None | Some("all"))) => {
            let files = take_back(context, &plan, foreign(all.is_some()));
            if matches!(files, Outcome::Fail(_)) {
                return files;
            }
            Outcome::Both(Box::new(files), Box::new(go_back(context, turn)))
        }
        (Some(word), _) => unknown(context, word, "files, conversation, both, no"),
    }
}

fn pick_turn(context: &Context<'_>, turns: &[PastTurn]) -> Outcome {
    if turns.is_empty() {
        return Outcome::Say(context.locale.text(word::rewind::NONE).to_owned());
    }
    // The last turn comes first: most people mean that one.
    let rows = turns.iter().enumerate().rev().take(MOST_TURNS);
    let items = rows.map(|(index, turn)| {
        let first = turn.said.lines().next().unwrap_or_default();
        (format!("{first} · /rewind {}", index + 1), (index + 1).to_string())
    });
    let question = context.locale.text(word::rewind::QUESTION).to_owned();
    Outcome::Pick { command: "rewind", question, items: items.collect() }
}

fn pick_what(context: &Context<'_>, number: &str, plan: &Plan) -> Outcome {
    let locale = context.locale;
    let item = |key: Word, what: &str| (locale.text(key).to_owned(), format!("{number} {what}"));
    let question = locale.text(word::rewind::WHAT).to_owned();
    if plan.changes.is_empty() {
        let items = vec![item(word::rewind::CONVERSATION, "conversation"), item(word::undo::NO, "no")];
        let pick = Outcome::Pick { command: "rewind", question, items };
        return if plan.turns.is_empty() { pick } else { shown_then_asked(context, plan, pick) };
    }
    let mut items = vec![
        item(word::rewind::BOTH, "both"),
        item(word::rewind::FILES, "files"),
        item(word::rewind::CONVERSATION, "conversation"),
    ];
    if has_foreign(plan) {
        items.push(item(word::rewind::BOTH_ALL, "both all"));
        items.push(item(word::rewind::FILES_ALL, "files all"));
    }
    items.push(item(word::undo::NO, "no"));
    shown_then_asked(context, plan, Outcome::Pick { command: "rewind", question, items })
}

fn shown_then_asked(context: &Context<'_>, plan: &Plan, asked: Outcome) -> Outcome {
    let shown = Outcome::Show(described(context.locale, context.agent.roots(), plan));
    Outcome::Both(Box::new(shown), Box::new(asked))
}

fn choices(locale: &Locale, plan: &Plan) -> Vec<(String, String)> {
    let item = |key: Word, what: &str| (locale.text(key).to_owned(), what.to_owned());
    let mut items = vec![item(word::undo::YES, "yes")];
    if has_foreign(plan) {
        items.push(item(word::undo::ALL, "all"));
    }
    items.push(item(word::undo::NO, "no"));
    items
}

fn has_foreign(plan: &Plan) -> bool {
    plan.changes.iter().any(|change| change.standing == Author::Foreign && !change.lost)
}

fn go_back(context: &mut Context<'_>, turn: &PastTurn) -> Outcome {
    match context.agent.rewind(turn.messages) {
        Ok(said) => {
            let told = Outcome::Say(context.locale.text(word::rewind::DONE).to_owned());
            Outcome::Both(Box::new(told), Box::new(Outcome::Edit(said)))
        }
        Err(error) => Outcome::Fail(super::session_problem(context.locale, &error)),
    }
}

fn take_back(context: &mut Context<'_>, plan: &Plan, foreign: Foreign) -> Outcome {
    match context.agent.take_back(plan, foreign) {
        Ok(taken) => told(context.locale, context.agent.roots(), &taken),
        Err(error) => failed(context.locale, &error),
    }
}

/// Says what was done; where something failed, says what to do about it.
fn told(locale: &Locale, roots: &Roots, taken: &TakenBack) -> Outcome {
    let mut text = locale.count(word::undo::DONE, taken.done.len() as u64);
    for path in &taken.left {
        let _ = write!(text, "\n- {}", locale.with(word::undo::Left { path: &shown(roots, path) }));
    }
    for (path, copy) in taken.aside.iter().take(MOST_SHOWN) {
        let _ = write!(
            text,
            "\n- {}",
            locale.with(word::undo::Aside { path: &shown(roots, path), copy: &copy.display().to_string() })
        );
    }
    if let Some(more) = taken.aside.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
        let _ = write!(text, "\n- {}", locale.count(word::undo::MORE, more as u64));
    }
    let Some((path, cause)) = taken.failed.first() else {
        return if text.contains('\n') { Outcome::Show(text) } else { Outcome::Say(text) };
    };
    let what = locale.with(word::undo::Failed {
        path: &shown(roots, path),
        cause: &cause.clone(),
        count: &taken.failed.len().to_string(),
    });
    Outcome::Fail(Problem { what, hint: locale.text(word::undo::FAILED_HINT).to_owned() })
}

/// Lists what would happen to each path, as markdown.
fn described(locale: &Locale, roots: &Roots, plan: &Plan) -> String {
    let mut text = locale.count(word::undo::WOULD, plan.changes.len() as u64);
    text.push('\n');
    for change in plan.changes.iter().take(MOST_SHOWN) {
        let _ = write!(text, "\n- `{}` {}", shown(roots, &change.path), becomes(locale, change));
    }
    if let Some(more) = plan.changes.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
        let _ = write!(text, "\n- {}", locale.count(word::undo::MORE, more as u64));
    }
    add_unseen(locale, &mut text, plan);
    text
}

/// Lists the commands of which axi does not know all changes.
fn add_unseen(locale: &Locale, text: &mut String, plan: &Plan) {
    if plan.unseen.is_empty() {
        return;
    }
    let _ = write!(text, "\n\n{}\n", locale.text(word::undo::UNSEEN));
    for line in plan.unseen.iter().take(MOST_SHOWN) {
        let first = line.lines().next().unwrap_or_default().replace('`', "'");
        let _ = write!(text, "\n- `{first}`");
    }
}

/// Says in a few words what would happen to one path.
fn becomes(locale: &Locale, change: &Change) -> String {
    let key = match (&change.then.kind, &change.now.kind) {
        _ if change.lost => word::undo::LOST,
        _ if change.standing == Author::Foreign => word::undo::FOREIGN,
        (Kind::Missing, _) => word::undo::GOES,
        (_, Kind::Missing) => word::undo::COMES,
        (Kind::Directory, Kind::Directory) => word::undo::MODE,
        _ => word::undo::AS_BEFORE,
    };
    let mut words = locale.text(key).to_owned();
    if let Some((more, fewer)) = change.lines.filter(|lines| *lines != (0, 0)) {
        let _ = write!(words, " (+{more} −{fewer})");
    }
    let copied = match change.standing {
        Author::Ours | Author::Foreign => None,
        Author::Either if change.now.kind == Kind::Directory => None,
        Author::Either => Some(word::undo::EITHER),
        Author::Doubtful => Some(word::undo::DOUBTFUL),
    };
    if let Some(copied) = copied.filter(|_| !change.lost) {
        let _ = write!(words, "; {}", locale.text(copied));
    }
    if change.parted && !change.lost {
        let _ = write!(words, "; {}", locale.text(word::undo::PARTED));
    }
    words
}

fn shown(roots: &Roots, path: &std::path::Path) -> String {
    roots.shown(path).display().to_string().replace('`', "'")
}

fn failed(locale: &Locale, error: &JournalError) -> Outcome {
    Outcome::Fail(Problem {
        what: locale
            .with(word::error::Io { path: &error.path.display().to_string(), cause: &error.cause.to_string() }),
        hint: String::new(),
    })
}

fn unknown(context: &Context<'_>, word: &str, known: &str) -> Outcome {
    let what = context.locale.with(word::said::WordUnknown { word, known });
    Outcome::Fail(Problem { what, hint: String::new() })
}
