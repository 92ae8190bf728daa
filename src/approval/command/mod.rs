//! A shell line, taken apart and judged without running anything.

use std::path::PathBuf;

use super::rule::CommandPattern;
use super::{Class, NeverAuto, Rule, Surroundings, Unparsed};

/// What a line would do.
#[derive(Debug, Clone, PartialEq)]
pub struct LineJudgement {
    /// Every simple command and every redirection to a file, wrappers opened.
    pub parts: Vec<Judged>,
    /// What could not be read for certain: the text and why.
    pub unparsed: Vec<(String, Unparsed)>,
    /// Why neither a rule nor `-y` can run it.
    pub never_auto: Option<NeverAuto>,
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
pub fn judge(line: &str, _surroundings: &Surroundings) -> LineJudgement {
    LineJudgement { parts: Vec::new(), unparsed: vec![(line.to_owned(), Unparsed::Syntax)], never_auto: None }
}

/// Suggests a rule that would have run the line: narrow, one simple command. `None` when a rule would be wide,
/// or of no use.
#[must_use]
pub fn suggest_rule(_line: &str) -> Option<Rule> {
    None
}

/// Tells whether an allowing pattern is about these words: each of its words must be known.
pub(crate) fn admits(pattern: &CommandPattern, words: &[Option<String>]) -> bool {
    let known: Option<Vec<String>> = words.iter().take(pattern.words.len() + 1).cloned().collect();
    let _ = &known;
    words.iter().cloned().collect::<Option<Vec<String>>>().is_some_and(|words| pattern.matches(&words))
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
