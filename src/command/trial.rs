//! The page of a trial: what a command would change, deletions first, and the same for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use crate::locale::{Locale, Plural, word};
use crate::terminal::sanitize_line;
use crate::tool::output::size as size_words;
use crate::trial::{Change, ChangeSet, GitState, Kind, Met, Refused, Why};

/// More of one kind are told by their directories; never of what is deleted.
const MOST_LISTED: usize = 40;
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
        if change.foreign {
            also.push(format!("belongs to another user or group, not applied: {}", name(&change.path)));
        }
        if change.names_copy {
            also.push(format!("names the path of the copy: {}", name(&change.path)));
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
    if !set.foreign.is_empty() {
        let names: Vec<String> = set.foreign.iter().map(|path| clean(set.shown(path))).collect();
        let _ = writeln!(page, "{}", locale.with(word::trial::NeverWritten { paths: &names.join(", ") }));
    }
    for path in &set.unmade {
        let _ = writeln!(page, "{}", locale.with(word::trial::Unmade { path: &clean(set.shown(path)) }));
    }
    if let Some(repository) = &set.repository {
        let _ = writeln!(page, "{}", git(locale, repository));
    }
    page
}

/// Says whom a trial's commands reached for: no layer holds what was asked there.
fn met(locale: &Locale, met: &[Met]) -> String {
    let one = |met: &Met| match met {
        Met::Socket(path) => Some(clean(path)),
        Met::Host(host) => Some(sanitize_line(host).into_owned()),
        Met::Name(name) => Some(locale.with(word::trial::NameAsked { name: &sanitize_line(name) })),
        Met::Unseen | Met::Agreed | Met::InCopy => None,
    };
    let mut said = String::new();
    for peer in met.iter().filter_map(one) {
        let _ = writeln!(said, "{}", locale.with(word::trial::Met { peer: &peer }));
    }
    if met.contains(&Met::Unseen) {
        let _ = writeln!(said, "{}", locale.text(word::trial::UNSEEN));
    }
    if met.contains(&Met::InCopy) {
        let _ = writeln!(said, "{}", locale.text(word::trial::AGREED_IN_COPY));
    }
    if met.contains(&Met::Agreed) {
        let _ = writeln!(said, "{}", locale.text(word::trial::AGREED));
    }
    said
}

/// Says what a repository is like, before a trial and in it.
fn git(locale: &Locale, (before, after): &(GitState, GitState)) -> String {
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

/// Says that a change was not applied, and why.
#[must_use]
pub fn trial_unapplied(locale: &Locale, path: &Path, why: &Why) -> String {
    let cause = match why {
        Why::Meanwhile => locale.text(word::trial::MEANWHILE),
        Why::Foreign => locale.text(word::trial::NOT_YOURS),
        Why::Failed(cause) => cause,
    };
    locale.with(word::trial::Refused { path: &clean(path), cause })
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
        Refused::Apart(path) => locale.with(word::trial::Apart { path: &shown(path) }),
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
    if change.foreign {
        let _ = write!(row, " · {}", locale.text(word::trial::NOT_YOURS));
    }
    if change.names_copy {
        let _ = write!(row, " · {}", locale.text(word::trial::NAMES_COPY));
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
    fn a_repository_is_told_before_and_after_and_one_without_a_commit_as_such() {
        let none = GitState { branch: "main".into(), untracked: 1, ..GitState::default() };
        let after = GitState { branch: "main".into(), commit: "0123456".into(), changed: 3, untracked: 1 };
        let mut set = ChangeSet::default();
        set.repository = Some((none, after));
        let said = trial_changes(&Locale::new("en"), &set);
        assert!(said.contains("main without a commit: 0 changed, 1 untracked →"), "{said}");
        assert!(said.ends_with("main 0123456: 3 changed, 1 untracked\n"), "{said}");
    }
}
