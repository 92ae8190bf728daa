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
mod git_commands;
mod git_ground;
mod guard;
mod help;
mod inline;
mod invoke;
mod lexer;
mod looks;
mod matching;
mod output;
mod parser;
mod programs;
mod redirect;
mod simple;
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
pub(crate) use matching::{admits, may_hide, may_touch, touches};
pub use suggest::suggest_rule;
pub use value::PathPattern;
pub(crate) use value::Step;

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
        directories: walker.directories,
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
