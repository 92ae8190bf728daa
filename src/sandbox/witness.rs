//! Who sees, beside a command in a trial, which programs outside of it it reaches for: by the addresses in its calls
//! of `connect(2)`, `sendto(2)`, `sendmsg(2)` and `sendmmsg(2)`.
//!
//! It also sees two other kinds of calls. The kernel refuses to rename directories in a layer, so that the renamer that the
//! witness was given does these calls. Calls that make links are refused to some programs ([`links`]).
//!
//! It stops nothing else: each other call goes on to the kernel. It sees all that an honest program does. It does not see a
//! program that changes its memory at that moment from another thread, a 32-bit program, or what is written to a socket that
//! was open when it was handed over.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libc::c_long;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;
use rustix::net::SocketType;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use seccompiler::sock_filter;

use crate::platform::RealPath as _;

use super::address::{Address, address, name_asked};
use super::filter::{PROCESSOR, jump, load, ret, unless_equal, word};
use super::listener::{self, Asked};
use super::system_calls::SECOND_SET;
use super::{links, own_peers, renames};

/// The longest address that is read (`struct sockaddr_storage`).
const LONGEST: u64 = 128;
/// The port of name servers (RFC 1035).
const NAMES: u16 = 53;
/// The length of a `struct msghdr` and of a `struct mmsghdr` on processors of 64 bits, in bytes.
const MESSAGE: u64 = 56;
const COUNTED_MESSAGE: u64 = 64;
/// More messages of one call are not looked at.
const MOST_MESSAGES: u64 = 8;
/// A question to a name server that goes by one packet is not longer (bytes; RFC 1035, 4.2.1).
const QUESTION: u64 = 512;

/// A program outside that a command reached for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// A socket of this machine: its path, or its name behind `@`.
    Socket(PathBuf),
    /// An address and port; with `/udp` where nothing says that somebody answered.
    Host(String),
    /// A name whose address was asked for.
    Name(String),
}

/// Renames a directory where the kernel says that both names lie on different file systems (`EXDEV`).
type Renames = fn(&Path, &Path) -> io::Result<()>;

/// Sees what is reached by the thread that made it and by all that this thread starts from then on.
#[derive(Debug)]
pub struct Witness {
    listener: OwnedFd,
    seen: Mutex<Seen>,
    renames: Renames,
}

#[derive(Debug, Default)]
struct Seen {
    reached: Vec<Reached>,
    /// Sockets for packets that were connected, by process and descriptor: nothing goes out by that alone, and the C library
    /// connects some only to learn its own address.
    connected: BTreeMap<(u32, i32), SocketAddr>,
}

impl Witness {
    /// Makes a witness of this thread, which gives up gaining privileges.
    ///
    /// # Errors
    /// The system's error: there is a listener already, as in a command of an axi, or the kernel has none.
    pub fn new(renames: Renames) -> io::Result<Self> {
        rustix::thread::set_no_new_privs(true)?;
        Ok(Self { listener: listener::install(&program())?, seen: Mutex::default(), renames })
    }

    /// Looks at each call until the last process has ended. To be called on a thread that was there before, or the
    /// calls of the command are never answered.
    pub fn run(&self) {
        let listener = self.listener.as_fd();
        listener::take_turns(listener);
        loop {
            let mut waiting = [PollFd::from_borrowed_fd(listener, PollFlags::IN)];
            match poll(&mut waiting, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            if waiting[0].revents().contains(PollFlags::IN) {
                if let Ok(asked) = listener::receive(listener) {
                    match self.look(&asked) {
                        Some(done) => listener::answer(listener, &asked, done),
                        None => listener::let_go(listener, &asked),
                    }
                }
            } else if waiting[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                return;
            }
        }
    }

    /// Returns what was reached, in order and each once.
    pub fn reached(&self) -> Vec<Reached> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // Whether anything was written there cannot be seen.
        let open: Vec<SocketAddr> = std::mem::take(&mut seen.connected).into_values().collect();
        for address in open {
            seen.add(packets_to(address));
        }
        seen.reached.clone()
    }

