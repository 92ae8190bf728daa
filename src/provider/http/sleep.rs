//! Whether this machine slept: connections to other machines rarely survive sleep, and no error says so.

use std::time::Duration;

pub(crate) use crate::platform::asleep;

/// So much sleep breaks connections: servers and routers forget one even sooner.
const LONG: Duration = Duration::from_secs(5);

/// Notices that the machine slept.
#[derive(Debug, Clone)]
pub(crate) struct Sleep {
    clock: fn() -> Duration,
    before: Duration,
}

impl Sleep {
    /// Begins to watch by a clock such as [`asleep`].
    pub(crate) fn watched_by(clock: fn() -> Duration) -> Self {
        Self { clock, before: clock() }
    }

    /// Tells whether it slept for long since then.
    pub(crate) fn was_long(&self) -> bool {
        (self.clock)().saturating_sub(self.before) >= LONG
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn only_long_sleep_is_noticed_and_only_that_which_comes() {
        static SLEPT: AtomicU64 = AtomicU64::new(100);
        let sleep = Sleep::watched_by(|| Duration::from_secs(SLEPT.load(Ordering::Relaxed)));
        assert!(!sleep.was_long());
        SLEPT.store(104, Ordering::Relaxed);
        assert!(!sleep.was_long());
        SLEPT.store(105, Ordering::Relaxed);
        assert!(sleep.was_long());
        assert!(!Sleep::watched_by(asleep).was_long());
    }
}
