//! Which files are never read or changed lightly, and where a path lies.

use std::path::{Component, Path, PathBuf};

use super::Surroundings;
use crate::sandbox::{SECRET_NAMES, SECRETS_IN_HOME};

/// Names of files that hold credentials wherever they lie, besides those that lie in homes.
const CREDENTIAL_NAMES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "shadow",
    "gshadow",
    "sudoers",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "service-account.json",
    "kubeconfig",
    "master.key",
    "authorized_keys",
    "fish_history",
    "logins.json",
    "key4.db",
    "Cookies",
    "Login Data",
    "wallet.dat",
    "environ",
];

/// Endings of names of files that hold private keys.
const CREDENTIAL_ENDINGS: &[&str] = &[
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".keychain",
    ".keychain-db",
    ".ppk",
    ".gpg",
    ".asc",
];

/// Names like `.env.example`, which are made to be read.
const SAMPLE_ENDINGS: &[&str] = &[".example", ".sample", ".template", ".dist", ".pub"];

/// Directories of the workspace in which a file makes programs run or decides what axi may do.
const PROTECTED_DIRECTORIES: &[&str] = &[".git", ".axi", ".vscode", ".husky", ".githooks"];

/// Names of files that are run by just being there.
const PROTECTED_NAMES: &[&str] = &[".mcp.json", ".envrc", ".gitmodules", ".gitattributes", ".git", ".gitconfig"];

/// Directories of the operating system; what lies in them is nobody's project.
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

/// Directories below those that are scratch.
const SCRATCH_DIRECTORIES: &[&str] =
    &["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm"];

/// Takes `.` and `..` out of a path by name; `..` at the root stays there.
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

/// Tells whether reading the file is reading a secret. `path` is absolute and may end in a glob.
pub(crate) fn is_credential(path: &Path, home: Option<&Path>) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if SAMPLE_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    let lower = name.to_ascii_lowercase();
    if CREDENTIAL_NAMES.iter().chain(SECRET_NAMES).any(|known| known.eq_ignore_ascii_case(&name))
        || lower.starts_with(".env.")
        || CREDENTIAL_ENDINGS.iter().any(|ending| lower.ends_with(ending))
    {
        return true;
    }
    // What the sandbox hides there is asked for here: run unasked, it could not be read anyway.
    let in_home = |rest: &Path| SECRETS_IN_HOME.iter().any(|place| rest.starts_with(place));
    if home.and_then(|home| path.strip_prefix(home).ok()).is_some_and(in_home) {
        return true;
    }
    // Whole disks and the memory.
    let raw = [
        "/dev/sd",
        "/dev/nvme",
        "/dev/vd",
        "/dev/hd",
        "/dev/disk",
        "/dev/mem",
        "/dev/kmem",
        "/dev/dm-",
        "/dev/mapper",
        "/proc/kcore",
    ];
    if path.to_str().is_some_and(|path| raw.iter().any(|start| path.starts_with(start))) {
        return true;
    }
    // Another user's, or home reached by another name.
    path.components().any(|part| {
        matches!(part.as_os_str().to_str(), Some(".ssh" | ".gnupg" | ".aws" | "keyrings" | ".password-store"))
    })
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

/// Tells whether a path is one of the operating system's.
pub(crate) fn is_system(path: &Path) -> bool {
    !is_scratch(path) && SYSTEM_DIRECTORIES.iter().any(|directory| path.starts_with(directory))
}

/// Tells whether a path lies below a directory for temporary files.
pub(crate) fn is_scratch(path: &Path) -> bool {
    SCRATCH_DIRECTORIES.iter().any(|directory| path.starts_with(directory) && path != Path::new(directory))
}

/// Tells whether what is written there is lost or shown, and no file changes.
pub(crate) fn is_harmless_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty" | "/dev/zero")
}
