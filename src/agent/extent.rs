//! Decides how far a call's child process may reach: from the judgement, and from who agreed to what. Pure.

use std::path::PathBuf;

use crate::approval::command::{Judged, LineJudgement};
use crate::approval::{Class, Reason, Verdict};
use crate::conversation::Effect;
use crate::sandbox::Reach;
use crate::tool::Access;

/// Who agreed to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// No consent was needed, or a rule or a person gives it.
    None,
    /// `-y` alone: a yes to what is asked, and no more.
    Assumed,
}

/// Reads from a verdict who agrees to the call.
pub(super) fn consent(verdict: &Verdict) -> Consent {
    if verdict.reasons.contains(&Reason::AssumedYes) { Consent::Assumed } else { Consent::None }
}

/// Returns the reach of a call that is no shell line.
pub(super) fn of_effect(effect: Effect) -> Reach {
    match effect {
        Effect::Read => Reach::ReadOnly,
        Effect::Write | Effect::Delete => Reach::Workspace { network: false, also: Vec::new() },
        Effect::Network | Effect::Execute => Reach::Workspace { network: true, also: Vec::new() },
    }
}

/// Returns the reach of a shell line. A line that only reads may only read. Any other line that was agreed to may
/// write the workspace and those of its targets that lie outside. It gets the network if it was seen to use it, or
/// if nobody knows what it does.
pub(super) fn of_line(judgement: &LineJudgement, consent: Consent) -> Reach {
    // The sandbox forbids to become another user (`no_new_privs`) and to change the machine: such a command must
    // run outside of it. No yes in advance covers that; root becomes nobody else, and gets by inside.
    let outside = |part: &Judged| part.becomes_user() || part.changes_machine();
    let raises = |part: &Judged| part.becomes_user() && !crate::platform::process::geteuid().is_root();
    if judgement.parts.iter().any(|part| raises(part) || consent != Consent::Assumed && outside(part)) {
        return Reach::Full;
    }
    let only_reads = judgement.unparsed.is_empty()
        && judgement.never_auto.is_none()
        && judgement.parts.iter().all(|part| part.class == Class::ReadOnly && part.credential.is_none());
    if only_reads {
        return Reach::ReadOnly;
    }
    let unknown = !judgement.unparsed.is_empty() || judgement.parts.iter().any(|part| part.class == Class::Execute);
    let network = unknown
        || judgement.parts.iter().any(|part| match part.class {
            Class::Network | Class::Execute => true,
            // A destructive network command (`gh repo delete`) has no targets on the disk: its class does not say
            // that it uses the network.
            Class::Destructive => judgement.targets.is_empty(),
            Class::ReadOnly | Class::Write => false,
        });
    Reach::Workspace { network, also: targets(judgement, !unknown) }
}

/// Returns the reach of a call that asked for more than usual and got it.
pub(super) fn extended(usual: Reach, access: Access) -> Reach {
    match (access, usual) {
        (Access::Usual, usual) => usual,
        (Access::Full, _) | (_, Reach::Full) => Reach::Full,
        (Access::Workspace, Reach::Workspace { also, .. }) => Reach::Workspace { network: true, also },
        (Access::Workspace, Reach::ReadOnly | Reach::Alone) => Reach::Workspace { network: true, also: Vec::new() },
    }
}

/// Tells whether a call asks for more than its usual reach.
pub(super) fn is_more(usual: &Reach, access: Access) -> bool {
    match (access, usual) {
        (Access::Usual, _) | (_, Reach::Full) | (Access::Workspace, Reach::Workspace { network: true, .. }) => {
            false
        }
        (Access::Full | Access::Workspace, _) => true,
    }
}

/// Lists the targets of a line that it may write. If all its programs are known, the directories of the targets are
/// added: creating or removing a name changes the directory. An unknown program gets the targets alone.
fn targets(judgement: &LineJudgement, known: bool) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for target in &judgement.targets {
        let Some((path, globs)) = target.pattern.walk() else { continue };
        let parent = path.parent().filter(|_| known && globs.is_empty()).map(PathBuf::from);
        for path in std::iter::once(path).chain(parent) {
            if path.components().count() > 1 && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "extent_tests.rs"]
mod tests;
