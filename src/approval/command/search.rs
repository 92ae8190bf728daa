//! What `find` looks for: whoever counts or keeps copies looks it up as `find` would, or finds a little more.

use std::path::PathBuf;

use crate::approval::Glob;

/// A search below some places.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Search {
    /// Where it begins.
    pub(crate) roots: Vec<Root>,
    /// How deep below its beginning something must lie, at least and at most.
    pub(crate) depths: (usize, usize),
    /// What must hold, each.
    pub(crate) tests: Vec<Test>,
    /// Whether it removes what it finds itself: of directories only those that are empty by then.
    pub(crate) deletes: bool,
    /// How the names reach who uses them.
    pub(crate) handed: Handed,
    /// Whether there are more tests, which leave out some of what is found here.
    pub(crate) leaves_out: bool,
}

/// Where a search begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Root {
    /// As the line says it.
    pub(crate) written: String,
    /// The directory in front of the first glob.
    pub(crate) path: PathBuf,
    /// What follows, one glob a component.
    pub(crate) globs: Vec<Glob>,
}

/// How names are handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Handed {
    /// Each as it is.
    Whole,
    /// A line each, to who takes them apart at blanks and quotes.
    Split,
}

/// One test of a search.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Test {
    /// The last name fits a pattern.
    Name { pattern: Glob, negated: bool },
    /// It is a directory, or a plain file.
    Kind { directory: bool, negated: bool },
}

impl Search {
    /// Tells whether it says what it looks for by a name.
    pub(crate) fn is_by_name(&self) -> bool {
        self.tests.iter().any(|test| matches!(test, Test::Name { negated: false, .. }))
    }

    /// Tells whether something is found: its last name, and whether it is a directory or a plain file.
    pub(crate) fn finds(&self, name: &str, is_directory: bool, is_file: bool) -> bool {
        self.tests.iter().all(|test| match test {
            Test::Name { pattern, negated } => pattern.fits(name) != *negated,
            Test::Kind { directory, negated } => (if *directory { is_directory } else { is_file }) != *negated,
        })
    }

    /// Tells whether a path arrives as the one name it is.
    pub(crate) fn hands_on(&self, path: &str) -> bool {
        let plain = |c: char| !c.is_whitespace() && !matches!(c, '\'' | '"' | '\\' | '\u{fffd}');
        match self.handed {
            Handed::Whole => !path.contains('\u{fffd}'),
            Handed::Split => path.chars().all(plain),
        }
    }
}
