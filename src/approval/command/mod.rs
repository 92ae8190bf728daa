//! Parses and judges a shell line without running anything.
//!
//! # How
//! `read` refuses deceptive characters and builds a tree of what bash, zsh and POSIX shells read alike. `follow`
//! walks through the tree in the order in which it would run, and opens programs that run others; `known` tracks
//! directories and variables on the way. `effect` says what each command does with its words. Below them is
//! `judgement`, the result.
//!
//! # The rule behind every choice
//! Whatever is uncertain is asked. The judge never guesses what a person meant in order to be strict.

mod beyond;
mod danger;
mod effect;
mod facts;
mod filters;
mod follow;
mod judgement;
mod known;
mod leaves;
mod matching;
mod named;
mod read;
mod search;
mod suggest;
mod taken;
mod unsent;

pub use super::program::Action;
pub(crate) use beyond::later;
pub(crate) use danger::{attributes_danger, danger};
pub(crate) use facts::{GitChanges, NewNames};
pub use judgement::{Extent, Judged, LineJudgement, Part, Target};
pub use known::PathPattern;
pub(crate) use known::Step;
pub(crate) use leaves::shown_secret;
pub(crate) use matching::{admits, may_hide, may_touch, touches};
pub use search::Search;
pub use suggest::suggest_rule;

use std::rc::Rc;

use follow::{Around, Walker};
use known::State;
use read::{LONGEST, looks_destructive, odd_character};

use super::{NeverAuto, Surroundings, Unparsed};

/// Judges a line.
#[must_use]
pub fn judge(line: &str, surroundings: &Surroundings) -> LineJudgement {
    #[cfg(test)]
    watched::judged(line);
    let mut walker = Walker::new(Rc::new(line.into()));
    let doubt = if line.len() > LONGEST {
        Some(Unparsed::TooLong)
    } else {
        odd_character(line).map(|_| Unparsed::Characters)
    };
    if let Some(why) = doubt {
        walker.report.doubt(line, why);
        if let Some(looks) = looks_destructive(line) {
            walker.report.forbid(NeverAuto::HiddenDestructive { looks });
        }
    } else {
        let flow = walker.script(line, State::new(surroundings), &Around::default());
        walker.finish(&flow.success.merge(flow.failure));
    }
    let mut report = walker.report;
    if let Some(why) = beyond::beyond(line, &report, surroundings) {
        report.forbid(why);
    }
    let changes_more = !report.unparsed.is_empty() || report.parts.iter().any(Judged::changes_unseen);
    LineJudgement {
        line: line.to_owned(),
        changes_more,
        parts: report.parts,
        unparsed: report.unparsed,
        never_auto: report.never,
        targets: report.targets,
        directories: report.directories,
    }
}

/// What is known of a line that nobody has read.
#[must_use]
pub fn unread(line: &str) -> LineJudgement {
    LineJudgement {
        line: line.to_owned(),
        changes_more: true,
        parts: Vec::new(),
        unparsed: vec![(line.to_owned(), Unparsed::Syntax)],
        never_auto: None,
        targets: Vec::new(),
        directories: Vec::new(),
    }
}

/// Tells tests how often a line is judged, and lets them hold its judgement up.
#[cfg(test)]
pub(crate) mod watched {
    use std::collections::HashMap;
    use std::sync::{Arc, LazyLock, Mutex};

    type Count = Arc<Mutex<u32>>;

    static WATCHED: LazyLock<Mutex<HashMap<String, Count>>> = LazyLock::new(Mutex::default);

    /// The count of a line from now on; who holds it holds up its judgement.
    pub(crate) fn watch(line: &str) -> Count {
        let count = Count::default();
        WATCHED.lock().unwrap().insert(line.to_owned(), Arc::clone(&count));
        count
    }

    pub(super) fn judged(line: &str) {
        let watched = WATCHED.lock().unwrap().get(line).cloned();
        if let Some(count) = watched {
            *count.lock().unwrap() += 1;
        }
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "cost_tests.rs"]
mod cost_tests;

#[cfg(test)]
#[path = "letters_tests.rs"]
mod letters_tests;

#[cfg(test)]
#[path = "persons_tests.rs"]
mod persons_tests;

#[cfg(test)]
#[path = "shared_tests.rs"]
mod shared_tests;
