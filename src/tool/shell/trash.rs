//! The trash of a command: a directory with an `rm` of axi's own ([`crate::child::rm`]), and the socket over which that
//! has the journal keep what it removes.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::child::rm::{ASKS, MAY_GO, MUST_STAY, PROGRAM, SOCKET, TREES};
use crate::journal::{How, Touch};
use crate::platform::os::ffi::OsStrExt as _;
use crate::platform::os::net::{UnixListener, UnixStream};
use crate::tool::trash::SharedTrash;

use super::own_directory::OwnDirectory;

/// A longer list of names is not taken (bytes); the system takes two megabytes of arguments.
const LONGEST: u64 = 8 * 1024 * 1024;
/// How long somebody who connects may take to say what goes.
const SILENCE: Duration = Duration::from_secs(5);

/// The trash while a command runs; dropped, the journal has looked at what is left.
pub(crate) struct OpenTrash {
    directory: OwnDirectory,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl OpenTrash {
    /// Makes the directory, with the `rm` that is `helper`, and the thread that answers it.
    pub(crate) fn new(helper: &Path, temporary: &Path, trash: SharedTrash) -> std::io::Result<Self> {
        let directory = OwnDirectory::new(temporary)?;
        crate::platform::os::fs::symlink(helper, directory.path().join(PROGRAM))?;
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

/// Reads one list, keeps the files that it names, and says whether they may be deleted. A client that sends nothing gets no answer.
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
