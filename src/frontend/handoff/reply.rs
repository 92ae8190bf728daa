//! The reply that a shell's hook waits for: a file that says what goes on the next prompt line.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::platform::os::ffi::OsStrExt as _;
use crate::platform::os::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};

/// A shell reads its reply at the next prompt. An older reply, whose shell is gone, belongs to nobody.
const TAKEN_WITHIN: Duration = Duration::from_mins(1);

/// How the name of a reply begins that is not whole yet.
const BEGUN: &str = ".reply-";

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
    make(folder, crate::platform::process::geteuid().as_raw())?;
    sweep(folder, SystemTime::now());
    let mut file = tempfile::Builder::new()
        .prefix(BEGUN)
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

/// Writes the commands that the agent ran, for the shell's history: beside the reply, each with a NUL behind it.
///
/// # Errors
/// What the system said.
pub fn write_ran<'a>(reply: &Path, commands: impl IntoIterator<Item = &'a str>) -> std::io::Result<()> {
    let text: String = commands.into_iter().flat_map(|command| [command, "\0"]).collect();
    let Some(folder) = reply.parent().filter(|_| !text.is_empty()) else { return Ok(()) };
    make(folder, crate::platform::process::geteuid().as_raw())?;
    let mut file = tempfile::Builder::new()
        .prefix(BEGUN)
        .permissions(std::fs::Permissions::from_mode(0o600))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(reply.with_extension("ran")).map_err(|error| error.error)?;
    Ok(())
}

/// Deletes the replies of shells that ended before they read them.
fn sweep(folder: &Path, now: SystemTime) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_left = name.to_str().is_some_and(|name| {
            match [".reply", ".ran", ".person"].iter().find_map(|end| name.strip_suffix(end)) {
                Some(session) => shell_of(session).is_some_and(|shell| !is_alive(shell)),
                None => name.starts_with(BEGUN),
            }
        });
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        if is_left && age.and_then(|then| now.duration_since(then).ok()).is_some_and(|age| age > TAKEN_WITHIN) {
            // Another hand-off may have deleted it first.
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

/// The number of the shell whose hook made up this name of a session: `NUMBER-PROCESS-NUMBER`.
fn shell_of(session: &str) -> Option<crate::platform::process::Pid> {
    let mut parts = session.split('-');
    let (_, process, _) = (parts.next()?, parts.next()?, parts.next()?);
    crate::platform::process::Pid::from_raw(process.parse().ok().filter(|_| parts.next().is_none())?)
}

fn is_alive(process: crate::platform::process::Pid) -> bool {
    crate::platform::process::test_kill_process(process) != Err(crate::platform::io::Errno::SRCH)
}

/// Makes the folder and its parents. Not inside another person's folder: a shell of root may have another person's
/// variables (`su`, `sudo -E`), and that person could not write to root's folder from then on.
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
    fn what_shells_left_that_have_gone_is_taken_away_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = format!("12-{}-34.reply", child.id());
        child.wait().unwrap();
        let alive = format!("12-{}-34.reply", std::process::id());
        let names = [gone.as_str(), ".reply-Xy12", &alive, "told-fish-alt-m", "mine.reply", "1-x-2.reply"];
        for name in names {
            std::fs::write(home.path().join(name), "put\n").unwrap();
        }
        let now = SystemTime::now();
        sweep(home.path(), now);
        assert!(
            names.iter().all(|name| home.path().join(name).exists()),
            "not while a shell may be about to read it"
        );
        sweep(home.path(), now + 2 * TAKEN_WITHIN);
        let left: Vec<bool> = names.iter().map(|name| home.path().join(name).exists()).collect();
        assert_eq!(left, [false, false, true, true, true, true]);
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
