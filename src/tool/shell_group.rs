//! The processes of one command: its group, and those that left it but carry its mark.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

use super::shell_environment::MARK;

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

/// A command's processes.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    leader: Pid,
    mark: Mark,
    /// Whether the leader is an adopter ([`super::shell_adopter`]), with all others below it.
    adopted: bool,
}

/// Who of them is alive.
#[derive(Debug, Default, PartialEq, Eq)]
struct Members {
    in_group: bool,
    others: Vec<Pid>,
}

impl Group {
    /// Makes the group led by a child that was started as the leader of its own.
    pub(crate) fn new(leader: Pid, mark: Mark, adopted: bool) -> Self {
        Self { leader, mark, adopted }
    }

    /// Tells whether any process of it is alive. Reads /proc: some milliseconds.
    pub(crate) fn is_alive(&self) -> bool {
        let members = self.members();
        members.in_group || !members.others.is_empty()
    }

    /// Sends a signal to all of them; `reaped` says that the leader's exit was collected, so that its number
    /// may belong to somebody else.
    pub(crate) fn signal(&self, signal: Signal, reaped: bool) {
        let members = self.members();
        // A group's number stays taken as long as one member lives.
        if !self.adopted && (members.in_group || !reaped) {
            // No such process: it ended by itself. Not permitted: it became another user's (sudo).
            if kill_process_group(self.leader, signal).is_err() && !reaped {
                // The helper has not made its session yet.
                let _ = kill_process(self.leader, signal);
            }
            // A stopped process does not see TERM before it goes on.
            let _ = kill_process_group(self.leader, Signal::CONT);
        }
        signal_each(&members.others, signal);
        if self.adopted && signal == Signal::KILL && !reaped {
            // It has not started the command yet, or does not see that all have ended.
            let _ = kill_process(self.leader, Signal::TERM);
        }
    }

    fn members(&self) -> Members {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Members { in_group: test_kill_process_group(self.leader).is_ok(), others: Vec::new() };
        };
        let mut members = Members::default();
        let leader = self.leader.as_raw_nonzero().get();
        let needle = format!("{MARK}={}", self.mark.value());
        let all: Vec<(i32, Status)> = entries
            .flatten()
            .filter_map(|entry| number(&entry.file_name()))
            .filter_map(|process| Some((process, Status::read(process)?)))
            .collect();
        let below = below(&all, leader);
        for (process, status) in &all {
            if status.ended || self.adopted && *process == leader {
                // An adopter ends by itself once the others have.
                continue;
            }
            if status.group == leader {
                members.in_group = true;
            } else if status.session == leader || below.contains(process) || has_mark(*process, needle.as_bytes()) {
                members.others.extend(Pid::from_raw(*process));
            }
        }
        members
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

/// Finds all living processes that descend from one. Reads /proc.
pub(crate) fn descendants(root: i32) -> Vec<Pid> {
    let all: Vec<(i32, Status)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| number(&entry.file_name()))
        .filter_map(|process| Some((process, Status::read(process)?)))
        .collect();
    let below = below(&all, root);
    all.iter()
        .filter(|(process, status)| !status.ended && below.contains(process))
        .filter_map(|(process, _)| Pid::from_raw(*process))
        .collect()
}

/// The numbers of all that descend from one, dead parents between them included.
fn below(all: &[(i32, Status)], root: i32) -> HashSet<i32> {
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

/// Kills what the commands of an axi left behind that was itself killed; returns how many processes.
///
/// To be called in the background after a start. Only on Linux can they be found; elsewhere it does nothing.
#[must_use]
pub fn end_orphans() -> usize {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let mut ended = 0;
    let mut living: HashSet<String> = HashSet::new();
    for process in entries.flatten().filter_map(|entry| number(&entry.file_name())) {
        let Some(mark) = mark_of(process) else { continue };
        if living.contains(&mark) {
            continue;
        }
        if owner_lives(&mark) {
            living.insert(mark);
        } else if let Some(process) = Pid::from_raw(process)
            && kill_process(process, Signal::KILL).is_ok()
        {
            ended += 1;
        }
    }
    ended
}

fn owner_lives(mark: &str) -> bool {
    let mut parts = mark.split('.').map(str::parse::<u64>);
    let (Some(Ok(process)), Some(Ok(start)), Some(Ok(space))) = (parts.next(), parts.next(), parts.next()) else {
        // Not a mark of ours: not our process to end.
        return true;
    };
    // From outside a container its processes are seen, but under other numbers.
    let known = start != 0 && space != 0 && namespace() == Some(space);
    !known || u32::try_from(process).ok().and_then(started) == Some(start)
}

/// The number of this process's own space of process numbers; see `pid_namespaces(7)`.
pub(crate) fn namespace() -> Option<u64> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

fn mark_of(process: i32) -> Option<String> {
    let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
    environment.split(|byte| *byte == 0).find_map(|variable| {
        let value = variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"=")?;
        String::from_utf8(value.to_vec()).ok()
    })
}

/// Finds all living processes with this variable in their environment. Reads /proc.
pub(crate) fn marked(variable: &str, value: &str) -> Vec<Pid> {
    let needle = format!("{variable}={value}");
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| number(&entry.file_name()))
        .filter(|process| has_mark(*process, needle.as_bytes()))
        .filter(|process| Status::read(*process).is_some_and(|status| !status.ended))
        .filter_map(Pid::from_raw)
        .collect()
}

fn has_mark(process: i32, needle: &[u8]) -> bool {
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
struct Status {
    ended: bool,
    parent: i32,
    group: i32,
    session: i32,
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
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }
}

fn number(name: &std::ffi::OsStr) -> Option<i32> {
    name.to_str()?.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_line_is_read_behind_any_name() {
        let line = b"42 (a) b ( Z) S 1 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987 1000 20 0";
        assert_eq!(
            Status::parse(line),
            Some(Status { ended: false, parent: 1, group: 40, session: 39, start: 987 })
        );
        assert_eq!(Status::parse(b"42 (x"), None);
        assert_eq!(Status::parse(b"42 (x) Z 1"), None);
    }

    #[test]
    fn a_mark_names_its_owner_and_strange_ones_are_left_alone() {
        let mark = Mark::new();
        assert!(owner_lives(mark.value()));
        assert_ne!(mark, Mark::new());
        assert!(owner_lives("whatever"));
        assert!(owner_lives(&format!("{}.1.1.x", std::process::id())));
        if let Some(space) = namespace() {
            assert!(!owner_lives(&format!("{}.1.{space}.x", std::process::id())));
        }
    }
}
