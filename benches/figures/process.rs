//! What Linux says about a process and its children: CPU time, memory, wake-ups.

use std::fs::read_to_string;
use std::path::Path;
use std::time::Duration;

/// Linux counts CPU time for user space in hundredths of a second on every architecture (USER_HZ).
const TICK: Duration = Duration::from_millis(10);

/// A process and its descendants, by process id.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    let mut family = vec![root];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        next += 1;
        for task in names(&format!("/proc/{parent}/task")) {
            let children = read_to_string(format!("/proc/{parent}/task/{task}/children")).unwrap_or_default();
            family.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    family
}

fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(Path::new(folder)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The fields of `/proc/PID/stat` after the name, which may hold spaces: the first is field 3 of proc(5).
fn stat(path: &str) -> Vec<u64> {
    let text = read_to_string(path).unwrap_or_default();
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect()
}

fn ticks(fields: &[u64], places: &[usize]) -> Duration {
    let count: u64 = places.iter().map(|place| fields.get(place - 3).copied().unwrap_or(0)).sum();
    TICK * u32::try_from(count).unwrap_or(u32::MAX)
}

/// CPU time of the family so far, in steps of 10 ms: right for long work, threads that ended included.
pub(crate) fn cpu_coarse(root: u32) -> Duration {
    tree(root).iter().map(|id| ticks(&stat(&format!("/proc/{id}/stat")), &[14, 15, 16, 17])).sum()
}

/// CPU time of the threads of the family that still live, to the nanosecond: right for a start.
pub(crate) fn cpu_fine(root: u32) -> Duration {
    let mut nanoseconds = 0;
    for id in tree(root) {
        for task in names(&format!("/proc/{id}/task")) {
            let text = read_to_string(format!("/proc/{id}/task/{task}/schedstat")).unwrap_or_default();
            nanoseconds += text.split_whitespace().next().and_then(|field| field.parse().ok()).unwrap_or(0);
        }
    }
    Duration::from_nanos(nanoseconds)
}

/// CPU time of all children of this process that have ended and been waited for, in steps of 10 ms: take the
/// difference over many of them.
pub(crate) fn cpu_of_ended_children() -> Duration {
    ticks(&stat("/proc/self/stat"), &[16, 17])
}

/// CPU time since an earlier reading of the same clock, for each of so many runs.
pub(crate) fn each_of(runs: u32, now: Duration, before: Duration) -> Duration {
    now.saturating_sub(before) / runs
}

/// A sum of a field of a file of each process of the family, such as `Pss:` in kB.
fn sum(root: u32, file: &str, field: &str) -> u64 {
    let value = |id: &u32| {
        let text = read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(field))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    tree(root).iter().filter_map(value).sum()
}

/// Proportional set size in KiB: memory shared with others counts by its part.
pub(crate) fn pss(root: u32) -> u64 {
    sum(root, "smaps_rollup", "Pss:")
}

/// The most memory the process has held, in KiB; 0 when it has ended.
pub(crate) fn peak(root: u32) -> u64 {
    sum(root, "status", "VmHWM:")
}

/// How often the threads of the family went to sleep by themselves, so often they were woken.
pub(crate) fn wake_ups(root: u32) -> u64 {
    let mut count = 0;
    for id in tree(root) {
        for task in names(&format!("/proc/{id}/task")) {
            let text = read_to_string(format!("/proc/{id}/task/{task}/status")).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            count += line.and_then(|value| value.trim().parse::<u64>().ok()).unwrap_or(0);
        }
    }
    count
}

/// The load of the last minute, since figures of a busy machine are worth less.
pub(crate) fn load() -> String {
    read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or("?").to_owned()
}
