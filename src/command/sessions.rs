//! What `/session` and `/resume` do.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::export::export_target;
use super::{Context, Outcome, Problem};
use crate::conversation::{Message, Role};
use crate::locale::{Locale, word};
use crate::session::{Loaded, Origin, SessionError, SessionId, SessionStore, Summary, load, open};
use crate::terminal::sanitize;
use crate::terminal::width::width;

/// Sessions of a list at most.
const LISTED: usize = 50;

pub(super) fn session(context: &mut Context<'_>, argument: &str) -> Outcome {
    let (word, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let rest = rest.trim();
    match word {
        "list" => list(context, rest),
        "new" => Outcome::NewSession { clear: false },
        "" | "switch" if rest.is_empty() => pick(context, ""),
        "switch" => Outcome::Resume(rest.to_owned()),
        "search" if rest.is_empty() => {
            Outcome::Say(context.locale.text(word::said::SESSION_SEARCH_WHAT).to_owned())
        }
        "search" => search(context, rest),
        "delete" if rest.is_empty() => pick(context, "delete "),
        "delete" => delete(context, rest, false),
        DELETE_NOW => delete(context, rest, true),
        KEEP => Outcome::Say(context.locale.text(word::said::SESSION_KEPT).to_owned()),
        "rename" => rename(context, rest),
        "fork" => fork(context, rest),
        _ => Outcome::Resume(argument.to_owned()),
    }
}

pub(super) fn resume(context: &mut Context<'_>, argument: &str) -> Outcome {
    if argument.is_empty() { pick(context, "") } else { Outcome::Resume(argument.to_owned()) }
}

fn store(context: &Context<'_>) -> Result<SessionStore, Outcome> {
    context.world.sessions().ok_or_else(|| Outcome::Say(context.locale.text(word::said::SESSIONS_NONE).to_owned()))
}

/// `list`, or `list ORIGIN`: those that began there.
fn list(context: &Context<'_>, origin: &str) -> Outcome {
    let mut sessions = context.world.sessions().map(|store| store.list()).unwrap_or_default();
    let any = !sessions.is_empty();
    sessions.retain(|session| origin.is_empty() || session.origin.is_some_and(|has| has.word() == origin));
    if sessions.is_empty() && any {
        return Outcome::Say(context.locale.with(word::said::SessionsNoneOf { origin }));
    }
    if sessions.is_empty() {
        return Outcome::Say(context.locale.text(word::said::SESSIONS_NONE).to_owned());
    }
    let now = context.agent.session().id();
    sessions.truncate(LISTED);
    let lines = session_lines(context.locale, &sessions, SystemTime::now());
    let rows = lines.zip(&sessions).map(|(line, summary)| {
        let here = if summary.id == *now { "*" } else { " " };
        format!("{here} {line}  {}", summary.title)
    });
    // Printed without markdown: anybody may have written a title.
    Outcome::Say(rows.collect::<Vec<_>>().join("\n"))
}

/// The widest column of names, in cells. A longer name is printed whole and pushes the rest of its row to the right.
const NAME: usize = 40;

/// Cells of an age at least.
const LEAST: usize = 6;

/// Sessions in columns, a row each, for a list to pick from: the title, which a narrow terminal shows alone; how long ago
/// each was written to, how large it is, the model, its turns, what it cost where that is known.
#[must_use]
pub fn session_rows(locale: &Locale, sessions: &[Summary], now: SystemTime) -> Vec<String> {
    // Measured as they are shown: a character without a width is shown in one cell.
    let titles: Vec<Cow<'_, str>> = sessions.iter().map(|session| sanitize(&session.title)).collect();
    let titles = in_a_column(titles.iter().map(AsRef::as_ref));
    let models = in_a_column(sessions.iter().map(|session| session.model.as_str()));
    let ages: Vec<String> = sessions.iter().map(|session| age(locale, now, session.modified)).collect();
    let ages = to_the_right(&ages);
    let rows = sessions.iter().zip(titles).zip(models).zip(ages);
    rows.map(|(((session, title), model), age)| {
        let size = match session.bytes.div_ceil(1024) {
            kilobytes @ 0..10_000 => format!("{kilobytes} KB"),
            kilobytes => format!("{} MB", kilobytes / 1024),
        };
        let turns = format!("{}×", session.turns);
        let spent = session.spent.map_or_else(String::new, |spent| spent.to_string());
        format!("{title}  {age}  {size:>7}  {model}  {turns:>4}  {spent:>8}").trim_end().to_owned()
    })
    .collect()
}

/// Pads names with blanks to the width of the widest, at most to [`NAME`].
pub(super) fn in_a_column<'a>(names: impl Iterator<Item = &'a str> + Clone) -> impl Iterator<Item = String> {
    let cells = names.clone().map(width).max().unwrap_or_default().min(NAME);
    names.map(move |name| format!("{name}{}", " ".repeat(cells.saturating_sub(width(name)))))
}

