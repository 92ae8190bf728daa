//! What a program on a pseudo-terminal is doing, from what the system tells of its processes. Linux; elsewhere only
//! whether it prints.

use std::collections::HashSet;
use std::fs::{self, File};
use std::time::Duration;

use crate::child::processes::descendants;
use crate::platform::process::Pid;
use crate::platform::termios::LocalModes;
use crate::shell;

/// A program that prints is busy; one that was silent for this long may wait for input.
const SILENT: Duration = Duration::from_millis(400);

/// Where the kernel lets a process sleep that reads the terminal.
const READS: &[&str] = &["n_tty_read", "wait_woken"];

/// Where it lets one sleep that looks at several files: a line editor at its prompt, but also what waits for the network.
const LOOKS: &[&str] = &["do_select", "do_sys_poll", "poll_schedule_timeout", "ep_poll", "do_epoll_wait"];

/// What a program does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Doing {
    /// A shell waits at its prompt.
    Idle,
    /// It waits for keys.
    Waiting,
    /// It serves these ports.
    Listening(Vec<u16>),
    /// It works.
    Busy,
    /// It ended with this code; 128 + signal.
    Ended(i32),
}

/// Finds out what the program below a process does. Reads /proc: some milliseconds.
pub(crate) fn doing(leader: i32, near: &File, silent: Duration) -> Doing {
    let processes = descendants(leader);
    let ports = ports(&processes);
    if !ports.is_empty() {
        return Doing::Listening(ports);
    }
    let foreground = crate::platform::termios::tcgetpgrp(near).ok();
    if silent < SILENT {
        return Doing::Busy;
    }
    let Some(front) = foreground.filter(|front| processes.contains(front)) else { return Doing::Busy };
    // A pipeline's last program may be the one that reads: one that waits is enough, unless another one works.
    let members: Vec<i32> = processes
        .iter()
        .map(|process| process.as_raw_nonzero().get())
        .filter(|process| group_of(*process) == Some(front.as_raw_nonzero().get()))
        .collect();
    // A program that edits the line itself, such as a REPL, reads keys one by one.
    let takes_keys = crate::platform::termios::tcgetattr(near)
        .is_ok_and(|modes| !modes.local_modes.contains(LocalModes::ICANON));
    let waits = |process: &i32| {
        let place = fs::read_to_string(format!("/proc/{process}/wchan")).unwrap_or_default();
        waits_for_keys(&place, takes_keys)
    };
    let works = |process: &i32| stat(*process).is_some_and(|fields| fields.0 == "R" || fields.0 == "D");
    if members.iter().any(works) || !members.iter().any(waits) {
        return Doing::Busy;
    }
    let name = fs::read_to_string(format!("/proc/{}/comm", front.as_raw_nonzero())).unwrap_or_default();
    if shell::called(name.trim()).is_some() { Doing::Idle } else { Doing::Waiting }
}

/// Tells whether a process that sleeps at this place of the kernel waits for keys.
fn waits_for_keys(place: &str, takes_keys: bool) -> bool {
    // A compiler leaves its marks on names: `poll_schedule_timeout.constprop.0`.
    let place = place.trim().split('.').next().unwrap_or_default();
    READS.contains(&place) || takes_keys && LOOKS.contains(&place)
}

/// State and process group from /proc/N/stat.
fn stat(process: i32) -> Option<(String, i32)> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = line.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.to_owned();
    Some((state, fields.nth(1)?.parse().ok()?))
}

fn group_of(process: i32) -> Option<i32> {
    stat(process).map(|(_, group)| group)
}

/// The TCP ports these processes listen on, in order.
fn ports(processes: &[Pid]) -> Vec<u16> {
    let mut sockets: HashSet<String> = HashSet::new();
    for process in processes {
        let Ok(files) = fs::read_dir(format!("/proc/{}/fd", process.as_raw_nonzero())) else { continue };
        for file in files.flatten() {
            if let Ok(target) = fs::read_link(file.path())
                && let Some(number) = target.to_str().and_then(|name| name.strip_prefix("socket:["))
            {
                sockets.insert(number.trim_end_matches(']').to_owned());
            }
        }
    }
    if sockets.is_empty() {
        return Vec::new();
    }
    let mut ports: Vec<u16> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| table.lines().skip(1).filter_map(|line| listening(line, &sockets)).collect::<Vec<u16>>())
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Reads a line of /proc/net/tcp (proc_net(5)): the port, if the socket listens and is one of these.
fn listening(line: &str, sockets: &HashSet<String>) -> Option<u16> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    // 0A is LISTEN.
    if *fields.get(3)? != "0A" || !sockets.contains(*fields.get(9)?) {
        return None;
    }
    u16::from_str_radix(fields.get(1)?.rsplit_once(':')?.1, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_editor_waits_for_keys_and_what_waits_for_the_network_does_not() {
        for place in ["n_tty_read", "wait_woken\n"] {
            assert!(waits_for_keys(place, false) && waits_for_keys(place, true), "{place}");
        }
        for place in ["poll_schedule_timeout.constprop.0", "do_sys_poll", "ep_poll"] {
            assert!(!waits_for_keys(place, false) && waits_for_keys(place, true), "{place}");
        }
        for place in ["", "0", "do_wait", "hrtimer_nanosleep", "pipe_read"] {
            assert!(!waits_for_keys(place, true), "{place}");
        }
    }

    #[test]
    fn a_listening_socket_of_ours_is_found_by_its_number() {
        let line =
            "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 4242 1 0 100 0";
        let sockets = HashSet::from(["4242".to_owned()]);
        assert_eq!(listening(line, &sockets), Some(8080));
        assert_eq!(listening(&line.replace(" 0A ", " 01 "), &sockets), None);
        assert_eq!(listening(line, &HashSet::new()), None);
        assert_eq!(listening("", &sockets), None);
    }
}