    /// Looks at a call; returns its answer if it has one already.
    fn look(&self, asked: &Asked) -> Option<Result<(), Errno>> {
        if links::CALLS.contains(&c_long::from(asked.number)) {
            return links::are_refused(asked.thread).then_some(Err(Errno::XDEV));
        }
        let memory = File::open(format!("/proc/{}/mem", asked.thread)).ok()?;
        if renames::CALLS.contains(&c_long::from(asked.number)) {
            return self.rename(asked, &memory);
        }
        self.notice(asked, &memory);
        None
    }

    /// Renames a directory in place of its caller; `None` for what is none, which the kernel does. The caller may write
    /// wherever this process may.
    fn rename(&self, asked: &Asked, memory: &File) -> Option<Result<(), Errno>> {
        let renames::Rename { from, to, flags } = renames::read(asked, memory)?;
        let source = from.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
        // What was read is what its thread asked for: it still waits.
        if !listener::waits(self.listener.as_fd(), asked) {
            return None;
        }
        let done = rustix::fs::renameat_with(CWD, &from, CWD, &to, flags);
        let is_near = || to.parent()?.metadata().ok().map(|target| target.dev() == source.dev());
        let plain = !flags.intersects(RenameFlags::EXCHANGE | RenameFlags::WHITEOUT);
        if done != Err(Errno::XDEV) || !plain || is_near() != Some(true) {
            return Some(done);
        }
        let is_free = !flags.contains(RenameFlags::NOREPLACE) || to.symlink_metadata().is_err();
        if !is_free {
            return Some(Err(Errno::EXIST));
        }
        let done = (self.renames)(&from, &to);
        Some(done.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)))
    }

    fn notice(&self, asked: &Asked, memory: &File) {
        let process = process_of(asked.thread).unwrap_or(asked.thread);
        let socket = word(asked.arguments[0]);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match c_long::from(asked.number) {
            libc::SYS_connect => {
                // Whatever it was connected to before, nothing was sent there.
                seen.connected.remove(&(process, socket));
                let found = read(memory, asked.arguments[1], asked.arguments[2].min(LONGEST));
                let Some(address) = found.as_deref().and_then(address) else { return };
                seen.connect(asked.thread, process, socket, address);
            }
            libc::SYS_sendto => {
                let found = read(memory, asked.arguments[4], asked.arguments[5].min(LONGEST));
                let address = found.as_deref().and_then(address);
                let packet = || read(memory, asked.arguments[1], asked.arguments[2].min(QUESTION));
                seen.send(asked.thread, (process, socket), address, packet);
            }
            libc::SYS_sendmsg => seen.message(asked.thread, memory, (process, socket), asked.arguments[1]),
            _ => {
                for number in 0..asked.arguments[2].min(MOST_MESSAGES) {
                    let at = asked.arguments[1].wrapping_add(number * COUNTED_MESSAGE);
                    seen.message(asked.thread, memory, (process, socket), at);
                }
            }
        }
    }
}

impl Seen {
    fn add(&mut self, reached: Reached) {
        if !self.reached.contains(&reached) {
            self.reached.push(reached);
        }
    }

    fn connect(&mut self, thread: u32, process: u32, socket: i32, address: Address) {
        match address {
            Address::Internet(to) if kind(process, socket) == Some(SocketType::DGRAM) => {
                if to.port() == NAMES {
                    self.add(packets_to(to));
                }
                if to.port() != 0 {
                    self.connected.insert((process, socket), to);
                }
            }
            address => self.reach(thread, address),
        }
    }

    fn reach(&mut self, thread: u32, address: Address) {
        match address {
            Address::Internet(to) if to.ip().is_loopback() && own_peers::hold_port(to.port()) => {}
            Address::Internet(to) => self.add(Reached::Host(to.to_string())),
            Address::Abstract(name) => {
                let name = [b"@", &name[..]].concat();
                if !own_peers::hold_path(&name) {
                    self.add(Reached::Socket(path_of(&name)));
                }
            }
            Address::Path(path) => {
                let place = PathBuf::from(format!("/proc/{thread}/cwd")).join(path_of(&path));
                // Many programs ask for sockets of services that are not there.
                let is_there = place.metadata().is_ok_and(|found| found.file_type().is_socket());
                if is_there && !own_peers::hold_path(&path) {
                    self.add(Reached::Socket(place.real_path().unwrap_or_else(|_| path_of(&path))));
                }
            }
        }
    }

