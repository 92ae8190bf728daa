//! A shell line, taken apart and judged without running anything.
//!
//! # How
//! `guard` refuses characters that deceive; `lexer` and `parser` make a tree (`syntax`) of what bash, zsh and POSIX
//! shells read alike, and refuse the rest; `walk` follows the tree in the order it would run, with what is known
//! (`state`, `value`) of directories and variables; `wrapper` and `find` open programs that run others; `classify`
//! looks each command up in the tables (`table`, `effects`, `git`, `programs`).
//!
//! # The rule behind every choice
//! What is not certain is asked. Strictness is never bought by guessing what a person meant.

mod after;
mod awk;
mod call;
mod classify;
mod compiler;
mod compound;
mod danger;
mod effects;
mod env;
mod environment;
mod expand;
mod find;
mod git;
mod git_ground;
mod guard;
mod help;
mod inline;
mod invoke;
mod lexer;
mod looks;
mod output;
mod parser;
mod programs;
mod redirect;
mod simple;
mod snippet;
mod snippet_words;
mod special;
mod state;
mod suggest;
mod syntax;
mod table;
mod value;
mod walk;
mod wrapper;

use std::path::PathBuf;

pub use call::Action;
pub(crate) use danger::{attributes_danger, danger, is_harmless_device};
pub use suggest::suggest_rule;
pub use value::PathPattern;
pub(crate) use value::Step;

use super::rule::CommandPattern;
use super::{Class, NeverAuto, Surroundings, Unparsed};

/// What a line would do.
#[derive(Debug, Clone, PartialEq)]
pub struct LineJudgement {
    /// Every simple command and every redirection to a file, wrappers opened.
    pub parts: Vec<Judged>,
    /// What could not be read for certain: the text and why.
    pub unparsed: Vec<(String, Unparsed)>,
    /// Why neither a rule nor `-y` can run it.
    pub never_auto: Option<NeverAuto>,
    /// What would be changed, made or removed.
    pub targets: Vec<Target>,
}

/// Something a line would change, make or remove.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Where it is.
    pub pattern: PathPattern,
    /// What happens to it.
    pub action: Action,
    /// Whether everything below goes with it.
    pub recursive: bool,
    /// Whether only some of what lies below is meant, by name or age.
    pub filtered: bool,
}

/// One part of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Its text as written.
    pub text: String,
    /// What rules are matched against.
    pub part: Part,
    /// What it does at most.
    pub class: Class,
    /// Whether a person who saw the line saw all of it: no rule admits what was not shown.
    pub shown: bool,
    /// The secret it would read, if any.
    pub credential: Option<String>,
    /// Whether it runs a short program given in the line: where nothing holds what runs unasked, that is asked.
    pub runs_program: bool,
    /// The files it is known to touch, absolute; true where they are only read.
    pub paths: Vec<(PathBuf, bool)>,
}

/// What rules are matched against.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A simple command.
    Command {
        /// Its words, quoting taken off; `None` where a word is only known when it runs.
        words: Vec<Option<String>>,
        /// The words of the wrappers around it, outermost first: they can deny, never allow.
        outer: Vec<Vec<Option<String>>>,
    },
    /// A redirection into a file; `None` when it is only known when it runs.
    Redirection {
        /// The file, absolute.
        path: Option<PathBuf>,
    },
}

/// Judges a line.
#[must_use]
pub fn judge(line: &str, surroundings: &Surroundings) -> LineJudgement {
    let mut walker = walk::Walker::new(line);
    let doubt = if line.len() > guard::LONGEST {
        Some(Unparsed::TooLong)
    } else {
        guard::odd_character(line).map(|_| Unparsed::Characters)
    };
    if let Some(why) = doubt {
        walker.doubt(line, why);
        if let Some(looks) = looks::destructive(line) {
            walker.forbid(NeverAuto::HiddenDestructive { looks });
        }
    } else {
        let flow = walker.script(line, state::State::new(surroundings), &walk::Around::default());
        walker.finish(&flow.success.merge(flow.failure));
    }
    LineJudgement {
        parts: walker.parts,
        unparsed: walker.unparsed,
        never_auto: walker.never,
        targets: walker.targets,
    }
}

/// Tells whether an allowing pattern is about these words: each of them must be known as written.
pub(crate) fn admits(pattern: &CommandPattern, words: &[Option<String>]) -> bool {
    let known: Option<Vec<String>> = words.iter().cloned().collect();
    known.is_some_and(|words| pattern.matches(&words))
}

/// Tells whether an asking or denying pattern is about these words; the command may be named by its path.
pub(crate) fn touches(pattern: &CommandPattern, words: &[Option<String>]) -> bool {
    compare(pattern, words, false)
}

/// Tells whether it may be, a word that is only known at run time standing for any.
pub(crate) fn may_touch(pattern: &CommandPattern, words: &[Option<String>]) -> bool {
    !compare(pattern, words, false) && compare(pattern, words, true)
}

fn compare(pattern: &CommandPattern, words: &[Option<String>], unknown_is_any: bool) -> bool {
    let long_enough = words.len() >= pattern.words.len() && (pattern.prefix || words.len() == pattern.words.len());
    long_enough
        && pattern.words.iter().zip(words).enumerate().all(|(index, (wanted, is))| match is {
            None => unknown_is_any,
            Some(is) => is == wanted || (index == 0 && is.rsplit('/').next() == Some(wanted)),
        })
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
