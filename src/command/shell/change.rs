//! What two states of a shell differ in, as far as a line can make it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;

use crate::tool::{ShellRun, ShellState, Value};

/// What a virtual environment of Python sets, beside `PATH`: its own script makes all of it.
const OF_ENVIRONMENT: &[&str] = &["VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "PS1", "PYTHONHOME", "PATH"];

/// What direnv sets to remember.
const OF_DIRENV: &[&str] =
    &["DIRENV_DIFF", "DIRENV_DIR", "DIRENV_FILE", "DIRENV_WATCHES", "DIRENV_LAYOUT", "DIRENV_IN_ENVRC"];
/// The most that is read of it, in bytes.
const MOST_OF_DIRENV: u64 = 4 * 1024 * 1024;

/// One change of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// It is elsewhere.
    Directory(PathBuf),
    /// A script that was read into it; the path is whole.
    Source(PathBuf),
    /// A virtual environment of Python is active; the path is its directory.
    Environment(PathBuf),
    /// None is any more.
    NoEnvironment,
    /// What direnv has loaded is another's, or nothing any more: it does that again itself.
    Direnv,
    /// A variable; for a path, what was put before and behind what it was.
    Set { name: String, value: Value, around: Option<(String, String)> },
    /// A variable is gone.
    Unset(String),
    /// An alias; `None` where it is gone.
    Alias(String, Option<String>),
    /// A function, with its text as bash prints it; `None` where it is gone.
    Function(String, Option<String>),
    /// An option, and whether it is on.
    Option(String, bool),
}

impl Change {
    /// What it is about: of two changes of the same, the later counts.
    pub(super) fn subject(&self) -> (u8, &str) {
        match self {
            Self::Directory(_) => (0, ""),
            Self::Direnv => (1, ""),
            Self::Environment(_) | Self::NoEnvironment => (2, ""),
            Self::Source(path) => (3, path.to_str().unwrap_or_default()),
            Self::Set { name, .. } | Self::Unset(name) => (4, name),
            Self::Alias(name, _) => (5, name),
            Self::Function(name, _) => (6, name),
            Self::Option(name, _) => (7, name),
        }
    }

    /// Where in the line it stands: paths are written from where the first leads.
    pub(super) fn order(&self) -> u8 {
        self.subject().0
    }

    pub(super) fn directory(&self) -> Option<&Path> {
        if let Self::Directory(path) = self { Some(path) } else { None }
    }

    /// Tells whether its name is one: it comes from a command, which may say what it likes.
    pub(super) fn is_named(&self) -> bool {
        let is_of = |name: &str, more: &str| {
            let is_one = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || more.contains(letter);
            !name.is_empty() && !name.starts_with('-') && name.chars().all(is_one)
        };
        match self {
            Self::Directory(_) | Self::Source(_) | Self::Environment(_) | Self::NoEnvironment | Self::Direnv => {
                true
            }
            Self::Set { name, .. } | Self::Unset(name) => {
                is_of(name, "") && !name.starts_with(|letter: char| letter.is_ascii_digit())
            }
            Self::Alias(name, _) => is_of(name, ".+:-"),
            Self::Function(name, text) => {
                is_of(name, ".+:-") && text.as_ref().is_none_or(|text| text.starts_with(&format!("{name} ()")))
            }
            Self::Option(name, _) => is_of(name, "-"),
        }
    }

    /// How it is called where it is left out.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Directory(path) | Self::Source(path) | Self::Environment(path) => path.display().to_string(),
            Self::NoEnvironment => "VIRTUAL_ENV".to_owned(),
            Self::Direnv => "direnv".to_owned(),
            Self::Set { name, .. }
            | Self::Unset(name)
            | Self::Alias(name, _)
            | Self::Function(name, _)
            | Self::Option(name, _) => name.clone(),
        }
    }
}

