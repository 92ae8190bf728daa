//! The roots of paths in a turn, and what paths mean there.

use std::path::{Path, PathBuf};

/// What paths in a turn are resolved by and shown against; passed in, never read from the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The workspace: the repository's root, else `cwd`.
    pub workspace: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl Roots {
    /// Resolves a path the model wrote: `~` and relative ones against the working directory, `.` and `..`
    /// taken out by name. Does not look at the disk.
    #[must_use]
    pub fn resolve(&self, path: &str) -> PathBuf {
        let expanded = match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ if path == "~" => self.home.clone().unwrap_or_else(|| PathBuf::from(path)),
            _ => self.cwd.join(path),
        };
        let mut clean = PathBuf::new();
        for part in expanded.components() {
            match part {
                std::path::Component::CurDir => {}
                std::path::Component::ParentDir => {
                    clean.pop();
                }
                std::path::Component::Prefix(_)
                | std::path::Component::RootDir
                | std::path::Component::Normal(_) => clean.push(part),
            }
        }
        clean
    }

    /// Shows a path relative to the working directory where it lies below it.
    #[must_use]
    pub fn shown<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.cwd).unwrap_or(path)
    }
}