    /// Notes packets that go to an address, or to where the socket is connected.
    fn send(
        &mut self,
        thread: u32,
        socket: (u32, i32),
        address: Option<Address>,
        packet: impl FnOnce() -> Option<Vec<u8>>,
    ) {
        let to = match address {
            Some(Address::Internet(to)) => to,
            Some(other) => return self.reach(thread, other),
            None => match self.connected.get(&socket) {
                Some(to) => *to,
                None => return,
            },
        };
        if to.ip().is_loopback() && own_peers::hold_port(to.port()) {
            self.connected.remove(&socket);
            return;
        }
        if to.port() == NAMES
            && let Some(name) = packet().as_deref().and_then(name_asked)
        {
            self.add(Reached::Name(name));
        }
        self.add(packets_to(to));
    }

    /// Notes a message that is described by a `struct msghdr` at this place.
    fn message(&mut self, thread: u32, memory: &File, socket: (u32, i32), at: u64) {
        let Some(head) = read(memory, at, MESSAGE) else { return };
        let number = |place: usize| {
            head.get(place..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        // The length is a number of 32 bits, with padding behind it.
        let length = (number(8) & u64::from(u32::MAX)).min(LONGEST);
        let found = if number(0) == 0 { None } else { read(memory, number(0), length) };
        let packet = || {
            let first = read(memory, number(16), 16)?;
            let (start, length) =
                (u64::from_ne_bytes(*first.first_chunk()?), u64::from_ne_bytes(*first.last_chunk()?));
            read(memory, start, length.min(QUESTION))
        };
        self.send(thread, socket, found.as_deref().and_then(address), packet);
    }
}

fn packets_to(address: SocketAddr) -> Reached {
    Reached::Host(format!("{address}/udp"))
}

fn path_of(bytes: &[u8]) -> PathBuf {
    Path::new(std::ffi::OsStr::from_bytes(bytes)).to_owned()
}

fn read(memory: &File, address: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    memory.read_exact_at(&mut bytes, address).ok()?;
    Some(bytes)
}

/// The process of a thread.
fn process_of(thread: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:")).and_then(|number| number.trim().parse().ok())
}

/// What kind of socket a process has by that number; `None` where that cannot be known.
fn kind(process: u32, socket: i32) -> Option<SocketType> {
    let process = Pid::from_raw(i32::try_from(process).ok()?)?;
    let held = pidfd_open(process, PidfdFlags::empty()).ok()?;
    // Closed again before the call goes on.
    let socket = pidfd_getfd(held, socket, PidfdGetfdFlags::empty()).ok()?;
    rustix::net::sockopt::socket_type(socket).ok()
}

/// The filter: what names somebody goes to the listener. A second way past all of these (`io_uring`) does not exist then;
/// programs that know it know these, too.
fn program() -> Vec<sock_filter> {
    let absent = || ret(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs());
    let (allowed, seen) = (|| ret(libc::SECCOMP_RET_ALLOW), || ret(libc::SECCOMP_RET_USER_NOTIF));
    // The offsets of the processor and of the call's number in `struct seccomp_data` (linux/seccomp.h).
    let mut program = vec![load(4), jump(0x15, PROCESSOR, 1, 0), allowed(), load(0)];
    if let Some(second) = SECOND_SET {
        program.extend([jump(0x35, second, 0, 1), absent()]);
    }
    for number in
        [libc::SYS_connect, libc::SYS_sendmsg, libc::SYS_sendmmsg].iter().chain(renames::CALLS).chain(links::CALLS)
    {
        let Ok(number) = u32::try_from(*number) else { continue };
        program.extend([unless_equal(number, 1), seen()]);
    }
    if let Ok(number) = u32::try_from(libc::SYS_io_uring_setup) {
        program.extend([unless_equal(number, 1), absent()]);
    }
    if let Ok(number) = u32::try_from(libc::SYS_sendto) {
        // Its fifth argument is the address; most calls go to where the socket is connected, and have none.
        let address = 16 + 8 * 4;
        let tests = [load(address), jump(0x15, 0, 0, 2), load(address + 4), jump(0x15, 0, 1, 0), seen(), allowed()];
        program.push(unless_equal(number, 6));
        program.extend(tests);
    }
    program.push(allowed());
    program
}

#[cfg(test)]
#[path = "witness_tests.rs"]
mod tests;
