//! Keeps what is typed but not sent: the line under way and the queue survive a crash and a closed terminal.
//!
//! A key only raises a flag. A thread writes the file a moment later, and sleeps as long as nothing changes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, SystemTime};

use super::file::{Draft, DraftFile, DraftFolder};
use crate::terminal::Pending;

/// How long after a key the file is written at the latest: what a crash may cost.
const DELAY: Duration = Duration::from_millis(300);
/// How long an end by a signal waits for the last write.
const LAST_WRITE: Duration = Duration::from_millis(200);
/// Drafts larger than this, in bytes, are not kept: a paste of that size exists in a file anyway.
const LARGEST: usize = 1024 * 1024;

/// How the editor's line is written down.
pub(crate) struct LineView {
    /// Makes of the line what would be sent: pastes whole.
    pub(crate) whole: Box<dyn Fn(&str) -> String + Send + Sync>,
    /// Tells whether a text must not be written anywhere.
    pub(crate) is_private: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

#[derive(Default)]
struct Inner {
    /// What is kept, and how.
    source: Option<Arc<(Pending, LineView)>>,
    file: Option<DraftFile>,
    written: Draft,
    /// Whether the writer has written all there was when it was hurried.
    flushed: bool,
    ended: bool,
}

struct Shared {
    folder: DraftFolder,
    inner: Mutex<Inner>,
    passed: Condvar,
    changed: AtomicBool,
    hurry: AtomicBool,
    writer: OnceLock<Option<Thread>>,
}

/// The keeper; does nothing where nothing may be kept. Clones are the same keeper.
#[derive(Clone, Default)]
pub struct Drafts(Option<Arc<Shared>>);

impl std::fmt::Debug for Drafts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Drafts({})", self.0.is_some())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drafts {
    /// Keeps drafts of the working directory `directory` in `folder`. Reads and writes nothing yet.
    #[must_use]
    pub fn new(folder: PathBuf, directory: PathBuf) -> Self {
        Self(Some(Arc::new(Shared {
            folder: DraftFolder { folder, directory },
            inner: Mutex::default(),
            passed: Condvar::new(),
            changed: AtomicBool::new(false),
            hurry: AtomicBool::new(false),
            writer: OnceLock::new(),
        })))
    }

    /// Returns what an axi that did not come to its end has left in this directory, if anything.
    pub(crate) fn take_left(&self) -> Option<Vec<String>> {
        let shared = self.0.as_ref()?;
        let (file, draft) = shared.folder.adopt(SystemTime::now())?;
        let lines = draft.lines();
        let mut inner = shared.lock();
        // The file is overwritten, not removed: it must not be lost before its text is on the line.
        inner.file = Some(file);
        inner.written = draft;
        Some(lines)
    }

    /// Keeps what is pending from now on.
    pub(crate) fn watch(&self, pending: &Pending, view: LineView) {
        let Some(shared) = &self.0 else { return };
        shared.lock().source = Some(Arc::new((pending.clone(), view)));
        let own = self.clone();
        pending.listen(move || own.mark());
    }

    /// Says that something has changed. Called at each key: costs a flag, and once in a while the waking of a thread.
    fn mark(&self) {
        let Some(shared) = &self.0 else { return };
        if shared.changed.swap(true, Ordering::AcqRel) {
            return;
        }
        let writer = shared.writer.get_or_init(|| {
            let worker = Arc::clone(shared);
            let spawned = thread::Builder::new().name("drafts".to_owned()).spawn(move || write(&worker));
            spawned.ok().map(|handle| handle.thread().clone())
        });
        if let Some(writer) = writer {
            writer.unpark();
        }
    }

    /// Writes now, and waits for it shortly: the process is about to end.
    pub fn flush(&self) {
        let Some(shared) = &self.0 else { return };
        if shared.writer.get().is_none() {
            return;
        }
        shared.hurry.store(true, Ordering::Release);
        shared.changed.store(false, Ordering::Release);
        self.mark();
        drop(shared.passed.wait_timeout_while(shared.lock(), LAST_WRITE, |inner| !inner.flushed));
    }

    /// Ends: the person has left, nothing is to be offered again.
    pub(crate) fn discard(&self) {
        let Some(shared) = &self.0 else { return };
        let mut inner = shared.lock();
        inner.ended = true;
        if let Some(file) = inner.file.take() {
            file.remove();
        }
    }
}

/// The writer's life; it ends with the process.
fn write(shared: &Shared) {
    loop {
        if !shared.changed.load(Ordering::Acquire) {
            thread::park();
            continue;
        }
        if !shared.hurry.load(Ordering::Acquire) {
            // Only a hurried end unparks the thread early.
            thread::park_timeout(DELAY);
        }
        let hurried = shared.hurry.load(Ordering::Acquire);
        shared.changed.store(false, Ordering::Release);
        write_once(shared);
        if hurried {
            shared.lock().flushed = true;
            shared.passed.notify_all();
        }
    }
}

fn write_once(shared: &Shared) {
    let Some(source) = shared.lock().source.clone() else { return };
    let (pending, view) = &*source;
    let unsent = pending.snapshot();
    let may_be_kept = |text: &str| {
        let private = text.starts_with(char::is_whitespace) || text.len() > LARGEST;
        !private && !(view.is_private)(text)
    };
    let line = (view.whole)(&unsent.line);
    let waiting = unsent.queue.into_iter().chain(unsent.later);
    let draft = Draft {
        queue: waiting.filter(|line| may_be_kept(line)).collect(),
        draft: if may_be_kept(&line) { line } else { String::new() },
    };
    let mut inner = shared.lock();
    if inner.ended || inner.written == draft {
        return;
    }
    if let Err(error) = keep(&shared.folder, &mut inner, &draft) {
        tracing::warn!(%error, "what is typed cannot be kept");
    }
    inner.written = draft;
}

fn keep(folder: &DraftFolder, inner: &mut Inner, draft: &Draft) -> std::io::Result<()> {
    if draft.is_empty() {
        if let Some(file) = inner.file.take() {
            file.remove();
        }
        return Ok(());
    }
    if inner.file.is_none() {
        inner.file = Some(folder.create()?);
    }
    match &inner.file {
        Some(file) => file.write(&folder.directory, draft),
        None => Ok(()),
    }
}
