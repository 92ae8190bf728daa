//! The page of a trial: what a command would change, deletions first, and the same for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use crate::locale::{Locale, Plural, word};
use crate::terminal::sanitize_line;
use crate::tool::output::size as size_words;
use crate::trial::{Change, ChangeSet, Kind, Met, Refused};

/// More of one kind are told by their directories; never of what is deleted.
const MOST_LISTED: usize = 40;
/// What git calls the commit of a repository that has none.
const NO_COMMIT: &str = "(initial)";
/// Longer texts are not compared line by line (bytes).
const COMPARED: u64 = 256 * 1024;

/// Writes a change set for programs.
#[must_use]
pub fn trial_json(set: &ChangeSet, exit: i32) -> Value {
    let change = |change: &Change| {
        json!({
            "path": set.shown(&change.path).to_string_lossy(),
            "kind": change.kind.name(),
            "bytes": change.bytes,
        })
    };
    let name = |path: &Path| set.shown(path).to_string_lossy().into_owned();
    let mut also: Vec<String> = Vec::new();
    for (path, files, bytes) in &set.lent {
        also.push(format!("not applied: {} ({files} files, {bytes} bytes)", path.to_string_lossy()));
    }
    if set.in_copy {
        also.push("in a copy: beside it only /dev (devices, shared memory) could be written; network and sockets: not seen".to_owned());
    } else {
        also.extend(set.met.iter().map(Met::named));
    }
    also.extend(set.unmade.iter().map(|path| format!("socket or device: {}", name(path))));
    for change in &set.changes {
        if change.meanwhile {
            also.push(format!("changed meanwhile: {}", name(&change.path)));
        }
        if change.parted {
            also.push(format!("other hard links keep the old content: {}", name(&change.path)));
        }
    }
    json!({ "exit": exit, "changes": set.changes.iter().map(change).collect::<Vec<_>>(), "also": also })
}

/// Writes the page of a change set: a line for each, grouped by what becomes of them.
#[must_use]
pub fn trial_page(locale: &Locale, set: &ChangeSet, exit: i32) -> String {
    format!("{}\n{}", locale.with(word::trial::Head { code: &exit.to_string() }), trial_changes(locale, set))
}

/// Writes what a change set would change.
#[must_use]
pub fn trial_changes(locale: &Locale, set: &ChangeSet) -> String {
    let mut page = String::new();
    if set.changes.is_empty() {
        let _ = writeln!(page, "{}", locale.text(word::trial::NOTHING));
    }
    // Of files alone, and with directories among them.
    let groups: [(Kind, Plural, Plural, char); 5] = [
        (Kind::Deleted, word::trial::DELETES_FILES, word::trial::DELETES, '-'),
        (Kind::Changed, word::trial::CHANGES, word::trial::CHANGES, '~'),
        (Kind::Added, word::trial::ADDS_FILES, word::trial::ADDS, '+'),
        (Kind::Link, word::trial::LINKS, word::trial::LINKS, '>'),
        (Kind::Mode, word::trial::MODES, word::trial::MODES, '*'),
    ];
    for (kind, of_files, of_both, mark) in groups {
        let group: Vec<&Change> = set.changes.iter().filter(|change| change.kind == kind).collect();
        if group.is_empty() {
            continue;
        }
        let title = if group.iter().any(|change| change.is_directory()) { of_both } else { of_files };
        let bytes: u64 = group.iter().map(|change| change.bytes).sum();
        let weight = if matches!(kind, Kind::Deleted | Kind::Added) { sized(locale, bytes) } else { String::new() };
        let _ = writeln!(page, "{}{weight}", locale.count(title, group.len() as u64));
        if group.len() > MOST_LISTED && kind != Kind::Deleted {
            for (folder, files, bytes) in folded(set, &group) {
                let said = locale.count(word::trial::BELOW, files);
                let _ = writeln!(page, "  {mark} {folder} {said}{}", sized(locale, bytes));
            }
            continue;
        }
        for change in group {
            let _ = writeln!(page, "  {mark} {}", row(locale, set, change));
        }
    }
    for (path, files, bytes) in &set.lent {
        let files = locale.count(word::trial::BELOW, *files) + &sized(locale, *bytes);
        let _ = writeln!(page, "{}", locale.with(word::trial::Lent { path: &clean(path), files: &files }));
    }
    if set.in_copy {
        let _ = writeln!(page, "{}", locale.text(word::trial::IN_COPY));
    } else {
        page.push_str(&met(locale, &set.met));
    }
    for path in &set.unmade {
        let _ = writeln!(page, "{}", locale.with(word::trial::Unmade { path: &clean(set.shown(path)) }));
    }
    page
}

