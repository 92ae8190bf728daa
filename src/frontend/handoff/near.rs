//! Names that exist here and are like those of a command that failed: files for its arguments, programs for its name.
//! They are looked up, and not guessed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::facts::LastCommand;
use crate::approval::stands_before_program;

/// The most entries of a directory that are compared.
const ENTRIES: usize = 5000;

/// The most names of a row.
const NAMES: usize = 6;

/// Programs that install others, the most special first.
const INSTALLERS: &[&str] = &["apt", "dnf", "pacman", "zypper", "apk", "brew"];

/// Where names are looked up.
#[derive(Debug, Clone, Default)]
pub struct Near {
    /// Where the command ran.
    pub directory: PathBuf,
    /// `PATH`.
    pub path: OsString,
}

impl Near {
    /// Words what is like the names of a command.
    pub(super) fn rows(&self, last: &LastCommand) -> Vec<String> {
        let words = shlex::split(&last.command).unwrap_or_default();
        let mut rows = Vec::new();
        let names = words.iter().flat_map(|word| self.files(word)).take(NAMES).collect::<Vec<_>>();
        if !names.is_empty() {
            rows.push(format!("exists here: {}", names.join(", ")));
        }
        if self.lacks_program(last) {
            let missing = words.iter().find(|word| is_program(word));
            let programs = missing.map(|word| self.programs(word)).unwrap_or_default();
            if programs.is_empty() {
                rows.extend(INSTALLERS.iter().find(|name| self.program(name).is_some()).map(|name| {
                    let root = if *name == "brew" { "" } else { "sudo " };
                    format!("no program here has a like name; programs are installed by: {root}{name}")
                }));
            } else {
                rows.push(format!("programs: {}", programs.join(", ")));
            }
        }
        rows
    }

    /// Tells whether the shell found no such program: `bash nothing.sh` ends with the same exit code.
    pub(super) fn lacks_program(&self, last: &LastCommand) -> bool {
        let words = shlex::split(&last.command).unwrap_or_default();
        let name = words.iter().find(|word| is_program(word));
        last.is_missing() && name.is_none_or(|name| self.program(name).is_none())
    }

    /// Entries that are like a word that is the path of nothing.
    fn files(&self, word: &str) -> Vec<String> {
        let path = self.directory.join(word);
        if word.is_empty() || word.starts_with('-') || path.symlink_metadata().is_ok() {
            return Vec::new();
        }
        let (Some(name), Some(folder)) = (path.file_name().and_then(|name| name.to_str()), path.parent()) else {
            return Vec::new();
        };
        let before = word.strip_suffix(name).unwrap_or_default();
        like(name, entries(folder)).into_iter().map(|found| format!("{before}{found}")).collect()
    }

    /// Programs that are like a name.
    fn programs(&self, name: &str) -> Vec<String> {
        let folders: Vec<PathBuf> = std::env::split_paths(&self.path).filter(|path| path.is_absolute()).collect();
        like(name, folders.iter().flat_map(|folder| entries(folder)))
    }

    fn program(&self, name: &str) -> Option<PathBuf> {
        let found = std::env::split_paths(&self.path).map(|folder| folder.join(name));
        found.filter(|path| path.is_absolute()).find(|path| path.is_file())
    }
}

/// Tells whether a word can be the program of a line: neither a variable nor what stands before a program.
fn is_program(word: &str) -> bool {
    !word.contains('=') && !stands_before_program(word)
}

/// The names in a directory, as far as they can be written on a line.
fn entries(folder: &Path) -> Vec<String> {
    let found = folder.read_dir().into_iter().flatten().flatten().take(ENTRIES);
    let names = found.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| !name.chars().any(char::is_control)).collect()
}

/// The names that differ from `name` by little: case, an ending, one letter in three. The nearest come first.
fn like(name: &str, names: impl IntoIterator<Item = String>) -> Vec<String> {
    let lower = name.to_lowercase();
    let length = lower.chars().count();
    let most = if length < 3 { 1 } else { (length / 3).min(3) };
    let stem = |name: &str| name.rsplit_once('.').map_or(name.to_owned(), |(stem, _)| stem.to_owned());
    let mut found: Vec<(usize, String)> = names
        .into_iter()
        .filter(|other| other != name)
        .filter_map(|other| {
            let shown = other.to_lowercase();
            if shown.chars().count().abs_diff(length) > most && stem(&shown) != stem(&lower) {
                return None;
            }
            let distance = if length > 3 && stem(&shown) == stem(&lower) {
                1
            } else {
                strsim::damerau_levenshtein(&lower, &shown)
            };
            (distance <= most).then_some((distance, other))
        })
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, name)| name).take(NAMES).collect()
}

#[cfg(test)]
mod tests {
    use crate::platform::os::fs::PermissionsExt as _;

    use super::*;

    fn rows(command: &str, status: i32, near: &Near) -> Vec<String> {
        near.rows(&LastCommand { command: command.into(), status, milliseconds: 0 })
    }

    #[test]
    fn names_that_are_like_the_commands_own_are_told_and_others_are_not() {
        let home = tempfile::tempdir().unwrap();
        for name in ["src/notes.txt", "README.md", "Makefile", "bin/grep", "bin/git", "bin/apt", "other"] {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let near = Near { directory: home.path().to_owned(), path: home.path().join("bin").into() };
        assert_eq!(rows("cat src/nots.txt", 1, &near), ["exists here: src/notes.txt"]);
        assert_eq!(rows("cat readme.md", 1, &near), ["exists here: README.md"]);
        assert_eq!(rows("cat src/notes.md", 1, &near), ["exists here: src/notes.txt"]);
        assert_eq!(rows("cat README.md", 1, &near), [""; 0]);
        assert_eq!(rows("gti status", 127, &near), ["programs: git"]);
        assert_eq!(
            rows("jq .name", 127, &near),
            ["no program here has a like name; programs are installed by: sudo apt"]
        );
        assert_eq!(rows("sudo gti status", 127, &near), ["programs: git"]);
        // bash ends so where it finds no script.
        assert_eq!(rows("git nots.txt", 127, &near), [""; 0]);
        assert_eq!(rows("gti 'open", 127, &near).len(), 1, "a line nobody can split has no names");
    }
}
