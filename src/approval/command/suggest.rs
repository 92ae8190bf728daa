//! Finds the rule to offer for a line when a person answers "always".

use super::judgement::{LineJudgement, Part};
use super::read::is_destructive_name;
use crate::approval::program::{Grammar, Program, Trait};
use crate::approval::{Class, Rule};

/// The argument with the keys for an interactive program. No rule may cover it: keys that answer one question could
/// answer another one later.
const KEYS: &str = "terminal_keys";

/// Words that no rule may contain, even as a sub-command: they run whatever follows them.
const RUNNERS: &[&str] = &["exec", "run", "x", "dlx", "create", "config", "push", "publish", "install", "add"];

/// Suggests a rule that would have allowed the line: a narrow one, for one simple command, in words that the person
/// saw. `None` if a rule would be too wide, or would not have helped.
#[must_use]
pub fn suggest_rule(judgement: &LineJudgement) -> Option<Rule> {
    if !judgement.unparsed.is_empty() || judgement.never_auto.is_some() {
        return None;
    }
    let asked: Vec<_> = judgement.parts.iter().filter(|part| part.class != Class::ReadOnly).collect();
    let [part] = asked.as_slice() else { return None };
    let readable = part.credential.is_none() && part.shown && part.class != Class::Destructive;
    let Part::Command { words, outer } = &part.part else { return None };
    if !readable || !outer.is_empty() {
        return None;
    }
    let words: Option<Vec<String>> = words.iter().cloned().collect();
    let words = words?;
    let name = words.first()?;
    let program = Program::named(name);
    if name == KEYS
        || name.contains('/')
        || is_destructive_name(name) && program.is_none_or(|program| program.grammar != Grammar::Git)
    {
        return None;
    }
    let start = words.get(..program.map_or(1, |program| usize::from(program.rule)))?;
    let plain = |word: &String| !word.is_empty() && !word.starts_with('-') && !word.contains(['\n', '\t']);
    // A looking program that had to be asked about does more because of one of its flags: the rule must contain
    // that flag.
    let too_wide = program.is_some_and(|program| program.is(Trait::Exact) || program.looks.is_some())
        || start.iter().skip(1).any(|word| RUNNERS.contains(&word.as_str()));
    if too_wide || !start.iter().all(plain) {
        // Then the rule has exactly these words, if a person can read so many.
        return (words.len() <= 8 && !words.iter().any(|word| word.contains(['\n', '\t'])))
            .then(|| Rule::command(words, false));
    }
    Some(Rule::command(start.to_vec(), true))
}
