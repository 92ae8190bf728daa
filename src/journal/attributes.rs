//! Extended attributes: access lists, capabilities and what people note on their files.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::platform::fs::{
    XattrFlags, lgetxattr, lgetxattr_query, llistxattr, llistxattr_query, lremovexattr, lsetxattr,
};
use crate::platform::io::Errno;

/// One extended attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Attribute {
    name: String,
    value: Vec<u8>,
}

/// Reads the attributes; `None` if the file system has none, or they cannot be read.
pub(super) fn look(path: &Path) -> Option<Vec<Attribute>> {
    let length = llistxattr_query(path).ok()?;
    if length == 0 {
        return Some(Vec::new());
    }
    let mut names = vec![0; length];
    let length = llistxattr(path, &mut names[..]).ok()?;
    names.truncate(length);
    let names = names.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    let mut found = Vec::new();
    for name in names.filter(|name| is_kept(name)) {
        let mut value = vec![0; lgetxattr_query(path, name).ok()?];
        let length = lgetxattr(path, name, &mut value[..]).ok()?;
        value.truncate(length);
        found.push(Attribute { name: name.to_owned(), value });
    }
    found.sort();
    Some(found)
}

/// Tells whether an attribute belongs to the file, and not to the system's bookkeeping.
fn is_kept(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with("trusted.")
        && (!name.starts_with("security.") || name == "security.capability")
}

/// Removes the attributes that were not there then. Call it before the mode is set: an access list is part of the
/// mode.
///
/// # Errors
/// What the system said.
pub(super) fn clear(path: &Path, then: &[Attribute]) -> io::Result<()> {
    for attribute in look(path).unwrap_or_default() {
        if !then.iter().any(|kept| kept.name == attribute.name) {
            lremovexattr(path, attribute.name.as_str()).or_else(gone)?;
        }
    }
    Ok(())
}

/// Sets the attributes that were there then. Call it after the content and the owner are set, which removes capabilities.
///
/// # Errors
/// The system's error, unless only root may set the attribute.
pub(super) fn set(path: &Path, then: &[Attribute]) -> io::Result<()> {
    let now = look(path).unwrap_or_default();
    for attribute in then.iter().filter(|attribute| !now.contains(attribute)) {
        match lsetxattr(path, attribute.name.as_str(), &attribute.value, XattrFlags::empty()) {
            Err(Errno::PERM) if attribute.name.starts_with("security.") => {}
            set => set?,
        }
    }
    Ok(())
}

/// Treats an attribute that is already gone as removed (`ENODATA`; `ENOATTR` on Apple's systems).
fn gone(error: Errno) -> io::Result<()> {
    let none = if cfg!(target_vendor = "apple") { 93 } else { Errno::NODATA.raw_os_error() };
    if error.raw_os_error() == none { Ok(()) } else { Err(error.into()) }
}
