//! Which files may not simply be read or changed, and where a path lies.

use std::path::{Component, Path, PathBuf};

use super::Surroundings;
use crate::secret::files::is_secret;

/// Directories of the workspace whose files make programs run, or decide what axi may do.
const PROTECTED_DIRECTORIES: &[&str] = &[".git", ".axi", ".vscode", ".husky", ".githooks"];

/// Names of files that take effect just by being there.
const PROTECTED_NAMES: &[&str] = &[".mcp.json", ".envrc", ".gitmodules", ".gitattributes", ".git", ".gitconfig"];

/// Directories of the operating system; no project's files lie in them.
const SYSTEM_DIRECTORIES: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/opt",
    "/var",
    "/srv",
    "/System",
    "/Library",
    "/Applications",
    "/private/etc",
    "/private/var",
    "/nix",
    "/snap",
];

/// Directories for temporary files.
const SCRATCH_DIRECTORIES: &[&str] =
    &["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm"];

/// Resolves `.` and `..` in a path by name; `..` at the root stays at the root.
pub(crate) fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(part),
        }
    }
    clean
}

/// Tells whether the file is a secret, or one of axi's own. `path` is absolute and may end in a glob.
pub(crate) fn is_credential(path: &Path, place: &Surroundings) -> bool {
    // A directory in which the person started axi is no secret.
    let own = &place.secrets;
    is_secret(path, place.home.as_deref())
        || own.derived.holds(path)
        || own.holds_own(path) && !own.own.iter().any(|own| place.workspace.starts_with(own))
}

/// Tells whether changing the file makes programs run, or decides what axi may do.
pub(crate) fn is_protected(path: &Path, surroundings: &Surroundings) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if PROTECTED_NAMES.contains(&name) {
        return true;
    }
    path.strip_prefix(&surroundings.workspace).is_ok_and(|rest| {
        rest.components()
            .any(|part| part.as_os_str().to_str().is_some_and(|part| PROTECTED_DIRECTORIES.contains(&part)))
    })
}

/// Tells whether a path belongs to the operating system.
pub(crate) fn is_system(path: &Path) -> bool {
    !is_scratch(path) && SYSTEM_DIRECTORIES.iter().any(|directory| path.starts_with(directory))
}

/// Tells whether a path lies below a directory for temporary files.
pub(crate) fn is_scratch(path: &Path) -> bool {
    SCRATCH_DIRECTORIES.iter().any(|directory| path.starts_with(directory) && path != Path::new(directory))
}

/// Tells whether a device discards or shows what is written to it, so that no file changes.
pub(crate) fn is_harmless_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty" | "/dev/zero")
}
