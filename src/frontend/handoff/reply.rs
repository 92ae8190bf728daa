//! The reply a shell's hook waits for: a file that says what goes on the next prompt line.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// What a hand-off leaves on the next prompt line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// Nothing: the shell shows an empty line.
    Nothing,
    /// The person's own line, byte for byte.
    Line,
    /// Another text.
    Text(String),
}

/// Writes the reply: `ended` with the hand-off's own exit code, where the shell is not given that, then `put`, each on
/// a row, and the text as it is. A whole file appears or none, readable by its owner only.
///
/// # Errors
/// What the system said.
pub fn write(path: &Path, ended: Option<u8>, put: &Put, line: &std::ffi::OsStr) -> std::io::Result<()> {
    let text = match put {
        Put::Nothing => &[],
        Put::Line => line.as_bytes(),
        Put::Text(text) => text.as_bytes(),
    };
    let is_empty = text.is_empty() && ended.is_none();
    let Some(folder) = path.parent().filter(|_| !is_empty) else { return Ok(()) };
    make(folder, rustix::process::geteuid().as_raw())?;
    let mut file = tempfile::Builder::new()
        .prefix(".reply-")
        .permissions(std::fs::Permissions::from_mode(0o600))
        .tempfile_in(folder)?;
    if let Some(code) = ended {
        writeln!(file, "ended {code}")?;
    }
    if !text.is_empty() {
        file.write_all(b"put\n")?;
        file.write_all(text)?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Makes the folder, with those above it. Not inside of somebody else's: a shell of root's may have another person's
/// variables (`su`, `sudo -E`), who could not write to a folder of root's from then on.
fn make(folder: &Path, user: u32) -> std::io::Result<()> {
    let there = folder.ancestors().find_map(|path| Some((path, path.metadata().ok()?)));
    if there.is_some_and(|(path, found)| path != folder && found.uid() != user) {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn any_bytes_go_back_as_they_came_and_nobody_else_can_read_them() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("run/axi/reply");
        let line = OsStr::from_bytes(b" rm \xff\xfe\n  'x' ");
        write(&path, None, &Put::Nothing, line).unwrap();
        write(&path, None, &Put::Line, OsStr::new("")).unwrap();
        assert!(!path.exists());
        write(&path, None, &Put::Line, line).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"put\n rm \xff\xfe\n  'x' ");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        write(&path, None, &Put::Text("ls".into()), line).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"put\nls");
        write(&path, Some(130), &Put::Text("ls".into()), line).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"ended 130\nput\nls");
        write(&path, Some(0), &Put::Nothing, line).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"ended 0\n");
        assert_eq!(path.parent().unwrap().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn no_folder_is_made_in_somebody_elses() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().metadata().unwrap().uid();
        let folder = home.path().join("a/b");
        let error = make(&folder, own + 1).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
        assert_eq!(home.path().read_dir().unwrap().count(), 0);
        make(&folder, own).unwrap();
        // What is there may be used.
        make(&folder, own + 1).unwrap();
    }

    #[test]
    fn a_place_that_cannot_be_written_is_an_error_and_no_panic() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let path = home.path().join("file/reply");
        assert!(write(&path, None, &Put::Text("ls".into()), OsStr::new("")).is_err());
    }
}
