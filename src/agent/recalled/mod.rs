//! Searches what was typed and said before, in shells and sessions; the best match comes first.

mod likeness;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::context::{Found, recall as passages, wanted};
use crate::conversation::Message;
use crate::session::{Mention, SessionId, SessionStore, mentions};
use likeness::{Question, form};

/// How many messages of sessions are examined closely.
const MENTIONS: usize = 64;
/// How many passages of them.
const PASSAGES: usize = 20;
/// How many matches are returned at most.
const MOST: usize = 50;
/// How much more a text counts that contains the whole query as it was typed.
const AS_ASKED: f64 = 1.5;
/// How much more what was typed or said in the present directory counts.
const HERE: f64 = 1.1;
/// How much less a line counts for each better one of the same form.
const AGAIN: f64 = 0.8;
/// How much more the newest counts; of that, half is left of what is a month older.
const NEWEST: f64 = 0.1;
const MONTH: f64 = 30.0 * 24.0 * 3600.0;
/// A match with less than this share of the best match's weight is left out.
const LEAST: f64 = 0.5;
/// A line that was typed, or a passage of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recalled {
    /// The line, or the passage of the session.
    pub text: String,
    /// When it was typed or said, in UTC.
    #[serde(serialize_with = "as_time")]
    pub when: Option<SystemTime>,
    /// The working directory, if that was recorded.
    pub cwd: Option<String>,
    /// The command's exit code, if that was recorded.
    pub exit: Option<i32>,
    /// The shell's name, `axi` for a line that was sent to axi, or `session:ID`.
    pub source: String,
}

/// The same, before anybody knows whether it is a match.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The line, or the passage.
    pub text: &'a str,
    /// When it was typed or said.
    pub when: Option<SystemTime>,
    /// The working directory.
    pub cwd: Option<&'a str>,
    /// The command's exit code.
    pub exit: Option<i32>,
    /// As in [`Recalled`].
    pub source: &'a str,
}

impl<'a> Line<'a> {
    fn of(found: &'a Recalled) -> Self {
        let Recalled { text, when, cwd, exit, source } = found;
        Self { text, when: *when, cwd: cwd.as_deref(), exit: *exit, source }
    }

    fn recalled(self) -> Recalled {
        let Self { text, when, cwd, exit, source } = self;
        Recalled { text: text.to_owned(), when, cwd: cwd.map(str::to_owned), exit, source: source.to_owned() }
    }
}

/// Searches the lines in `typed`, and the sessions. `here` is the present directory.
#[must_use]
pub fn recalled<'a>(
    query: &str,
    here: Option<&str>,
    typed: impl Iterator<Item = Line<'a>> + Clone,
    store: Option<&SessionStore>,
    without: Option<&SessionId>,
) -> Vec<Recalled> {
    let words = wanted(query);
    let mentioned = store.map(|store| mentions(store, &words, None, without, MENTIONS)).unwrap_or_default();
    let messages: Vec<Message> = mentioned.iter().map(|mention| mention.message.clone()).collect();
    let said = passages(&messages, query, PASSAGES).into_iter().map(|found| of_session(&found, &mentioned, &words));
    let said: Vec<Recalled> = said.collect();
    let typed = typed.map(|line| Line { ..line });
    ranked(said.iter().map(Line::of).chain(typed), query, &words, here)
}

fn of_session(found: &Found, mentions: &[Mention], words: &[String]) -> Recalled {
    let Mention { id, directory, time, message } = &mentions[found.message];
    let lines: Vec<&str> = found.text.lines().collect();
    let best = lines.iter().enumerate().max_by_key(|(at, line)| (has(line, words), std::cmp::Reverse(*at)));
    let at = best.map_or(0, |(at, _)| at);
    let text = lines[at.saturating_sub(1)..lines.len().min(at + 2)].join("\n");
    let mut results = message.results().filter(|result| result.name == found.who);
    let exit = results.find_map(|result| result.facts.exit_code);
    let cwd = directory.to_string_lossy().into_owned();
    Recalled {
        text: text.trim_matches('\n').to_owned(),
        when: UNIX_EPOCH.checked_add(Duration::from_millis(*time)),
        cwd: Some(cwd).filter(|cwd| !cwd.is_empty()),
        exit,
        source: format!("session:{id}"),
    }
}

/// Counts how many of the words a text contains.
fn has(text: &str, words: &[String]) -> usize {
    let lower = text.to_lowercase();
    words.iter().filter(|word| lower.contains(word.as_str())).count()
}

