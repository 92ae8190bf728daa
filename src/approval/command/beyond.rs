//! What no yes given in advance covers, whatever the rules say: losses on other machines, changes of this one, secrets
//! that leave it,
//! and files that are run by themselves later.

use std::path::Path;

use super::judgement::{Judged, Part, Target};
use crate::approval::program::{Action, lists};
use crate::approval::{Class, NeverAuto, Surroundings};

/// Why a line is asked each time, by what its parts and targets say together.
pub(super) fn beyond(parts: &[Judged], targets: &[Target], place: &Surroundings) -> Option<NeverAuto> {
    let secret = parts.iter().find_map(|part| part.credential.clone());
    let reaches = parts.iter().any(|part| part.class == Class::Network);
    let leaves = secret.filter(|_| reaches).map(|what| NeverAuto::SecretLeaves { what });
    leaves
        .or_else(|| parts.iter().find_map(shared))
        .or_else(|| targets.iter().find_map(|target| later(target, place)))
}

/// What a part does to what others share.
fn shared(part: &Judged) -> Option<NeverAuto> {
    let Part::Command { words, .. } = &part.part else { return None };
    let words: Vec<&str> = words.iter().map(|word| word.as_deref().unwrap_or_default()).collect();
    let (program, rest) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or_default();
    if part.class == Class::ReadOnly {
        return None;
    }
    if part.changes_machine() {
        return Some(NeverAuto::ChangesMachine { command: part.text.clone() });
    }
    if program == "crontab" {
        return Some(NeverAuto::RunsLater { target: "crontab".to_owned() });
    }
    if program == "git" && part.class == Class::Destructive {
        let mut named = rest.iter().skip_while(|word| **word != "push");
        named.next()?;
        let mut named = named.filter(|word| !word.starts_with('-'));
        let remote = named.next().map_or_else(|| "origin".to_owned(), |word| (*word).to_owned());
        let branch = named.next().map_or("HEAD", |word| word.trim_start_matches(['+', ':'])).to_owned();
        return Some(NeverAuto::Push { branch, remote });
    }
    let losses = |row: &&'static str| {
        let mut wanted = row.split(':');
        let mut given = rest.iter();
        wanted.next() == Some(program) && wanted.all(|word| given.any(|given| *given == word))
    };
    lists::SHARED_LOSSES.iter().find(losses).map(|_| NeverAuto::Shared { command: part.text.clone() })
}

/// What a target does to a file that is run by itself later, or that lets others in.
fn later(target: &Target, place: &Surroundings) -> Option<NeverAuto> {
    let path = target.pattern.rough_path()?;
    runs_later(&path, target.action == Action::Remove, place)
        .then(|| NeverAuto::RunsLater { target: target.pattern.shown().to_owned() })
}

/// Tells whether a file is run by itself later, or lets others in; for one that goes, whether keys go with it.
pub(crate) fn runs_later(path: &Path, removed: bool, place: &Surroundings) -> bool {
    let below_home = place.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
    let named = |file: &str| match file.strip_prefix('/') {
        // A beginning of names: `/etc/cron` stands for `/etc/cron.d`, too.
        Some(_) => path.to_string_lossy().starts_with(file),
        None => below_home.is_some_and(|rest| rest.starts_with(file)),
    };
    let keys = removed && below_home.is_some_and(|rest| rest == Path::new(".ssh") || rest == Path::new(".gnupg"));
    let hooks = path.to_string_lossy().contains("/.git/hooks") || path.ends_with(".ssh/authorized_keys");
    keys || hooks || lists::START_FILES.iter().any(named)
}
