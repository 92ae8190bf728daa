//! The processes of one command: its group, and those that left it but carry its mark.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::platform::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

pub(crate) use crate::child::processes::Mark;
use crate::child::processes::{MARK, Status, all, below, has_mark, namespace, numbers, signal_each, started};

/// A command's processes.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    leader: Pid,
    mark: Mark,
    /// Whether the leader is an adopter (`child::adopter`), with all others below it.
    adopted: bool,
}

/// Which of them are alive.
#[derive(Debug, Default, PartialEq, Eq)]
struct Members {
    in_group: bool,
    others: Vec<Pid>,
}

impl Group {
    /// Makes the group led by a child that was started as the leader of its own.
    ///
    /// # Errors
    /// When the child's number is none.
    pub(crate) fn of(child: u32, mark: Mark, adopted: bool) -> io::Result<Self> {
        let leader = i32::try_from(child).ok().and_then(Pid::from_raw);
        let leader = leader.ok_or_else(|| io::Error::other("the process has no number"))?;
        Ok(Self { leader, mark, adopted })
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
        if !Path::new("/proc/self/stat").exists() {
            return Members { in_group: test_kill_process_group(self.leader).is_ok(), others: Vec::new() };
        }
        let mut members = Members::default();
        let leader = self.leader.as_raw_nonzero().get();
        let needle = format!("{MARK}={}", self.mark.value());
        let all: Vec<(i32, Status)> = all().collect();
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

/// Kills what the commands of an axi left behind that was itself killed; returns how many processes.
///
/// To be called in the background after a start. Only on Linux can they be found; elsewhere it does nothing.
#[must_use]
pub fn end_orphans() -> usize {
    let mut ended = 0;
    let mut living: HashSet<String> = HashSet::new();
    for process in numbers() {
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

fn mark_of(process: i32) -> Option<String> {
    let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
    environment.split(|byte| *byte == 0).find_map(|variable| {
        let value = variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"=")?;
        String::from_utf8(value.to_vec()).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
