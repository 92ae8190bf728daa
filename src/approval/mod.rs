//! May it? Rules, the effect a tool declares and the words of a shell line in; a decision and its reasons out.
//!
//! Pure but for [`FileSystem`] and [`Tracked`], with which the targets of a command are counted before a person is
//! asked. Knows no terminal and no words for people: a verdict is facts.
//!
//! Parts: `program/` (what is known of each program), `command/` (a shell line taken apart and judged), `rule.rs` (one
//! rule), `policy.rs` (rules, mode and `-y` against a call), `assessment.rs` (what came of that), `offer.rs` (what
//! "always" would keep), `session.rs` (what holds for this session), `blast.rs` (how much it would hit), `tracked.rs` (what git keeps), `path.rs` (which files are
//! never touched lightly).

mod assessment;
mod below;
mod blast;
pub mod command;
mod git_index;
mod glob;
mod led;
mod mistaken;
mod offer;
mod path;
mod policy;
mod program;
mod rule;
mod session;
mod tracked;
mod verdict;

#[cfg(test)]
#[path = "blast_tests.rs"]
mod blast_tests;
#[cfg(test)]
#[path = "count_tests.rs"]
mod count_tests;

#[cfg(test)]
mod links_tests;
#[cfg(test)]
#[path = "policy_tests.rs"]
mod policy_tests;

pub use assessment::Assessment;
pub use blast::{
    BlastRadius, Disk, Entry, FileSystem, MOST_ENTRIES, blast_radius, forbidden_on_disk, leads_outside,
};
pub use command::suggest_rule;
pub use git_index::{IndexContent, IndexEntry, each_index_entry};
pub(crate) use glob::Glob;
pub use offer::{always_rule, line_rule, newly_allowed};
pub(crate) use path::is_protected;
pub use policy::Policy;
#[cfg(test)]
pub(crate) use program::names as program_names;
pub use program::{is_builtin, needed_directory, runs_its_words, stands_before_program};
pub use rule::{Meaning, Rule, RuleError};
pub use tracked::Tracked;
pub use verdict::{Class, Decision, Mode, NeverAuto, Reason, Source, Unparsed, Verdict};

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::secret::files::SecretFiles;

/// Where a call would take place; passed in, never read from the process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surroundings {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The workspace: the repository's root, else `cwd`.
    pub workspace: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The files that are not read unasked: axi's own beside those that are secret to everybody.
    pub secrets: SecretFiles,
    /// The environment a shell line would run in. A variable that is not here is unknown, not empty.
    pub environment: BTreeMap<String, String>,
    /// What names mean in the person's shell, and so in the shell of a command.
    pub definitions: Arc<Definitions>,
}

/// Names that a command finds with a meaning of the person's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Definitions {
    /// The aliases.
    pub aliases: BTreeMap<String, String>,
    /// The functions, each as bash prints it.
    pub functions: BTreeMap<String, String>,
    /// Functions of another shell: nobody here reads them.
    pub foreign: BTreeSet<String>,
}
