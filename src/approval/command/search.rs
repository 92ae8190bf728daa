//! What `find` looks for. Counting and copying use it to look up the files as `find` would, or somewhat more.

use std::path::PathBuf;

use crate::approval::Glob;

/// A search below some directories.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Search {
    /// Where it begins.
    pub(crate) roots: Vec<Root>,
    /// The least and the greatest depth below its beginning.
    pub(crate) depths: (usize, usize),
    /// The tests, all of which must hold.
    pub(crate) tests: Vec<Test>,
    /// Whether `find` itself removes what it finds; it removes a directory only if that is empty by then.
    pub(crate) deletes: bool,
    /// How the names reach the program that uses them.
    pub(crate) handed: Handed,
    /// Whether there are further tests, which leave out some of what is found here.
    pub(crate) leaves_out: bool,
    /// Whether what lies below a found directory goes with it, whatever its name.
    pub(crate) with_all_below: bool,
}

/// Where a search begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Root {
    /// As written in the line.
    pub(crate) written: String,
    /// The directory in front of the first glob.
    pub(crate) path: PathBuf,
    /// The remaining components, one glob each.
    pub(crate) globs: Vec<Glob>,
}

/// How the names are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Handed {
    /// Each name as it is.
    Whole,
    /// One name a line, for a program that splits the lines at blanks and quotes.
    Split,
}

/// One test of a search.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Test {
    /// The last component matches a pattern.
    Name { pattern: Glob, negated: bool },
    /// The entry is a directory, or a plain file.
    Kind { directory: bool, negated: bool },
    /// One of these holds.
    Any { tests: Vec<Test>, negated: bool },
}

impl Test {
    /// Tells whether it asks for a certain name.
    fn is_by_name(&self) -> bool {
        match self {
            Self::Name { negated, .. } => !negated,
            Self::Kind { .. } => false,
            Self::Any { tests, negated } => !negated && tests.iter().all(Self::is_by_name),
        }
    }

    /// Tells whether it asks for a letter or a digit in the name.
    fn is_telling(&self) -> bool {
        match self {
            Self::Name { pattern, negated } => !negated && pattern.has_letters(),
            Self::Kind { .. } => false,
            Self::Any { tests, negated } => !negated && tests.iter().all(Self::is_telling),
        }
    }

    fn holds(&self, name: &str, is_directory: bool, is_file: bool) -> bool {
        match self {
            Self::Name { pattern, negated } => pattern.fits(name) != *negated,
            Self::Kind { directory, negated } => (if *directory { is_directory } else { is_file }) != *negated,
            Self::Any { tests, negated } => {
                tests.iter().any(|test| test.holds(name, is_directory, is_file)) != *negated
            }
        }
    }
}

impl Root {
    /// Returns the name that `find` tests, if the way in which it is written gives it another one than its own.
    pub(crate) fn own_name(&self) -> Option<String> {
        let last = self.written.trim_end_matches('/').rsplit('/').next()?;
        matches!(last, "." | "..").then(|| last.to_owned())
    }

    /// Tells whether it means what a link leads to, and not the link.
    pub(crate) fn means_what_lies_behind(&self) -> bool {
        self.written.ends_with('/') || self.own_name().is_some()
    }
}

impl Search {
    /// Tells whether a test compares names.
    pub(crate) fn asks_for_names(&self) -> bool {
        self.tests.iter().any(|test| !matches!(test, Test::Kind { .. }))
    }

    /// Tells whether it looks for a certain name.
    pub(crate) fn is_by_name(&self) -> bool {
        self.tests.iter().any(Test::is_by_name)
    }

    /// Tells whether it leaves out what has not some letter or digit in its name.
    pub(crate) fn is_telling(&self) -> bool {
        self.tests.iter().any(Test::is_telling)
    }

    /// Tells whether an entry is found, by its last component and its kind.
    pub(crate) fn finds(&self, name: &str, is_directory: bool, is_file: bool) -> bool {
        self.tests.iter().all(|test| test.holds(name, is_directory, is_file))
    }

    /// Tells whether a path is passed on as exactly this one name.
    pub(crate) fn hands_on(&self, path: &str) -> bool {
        let plain = |c: char| !c.is_whitespace() && !matches!(c, '\'' | '"' | '\\' | '\u{fffd}');
        match self.handed {
            Handed::Whole => true,
            Handed::Split => path.chars().all(plain),
        }
    }
}
