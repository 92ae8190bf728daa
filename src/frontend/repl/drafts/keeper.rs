//! Keeps what is typed but not sent: the line under way and the queue survive a crash and a closed terminal.
//!
//! A key only raises a flag. A thread writes the file a moment later, and sleeps as long as nothing changes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, SystemTime};

use super::file::{DraftFile, DraftFolder, Unsent};
use crate::terminal::TypedView;

/// How long after a key the file is written at the latest: what a crash may cost.
const DELAY: Duration = Duration::from_millis(300);
/// How long an end by a signal waits for the last write.
const LAST_WRITE: Duration = Duration::from_millis(200);
/// Larger drafts, in bytes, are not kept: a paste of that size is in a file somewhere.
const LARGEST: usize = 1024 * 1024;

/// Reads the line under way as it would be sent.
pub(super) type ReadLine = Box<dyn Fn() -> String + Send + Sync>;
/// Tells whether a text must not be written anywhere.
pub(super) type IsPrivate = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// What the editor tells of its line.
pub(crate) struct LineView {
    pub(crate) read: ReadLine,
    pub(crate) is_private: IsPrivate,
}

#[derive(Default)]
struct Inner {
    view: Option<Arc<LineView>>,
    /// Lines that wait to be run, and the text that comes onto the next line.
    ahead: Unsent,
    /// What is typed while a turn runs.
    typed: Option<TypedView>,
    file: Option<DraftFile>,
    written: Unsent,
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
        let (file, unsent) = shared.folder.adopt(SystemTime::now())?;
        let lines = unsent.lines();
        let mut inner = shared.lock();
        // It is written over, not removed: it must not be lost before it is on the line.
        inner.file = Some(file);
        inner.ahead = unsent.clone();
        inner.written = unsent;
        Some(lines)
    }

    /// Looks at this line from now on.
    pub(crate) fn watch_line(&self, view: LineView) {
        if let Some(shared) = &self.0 {
            shared.lock().view = Some(Arc::new(view));
        }
    }

    /// Takes over what waits beside the line: queued lines, and the text that comes onto the next line.
    pub(crate) fn set_ahead<'lines>(&self, queue: impl Iterator<Item = &'lines String>, draft: &str) {
        let Some(shared) = &self.0 else { return };
        let ahead = Unsent { queue: queue.cloned().collect(), draft: draft.to_owned() };
        let mut inner = shared.lock();
        let new = inner.ahead != ahead;
        inner.ahead = ahead;
        drop(inner);
        if new {
            self.mark();
        }
    }

    /// Notes that the text which came onto the line is the line's own now.
    pub(crate) fn draft_taken(&self) {
        let Some(shared) = &self.0 else { return };
        let taken = std::mem::take(&mut shared.lock().ahead.draft);
        if !taken.is_empty() {
            self.mark();
        }
    }

    /// Looks at what is typed while a turn runs; `None` when it has ended.
    pub(crate) fn watch_typed(&self, typed: Option<TypedView>) {
        let Some(shared) = &self.0 else { return };
        shared.lock().typed = typed;
        self.mark();
    }

    /// Says that the line has changed. Called at each key: costs a flag, and once in a while the waking of a thread.
    pub(crate) fn mark(&self) {
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
        let following = shared.lock().typed.is_some();
        if !shared.changed.load(Ordering::Acquire) && !following {
            thread::park();
            continue;
        }
        if !shared.hurry.load(Ordering::Acquire) {
            // Unparked early only by who is in a hurry.
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
    let (view, typed, ahead) = {
        let inner = shared.lock();
        (inner.view.clone(), inner.typed.clone(), inner.ahead.clone())
    };
    // The line is read without the lock: who paints it must never wait for the disk.
    let line = view.as_ref().map(|view| (view.read)()).unwrap_or_default();
    let mut unsent = match typed.map(|typed| typed.typed()) {
        Some(typed) => Unsent { queue: typed.queue, draft: typed.text },
        None if line.is_empty() => ahead,
        None => Unsent { queue: ahead.queue, draft: line },
    };
    let may_be_kept = |text: &str| {
        let private = text.starts_with(char::is_whitespace) || text.len() > LARGEST;
        !private && view.as_ref().is_none_or(|view| !(view.is_private)(text))
    };
    unsent.queue.retain(|line| may_be_kept(line));
    if !may_be_kept(&unsent.draft) {
        unsent.draft.clear();
    }
    let mut inner = shared.lock();
    if inner.ended || inner.written == unsent {
        return;
    }
    if let Err(error) = keep(&shared.folder, &mut inner, &unsent) {
        tracing::warn!(%error, "what is typed cannot be kept");
    }
    inner.written = unsent;
}

fn keep(folder: &DraftFolder, inner: &mut Inner, unsent: &Unsent) -> std::io::Result<()> {
    if unsent.is_empty() {
        if let Some(file) = inner.file.take() {
            file.remove();
        }
        return Ok(());
    }
    if inner.file.is_none() {
        inner.file = Some(folder.create()?);
    }
    match &inner.file {
        Some(file) => file.write(&folder.directory, unsent),
        None => Ok(()),
    }
}
