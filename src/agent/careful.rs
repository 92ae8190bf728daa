//! Decides when an accidental Enter must mean no. Pure.

use crate::approval::command::{Judged, LineJudgement};
use crate::approval::{BlastRadius, Class, NeverAuto, Reason, Verdict};
use crate::conversation::Effect;

/// Tells whether a call destroys something, leaves the machine, or reads or prints a secret.
pub(super) fn is_careful(
    effect: Effect,
    verdict: &Verdict,
    line: Option<&LineJudgement>,
    reach: Option<&BlastRadius>,
) -> bool {
    // What is unpacked may have the name of a file that is there.
    let unpacks = |part: &Judged| part.class != Class::ReadOnly && part.unpacks();
    let careful = |part: &Judged| part.class == Class::Destructive || part.leaves() || unpacks(part);
    matches!(effect, Effect::Delete | Effect::Network)
        || verdict.reasons.iter().any(is_of_secret)
        || line.is_some_and(|line| line.prints_secret() || line.parts.iter().any(careful))
        || reach.is_some_and(|reach| may_replace(reach, line))
}

/// Tells whether a reason is that a secret is read, shown, sent or taken along.
pub(super) const fn is_of_secret(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::Credential { .. }
            | Reason::NeverAuto { why: NeverAuto::SecretLeaves { .. } | NeverAuto::SecretTaken { .. } }
    )
}

/// Tells whether content may be replaced of which git has no copy: what a redirection opens, or a copy is put over.
pub(super) fn may_replace(reach: &BlastRadius, line: Option<&LineJudgement>) -> bool {
    let is_put_over = reach.untracked > 0 && reach.files > reach.removed + reach.moved;
    let puts = || line.is_some_and(|line| line.parts.iter().any(Judged::renames));
    reach.replaced > 0 || reach.unanswered || is_put_over && puts()
}

#[cfg(test)]
#[path = "careful_tests.rs"]
mod tests;
