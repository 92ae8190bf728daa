//! What was found out about a line.

use std::path::PathBuf;
use std::sync::Arc;

use super::known::PathPattern;
use super::search::Search;
use crate::approval::program::Action;
use crate::approval::{Class, NeverAuto, Unparsed};

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
    /// Whether it may change more than the targets, or others.
    pub changes_more: bool,
    /// Where what does more than look is run, as far as it is known; absolute.
    pub directories: Vec<PathBuf>,
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
    /// Whether a name with a blank in it would be taken for several.
    pub falls_apart: bool,
    /// How exactly it is known which files these are.
    pub extent: Extent,
}

/// How exactly it is known which files a target stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Those its pattern says.
    Exact,
    /// Those its pattern says, if it comes to that.
    Perhaps,
    /// Some of those that lie below the directory its pattern stands in.
    Some,
    /// Those that are found, or some of them, as the search says.
    Found(Arc<Search>),
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
    /// Whether it runs outside the workspace, or it is not known where: no rule was made for that.
    pub strays: bool,
}

/// What rules are matched against.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A simple command.
    Command {
        /// Its words, quoting taken off; `None` where a word is only known when it runs.
        words: Vec<Option<String>>,
        /// The words of the wrappers around it, outermost first: they can deny, never allow.
        outer: Vec<Arc<Vec<Option<String>>>>,
    },
    /// A redirection into a file; `None` when it is only known when it runs.
    Redirection {
        /// The file, absolute.
        path: Option<PathBuf>,
    },
}

impl LineJudgement {
    /// Tells whether what its targets stand for is no bound of what it changes, in either direction.
    pub(crate) fn is_only_a_guess(&self) -> bool {
        let globs = || self.targets.iter().any(|target| target.pattern.path().is_none());
        !self.unparsed.is_empty()
            || self.is_in_its_own_way()
            || self.parts.iter().any(Judged::changes_globs) && globs()
    }

    /// Tells whether what one target makes or moves is what another one removes: then the order counts.
    fn is_in_its_own_way(&self) -> bool {
        let targets = &self.targets;
        // Far more are not compared with each other.
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