/// Lists what a command changed, for a shell that reads scripts of bash or does not.
pub(super) fn changes(run: &ShellRun, reads_bash: bool) -> Vec<Change> {
    let (before, after) = (&run.before, &run.after);
    let mut found = Vec::new();
    if before.directory != after.directory {
        found.push(Change::Directory(after.directory.clone()));
    }
    let loads = direnv(before) != direnv(after);
    if loads {
        found.push(Change::Direnv);
    }
    let loaded = loads.then(|| loaded(before).zip(loaded(after))).flatten();
    let loaded = loaded.map(|(before, after)| before.union(&after).cloned().collect::<BTreeSet<String>>());
    let environment = environment(before, after).filter(|_| !loads);
    let sources: Vec<PathBuf> = if reads_bash { sources(run) } else { Vec::new() };
    let is_said = |name: &str| names(&run.line, name);
    let is_environments = |name: &str| {
        environment.is_some() && (OF_ENVIRONMENT.contains(&name) || name.starts_with("_OLD_VIRTUAL_"))
            || loads && !is_said(name) && loaded.as_ref().is_none_or(|names| names.contains(name))
    };
    for (name, value) in &after.variables {
        if before.variables.get(name) == Some(value) || is_environments(name) {
            continue;
        }
        // What a script sets, the script sets again; what only the shell has is meant where the line names it.
        let is_exported = matches!(value, Value::Exported(_));
        if is_said(name) || is_exported && sources.is_empty() {
            let around = around(before.variables.get(name), value);
            found.push(Change::Set { name: name.clone(), value: value.clone(), around });
        }
    }
    let gone =
        before.variables.keys().filter(|name| !after.variables.contains_key(*name) && !is_environments(name));
    found.extend(gone.map(|name| Change::Unset(name.clone())));
    found.extend(environment);
    found.extend(sources.into_iter().map(Change::Source));
    let alias = |(name, value): (String, Option<String>)| Change::Alias(name, value);
    found.extend(differing(&before.aliases, &after.aliases).map(alias));
    let defined = after.functions.iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
    let new = defined.filter(|(name, text)| before.functions.get(*name).and_then(Option::as_ref) != Some(text));
    found.extend(new.map(|(name, text)| Change::Function(name.clone(), Some(text.clone()))));
    let gone = before.functions.keys().filter(|name| !after.functions.contains_key(*name));
    found.extend(gone.map(|name| Change::Function(name.clone(), None)));
    // A list of commands stops at a failure by an option of its own.
    let of_list = run.line.starts_with("set -e\n");
    let options = |from: &ShellState, to: &ShellState, on: bool| -> Vec<Change> {
        let new = to.options.iter().filter(|name| !(from.options.contains(name) || of_list && *name == "errexit"));
        new.map(|name| Change::Option(name.clone(), on)).collect()
    };
    found.extend(options(before, after, true));
    found.extend(options(after, before, false));
    found
}

fn differing<'a>(
    before: &'a BTreeMap<String, String>,
    after: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = (String, Option<String>)> + 'a {
    let new = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    new.map(|(name, value)| (name.clone(), Some(value.clone()))).chain(gone.map(|name| (name.clone(), None)))
}

/// The virtual environment that is active now and was not, or the other way round.
fn environment(before: &ShellState, after: &ShellState) -> Option<Change> {
    let of = |state: &ShellState| match state.variables.get("VIRTUAL_ENV") {
        Some(Value::Exported(path)) if !path.is_empty() => Some(PathBuf::from(path)),
        _ => None,
    };
    match (of(before), of(after)) {
        (was, Some(is)) if was.as_ref() != Some(&is) && is.join("bin/activate").is_file() => {
            Some(Change::Environment(is))
        }
        (Some(_), None) => Some(Change::NoEnvironment),
        _ => None,
    }
}

/// What direnv says that it has loaded.
fn direnv(state: &ShellState) -> Option<&Value> {
    state.variables.get("DIRENV_DIFF")
}

/// Names the variables that direnv has set or unset: those of a zlib stream of JSON, in base 64 of addresses
/// (direnv 2.32, `gzenv` and `EnvDiff`); `None` where it does not say so.
fn loaded(state: &ShellState) -> Option<BTreeSet<String>> {
    let mut names: BTreeSet<String> = OF_DIRENV.iter().map(|name| (*name).to_owned()).collect();
    let Some(Value::Exported(packed)) = direnv(state) else { return Some(names) };
    let bytes = base64::engine::general_purpose::URL_SAFE.decode(packed).ok()?;
    let mut text = String::new();
    flate2::read::ZlibDecoder::new(bytes.as_slice()).take(MOST_OF_DIRENV).read_to_string(&mut text).ok()?;
    let said: serde_json::Value = serde_json::from_str(&text).ok()?;
    for side in ["p", "n"] {
        names.extend(said.get(side)?.as_object()?.keys().cloned());
    }
    Some(names)
}

/// The scripts that a line reads into its shell by a plain name; those of a virtual environment apart.
fn sources(run: &ShellRun) -> Vec<PathBuf> {
    let Some(words) = shlex::split(&run.line) else { return Vec::new() };
    let after = |pair: &[String]| matches!(pair[0].as_str(), "source" | ".").then(|| pair[1].clone());
    let named = words.windows(2).filter_map(after).map(|name| name.trim_end_matches(';').to_owned());
    let whole = named.filter_map(|name| {
        let places = [&run.before.directory, &run.after.directory].map(|directory| directory.join(&name));
        places.into_iter().find(|path| path.is_file())
    });
    whole.filter(|path| !path.ends_with("bin/activate")).collect()
}

/// Tells whether a line sets a variable by its name.
fn names(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let behind = &line[at + name.len()..];
        !before.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$')
            && behind.starts_with(['=', '+', '['])
    })
}

/// What was put around the value that a path had.
fn around(before: Option<&Value>, value: &Value) -> Option<(String, String)> {
    let (Some(Value::Exported(was)), Value::Exported(is)) = (before, value) else { return None };
    if !was.contains(['/', ':']) || was.is_empty() {
        return None;
    }
    let at = is.find(was.as_str())?;
    let (head, tail) = (&is[..at], &is[at + was.len()..]);
    let is_whole = (head.is_empty() || head.ends_with(':')) && (tail.is_empty() || tail.starts_with(':'));
    is_whole.then(|| (head.to_owned(), tail.to_owned()))
}
