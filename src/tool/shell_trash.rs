//! The trash of a command: an `rm` of axi's own, first in the command's PATH, has what it removes kept in the journal,
//! and then becomes the system's, with the same words. So it behaves as that in all it does.
//!
//! A command's own files, and what becomes of them, are its business: the journal is asked over a socket and writes
//! itself, so that a command in the sandbox can write no record. Not seen: an `rm` called by its whole path, and what
//! removes by itself (`find -delete`, a script's own call).

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tempfile::TempDir;

use crate::journal::{How, Touch, Trash};

/// The program that is stood in for.
const PROGRAM: &str = "rm";
/// The socket beside it.
const SOCKET: &str = "journal";
/// Names the directory of both to the helper that starts the command.
pub(crate) const VARIABLE: &str = "AXI_TRASH";
/// A longer list of names is not taken (bytes); the system takes two megabytes of arguments.
const LONGEST: u64 = 8 * 1024 * 1024;
/// How long somebody who connects may take to say what goes.
const SILENCE: Duration = Duration::from_secs(5);
/// Kept, or not worth keeping: it may go.
const MAY_GO: u8 = b'y';
/// Not kept, and must not go.
const MUST_STAY: u8 = b'n';

/// What is shared between the agent and the thread that answers.
pub type SharedTrash = Arc<Mutex<Trash>>;

/// The trash while a command runs; dropped, the journal has looked at what is left.
pub(crate) struct OpenTrash {
    directory: TempDir,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl OpenTrash {
    /// Makes the directory, with the `rm` that is `helper`, and the thread that answers it.
    pub(crate) fn new(helper: &Path, temporary: &Path, trash: SharedTrash) -> std::io::Result<Self> {
        let permissions = std::fs::Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix("axi-").permissions(permissions).tempdir_in(temporary)?;
        std::os::unix::fs::symlink(helper, directory.path().join(PROGRAM))?;
        let listener = UnixListener::bind(directory.path().join(SOCKET))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::Builder::new().name("trash".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    break;
                }
                if let Ok(stream) = stream {
                    answer(stream, &trash);
                }
            }
            let looked = trash.lock().unwrap_or_else(PoisonError::into_inner).look_after();
            if let Err(error) = looked {
                tracing::warn!(%error, "what a command removed could not be looked at");
            }
        })?;
        Ok(Self { directory, stop, thread: Some(thread) })
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for OpenTrash {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes the thread; it ends by itself when nobody can connect any more.
        let woken = UnixStream::connect(self.directory.path().join(SOCKET));
        if let (Some(thread), Ok(_)) = (self.thread.take(), woken) {
            // It cannot have panicked where anybody would want to know here.
            drop(thread.join());
        }
    }
}

/// Takes one list, keeps what it names, and says whether it may go. Who says nothing gets no answer.
fn answer(mut stream: UnixStream, trash: &SharedTrash) {
    let mut bytes = Vec::new();
    let heard = stream.set_read_timeout(Some(SILENCE)).and_then(|()| {
        (&mut stream).take(LONGEST).read_to_end(&mut bytes)?;
        Ok(())
    });
    let (Ok(()), [flags, names @ ..]) = (heard, bytes.as_slice()) else { return };
    let how = if flags & ASKS == 0 { How::Removed } else { How::Any };
    let touches: Vec<Touch> = names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| Touch { path: PathBuf::from(OsStr::from_bytes(name)), tree: flags & TREES != 0, how })
        .filter(|touch| touch.path.is_absolute())
        .collect();
    let may_go = trash.lock().unwrap_or_else(PoisonError::into_inner).keep(&touches);
    // Whoever has gone removes nothing.
    let _ = stream.write_all(&[if may_go { MAY_GO } else { MUST_STAY }]);
}

/// Directories go with all that is in them.
const TREES: u8 = 0b001;
/// It may ask, so that things may stay.
const ASKS: u8 = 0b010;
/// Always set, so that no list is empty.
const LIST: u8 = 0b1000_0000;

/// Tells whether the program was started as the trash's `rm`.
#[must_use]
pub fn is_called_as(name: Option<&OsString>) -> bool {
    name.is_some_and(|name| Path::new(name).file_name() == Some(OsStr::new(PROGRAM)))
}

/// The PATH with the trash's directory first.
pub(crate) fn before(directory: &OsStr, path: &OsStr) -> Option<OsString> {
    let places = std::iter::once(PathBuf::from(directory)).chain(std::env::split_paths(path));
    std::env::join_paths(places).ok()
}

/// Has the journal keep what is about to go, then becomes the system's `rm`; comes back only with a failure.
///
/// To be called first in `main`, when [`is_called_as`] says so. `arguments` are those of `rm`, its name first.
#[must_use]
pub fn rm_main(
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
    let own = own.and_then(|own| own.canonicalize().ok());
    let is_other = |place: &PathBuf| place.canonicalize().is_ok_and(|real| Some(real) != own);
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
