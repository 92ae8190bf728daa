//! The one thread on which lines to servers live, whoever waits for what comes of them. It starts with the first line.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Work that may wait for the thread.
const WAITING: usize = 64;

/// How long servers may take to end together.
const END: Duration = Duration::from_secs(3);

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The thread; dropped, it ends the servers and is waited for.
#[derive(Default)]
pub(super) struct Thread {
    running: Mutex<Option<Running>>,
}

struct Running {
    jobs: mpsc::Sender<(Job, mpsc::Sender<()>)>,
    held: mpsc::Sender<()>,
    handle: JoinHandle<()>,
    /// Told to all jobs at the end.
    stop: CancellationToken,
}

impl Thread {
    /// Has a job done on the thread, with what tells it to stop. False where the system gives no thread.
    pub(super) fn run(&self, job: impl FnOnce(CancellationToken) -> Job) -> bool {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_none() {
            *running = start();
        }
        let Some(running) = &*running else { return false };
        running.jobs.try_send((job(running.stop.clone()), running.held.clone())).is_ok()
    }
}

fn start() -> Option<Running> {
    let (jobs, mut todo) = mpsc::channel::<(Job, mpsc::Sender<()>)>(WAITING);
    let (held, mut all_done) = mpsc::channel(1);
    let stop = CancellationToken::new();
    let work = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            while let Some((job, held)) = todo.recv().await {
                // Ends by itself, or when it is told to stop.
                tokio::spawn(async move {
                    job.await;
                    drop(held);
                });
            }
            // Nothing is sent: the channel ends with the last job.
            let _ = tokio::time::timeout(END, all_done.recv()).await;
        });
    };
    let handle = std::thread::Builder::new().name("mcp".to_owned()).spawn(work);
    let handle = handle.inspect_err(|error| tracing::warn!(%error, "no thread for servers")).ok()?;
    Some(Running { jobs, held, handle, stop })
}

impl Drop for Thread {
    fn drop(&mut self) {
        let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { jobs, held, handle, stop }) = running {
            stop.cancel();
            drop((jobs, held));
            // A thread that panicked has ended, too.
            let _ = handle.join();
        }
    }
}