/// The last message of each session in a list; its file is read when the person looks at that session.
#[derive(Default)]
pub struct SessionPreviews(RefCell<HashMap<PathBuf, Vec<String>>>);

impl SessionPreviews {
    /// What the person said last in a session, and how its answer begins.
    pub fn of(&self, path: &Path) -> Vec<String> {
        let read = || open(path).map(|loaded| last_said(&loaded)).unwrap_or_default();
        self.0.borrow_mut().entry(path.to_owned()).or_insert_with(read).clone()
    }
}

fn last_said(loaded: &Loaded) -> Vec<String> {
    let last = |role: Role| {
        let messages = loaded.conversation.messages().iter().rev().filter(|message| message.role == role);
        let line =
            |message: &Message| message.text().lines().find(|line| !line.trim().is_empty()).map(str::to_owned);
        messages.filter(|message| !message.has_results()).find_map(line)
    };
    let (said, answered) = (last(Role::User), last(Role::Assistant));
    said.map(|said| format!("❯ {said}")).into_iter().chain(answered).collect()
}

/// How long ago something was, in the largest unit of which there is one.
pub(super) fn age(locale: &Locale, now: SystemTime, then: SystemTime) -> String {
    let seconds = now.duration_since(then).unwrap_or_default().as_secs();
    match seconds {
        0..60 => locale.with(word::said::AgeSeconds { count: &seconds.to_string() }),
        60..3600 => locale.with(word::said::AgeMinutes { count: &(seconds / 60).to_string() }),
        3600..86_400 => locale.with(word::said::AgeHours { count: &(seconds / 3600).to_string() }),
        _ => locale.with(word::said::AgeDays { count: &(seconds / 86_400).to_string() }),
    }
}

/// Puts blanks before texts, up to the width of the widest, at least [`LEAST`].
fn to_the_right(texts: &[String]) -> Vec<String> {
    let cells = texts.iter().map(|text| width(text)).max().unwrap_or_default().max(LEAST);
    texts.iter().map(|text| format!("{}{text}", " ".repeat(cells - width(text)))).collect()
}

/// Lets the person choose; what is chosen follows `before` as the argument of `/session`.
fn pick(context: &Context<'_>, before: &str) -> Outcome {
    let sessions = context.world.sessions().map(|store| store.list()).unwrap_or_default();
    if sessions.is_empty() {
        return Outcome::Say(context.locale.text(word::said::SESSIONS_NONE).to_owned());
    }
    pick_of(context, sessions, before)
}

/// Lets the person choose of the sessions in which words were said, the best first.
fn search(context: &Context<'_>, text: &str) -> Outcome {
    let found = context.world.sessions().map(|store| store.search(text)).unwrap_or_default();
    if found.is_empty() {
        return Outcome::Say(context.locale.with(word::said::SessionsNotFound { text }));
    }
    pick_of(context, found, "")
}

