//! Finds secret files on the disk: those below a directory, and those with a second hard link elsewhere.

use std::collections::{BTreeSet, VecDeque};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::platform::RealPath as _;
use crate::platform::os::fs::MetadataExt as _;

use super::files::{IN_HOME, SecretFiles, is_secret};

/// How deep secret files are searched, and among how many names.
pub const DEPTH: usize = 12;
const MOST_NAMES: usize = 50_000;

/// Lists the secret files of a directory down to a depth.
#[must_use]
pub fn secret_files(directory: &Path, home: Option<&Path>, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    look(directory, home, depth, &mut |path| {
        found.push(path);
        false
    });
    found
}

/// Finds a secret file anywhere below a directory that is not left out.
#[must_use]
pub fn one_below(directory: &Path, home: Option<&Path>, left_out: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut found = None;
    look(directory, home, DEPTH, &mut |path| {
        let meets = !left_out(&path);
        found = meets.then_some(path);
        meets
    });
    found
}

/// Gives each secret file to `meet`, those that lie higher first, until it has enough.
fn look(directory: &Path, home: Option<&Path>, depth: usize, meet: &mut dyn FnMut(PathBuf) -> bool) {
    let mut waiting = VecDeque::from([(directory.to_owned(), depth)]);
    let mut seen = 0;
    while let Some((directory, depth)) = waiting.pop_front() {
        for entry in directory.read_dir().into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_NAMES {
                return;
            }
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if depth > 1 {
                    waiting.push_back((path, depth - 1));
                }
            } else if is_secret(&path, home) && meet(path) {
                return;
            }
        }
    }
}

/// Secret files with several hard links, known by their inodes and not by their names: a second name does not
/// reveal the secret. They are searched when the first file with two names is met.
#[derive(Debug, Default)]
pub struct Linked {
    files: SecretFiles,
    below: Vec<PathBuf>,
    /// Device and inode of each.
    known: OnceLock<BTreeSet<(u64, u64)>>,
}

impl Linked {
    /// Covers the known secrets in home, and the secret files below these directories.
    #[must_use]
    pub fn new(files: SecretFiles, below: Vec<PathBuf>) -> Self {
        Self { files, below, known: OnceLock::new() }
    }

    /// Tells whether a file is one of them.
    #[must_use]
    pub fn holds(&self, metadata: &Metadata) -> bool {
        metadata.is_file() && self.holds_file(metadata.dev(), metadata.ino(), metadata.nlink())
    }

    /// Tells whether a path without links is that of a secret file.
    #[must_use]
    pub fn names(&self, path: &Path) -> bool {
        self.files.holds(path)
    }

    /// Tells whether a path lies where they are searched.
    #[must_use]
    pub fn searches(&self, path: &Path) -> bool {
        self.below.iter().chain(&self.files.home).any(|place| path.starts_with(place))
    }

    /// Tells the same for a file with this device, inode and number of names.
    #[must_use]
    pub fn holds_file(&self, device: u64, number: u64, names: u64) -> bool {
        names > 1 && self.known.get_or_init(|| self.find()).contains(&(device, number))
    }

    fn find(&self) -> BTreeSet<(u64, u64)> {
        let home = self.files.home.as_deref();
        let mut paths: Vec<PathBuf> =
            self.below.iter().flat_map(|directory| secret_files(directory, home, DEPTH)).collect();
        for place in IN_HOME.iter().filter_map(|name| Some(home?.join(name))).chain(self.files.own.iter().cloned())
        {
            paths.extend(secret_files(&place, home, DEPTH));
            paths.push(place);
        }
        let file = |path: PathBuf| path.metadata().ok().filter(|file| file.is_file() && file.nlink() > 1);
        paths.into_iter().filter_map(file).map(|file| (file.dev(), file.ino())).collect()
    }
}

/// Tells whether a path leads to a secret file, by a link of either kind, without being named as one; second hard
/// links are known where the first lies in home or below this directory. Who names one as it is means it.
#[must_use]
pub fn is_hidden_secret(path: &Path, home: Option<&Path>, directory: &Path) -> bool {
    let (Ok(real), Ok(metadata)) = (path.real_path(), path.metadata()) else { return false };
    if is_secret(path, home) {
        return false;
    }
    let files = SecretFiles { home: home.map(Path::to_path_buf), ..SecretFiles::default() }.real();
    files.holds(&real) || Linked::new(files, vec![directory.to_owned()]).holds(&metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_files_are_found_and_samples_are_not() {
        let place = tempfile::tempdir().unwrap();
        for name in [".env", ".env.local", ".env.example", ".environment", "env", "tls.key"] {
            std::fs::write(place.path().join(name), "").unwrap();
        }
        let mut found = secret_files(place.path(), None, 1);
        found.sort();
        assert_eq!(found, [".env", ".env.local", "tls.key"].map(|name| place.path().join(name)));
    }

    #[test]
    fn a_second_name_of_a_secret_is_one_and_of_another_file_is_none() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        for name in [".ssh/id_rsa", "work/deep/.env", "work/plain", "work/other"] {
            std::fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
            std::fs::write(home.join(name), "x").unwrap();
        }
        for (old, new) in
            [(".ssh/id_rsa", "work/notes.txt"), ("work/deep/.env", "work/config.txt"), ("work/plain", "work/same")]
        {
            std::fs::hard_link(home.join(old), home.join(new)).unwrap();
        }
        let files = SecretFiles { home: Some(home.clone()), ..SecretFiles::default() };
        let linked = Linked::new(files, vec![home.join("work"), "/usr/share/app".into()]);
        // Whoever works below a directory of the system's has his secrets there.
        let places = [home.join("work/notes.txt"), "/usr/share/app/x".into(), "/usr/share/other".into()];
        assert_eq!(places.map(|place| linked.searches(&place)), [true, true, false]);
        let names = ["notes.txt", "config.txt", "same", "plain", "other"];
        let held = names.map(|name| linked.holds(&home.join("work").join(name).metadata().unwrap()));
        assert_eq!(held, [true, true, false, false, false]);
    }
}
