//! Where secrets lie, and what is left to read when they are taken out.
//!
//! Landlock knows only what is allowed, so a directory with a secret below it is opened child by child.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::platform::RealPath as _;
use crate::secret::files::{IN_HOME, IN_SYSTEM, NAMES};

/// With more homes than this on a machine, those of others are hidden as a whole.
const MOST_HOMES: usize = 8;

/// All that is hidden and exists, links followed.
pub(super) fn all(home: Option<&Path>, also: &[PathBuf], root: bool) -> BTreeSet<PathBuf> {
    let mut hidden = BTreeSet::new();
    let mut add = |path: &Path| {
        // Most are missing, which one call tells.
        if path.symlink_metadata().is_ok()
            && let Ok(real) = path.real_path()
        {
            hidden.insert(real);
        }
    };
    let mut system: Vec<&str> = Vec::new();
    let mut homes: Vec<PathBuf> = home.map(Path::to_path_buf).into_iter().collect();
    if root {
        // Nobody else's permissions hold root back.
        let others = Path::new("/home").read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        let others: Vec<PathBuf> = others.chain([PathBuf::from("/root")]).collect();
        if others.len() > MOST_HOMES {
            for other in others.iter().filter(|other| home != Some(other)) {
                add(other);
            }
        } else {
            homes.extend(others);
        }
        system.extend(IN_SYSTEM);
    } else {
        // The rest of that list is root's alone to read, or the system's fault.
        system.extend(IN_SYSTEM.iter().filter(|path| path.starts_with("/run/")));
    }
    let in_homes = homes.iter().flat_map(|home| IN_HOME.iter().chain(NAMES).map(|name| home.join(name)));
    for path in in_homes.chain(system.into_iter().map(PathBuf::from)).chain(also.iter().cloned()) {
        add(&path);
    }
    hidden
}

/// What can be read with all below it when the hidden is taken out; real paths, each once.
///
/// Links are left out: what they lead to is in the list by its own name, or hidden.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only Linux has Landlock, which is told what may be read")
)]
pub(super) fn readable(hidden: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut readable = Vec::new();
    let mut waiting = vec![PathBuf::from("/")];
    while let Some(directory) = waiting.pop() {
        let Ok(entries) = directory.read_dir() else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            // Devices are given one by one; see `writable::devices`.
            if hidden.contains(&path)
                || path == Path::new("/dev")
                || entry.file_type().is_ok_and(|kind| kind.is_symlink())
            {
                continue;
            }
            let next = hidden.range(path.clone()..).next();
            if next.is_some_and(|next| next.starts_with(&path)) {
                waiting.push(path);
            } else {
                readable.push(path);
            }
        }
    }
    readable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_a_secret_is_opened_child_by_child_and_links_to_it_are_not() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        for name in [".ssh", ".config/gh", ".config/plain", "work"] {
            std::fs::create_dir_all(home.join(name)).unwrap();
        }
        std::fs::write(home.join("note"), "").unwrap();
        crate::platform::os::fs::symlink(home.join(".ssh"), home.join("alias")).unwrap();
        let hidden = all(Some(&home), &[], false);
        assert!(hidden.contains(&home.join(".ssh")));
        let readable: Vec<PathBuf> = readable(&hidden).into_iter().filter(|path| path.starts_with(&home)).collect();
        let mut names: Vec<_> = readable.iter().map(|path| path.strip_prefix(&home).unwrap()).collect();
        names.sort();
        assert_eq!(names, [Path::new(".config/plain"), Path::new("note"), Path::new("work")]);
    }

    #[test]
    fn a_secret_directory_that_is_a_link_hides_what_it_leads_to() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        std::fs::create_dir_all(home.join("dotfiles/ssh")).unwrap();
        crate::platform::os::fs::symlink(home.join("dotfiles/ssh"), home.join(".ssh")).unwrap();
        let hidden = all(Some(&home), &[], false);
        assert!(hidden.contains(&home.join("dotfiles/ssh")));
        assert!(!readable(&hidden).contains(&home.join("dotfiles")));
    }
}
