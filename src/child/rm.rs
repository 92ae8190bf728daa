//! The `rm` that stands first in a command's PATH: it has what it removes kept in the journal, and then becomes the
//! system's, with the same words. So it behaves as that in all it does.
//!
//! The journal is asked over a socket beside it and writes itself, so that a command in the sandbox can write no record.
//! Not seen: an `rm` called by its whole path, and what removes by itself (`find -delete`, a script's own call).

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::platform::RealPath as _;
use crate::platform::os::ffi::{OsStrExt as _, OsStringExt as _};
use crate::platform::os::net::UnixStream;
use crate::platform::os::process::CommandExt as _;

/// The program that is stood in for.
pub(crate) const PROGRAM: &str = "rm";
/// The socket beside it.
pub(crate) const SOCKET: &str = "journal";
/// Names the directory of both to the helper that starts the command.
pub(crate) const VARIABLE: &str = "AXI_TRASH";
/// Answered: kept, or not worth keeping: it may go.
pub(crate) const MAY_GO: u8 = b'y';
/// Answered: not kept, and must not go.
pub(crate) const MUST_STAY: u8 = b'n';
/// In the first byte of a list: directories go with all that is in them.
pub(crate) const TREES: u8 = 0b001;
/// As above: it may ask, so that things may stay.
pub(crate) const ASKS: u8 = 0b010;
/// As above: always set, so that no list is empty.
const LIST: u8 = 0b1000_0000;

/// Tells whether the program was started as the trash's `rm`.
#[must_use]
pub(crate) fn is_called_as(name: Option<&OsString>) -> bool {
    name.is_some_and(|name| Path::new(name).file_name() == Some(OsStr::new(PROGRAM)))
}

/// The PATH with the trash's directory first.
pub(crate) fn before(directory: &OsStr, path: &OsStr) -> Option<OsString> {
    let places = std::iter::once(PathBuf::from(directory)).chain(std::env::split_paths(path));
    std::env::join_paths(places).ok()
}

/// Has the journal keep what is about to go, then becomes the system's `rm`; comes back only with a failure.
///
/// To be called when [`is_called_as`] says so. `arguments` are those of `rm`, its name first.
#[must_use]
pub(crate) fn main(
    arguments: &[OsString],
    path: Option<&OsStr>,
    own: Option<PathBuf>,
    directory: Option<&Path>,
) -> ExitCode {
    let places: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let ours = arguments
        .first()
        .and_then(|name| Path::new(name).parent())
        .filter(|parent| !parent.as_os_str().is_empty())
        .map(Path::to_path_buf)
        .or_else(|| places.iter().find(|place| place.join(PROGRAM).exists()).cloned());
    if let Some(ours) = ours.map(|ours| ours.join(SOCKET)).filter(|socket| socket.exists()) {
        match ask(&ours, arguments, directory) {
            Ok(true) => {}
            Ok(false) => return told("not removed: no copy could be kept of it, and nobody has agreed to that"),
            // The journal is gone, and with it whoever could take it back.
            Err(error) if is_over(&error) => return told("not removed: axi has ended"),
            // Somebody agreed to this command; it is said, and done.
            Err(error) => drop(told(&format!("what is removed is not kept: {error}"))),
        }
    }
    let own = own.and_then(|own| own.real_path().ok());
    let is_other = |place: &PathBuf| place.real_path().is_ok_and(|real| Some(real) != own);
    let systems = ["/bin", "/usr/bin"].map(PathBuf::from);
    let mut candidates = places.into_iter().chain(systems).map(|place| place.join(PROGRAM));
    let Some(program) = candidates.find(is_other) else { return told("there is no rm") };
    let name = arguments.first().map_or(OsStr::new(PROGRAM), OsString::as_os_str).to_owned();
    let failure = Command::new(program).arg0(name).args(arguments.iter().skip(1)).exec();
    told(&failure.to_string())
}

/// Tells whether nobody answers any more.
fn is_over(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionRefused | ConnectionReset | UnexpectedEof)
}

fn told(what: &str) -> ExitCode {
    // Standard error is the command's output pipe; nothing can be done if it is closed.
    let _ = writeln!(std::io::stderr(), "rm (axi): {what}");
    ExitCode::FAILURE
}

/// Has the journal keep what the arguments name; tells whether it may go.
fn ask(socket: &Path, arguments: &[OsString], directory: Option<&Path>) -> std::io::Result<bool> {
    let (flags, names) = read(arguments.get(1..).unwrap_or_default());
    if names.is_empty() {
        return Ok(true);
    }
    let mut list = vec![LIST | flags];
    for name in names {
        // A relative name says nothing to another process.
        let path = directory.map_or_else(|| PathBuf::from(name), |directory| directory.join(name));
        list.extend(path.into_os_string().into_vec());
        list.push(0);
    }
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(&list)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut word = [0];
    stream.read_exact(&mut word)?;
    Ok(word == [MAY_GO])
}

/// Reads the words of `rm` as GNU and BSD do, in doubt as a name: keeping too much does no harm.
fn read(words: &[OsString]) -> (u8, Vec<&OsString>) {
    let (mut flags, mut names, mut ended) = (0, Vec::new(), false);
    for word in words {
        let bytes = word.as_bytes();
        if ended || bytes == b"-" || !bytes.starts_with(b"-") {
            names.push(word);
        } else if bytes == b"--" {
            ended = true;
        } else if let Some(long) = bytes.strip_prefix(b"--") {
            flags |= if long.starts_with(b"r") { TREES } else { 0 };
            flags |= if long.starts_with(b"i") { ASKS } else { 0 };
        } else {
            let has = |letters: &[u8]| bytes.iter().any(|byte| letters.contains(byte));
            flags |= if has(b"rR") { TREES } else { 0 };
            flags |= if has(b"iI") { ASKS } else { 0 };
        }
    }
    (flags, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_rm_are_read_as_it_reads_them() {
        let cases: &[(&[&str], u8, &[&str])] = &[
            (&["a", "b"], 0, &["a", "b"]),
            (&["-rf", "a"], TREES, &["a"]),
            (&["a", "-R"], TREES, &["a"]),
            (&["--recursive", "--", "-r"], TREES, &["-r"]),
            (&["-fi", "-", "--interactive=once"], ASKS, &["-"]),
            (&["-f", "--force", "--no-preserve-root"], 0, &[]),
        ];
        for (words, flags, names) in cases {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let names: Vec<OsString> = names.iter().map(OsString::from).collect();
            assert_eq!(read(&words), (*flags, names.iter().collect()), "{words:?}");
        }
    }

    #[test]
    fn only_the_name_of_rm_makes_it_one() {
        for (name, is) in
            [("rm", true), ("/x/axi-1/rm", true), ("axi", false), ("rmdir", false), ("/rm/axi", false)]
        {
            assert_eq!(is_called_as(Some(&name.into())), is, "{name}");
        }
        assert!(!is_called_as(None));
    }
}
