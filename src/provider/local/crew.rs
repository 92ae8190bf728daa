//! Threads that compute one matrix together.
//!
//! The next piece of work follows within microseconds, so they wait for it in a short loop, and sleep when it does
//! not come. Who comes too late to a piece of work is not waited for: on a busy machine the others do its part.

#![expect(unsafe_code, reason = "work is lent to threads that outlive it, and a slice is cut for them")]

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How often a thread looks for work before it sleeps: some 100 µs, more than there is between two tokens.
const LOOKS: u32 = 2_000;
/// How often it looks before it lets others run in between.
const QUICK_LOOKS: u32 = 200;

/// What is to be done, and in how many parts.
type Work<'a> = (&'a (dyn Fn(usize) + Sync), usize);

struct Shared {
    /// The piece of work that is open to all; 0 while none is.
    open: AtomicUsize,
    /// Helpers that may be looking at `work`.
    inside: AtomicUsize,
    /// Written only while nothing is open and nobody inside.
    work: UnsafeCell<Option<Work<'static>>>,
    /// The next part nobody has taken.
    next: AtomicUsize,
    ended: AtomicBool,
    broken: AtomicBool,
    sleeping: AtomicUsize,
    /// Threads that work; the helpers behind them sleep.
    wanted: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

// SAFETY: `work` is written by the one who holds the turn while nothing is open and nobody inside, and read only
// inside of an open piece of work; what it points at is `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Shared {}

/// The thread that asks, and its helpers.
pub(crate) struct Crew {
    shared: Arc<Shared>,
    helpers: Vec<JoinHandle<()>>,
    /// The number of the last piece of work; one is done at a time.
    turn: Mutex<usize>,
}

impl Crew {
    /// Starts the helpers: one less than `threads`, for the thread that asks works too.
    pub(crate) fn new(threads: usize) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            open: AtomicUsize::new(0),
            inside: AtomicUsize::new(0),
            work: UnsafeCell::new(None),
            next: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            sleeping: AtomicUsize::new(0),
            wanted: AtomicUsize::new(threads),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        });
        let mut crew = Self { shared, helpers: Vec::new(), turn: Mutex::new(0) };
        for index in 1..threads {
            let shared = Arc::clone(&crew.shared);
            let name = format!("model-{index}");
            crew.helpers.push(std::thread::Builder::new().name(name).spawn(move || shared.help(index))?);
        }
        Ok(crew)
    }

    /// Lets so many threads work from now on, at most as many as were started.
    pub(crate) fn use_threads(&self, wanted: usize) {
        if self.shared.wanted.swap(wanted.max(1), SeqCst) != wanted.max(1) {
            drop(self.shared.bed.lock().unwrap_or_else(PoisonError::into_inner));
            self.shared.bell.notify_all();
        }
    }

    /// Does all parts of a piece of work, in any order, each once; returns when they are done.
    pub(crate) fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        if self.helpers.is_empty() || parts < 2 || self.shared.wanted.load(SeqCst) < 2 {
            (0..parts).for_each(work);
            return;
        }
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        *turn += 1;
        let shared = &*self.shared;
        // SAFETY: the work is called only while it is open, and this function closes it and waits until nobody is
        // inside before it returns or unwinds (`Closing`). Nobody reads the cell now: nothing is open.
        unsafe {
            let lent: &'static (dyn Fn(usize) + Sync) = std::mem::transmute::<&(dyn Fn(usize) + Sync), _>(work);
            *shared.work.get() = Some((lent, parts));
        }
        shared.next.store(0, SeqCst);
        let closing = Closing(shared);
        shared.open.store(*turn, SeqCst);
        if shared.sleeping.load(SeqCst) > 0 {
            drop(shared.bed.lock().unwrap_or_else(PoisonError::into_inner));
            shared.bell.notify_all();
        }
        shared.take_parts(work, parts);
        drop(closing);
        assert!(!shared.broken.load(SeqCst), "a helper has failed");
    }

    /// Cuts `out` into pieces of `size` and lets each be filled once.
    pub(crate) fn fill<T: Send>(&self, out: &mut [T], size: usize, fill: impl Fn(usize, &mut [T]) + Sync) {
        struct Start<T>(*mut T);
        // SAFETY: each thread makes its own piece of it, and no two pieces meet.
        unsafe impl<T: Send> Sync for Start<T> {}
        let (start, length) = (Start(out.as_mut_ptr()), out.len());
        let start = &start;
        self.run(length.div_ceil(size), &move |part| {
            let from = part * size;
            // SAFETY: every part is taken once, so that the pieces do not meet; they end where `out` does, which is
            // borrowed until `run` returns.
            let piece = unsafe { std::slice::from_raw_parts_mut(start.0.add(from), size.min(length - from)) };
            fill(part, piece);
        });
    }
}

