//! Files that hold whole outputs, of which the model gets a part.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::platform::os::fs::{DirBuilderExt as _, OpenOptionsExt as _};

/// Makes a file that only the user can read, with its directory.
pub(crate) fn make(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Keeps a whole text in a file that only the user can read.
///
/// # Errors
/// What the file system said.
pub(crate) fn keep(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make(path)?.write_all(bytes)
}
