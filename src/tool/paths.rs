//! Paths: where they really lead, how they are shown, and which path the model may have meant by a wrong one.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use crate::conversation::Subject;
use crate::platform::RealPath as _;
use crate::platform::fs::{Access, AtFlags};
use crate::platform::os::fs::MetadataExt as _;

use super::Roots;

/// More links in a row than this are a loop; the limit of Linux, `path_resolution(7)`.
const LINK_LIMIT: usize = 40;
/// How many entries of the workspace are looked at for a wrong path's name.
const SEARCH_LIMIT: usize = 20_000;
/// How many suggestions a wrong path gets.
const SUGGESTIONS: usize = 3;

/// Resolves every symbolic link of a path, also when its last parts do not exist (yet).
///
/// # Errors
/// A loop of links, or a directory that may not be looked into.
pub(crate) fn real(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINK_LIMIT {
        match path.real_path() {
            Ok(real) => return Ok(real),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // The deepest ancestor that exists as a name; a dangling link does.
        let mut missing: Vec<OsString> = Vec::new();
        let mut existing = path.clone();
        while existing.symlink_metadata().is_err() {
            match existing.file_name() {
                Some(name) => missing.push(name.to_os_string()),
                // The root, or a `..` behind something that is not there.
                None => return Err(io::ErrorKind::NotFound.into()),
            }
            existing.pop();
        }
        let mut resolved = match existing.read_link() {
            Ok(target) => existing.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => existing.real_path()?,
        };
        let dangling = existing.is_symlink();
        resolved.extend(missing.iter().rev());
        if !dangling {
            return Ok(resolved);
        }
        path = resolved;
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Makes the subject of a call on files: each as named.
pub(crate) fn subject<'a>(roots: &Roots, named: impl IntoIterator<Item = &'a str>) -> Subject {
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in named.into_iter().map(|name| roots.resolve(name)) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Subject::Paths { paths }
}

/// Makes the subject of a call on one resolved path.
pub(crate) fn subject_of(path: PathBuf) -> Subject {
    Subject::Paths { paths: vec![path] }
}

/// Adds behind each path where it really leads, when that is elsewhere.
pub(super) fn followed(named: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in named {
        // A path that cannot be resolved is judged by its name alone; opening it fails as well.
        let real = real(path).unwrap_or_else(|_| path.clone());
        for path in [path.clone(), real] {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}

/// Asks the system whether a file could be written or made here, as [`super::atomic::write`] would.
///
/// # Errors
/// What would stop it.
pub(crate) fn may_write(path: &Path) -> io::Result<()> {
    let Ok(metadata) = path.symlink_metadata() else { return may_make(path) };
    if metadata.mode() & 0o222 == 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let beside = if metadata.nlink() > 1 { Err(io::ErrorKind::PermissionDenied.into()) } else { may_change(path) };
    beside.or_else(|_| asked(path, Access::WRITE_OK))
}

/// Asks the system whether a name could be made here, with the directories above it.
///
/// # Errors
/// What would stop it.
pub(crate) fn may_make(path: &Path) -> io::Result<()> {
    let above = path.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok());
    above.map_or(Ok(()), |above| asked(above, Access::WRITE_OK | Access::EXEC_OK))
}

/// Asks the system whether a name could be taken away or replaced.
///
/// # Errors
/// What would stop it.
pub(crate) fn may_change(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |parent| asked(parent, Access::WRITE_OK | Access::EXEC_OK))
}

fn asked(path: &Path, access: Access) -> io::Result<()> {
    Ok(crate::platform::fs::accessat(crate::platform::fs::CWD, path, access, AtFlags::EACCESS)?)
}

/// Shows a path on one line: quoted with escapes when it holds control characters, quotes or no UTF-8.
pub(crate) fn shown(roots: &Roots, path: &Path) -> String {
    let short = roots.shown(path);
    if short.as_os_str().is_empty() { ".".to_owned() } else { escaped(short) }
}

/// Quotes a name where it needs it.
pub(crate) fn escaped(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    if let Some(text) = path.to_str()
        && !text.chars().any(|letter| letter.is_control() || letter == '"' || letter == '\\')
    {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' | '\\' => quoted.extend(['\\', letter]),
                letter if letter.is_control() => quoted.extend(letter.escape_default()),
                letter => quoted.push(letter),
            }
        }
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(quoted, "\\x{byte:02x}");
        }
    }
    quoted.push('"');
    quoted
}

/// Words a path that does not exist, with what may have been meant. Looks at the disk.
pub(crate) fn missing(roots: &Roots, path: &Path) -> String {
    if let Ok(target) = path.read_link() {
        return format!("{} is a link to {}, which does not exist.", shown(roots, path), escaped(&target));
    }
    let mut text = format!("{} does not exist.", shown(roots, path));
    let found = suggestions(roots, path);
    if !found.is_empty() {
        let names: Vec<String> = found.iter().map(|path| shown(roots, path)).collect();
        text.push_str(" Did you mean: ");
        text.push_str(&names.join(", "));
        text.push('?');
    } else if let Some(parent) = path.parent()
        && !parent.exists()
    {
        let _ = write!(text, " Neither does its directory {}.", shown(roots, parent));
    }
    text
}

fn suggestions(roots: &Roots, path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let mut found: Vec<PathBuf> = Vec::new();
    if let Some(parent) = path.parent()
        && let Ok(entries) = parent.read_dir()
    {
        let names: Vec<String> =
            entries.take(SEARCH_LIMIT).flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let folded = name.to_lowercase();
        let mut close: Vec<&str> =
            names.iter().filter(|other| other.to_lowercase() == folded).map(String::as_str).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        for other in similar::get_close_matches(name, &all, SUGGESTIONS, 0.7) {
            if !close.contains(&other) {
                close.push(other);
            }
        }
        found.extend(close.iter().take(SUGGESTIONS).map(|name| parent.join(name)));
    }
    if found.is_empty() {
        let walk = ignore::WalkBuilder::new(&roots.workspace).build();
        found.extend(
            walk.take(SEARCH_LIMIT)
                .flatten()
                .filter(|entry| entry.file_name().to_str().is_some_and(|other| other.eq_ignore_ascii_case(name)))
                .map(ignore::DirEntry::into_path)
                .take(SUGGESTIONS),
        );
    }
    found
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
