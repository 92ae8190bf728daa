//! Recognises calls of git that print only names of revisions.

use super::value::{Chunk, Value};

/// Returns a value for the revisions that a call of git in `$(…)` prints; `None` if it may print anything else.
/// Neither a hash nor the name of a branch or tag begins with a dash (`git-check-ref-format(1)`).
pub(crate) fn names_revisions(words: &[&str]) -> Option<Value> {
    let (command, rest) = words.split_first()?;
    let plain = |word: &&str| {
        let (name, _) = word.split_once('=').unwrap_or((word, ""));
        !word.starts_with('-')
            || word[1..].chars().all(|c| c.is_ascii_digit())
            || match *command {
                "rev-list" => {
                    ["-n", "--all", "--reverse", "--since", "--until", "--author", "--no-merges", "--max-count"]
                        .contains(&name)
                }
                "rev-parse" => matches!(*word, "--short" | "--verify" | "-q"),
                "branch" | "for-each-ref" => {
                    ["-r", "-a", "--merged", "--no-merged", "--sort", "--count"].contains(&name)
                }
                "tag" => ["-l", "--list", "--sort", "--merged", "--no-merged", "--contains"].contains(&name),
                _ => false,
            }
    };
    let format = |word: &&&str| matches!(**word, "--format=%(refname:short)" | "--format=%(refname)");
    let formats = rest.iter().filter(format).count();
    let others = rest.iter().filter(|word| !format(word));
    let known = match *command {
        "rev-list" => formats == 0 && !rest.is_empty(),
        "rev-parse" => formats == 0 && matches!(rest.last(), Some(&"HEAD" | &"main" | &"master")),
        "branch" | "for-each-ref" => formats == 1,
        "tag" | "merge-base" => formats == 0,
        _ => false,
    };
    if !known || !others.copied().all(|word| plain(&word)) {
        return None;
    }
    let mut value = Value::text("0");
    value.chunks.push(Chunk::Unknown);
    Some(value)
}