fn pick_of(context: &Context<'_>, sessions: Vec<Summary>, before: &str) -> Outcome {
    let sessions: Vec<Summary> = sessions.into_iter().take(LISTED).collect();
    let rows = session_rows(context.locale, &sessions, SystemTime::now());
    let items = rows.into_iter().zip(&sessions).map(|(row, session)| (row, format!("{before}{}", session.id)));
    let question = context.locale.text(word::repl::PICK_SESSION).to_owned();
    Outcome::Pick { command: "session", question, items: items.collect() }
}

fn delete(context: &Context<'_>, id: &str, is_sure: bool) -> Outcome {
    let store = match store(context) {
        Ok(store) => store,
        Err(outcome) => return outcome,
    };
    let now = context.agent.session().id();
    let found = store.find(id);
    if found.as_ref().is_ok_and(|(found, _)| found == now) {
        let what = context.locale.text(word::said::SESSION_DELETE_CURRENT).to_owned();
        return Outcome::Fail(Problem {
            what,
            hint: context.locale.text(word::said::SESSION_DELETE_HINT).to_owned(),
        });
    }
    if let Ok((found, _)) = &found
        && !is_sure
    {
        return sure(context, &store, found);
    }
    match store.delete(id) {
        Ok(id) => Outcome::Say(context.locale.with(word::said::SessionDeleted { id: id.as_str() })),
        Err(error) => Outcome::Fail(session_problem(context.locale, &error)),
    }
}

/// The arguments that delete without a question, and that delete nothing.
const DELETE_NOW: &str = "delete!";
const KEEP: &str = "keep";

/// Asks before it deletes a session; the first answer keeps it.
fn sure(context: &Context<'_>, store: &SessionStore, id: &SessionId) -> Outcome {
    let (locale, list) = (context.locale, store.list());
    let title = list.iter().find(|summary| summary.id == *id).map_or(id.as_str(), |summary| &summary.title);
    let question = locale.with(word::said::SessionDeleteSure { title });
    let items = vec![
        (locale.text(word::said::SESSION_KEEP).to_owned(), KEEP.to_owned()),
        (locale.text(word::said::SESSION_DELETE_IT).to_owned(), format!("{DELETE_NOW} {id}")),
    ];
    Outcome::Pick { command: "session", question, items }
}

/// `fork`, or `fork TURN`: up to before that turn, counted from 1 as `/rewind` does.
fn fork(context: &Context<'_>, turn: &str) -> Outcome {
    if turn.is_empty() {
        return Outcome::Fork { before: None };
    }
    let turns = match context.agent.past_turns() {
        Ok(turns) => turns,
        Err(error) => {
            let (path, cause) = (&error.path.display().to_string(), &error.cause.to_string());
            let what = context.locale.with(word::error::Io { path, cause });
            return Outcome::Fail(Problem { what, hint: String::new() });
        }
    };
    let found = turn.parse::<usize>().ok().and_then(|number| turns.get(number.checked_sub(1)?));
    let Some(found) = found else {
        let what = context.locale.with(word::rewind::NoTurn { number: turn, count: &turns.len().to_string() });
        let hint = context.locale.text(word::rewind::NO_TURN_HINT).to_owned();
        return Outcome::Fail(Problem { what, hint });
    };
    Outcome::Fork { before: Some(found.messages) }
}

