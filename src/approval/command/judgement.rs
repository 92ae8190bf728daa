//! The result of judging a line.

use std::path::PathBuf;
use std::sync::Arc;

use super::known::PathPattern;
use super::search::Search;
use crate::approval::program::Action;
use crate::approval::{Class, NeverAuto, Unparsed};

/// What a line would do.
#[derive(Debug, Clone, PartialEq)]
pub struct LineJudgement {
    /// The line.
    pub line: String,
    /// Every simple command and every redirection to a file; wrappers are opened.
    pub parts: Vec<Judged>,
    /// The texts that could not be read for certain, and why.
    pub unparsed: Vec<(String, Unparsed)>,
    /// Why neither a rule nor `-y` can allow it.
    pub never_auto: Option<NeverAuto>,
    /// What would be changed, made or removed.
    pub targets: Vec<Target>,
    /// Whether it may change other files than the targets, or more of them.
    pub changes_more: bool,
    /// The directories in which commands that do more than look run, as far as they are known. Absolute.
    pub directories: Vec<PathBuf>,
}

/// Something a line would change, make or remove.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Where it is.
    pub pattern: PathPattern,
    /// What happens to it.
    pub action: Action,
    /// Whether everything below it changes with it.
    pub recursive: bool,
    /// Whether the command picks only some of what lies below, by name or age.
    pub filtered: bool,
    /// Whether a name with a blank would be split into several.
    pub falls_apart: bool,
    /// How exactly it is known which files these are.
    pub extent: Extent,
}

/// How exactly it is known which files a target means.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Exactly those that the pattern matches.
    Exact,
    /// Those that the pattern matches, if the command is reached.
    Perhaps,
    /// Some of those below the directory of the pattern.
    Some,
    /// Those that the search finds, or some of them.
    Found(Arc<Search>),
}

/// One part of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Its text as written.
    pub text: String,
    /// What rules are matched against.
    pub part: Part,
    /// Its words as they are when it runs, where the line sets them before: `None` where they are those of `part`.
    pub run: Option<Vec<Option<String>>>,
    /// What it does at most.
    pub class: Class,
    /// Whether a person who saw the line saw all of this part: no rule allows what was not shown.
    pub shown: bool,
    /// The secret it would read, if any.
    pub credential: Option<String>,
    /// Whether it runs a short program that stands in the line. If no sandbox holds what runs unasked, the person is asked.
    pub runs_program: bool,
    /// The files it is known to use, absolute; `true` for those it only reads.
    pub paths: Vec<(PathBuf, bool)>,
    /// Whether it runs outside the workspace, or in an unknown directory: rules are not made for that.
    pub strays: bool,
}

/// What rules are matched against.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A simple command.
    Command {
        /// Its words, without quoting; `None` for a word that is only known when it runs.
        words: Vec<Option<String>>,
        /// The words of the wrappers around it, outermost first. Rules that deny see them; rules that allow do not.
        outer: Vec<Arc<Vec<Option<String>>>>,
    },
    /// A redirection into a file; `None` when it is only known when it runs.
    Redirection {
        /// The file, absolute.
        path: Option<PathBuf>,
    },
}

impl LineJudgement {
    /// Tells whether a part is known to print a secret with no name beside it: `op read …`, `gh auth token`.
    #[must_use]
    pub fn prints_secret(&self) -> bool {
        self.parts.iter().any(Judged::prints_secret)
    }

    /// Tells whether the targets give no bound for what the line changes, neither from above nor from below.
    pub(crate) fn is_only_a_guess(&self) -> bool {
        let globs = || self.targets.iter().any(|target| target.pattern.path().is_none());
        !self.unparsed.is_empty()
            || self.is_in_its_own_way()
            || self.parts.iter().any(Judged::changes_globs) && globs()
    }

    /// Tells whether one target creates or moves what another removes: the order counts then.
    fn is_in_its_own_way(&self) -> bool {
        let targets = &self.targets;
        // For many more targets, comparing all pairs would take too long.
        if targets.len() > 200 {
            return targets.iter().any(|target| target.action != Action::Remove);
        }
        let overlap = |one: &Target, other: &Target| match (one.pattern.walk(), other.pattern.walk()) {
            (Some((one, _)), Some((other, _))) => one.starts_with(&other) || other.starts_with(&one),
            (None, _) | (_, None) => false,
        };
        let removed =
            targets.iter().enumerate().filter(|(_, target)| matches!(target.action, Action::Remove | Action::Move));
        removed.into_iter().any(|(at, gone)| {
            let made = targets.iter().enumerate().filter(|(other, target)| {
                *other != at && !matches!(target.action, Action::Remove | Action::Attributes)
            });
            made.into_iter().any(|(_, made)| overlap(gone, made))
        })
    }
}