/// Closes a piece of work and waits for those inside, also when the work panics.
struct Closing<'a>(&'a Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.open.store(0, SeqCst);
        let mut looks = 0;
        while self.0.inside.load(SeqCst) > 0 {
            wait(&mut looks);
        }
    }
}

fn wait(looks: &mut u32) {
    *looks += 1;
    if looks.is_multiple_of(QUICK_LOOKS) {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}

impl Shared {
    fn take_parts(&self, work: &(dyn Fn(usize) + Sync), parts: usize) {
        loop {
            let part = self.next.fetch_add(1, SeqCst);
            if part >= parts {
                return;
            }
            work(part);
        }
    }

    fn help(&self, index: usize) {
        let mut done = 0;
        while !self.ended.load(SeqCst) {
            if self.wanted.load(SeqCst) <= index {
                self.stand_by(index);
                continue;
            }
            let open = self.wait_for_work(done);
            if open == 0 {
                continue;
            }
            self.inside.fetch_add(1, SeqCst);
            // Only what is open now that this thread is inside may be looked at: it is not closed before it leaves.
            let open = self.open.load(SeqCst);
            if open != 0 && open != done {
                // SAFETY: it is open and this thread is inside: nobody writes it, and what it points at lives.
                let work = unsafe { *self.work.get() };
                let taken = catch_unwind(AssertUnwindSafe(|| {
                    if let Some((work, parts)) = work {
                        self.take_parts(work, parts);
                    }
                }));
                if taken.is_err() {
                    self.broken.store(true, SeqCst);
                }
                done = open;
            }
            self.inside.fetch_sub(1, SeqCst);
        }
    }

    /// Sleeps until more threads are wanted.
    fn stand_by(&self, index: usize) {
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        while self.wanted.load(SeqCst) <= index && !self.ended.load(SeqCst) {
            bed = self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until something else than `done` is open; 0 when there is nothing after all.
    fn wait_for_work(&self, done: usize) -> usize {
        let mut looks = 0;
        while looks < LOOKS {
            let open = self.open.load(SeqCst);
            if open != 0 && open != done {
                return open;
            }
            wait(&mut looks);
        }
        let bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleeping.fetch_add(1, SeqCst);
        // Looked at again: what was opened before this thread counted as asleep rings no bell for it.
        let open = self.open.load(SeqCst);
        if (open == 0 || open == done) && !self.ended.load(SeqCst) {
            drop(self.bell.wait(bed));
        }
        self.sleeping.fetch_sub(1, SeqCst);
        0
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.ended.store(true, SeqCst);
        drop(self.shared.bed.lock().unwrap_or_else(PoisonError::into_inner));
        self.shared.bell.notify_all();
        for helper in self.helpers.drain(..) {
            // What went wrong in it has been told by `run`.
            drop(helper.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_done_once_whoever_does_it() {
        for threads in [1, 2, 5] {
            let crew = Crew::new(threads).unwrap();
            for parts in [0, 1, 2, 7, 64] {
                let mut out = vec![0_usize; parts * 3 + parts.min(1)];
                crew.fill(&mut out, 3, |part, piece| piece.iter_mut().for_each(|place| *place += part + 1));
                let expected: Vec<usize> = (0..out.len()).map(|at| at / 3 + 1).collect();
                assert_eq!(out, expected, "{threads} threads");
            }
        }
    }

    #[test]
    fn helpers_that_have_gone_to_sleep_do_not_hold_up_the_work() {
        let crew = Crew::new(3).unwrap();
        for _ in 0..200 {
            let sum = AtomicUsize::new(0);
            crew.run(10, &|part| {
                sum.fetch_add(part, SeqCst);
            });
            assert_eq!(sum.load(SeqCst), 45);
            if crew.shared.sleeping.load(SeqCst) == 0 {
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn fewer_threads_do_the_same_work_and_more_come_back() {
        let crew = Crew::new(3).unwrap();
        for threads in [1, 3, 2, 1, 7] {
            crew.use_threads(threads);
            let mut out = vec![0_usize; 100];
            crew.fill(&mut out, 1, |part, piece| piece[0] = part);
            assert_eq!(out, (0..100).collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[test]
    fn work_that_panics_is_told_and_nobody_stays_inside() {
        let crew = Crew::new(2).unwrap();
        let failed = catch_unwind(AssertUnwindSafe(|| crew.run(8, &|part| assert_ne!(part, 3))));
        assert!(failed.is_err());
        assert_eq!(crew.shared.inside.load(SeqCst), 0);
    }
}