/// Says whom a trial's commands reached for: no layer holds what was asked there.
fn met(locale: &Locale, met: &[Met]) -> String {
    let one = |met: &Met| match met {
        Met::Socket(path) => Some(clean(path)),
        Met::Host(host) => Some(sanitize_line(host).into_owned()),
        Met::Name(name) => Some(locale.with(word::trial::NameAsked { name: &sanitize_line(name) })),
        Met::Unseen | Met::Agreed => None,
    };
    let mut said = String::new();
    for peer in met.iter().filter_map(one) {
        let _ = writeln!(said, "{}", locale.with(word::trial::Met { peer: &peer }));
    }
    if met.contains(&Met::Unseen) {
        let _ = writeln!(said, "{}", locale.text(word::trial::UNSEEN));
    }
    if met.contains(&Met::Agreed) {
        let _ = writeln!(said, "{}", locale.text(word::trial::AGREED));
    }
    said
}

/// Says what a repository is like, before a trial and in it.
#[must_use]
pub fn trial_git(locale: &Locale, before: &GitState, after: &GitState) -> String {
    let state = |state: &GitState| {
        let commit = if state.commit.is_empty() { locale.text(word::trial::NO_COMMIT) } else { &state.commit };
        locale.with(word::trial::GitState {
            branch: &sanitize_line(&state.branch),
            commit: &sanitize_line(commit),
            changed: &state.changed.to_string(),
            untracked: &state.untracked.to_string(),
        })
    };
    locale.with(word::trial::Git { before: &state(before), after: &state(after) })
}

/// What `git status` says of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitState {
    branch: String,
    /// The first letters of the commit; empty where there is none.
    commit: String,
    changed: u64,
    untracked: u64,
}

impl GitState {
    /// The words of the command line whose output [`GitState::parse`] reads; it writes nothing.
    pub const COMMAND: &[&str] =
        &["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch", "-unormal"];

    /// Reads what that printed (git-status(1), "Porcelain Format Version 2").
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut state = Self::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("#", header)) => {
                    if let Some(commit) = header.strip_prefix("branch.oid ").filter(|oid| *oid != NO_COMMIT) {
                        state.commit = commit.chars().take(7).collect();
                    } else if let Some(branch) = header.strip_prefix("branch.head ") {
                        branch.clone_into(&mut state.branch);
                    }
                }
                Some(("?", _)) => state.untracked += 1,
                Some(("1" | "2" | "u", _)) => state.changed += 1,
                Some(_) | None => {}
            }
        }
        state
    }
}

/// Says that there can be no trial, and why.
#[must_use]
pub fn trial_refused(locale: &Locale, refused: &Refused) -> String {
    locale.with(word::trial::Cannot { cause: &trial_cause(locale, refused) })
}

