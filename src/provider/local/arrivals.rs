//! What of a file has arrived so far: told by who fetches it, waited for by who reads it meanwhile.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What of a file is there, for two threads. The one that waits learns of everything that makes waiting vain.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Where the bytes arrive.
    file: Option<(PathBuf, Arc<File>)>,
    /// Which are there: in order, none beside the next.
    there: Vec<Range<u64>>,
    /// How often what was there was forgotten.
    turn: usize,
    /// Which are wanted, the first first.
    wanted: Vec<Range<u64>>,
    ended: bool,
}

/// Why bytes that are waited for do not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vain {
    /// Nobody wants them any more.
    Ended,
    /// What had arrived was forgotten: they may come anew, from elsewhere.
    Forgotten,
}

impl Arrivals {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells that these bytes of a file are there and stay. Those of another file than before are forgotten.
    pub(super) fn tell(&self, path: &Path, bytes: Range<u64>) {
        let mut state = self.state();
        if state.file.as_ref().is_none_or(|(known, _)| known != path) {
            // Nothing is read of a file that cannot be opened.
            let Ok(file) = File::open(path) else { return };
            state.turn += 1;
            state.there.clear();
            state.file = Some((path.to_owned(), Arc::new(file)));
        }
        add(&mut state.there, bytes);
        drop(state);
        self.changed.notify_all();
    }

    /// Forgets all that is there.
    pub(super) fn forget(&self) {
        let mut state = self.state();
        let turn = state.turn + 1;
        *state = State { turn, ended: state.ended, ..State::default() };
        drop(state);
        self.changed.notify_all();
    }

    /// Ends waiting: nothing more is wanted.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// Says which bytes are wanted, the first first: where a file comes in parts, they are fetched in this order.
    pub(super) fn want(&self, turn: usize, wanted: Vec<Range<u64>>) {
        let mut state = self.state();
        if state.turn == turn {
            state.wanted = wanted;
        }
    }

    /// Lists which bytes are wanted, the first first; empty where nobody has said.
    pub(super) fn wanted(&self) -> Vec<Range<u64>> {
        self.state().wanted.clone()
    }

    /// Tells how often what was there was forgotten.
    pub(super) fn turn(&self) -> usize {
        self.state().turn
    }

    /// Tells whether the first `size` bytes are all there.
    pub(super) fn has(&self, bytes: &Range<u64>) -> bool {
        contains(&self.state().there, bytes)
    }

    /// Waits until there is a file; returns it and its turn.
    pub(super) fn file(&self) -> Result<(Arc<File>, usize), Vain> {
        let mut state = self.state();
        loop {
            if state.ended {
                return Err(Vain::Ended);
            }
            if let Some((_, file)) = &state.file {
                return Ok((Arc::clone(file), state.turn));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until these bytes of a turn are there.
    pub(super) fn wait(&self, turn: usize, bytes: &Range<u64>) -> Result<(), Vain> {
        let mut state = self.state();
        loop {
            if state.ended {
                return Err(Vain::Ended);
            }
            if state.turn != turn {
                return Err(Vain::Forgotten);
            }
            if contains(&state.there, bytes) {
                return Ok(());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn contains(there: &[Range<u64>], bytes: &Range<u64>) -> bool {
    bytes.is_empty() || there.iter().any(|range| range.start <= bytes.start && bytes.end <= range.end)
}

/// Adds bytes to those that are there, and joins what meets.
fn add(there: &mut Vec<Range<u64>>, bytes: Range<u64>) {
    let meets = |range: &Range<u64>| range.start <= bytes.end && bytes.start <= range.end;
    let joined = there
        .iter()
        .filter(|range| meets(range))
        .fold(bytes.clone(), |joined, range| joined.start.min(range.start)..joined.end.max(range.end));
    there.retain(|range| !meets(range));
    there.push(joined);
    there.sort_by_key(|range| range.start);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_told_in_any_order_is_there_and_nothing_else(
            told in prop::collection::vec((0_u64..60, 0_u64..12), 0..20),
        ) {
            let (mut there, mut bits) = (Vec::new(), [false; 80]);
            for (start, length) in told {
                add(&mut there, start..start + length);
                bits[start as usize..(start + length) as usize].fill(true);
            }
            for start in 0..70_u64 {
                for end in start..=70 {
                    let expected = bits[start as usize..end as usize].iter().all(|bit| *bit);
                    prop_assert_eq!(contains(&there, &(start..end)), expected, "{}..{} of {:?}", start, end, there);
                }
            }
        }
    }

    #[test]
    fn waiting_ends_when_it_is_vain() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("part");
        std::fs::write(&path, b"1234").unwrap();
        for (vain, end) in [(Vain::Ended, Arrivals::end as fn(&Arrivals)), (Vain::Forgotten, Arrivals::forget)] {
            let arrivals = Arrivals::default();
            arrivals.tell(&path, 0..4);
            let (_, turn) = arrivals.file().unwrap();
            assert_eq!(arrivals.wait(turn, &(1..4)), Ok(()));
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| arrivals.wait(turn, &(1..5)));
                end(&arrivals);
                assert_eq!(waiting.join().unwrap(), Err(vain));
            });
        }
    }
}