/// Sorts by how much they are like the query; among equals the newest comes first. Each text appears once.
fn ranked<'a>(
    all: impl Iterator<Item = Line<'a>> + Clone,
    query: &str,
    words: &[String],
    here: Option<&str>,
) -> Vec<Recalled> {
    let asked = query.trim().to_lowercase();
    let newest = all.clone().filter_map(|line| line.when).max();
    let mut likeness = Question::new(query, words).scores(all.clone().map(|line| line.text));
    for (score, line) in likeness.iter_mut().zip(all.clone()).filter(|(score, _)| **score > 0.0) {
        // Lower case takes at most twice the bytes.
        if !asked.is_empty() && line.text.len() * 2 >= asked.len() && line.text.to_lowercase().contains(&asked) {
            *score *= AS_ASKED;
        }
        if here.is_some() && line.cwd == here {
            *score *= HERE;
        }
        if let (Some(newest), Some(when)) = (newest, line.when) {
            let older = newest.duration_since(when).unwrap_or_default().as_secs_f64();
            *score *= 1.0 + NEWEST / (1.0 + older / MONTH);
        }
    }
    let least = likeness.iter().copied().fold(0.0, f64::max) * LEAST;
    let mut scored: Vec<(f64, Line<'_>)> =
        likeness.into_iter().zip(all).filter(|(score, _)| *score > 0.0 && *score >= least).collect();
    scored.sort_by(|(left, one), (right, other)| right.total_cmp(left).then(other.when.cmp(&one.when)));
    let mut seen = HashSet::new();
    scored.retain(|(_, line)| seen.len() < MOST * 4 && seen.insert(line.text.trim().to_lowercase()));
    spread(scored).into_iter().take(MOST).map(Line::recalled).collect()
}

/// Lets lines that differ in a name or a number only step back behind others, so that the first few are not all one.
fn spread(mut scored: Vec<(f64, Line<'_>)>) -> Vec<Line<'_>> {
    let mut told: HashMap<(String, usize), i32> = HashMap::new();
    for (score, line) in &mut scored {
        let told = told.entry(form(line.text)).or_default();
        *score *= AGAIN.powi(*told);
        *told += 1;
    }
    scored.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    scored.into_iter().map(|(_, line)| line).collect()
}

#[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
fn as_time<S: serde::Serializer>(when: &Option<SystemTime>, serializer: S) -> Result<S::Ok, S::Error> {
    when.map(timestamp).serialize(serializer)
}

/// Writes a time as JSON has it: ISO 8601, in UTC.
#[must_use]
pub fn timestamp(time: SystemTime) -> String {
    let format = time::macros::format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
    time::UtcDateTime::from(time).format(format).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str, seconds: u64) -> Recalled {
        Recalled {
            text: text.to_owned(),
            when: UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).filter(|_| seconds > 0),
            cwd: None,
            exit: None,
            source: "zsh".to_owned(),
        }
    }

    fn found(query: &str, lines: &[(&str, u64)]) -> Vec<String> {
        let all: Vec<Recalled> = lines.iter().map(|(text, seconds)| typed(text, *seconds)).collect();
        recalled(query, None, all.iter().map(Line::of), None, None).into_iter().map(|found| found.text).collect()
    }

    #[test]
    fn what_has_all_words_comes_first_then_the_newest_and_each_once() {
        let lines = [
            ("git push", 1),
            ("git push --force origin", 2),
            ("git push --force", 3),
            ("git push --force", 9),
            ("make", 5),
            ("git status", 6),
        ];
        assert_eq!(found("git push --force", &lines)[..2], ["git push --force", "git push --force origin"]);
        assert_eq!(found("status", &lines), ["git status"]);
        assert_eq!(found("Größe", &[("echo größe", 0), ("echo", 1)]), ["echo größe"]);
        assert_eq!(found("nothing", &lines), Vec::<String>::new());
        assert_eq!(found("", &lines), Vec::<String>::new());
    }

    #[test]
    fn sessions_are_told_with_the_lines_that_say_it() {
        let home = tempfile::tempdir().unwrap();
        let id = SessionId::new(UNIX_EPOCH, std::path::Path::new("/src"), 1);
        let redactor = crate::session::Redactor::default();
        let mut session = crate::session::Session::new(id.clone(), "/src".into(), Some(home.path()), redactor);
        let message = Message::user("one\ntwo\nthe port of heron is 8017\nfour\nfive");
        session.append_message("lab/m", &message, UNIX_EPOCH + Duration::from_mins(1)).unwrap();
        let store = SessionStore::new(home.path().to_owned());
        let line = typed("ssh heron", 5);
        let all = recalled("heron port", None, std::iter::once(Line::of(&line)), Some(&store), None);
        let expected = Recalled {
            text: "two\nthe port of heron is 8017\nfour".to_owned(),
            cwd: Some("/src".to_owned()),
            source: format!("session:{id}"),
            ..typed("", 60)
        };
        assert_eq!(all[0], expected);
        let written = serde_json::to_value(&all[0]).unwrap();
        assert_eq!(written["when"], "1970-01-01T00:01:00Z");
        assert!(written["exit"].is_null());
        assert_eq!(recalled("heron port", None, std::iter::empty(), Some(&store), Some(&id)), []);
    }
}