/// Says why there can be no trial.
#[must_use]
pub fn trial_cause(locale: &Locale, refused: &Refused) -> String {
    let shown = |path: &Path| clean(path);
    match refused {
        Refused::Unsupported => locale.text(word::trial::UNSUPPORTED).to_owned(),
        Refused::TooMuch(path) => locale.with(word::trial::TooMuch { path: &shown(path) }),
        Refused::Mounted(path) => locale.with(word::trial::Mounted { path: &shown(path) }),
        Refused::Foreign(path) => locale.with(word::trial::Foreign { path: &shown(path) }),
        Refused::Unusable { path, cause } => {
            locale.with(word::error::Io { path: &shown(path), cause: &cause.to_string() })
        }
        Refused::NoPlace => locale.text(word::trial::NO_PLACE).to_owned(),
        Refused::TooBig { files, bytes } => {
            locale.with(word::trial::TooBig { files: &files.to_string(), size: &size_words(*bytes) })
        }
        Refused::NoSandbox => locale.text(word::trial::NO_SANDBOX).to_owned(),
        Refused::Neither { layer, copy } => {
            let (layer, copy) = (&trial_cause(locale, layer), &trial_cause(locale, copy));
            locale.with(word::trial::Neither { layer, copy })
        }
        Refused::Denied(cause) => locale.with(word::trial::Denied { cause }),
    }
}

fn clean(path: &Path) -> String {
    sanitize_line(&path.to_string_lossy()).into_owned()
}

fn sized(locale: &Locale, bytes: u64) -> String {
    locale.with(word::reach::Size { size: &size_words(bytes) })
}

fn row(locale: &Locale, set: &ChangeSet, change: &Change) -> String {
    let mut row = clean(set.shown(&change.path));
    if change.is_directory() {
        row.push('/');
    }
    match change.kind {
        Kind::Deleted | Kind::Added if change.is_directory() => {}
        Kind::Deleted | Kind::Added => row.push_str(&sized(locale, change.bytes)),
        Kind::Changed => {
            row.push_str(&sized(locale, change.bytes));
            if let Ok((was, is)) = change.texts(COMPARED) {
                let diff = TextDiff::from_lines(&was, &is);
                let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
                let _ = write!(row, " +{} −{}", count(ChangeTag::Insert), count(ChangeTag::Delete));
            }
        }
        Kind::Mode => {}
        Kind::Link => {
            if let Some(target) = change.leads_to() {
                let _ = write!(row, " → {}", clean(set.shown(target)));
            }
        }
    }
    if let Some((before, after)) = change.modes() {
        let _ = write!(row, " {before:o} → {after:o}");
    }
    if change.meanwhile {
        let _ = write!(row, " · {}", locale.text(word::trial::MEANWHILE));
    }
    if change.parted {
        let _ = write!(row, " · {}", locale.text(word::trial::PARTED));
    }
    row
}

/// Adds up what lies in the same directory, two steps deep at most.
fn folded(set: &ChangeSet, group: &[&Change]) -> Vec<(String, u64, u64)> {
    let mut folders: BTreeMap<PathBuf, (u64, u64)> = BTreeMap::new();
    for change in group {
        let shown = set.shown(&change.path);
        let parent = shown.parent().unwrap_or(Path::new(""));
        let sum = folders.entry(parent.components().take(2).collect()).or_default();
        sum.0 += 1;
        sum.1 += change.bytes;
    }
    let named = |(folder, (files, bytes)): (PathBuf, (u64, u64))| {
        let name = if folder.as_os_str().is_empty() { "./".to_owned() } else { format!("{}/", clean(&folder)) };
        (name, files, bytes)
    };
    folders.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repositorys_state_is_read_off_its_status() {
        let text = "# branch.oid 0123456789abcdef\n# branch.head main\n# branch.ab +1 -0\n1 .M N... 100644 a\n2 R. x\nu UU y\n? new\n";
        let read = GitState::parse(text);
        let expected = GitState { branch: "main".into(), commit: "0123456".into(), changed: 3, untracked: 1 };
        assert_eq!(read, expected);
        let none = GitState::parse("# branch.oid (initial)\n# branch.head main\n? new\n");
        let said = trial_git(&Locale::new("en"), &none, &read);
        assert!(said.contains("main without a commit: 0 changed, 1 untracked →"), "{said}");
        assert!(said.ends_with("main 0123456: 3 changed, 1 untracked"), "{said}");
    }
}
