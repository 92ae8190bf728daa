//! Whether who listens is a process that this one sees in `/proc`: in a trial, one of the trial's own.

use std::collections::BTreeSet;

/// The state of a socket that listens (net/tcp_states.h), as `/proc/net/tcp` writes it.
const LISTENS: &str = "0A";
/// The flag of a unix socket that listens (`__SO_ACCEPTCON`), as `/proc/net/unix` writes it.
const ACCEPTS: &[u8] = b"00010000";

/// Tells whether one of our processes has a socket on that port of this machine.
pub(super) fn hold_port(port: u16) -> bool {
    let own = own_sockets();
    // proc_pid_net(5): local address, remote address, state, …, inode in the tenth column.
    ["tcp", "tcp6", "udp", "udp6"].into_iter().any(|kind| {
        let text = std::fs::read_to_string(format!("/proc/net/{kind}")).unwrap_or_default();
        text.lines().skip(1).any(|line| holds(line, kind.starts_with("tcp"), port, &own))
    })
}

fn holds(line: &str, listens: bool, port: u16, own: &BTreeSet<u64>) -> bool {
    let mut columns = line.split_ascii_whitespace();
    let (local, remote, state) = (columns.nth(1), columns.next(), columns.next());
    let inode = columns.nth(5).and_then(|inode| inode.parse::<u64>().ok());
    let port_of = |address: Option<&str>| u16::from_str_radix(address?.rsplit_once(':')?.1, 16).ok();
    let waits = if listens { state == Some(LISTENS) } else { port_of(remote) == Some(0) };
    waits && port_of(local) == Some(port) && inode.is_some_and(|inode| own.contains(&inode))
}

/// Tells whether one of our processes listens at that path, which starts at the root, or by that name behind `@`: a path
/// from elsewhere may mean another one.
pub(super) fn hold_path(path: &[u8]) -> bool {
    if !path.starts_with(b"/") && !path.starts_with(b"@") {
        return false;
    }
    let text = std::fs::read("/proc/net/unix").unwrap_or_default();
    let mut own = None;
    text.split(|byte| *byte == b'\n').any(|line| {
        let named = listening(line).filter(|(_, name)| *name == path);
        named.is_some_and(|(inode, _)| own.get_or_insert_with(own_sockets).contains(&inode))
    })
}

/// Reads inode and name of a socket that listens off a line (proc_pid_net(5)): number, references, protocol, flags, type,
/// state, inode, and behind one space the name.
fn listening(line: &[u8]) -> Option<(u64, &[u8])> {
    let mut rest = line;
    let mut columns: [&[u8]; 7] = [b""; 7];
    for column in &mut columns {
        let start = rest.trim_ascii_start();
        let end = start.iter().position(|byte| *byte == b' ')?;
        (*column, rest) = start.split_at(end);
    }
    let inode = std::str::from_utf8(columns[6]).ok()?.parse().ok()?;
    (columns[3] == ACCEPTS).then_some((inode, rest.get(1..)?))
}

/// Lists the sockets of all processes that this one may look into.
fn own_sockets() -> BTreeSet<u64> {
    let mut own = BTreeSet::new();
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        if !process.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        for open in std::fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten() {
            let target = std::fs::read_link(open.path()).unwrap_or_default();
            let number = target.to_str().and_then(|target| target.strip_prefix("socket:[")?.strip_suffix(']'));
            own.extend(number.and_then(|number| number.parse::<u64>().ok()));
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn who_listens_here_is_ours_and_who_does_not_is_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a name");
        let listener = UnixListener::bind(&path).unwrap();
        let bytes = path.as_os_str().as_encoded_bytes();
        assert!(hold_path(bytes));
        assert!(!hold_path(b"a name"), "a path from elsewhere");
        drop(listener);
        assert!(!hold_path(bytes));
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        assert!(hold_port(port));
        drop(server);
        assert!(!hold_port(port));
    }

    #[test]
    fn a_line_of_a_port_counts_only_if_it_listens_and_is_ours() {
        let line = "  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 4711 1 x";
        let own = BTreeSet::from([4711]);
        assert!(holds(line, true, 8080, &own));
        assert!(!holds(line, true, 8081, &own));
        assert!(!holds(line, true, 8080, &BTreeSet::new()));
        assert!(!holds(&line.replace(" 0A ", " 01 "), true, 8080, &own));
    }
}
