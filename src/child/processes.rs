//! Finding and ending the processes of a command. Linux's /proc; elsewhere nothing is found.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};

use crate::platform::process::{Pid, Signal, kill_process};

/// Marks every process of a command, so that those which left its group are found.
pub(crate) const MARK: &str = "AXI_CHILD";
/// Marks those of a command that goes on when axi ends, in place of [`MARK`].
pub(crate) const DETACHED_MARK: &str = "AXI_KEPT";

/// Names one command among all that ever run on this machine: `PROCESS.START.NAMESPACE.RANDOM`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark(String);

impl Mark {
    /// Makes a new one.
    pub(crate) fn new() -> Self {
        let process = std::process::id();
        let start = started(process).unwrap_or(0);
        let random = std::hash::RandomState::new().build_hasher().finish();
        Self(format!("{process}.{start}.{}.{random:016x}", namespace().unwrap_or(0)))
    }

    /// The value of the environment variable.
    pub(crate) fn value(&self) -> &str {
        &self.0
    }
}

/// Sends a signal to each, and lets those that are stopped see it.
pub(crate) fn signal_each(processes: &[Pid], signal: Signal) {
    for process in processes {
        // It ended by itself, or became another user's (sudo).
        let _ = kill_process(*process, signal);
        let _ = kill_process(*process, Signal::CONT);
    }
}

/// The numbers of all processes that can be seen.
pub(crate) fn numbers() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().filter(|number| *number > 0))
}

/// All of them with their status.
pub(crate) fn all() -> impl Iterator<Item = (i32, Status)> {
    numbers().filter_map(|process| Some((process, Status::read(process)?)))
}

/// Finds all living processes that descend from one. Reads /proc.
pub(crate) fn descendants(root: i32) -> Vec<Pid> {
    let all: Vec<(i32, Status)> = all().collect();
    let below = below(&all, root);
    all.iter()
        .filter(|(process, status)| !status.ended && below.contains(process))
        .filter_map(|(process, _)| Pid::from_raw(*process))
        .collect()
}

/// Tells whether a job cannot follow Ctrl+Z: a shell that starts a program by vfork(2) waits until that runs, and the key
/// has stopped the new process before. Reads one file of /proc, and the others only of one that waits.
pub(crate) fn is_stuck(job: Pid) -> bool {
    let job = job.as_raw_nonzero().get();
    let Some(leader) = Status::read(job).filter(|status| status.held) else { return false };
    // What a shell with jobs of its own has stopped is in other groups.
    all().any(|(_, status)| status.stopped && status.parent == job && status.group == leader.group)
}

/// The numbers of all that descend from one, dead parents between them included.
pub(crate) fn below(all: &[(i32, Status)], root: i32) -> HashSet<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for (process, status) in all {
        children.entry(status.parent).or_default().push(*process);
    }
    let mut below = HashSet::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if below.insert(*child) {
                open.push(*child);
            }
        }
    }
    below
}

/// The number of this process's own space of process numbers; see `pid_namespaces(7)`.
pub(crate) fn namespace() -> Option<u64> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// Finds all living processes with this variable in their environment. Reads /proc.
pub(crate) fn marked(variable: &str, value: &str) -> Vec<Pid> {
    let needle = format!("{variable}={value}");
    numbers()
        .filter(|process| has_mark(*process, needle.as_bytes()))
        .filter(|process| Status::read(*process).is_some_and(|status| !status.ended))
        .filter_map(Pid::from_raw)
        .collect()
}

pub(crate) fn has_mark(process: i32, needle: &[u8]) -> bool {
    // Other users' processes cannot be looked into, nor ended.
    fs::read(format!("/proc/{process}/environ"))
        .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|variable| variable == needle))
}

/// Returns when a living process started, in clock ticks after the system did.
pub(crate) fn started(process: u32) -> Option<u64> {
    Status::read(i32::try_from(process).ok()?).filter(|status| !status.ended).map(|status| status.start)
}

/// The part of /proc/N/stat that is wanted here; see `proc_pid_stat(5)`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) ended: bool,
    /// By a signal such as Ctrl+Z.
    stopped: bool,
    /// No signal but a deadly one reaches it before what it waits for has come.
    held: bool,
    parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// Clock ticks after boot.
    start: u64,
}

impl Status {
    fn read(process: i32) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{process}/stat")).ok()?)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        // The name in parentheses may hold anything, also parentheses and spaces.
        let after = bytes.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(bytes.get(after + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            ended: matches!(*fields.first()?, "Z" | "X"),
            stopped: *fields.first()? == "T",
            held: *fields.first()? == "D",
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_line_is_read_behind_any_name() {
        let line = b"42 (a) b ( Z) S 1 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987 1000 20 0";
        assert_eq!(
            Status::parse(line),
            Some(Status {
                ended: false,
                stopped: false,
                held: false,
                parent: 1,
                group: 40,
                session: 39,
                start: 987
            })
        );
        assert_eq!(Status::parse(b"42 (x"), None);
        assert_eq!(Status::parse(b"42 (x) Z 1"), None);
    }
}
