//! How many threads compute.

/// Threads that can compute at once: one a physical core.
pub(super) fn cores() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    physical_cores().unwrap_or(allowed).clamp(1, allowed)
}

/// Threads to compute the next answer with: asked anew each time, because the load changes.
pub(super) fn threads() -> usize {
    let load = std::fs::read_to_string("/proc/loadavg").ok();
    let load = load.and_then(|load| load.split(' ').next()?.parse().ok()).unwrap_or(0.0);
    threads_under(load, cores())
}

/// All cores, or half of them while the machine is busy with other things: threads that wait for each other are slow
/// where one of them has to wait for a core. On two cores that is one.
fn threads_under(load: f32, cores: usize) -> usize {
    // Computing here counts as load too, as much as there are cores.
    if load > cores as f32 * 1.5 { cores.div_ceil(2) } else { cores }
}

fn physical_cores() -> Option<usize> {
    let mut siblings = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir("/sys/devices/system/cpu").ok()?.flatten() {
        if let Ok(list) = std::fs::read_to_string(entry.path().join("topology/thread_siblings_list")) {
            siblings.insert(list.trim().to_owned());
        }
    }
    (!siblings.is_empty()).then_some(siblings.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_busy_machine_fewer_threads_compute() {
        assert_eq!(threads_under(0.5, 2), 2);
        assert_eq!(threads_under(4.0, 2), 1);
        assert_eq!(threads_under(4.0, 8), 8);
        assert_eq!(threads_under(20.0, 8), 4);
        assert_eq!(threads_under(20.0, 1), 1);
    }
}
