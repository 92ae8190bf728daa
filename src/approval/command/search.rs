//! What `find` looks for: whoever counts or keeps copies looks it up as `find` would, or finds a little more.

use std::path::PathBuf;

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
    pub(crate) globs: Vec<String>,
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
    Name { pattern: Vec<char>, folds_case: bool, negated: bool },
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
            Test::Name { pattern, folds_case, negated } => {
                let fold = |text: char| if *folds_case { text.to_ascii_lowercase() } else { text };
                let name: Vec<char> = name.chars().map(fold).collect();
                let pattern: Vec<char> = pattern.iter().copied().map(fold).collect();
                fits(&pattern, &name) != *negated
            }
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

/// Tells whether a pattern of `*` and `?` stands for a name. Brackets are not read here.
fn fits(pattern: &[char], name: &[char]) -> bool {
    // The last `*`, and how much of the name it stands for so far.
    let (mut star, mut taken) = (None, 0);
    let (mut at, mut read) = (0, 0);
    while read < name.len() {
        match pattern.get(at) {
            Some('*') => {
                (star, taken) = (Some(at), read);
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[read] => {
                at += 1;
                read += 1;
            }
            Some(_) | None => {
                let Some(last) = star else { return false };
                taken += 1;
                (at, read) = (last + 1, taken);
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}