/// `/export`, `/export md|json|html`, `/export FILE`, `/export md|json|html FILE`: writes what was said into a file that is
/// not there yet.
pub(super) fn export(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    if context.agent.conversation().messages().is_empty() {
        return Outcome::Say(locale.text(word::said::EXPORT_NOTHING).to_owned());
    }
    // Without a file all of it is here.
    let loaded = match context.agent.session().path().map(load) {
        Some(Ok(loaded)) => loaded,
        Some(Err(error)) if context.agent.conversation().earlier() > 0 => {
            return Outcome::Fail(session_problem(locale, &error));
        }
        Some(Err(_)) | None => {
            let agent = &*context.agent;
            let place = (agent.session().id().clone(), agent.session().directory().to_owned());
            Loaded::unsaved(place, agent.model().id(), agent.conversation().clone(), agent.ledger().clone())
        }
    };
    let (form, name) = export_target(argument, &loaded.id);
    let target = context.agent.roots().resolve(&name);
    let written =
        std::fs::OpenOptions::new().create_new(true).write(true).open(&target).and_then(|mut file| {
            std::io::Write::write_all(&mut file, super::export::export(&loaded, form).as_bytes())
        });
    match written {
        Ok(()) => Outcome::Say(locale.with(word::said::Exported { path: &name })),
        Err(cause) => {
            let what = locale.with(word::error::Io { path: &name, cause: &cause.to_string() });
            Outcome::Fail(Problem { what, hint: export_hint(locale, &name, cause.kind()) })
        }
    }
}

/// What to do where an export cannot be written.
fn export_hint(locale: &Locale, name: &str, kind: std::io::ErrorKind) -> String {
    let folder = std::path::Path::new(name).parent().unwrap_or_else(|| std::path::Path::new(""));
    match kind {
        std::io::ErrorKind::NotFound => {
            locale.with(word::said::ExportNoFolder { folder: &folder.display().to_string() })
        }
        std::io::ErrorKind::AlreadyExists => locale.text(word::said::EXPORT_OTHER_NAME).to_owned(),
        _ => locale.text(word::said::EXPORT_OTHER_PLACE).to_owned(),
    }
}

/// `rename ID TITLE`, or `rename TITLE` for the session of now.
fn rename(context: &Context<'_>, rest: &str) -> Outcome {
    let store = match store(context) {
        Ok(store) => store,
        Err(outcome) => return outcome,
    };
    let (first, title) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let named = store.find_surely(first).is_ok();
    let (id, title) = if named { (first, title.trim()) } else { (context.agent.session().id().as_str(), rest) };
    if title.is_empty() {
        let what = context.locale.text(word::said::SESSION_RENAME_WHAT).to_owned();
        return Outcome::Fail(Problem { what, hint: "/session rename ID TITLE".to_owned() });
    }
    let title = context.agent.session().redacted(title);
    match store.rename(id, &title, SystemTime::now()) {
        Ok(_) => Outcome::Say(context.locale.with(word::said::SessionRenamed { title: &title })),
        // A session is written with its first message.
        Err(SessionError::NotFound(_)) if !named => {
            Outcome::Say(context.locale.text(word::said::SESSION_RENAME_EARLY).to_owned())
        }
        Err(error) => Outcome::Fail(session_problem(context.locale, &error)),
    }
}

/// What a list says of each session before its title: its id, what it began in, how long ago it was written to, its
/// turns, its tokens, what it cost where that is known.
pub fn session_lines(locale: &Locale, sessions: &[Summary], now: SystemTime) -> impl Iterator<Item = String> {
    let ages: Vec<String> = sessions.iter().map(|session| age(locale, now, session.modified)).collect();
    sessions.iter().zip(to_the_right(&ages)).map(|(session, age)| {
        let Summary { id, turns, usage, spent, origin, .. } = session;
        let (turns, tokens) = (format!("{turns}×"), short(usage.read() + usage.written()));
        let spent = spent.map_or_else(String::new, |spent| spent.to_string());
        let origin = origin.map_or("", Origin::word);
        format!("{id}  {origin:<8}  {age}  {turns:>4}  {tokens:>5}  {spent:>8}")
    })
}

/// A count in few characters: `950`, `12k`, `3M`.
fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", count / 1_000_000),
    }
}

/// Says how much of a session's file could not be read; `None` where all could.
#[must_use]
pub fn session_damage(locale: &Locale, loaded: &Loaded) -> Option<String> {
    (loaded.skipped > 0).then(|| locale.count(word::error::SESSION_DAMAGED, loaded.skipped as u64))
}

