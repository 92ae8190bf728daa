//! The rule to offer for a line when a person says "always".

use super::judge;
use super::judgement::Part;
use super::program::only_looks;
use super::read::is_destructive_name;
use crate::approval::{Class, Rule, Surroundings};

/// Programs whose first arguments say what is done: these belong to the rule.
const DEPTH: &[(&str, usize)] = &[
    ("git", 2),
    ("cargo", 2),
    ("npm", 2),
    ("pnpm", 2),
    ("yarn", 2),
    ("bun", 2),
    ("go", 2),
    ("docker", 2),
    ("kubectl", 2),
    ("gh", 3),
    ("pip", 2),
    ("uv", 2),
    ("poetry", 2),
    ("make", 2),
    ("just", 2),
    ("brew", 2),
    ("terraform", 2),
    ("dotnet", 2),
    ("gradle", 2),
    ("mvn", 2),
    ("bundle", 2),
    ("rails", 2),
    ("mix", 2),
    ("systemctl", 2),
    ("apt", 2),
    ("rustup", 2),
    ("jj", 2),
];

/// Programs for which a rule would allow anything at all.
const TOO_WIDE: &[&str] = &[
    "npx", "bunx", "uvx", "pipx", "make", "just", "xargs", "find", "ssh", "sudo", "doas", "env", "eval", "exec",
    "source", ".", "curl", "wget", "nc", "docker", "kubectl", "cp", "mv", "tee", "dd", "chmod", "chown", "ln",
    "tar", "rsync", "install", "gdb",
];

/// What the tools of interactive programs call their keys: a yes to one answer is no yes to it where another question is
/// asked.
const KEYS: &str = "terminal_keys";

/// What must not be in a rule even as a sub-command: it runs whatever follows it.
const RUNNERS: &[&str] = &["exec", "run", "x", "dlx", "create", "config", "push", "publish", "install", "add"];

/// Suggests a rule that would have run the line: narrow, for one simple command, in words the person saw. `None`
/// when a rule would be too wide, or would not have helped.
#[must_use]
pub fn suggest_rule(line: &str) -> Option<Rule> {
    let judgement = judge(line, &Surroundings::default());
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
    if name == KEYS || name.contains('/') || is_destructive_name(name) && name != "git" {
        return None;
    }
    let depth = DEPTH.iter().find(|(program, _)| program == name).map_or(1, |(_, depth)| *depth);
    let start = words.get(..depth)?;
    let plain = |word: &String| !word.is_empty() && !word.starts_with('-') && !word.contains(['\n', '\t']);
    // What looks by itself and was asked does more by one of its flags: only with this one is it meant.
    let too_wide = TOO_WIDE.contains(&name.as_str())
        || only_looks(name)
        || start.iter().skip(1).any(|word| RUNNERS.contains(&word.as_str()));
    if too_wide || !start.iter().all(plain) {
        // Exactly these words, where they are few enough to be read.
        return (words.len() <= 8 && !words.iter().any(|word| word.contains(['\n', '\t'])))
            .then(|| Rule::command(words, false));
    }
    Some(Rule::command(start.to_vec(), true))
}
