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