/// Words why a session cannot be used.
#[must_use]
pub fn session_problem(locale: &Locale, error: &SessionError) -> Problem {
    let hint = locale.text(word::error::SESSION_NOT_FOUND_HINT).to_owned();
    let what = match error {
        SessionError::Io { path, cause } => {
            locale.with(word::error::Io { path: &path.display().to_string(), cause: &cause.to_string() })
        }
        SessionError::NotFound(id) => locale.with(word::error::SessionNotFound { id }),
        SessionError::Ambiguous(id) => locale.with(word::error::SessionAmbiguous { id }),
        SessionError::Needed { id, fork } => {
            let what = locale.with(word::error::SessionNeeded { id: id.as_str(), fork: fork.as_str() });
            return Problem { what, hint: locale.text(word::error::SESSION_NEEDED_HINT).to_owned() };
        }
        SessionError::TooShort(id) => locale.with(word::error::SessionTooShort { id }),
        SessionError::Held(id) => {
            let what = locale.with(word::error::SessionHeld { id: id.as_str() });
            return Problem { what, hint: locale.text(word::error::SESSION_HELD_HINT).to_owned() };
        }
        SessionError::Unreadable(path) => {
            locale.with(word::error::SessionUnreadable { path: &path.display().to_string() })
        }
    };
    Problem { what, hint }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::conversation::Usage;

    #[test]
    fn a_list_of_sessions_has_the_title_first_and_its_facts_in_columns() {
        let now = SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(2);
        let session = |title: &str, model: &str, bytes, turns| Summary {
            id: SessionId::parse("20261123-080504-db2baa76").unwrap(),
            path: std::path::PathBuf::new(),
            directory: std::path::PathBuf::new(),
            title: title.to_owned(),
            named: false,
            model: model.to_owned(),
            origin: Some(Origin::HandOff),
            turns,
            usage: Usage::default(),
            spent: None,
            bytes,
            forked_from: None,
            modified: SystemTime::UNIX_EPOCH,
        };
        let long = "a title of more than forty cells, which stands whole";
        let rows = [session("标题", "a/b", 1, 2), session(long, "lab/model", 20_000_000, 12)];
        let expected = [
            format!("标题{}     2 h     1 KB  a/b          2×", " ".repeat(36)),
            format!("{long}     2 h    19 MB  lab/model   12×"),
        ];
        assert_eq!(session_rows(&Locale::new("en"), &rows, now), expected);
        let odd =
            session_rows(&Locale::new("zh-CN"), &[session("a\u{1b}b", "m", 1, 1), session("标题", "m", 1, 1)], now);
        assert_eq!(
            odd[0].find("2 小时").map(|at| width(&odd[0][..at])),
            odd[1].find("2 小时").map(|at| width(&odd[1][..at]))
        );
        assert!(!odd[0].contains('\u{1b}'), "{odd:?}");
        // Ages of other widths move no column.
        let newer = Summary { modified: now - Duration::from_secs(5), ..session("a", "m", 1, 1) };
        let lines: Vec<String> =
            session_lines(&Locale::new("zh-CN"), &[newer, session("b", "m", 1, 1)], now).collect();
        let turns = |line: &String| line.find('×').map(|at| width(&line[..at]));
        assert_eq!(turns(&lines[0]), turns(&lines[1]), "{lines:?}");
        assert!(lines[0].starts_with("20261123-080504-db2baa76  hand-off  "), "{lines:?}");
    }

    #[test]
    fn an_age_is_one_number() {
        let locale = Locale::new("en");
        for (seconds, told) in [(0, "0 s"), (59, "59 s"), (60, "1 min"), (7199, "1 h"), (86_400, "1 d")] {
            let (then, now) = (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(age(&locale, now, then), told);
        }
    }
}
