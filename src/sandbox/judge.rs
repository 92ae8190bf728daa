//! The judge of a command in the sandbox; it runs outside of it. It decides whether a command that runs unasked may open a
//! file, and whether an approved command may change a file's mode, owner, times or extended attributes. An approved
//! command may do that where it may write, and nowhere else.
//!
//! The judge opens the object itself, looks at what it has opened and then changes just that: what the command
//! changes in its memory, its descriptors or the paths meanwhile changes nothing of the judgement. The command's own
//! call never goes on to the kernel.

use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, MemfdFlags, Mode, OFlags, ResolveFlags, Uid, chmod, chownat, fstat, ftruncate,
    memfd_create, open, openat, openat2, readlink, removexattr, setxattr, utimensat,
};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

use super::attributes::{self, Change, Object};
use super::caller::{Caller, Rights};
use super::listener::{self, Asked};
use super::{Confinement, SandboxError, openings, writable};
use crate::platform::RealPath as _;
use crate::secret::files::SecretFiles;
use crate::secret::found::Linked;
use crate::secret::packed;

/// An object's name is read again so often when it was moved while it was looked at.
const LOOKS: usize = 16;

/// Judges the calls of one command.
#[derive(Debug)]
pub struct Judge {
    law: Law,
    socket: UnixStream,
}

/// What is judged.
#[derive(Debug)]
enum Law {
    /// Changes of attributes: they are done below these real paths.
    Changes(Vec<PathBuf>),
    /// What is opened for reading: these files are not. The call goes on to the kernel, so that a program which
    /// changes its own path from another thread in that moment is held by Landlock alone; nothing that runs unasked
    /// is such a program.
    Openings(Box<(SecretFiles, Linked)>),
}

impl Judge {
    /// Makes the judge of a command that is held to this, and the socket over which its helper hands the listener
    /// over; `None` for one that is not judged: not every system lets a command's calls be looked into
    /// (`is_possible`).
    #[must_use]
    pub fn new(confinement: &Confinement) -> Option<(Self, OwnedFd)> {
        if confinement.is_read_only() && !confinement.judged || !is_possible() {
            return None;
        }
        let (socket, other) = UnixStream::pair().ok()?;
        let law = if confinement.is_read_only() {
            let Confinement { home, hidden, readable, .. } = confinement;
            let files = SecretFiles {
                home: home.clone(),
                own: hidden.clone(),
                readable: readable.clone(),
                ..SecretFiles::default()
            };
            let files = files.real();
            // This process works where the command does.
            let below = std::env::current_dir().into_iter().collect();
            let linked = Linked::new(files.clone(), below);
            Law::Openings(Box::new((files, linked)))
        } else {
            let root = rustix::process::geteuid().is_root();
            let mut devices = writable::devices(false, root);
            // The machine's own devices are not root's to give away.
            devices.retain(|path| !root || path.is_dir());
            let writable = confinement.writable.iter().chain(&devices);
            Law::Changes(writable.filter_map(|path| path.real_path().ok()).collect())
        };
        Some((Self { law, socket }, other.into()))
    }

    /// Judges until the last process of the command has ended. Blocks: to be called on a thread of its own, which
    /// ends with the process at the latest.
    pub fn run(self) {
        let Some(listener) = received(&self.socket) else { return };
        listener::take_turns(&listener);
        // Where they cannot be read the listener goes, and with it all that it would allow.
        let Ok(rights) = Rights::own() else { return };
        let listener = listener.as_fd();
        loop {
            let mut waiting = [PollFd::from_borrowed_fd(listener, PollFlags::IN)];
            match poll(&mut waiting, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            if waiting[0].revents().contains(PollFlags::IN) {
                // One that was killed before it was taken is the next one's business.
                if let Ok(asked) = listener::receive(listener) {
                    match &self.law {
                        Law::Changes(writable) => {
                            listener::answer(listener, &asked, judge(writable, listener, &asked, rights));
                        }
                        Law::Openings(secret) => match looked_at(&secret.0, &secret.1, &asked) {
                            Ok(Opening::Allowed) => listener::let_go(listener, &asked),
                            Ok(Opening::Blank(length)) => {
                                let handed = blank(length).and_then(|file| {
                                    let closes = openings::closes_on_exec(&asked);
                                    listener::hand_in(listener, &asked, file.as_fd(), closes)
                                });
                                if handed.is_err() {
                                    listener::answer(listener, &asked, Err(Errno::ACCESS));
                                }
                            }
                            Err(error) => listener::answer(listener, &asked, Err(error)),
                        },
                    }
                }
            } else if waiting[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                return;
            }
        }
    }
}

/// What becomes of a file that is opened for reading.
enum Opening {
    /// It is opened.
    Allowed,
    /// A file of so many zero bytes is opened in its place.
    Blank(u64),
}

/// Refuses to open a secret file, and what cannot be looked at.
fn looked_at(files: &SecretFiles, linked: &Linked, asked: &Asked) -> Result<Opening, Errno> {
    // Of a process that hides its memory (a keeper of keys) nothing can be known.
    let memory = File::open(format!("/proc/{}/mem", asked.thread)).map_err(|_| Errno::ACCESS)?;
    let Some(named) = openings::named(asked, &memory)? else { return Ok(Opening::Allowed) };
    let name = readlink(own_name(&named), Vec::new()).map_err(|_| Errno::ACCESS)?;
    let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
    if !path.is_absolute() {
        return Ok(Opening::Allowed);
    }
    let file = fstat(&named).map_err(|_| Errno::ACCESS)?;
    let regular = FileType::from_raw_mode(file.st_mode) == FileType::RegularFile;
    let second = regular
        && (!is_of_system(path) || linked.searches(path))
        && linked.holds_file(file.st_dev, file.st_ino, names(file.st_nlink));
    let packed = || regular && packed::may_hold_secret(path, Path::new(&own_name(&named)));
    if !files.holds(path) && !second && !packed() {
        return Ok(Opening::Allowed);
    }
    if regular && compares(asked.thread) {
        return Ok(Opening::Blank(u64::try_from(file.st_size).unwrap_or(0)));
    }
    Err(Errno::ACCESS)
}

/// Tells whether a file lies where only the system's packages write: many of theirs have several names, none of which is a
/// person's secret, and to look for those would cost each command a walk through the workspace.
fn is_of_system(path: &Path) -> bool {
    const PACKAGES: &[&str] = &[
        "/usr/bin",
        "/usr/sbin",
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/libexec",
        "/usr/share",
        "/bin",
        "/sbin",
        "/lib",
        "/lib32",
        "/lib64",
        "/nix/store",
    ];
    PACKAGES.iter().any(|place| path.starts_with(place))
}

/// Tells whether a thread is of a git that compares the files of its repository. It would end at the first file that
/// it cannot hash; and of a file that stands in for a secret one it says only that it differs
/// (`secret::files::git_attributes`).
fn compares(thread: u32) -> bool {
    const COMPARING: &[&[u8]] = &[b"diff", b"diff-files", b"diff-index", b"status"];
    let is_git = readlink(format!("/proc/{thread}/exe"), Vec::new())
        .is_ok_and(|program| Path::new(std::ffi::OsStr::from_bytes(program.as_bytes())).ends_with("git"));
    if !is_git {
        return false;
    }
    let line = std::fs::read(format!("/proc/{thread}/cmdline")).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0).skip(1);
    // Files outside of a repository are compared by their contents alone.
    let command = loop {
        match words.next() {
            // The only options before the command whose value is a word of its own (git(1)) that axi lets run unasked.
            Some(b"-C" | b"-c") => drop(words.next()),
            Some(option) if option.starts_with(b"-") => {}
            command => break command,
        }
    };
    command.is_some_and(|command| COMPARING.contains(&command)) && words.all(|word| word != b"--no-index")
}

/// Makes a file of zero bytes that lies nowhere.
fn blank(length: u64) -> Result<OwnedFd, Errno> {
    let file = memfd_create("secret", MemfdFlags::CLOEXEC)?;
    ftruncate(&file, length)?;
    Ok(file)
}

/// How many names a file has; the number is of another width on other processors.
fn names(count: impl Into<u64>) -> u64 {
    count.into()
}

/// Decides, and does it.
fn judge(
    writable: &[PathBuf],
    listener: BorrowedFd<'_>,
    asked: &Asked,
    rights: Option<Rights>,
) -> Result<(), Errno> {
    let thread = asked.thread;
    // Of a process that hides its memory (a keeper of keys) nothing can be known.
    let memory = File::open(format!("/proc/{thread}/mem")).map_err(|_| Errno::PERM)?;
    let (object, change) = attributes::read(asked, &memory)?;
    let caller = Caller::of(thread, &change, rights)?;
    let start = started(thread, &object)?;
    let waits = || if listener::waits(listener, asked) { Ok(()) } else { Err(Errno::SRCH) };
    // A number of a process is given to another once it has ended.
    waits()?;
    caller.act(|| {
        let opened = opened(thread, &object, start)?;
        waits()?;
        if !is_inside(writable, &opened)? {
            return Err(Errno::PERM);
        }
        changed(&opened, &change)
    })
}

/// Tells whether what was opened lies where the command may write, or has no place at all.
fn is_inside(writable: &[PathBuf], opened: &OwnedFd) -> Result<bool, Errno> {
    let own = fstat(opened)?;
    for _ in 0..LOOKS {
        let name = readlink(own_name(opened), Vec::new())?;
        let name = name.as_bytes();
        if [&b"pipe:"[..], b"socket:", b"anon_inode:"].iter().any(|kind| name.starts_with(kind)) {
            return Ok(true);
        }
        if own.st_nlink == 0 && name.ends_with(b" (deleted)") {
            return Ok(true);
        }
        let path = Path::new(std::ffi::OsStr::from_bytes(name));
        if !path.is_absolute() || !writable.iter().any(|writable| path.starts_with(writable)) {
            return Ok(false);
        }
        // The name of something in a tree that is mounted nowhere starts at that tree's top, and may read like any
        // other: it counts only if it leads back, past no link.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if let Ok(again) = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            let again = fstat(&again)?;
            if (again.st_dev, again.st_ino) == (own.st_dev, own.st_ino) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Where a path starts, or the object itself; opened as ourselves, for what lies in `/proc` is the process's own.
fn started(thread: u32, object: &Object) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let place = match (&object.path, object.descriptor) {
        (Some(path), _) if path.as_bytes().starts_with(b"/") => {
            // Paths start at our root: with another one they would lead elsewhere.
            let root = readlink(format!("/proc/{thread}/root"), Vec::new()).map_err(|_| Errno::PERM)?;
            if root.as_bytes() != b"/" {
                return Err(Errno::PERM);
            }
            "/".to_owned()
        }
        (_, Some(descriptor)) => format!("/proc/{thread}/fd/{descriptor}"),
        (_, None) => format!("/proc/{thread}/cwd"),
    };
    open(place, flags, Mode::empty()).map_err(|error| match (error, object.descriptor) {
        (Errno::NOENT, Some(_)) => Errno::BADF,
        (Errno::ACCESS, _) => Errno::PERM,
        (error, _) => error,
    })
}

/// Opens the object, to be named and nothing more: this reads nothing, waits for nobody and wakes no device.
fn opened(thread: u32, object: &Object, start: OwnedFd) -> Result<OwnedFd, Errno> {
    let Some(path) = &object.path else { return Ok(start) };
    let links = if object.follow { OFlags::empty() } else { OFlags::NOFOLLOW };
    openat(&start, openings::own_of(thread, path), OFlags::PATH | OFlags::CLOEXEC | links, Mode::empty())
}

/// The name by which the object itself is reached, whatever lies at its path now.
fn own_name(opened: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", opened.as_raw_fd())
}

fn changed(opened: &OwnedFd, change: &Change) -> Result<(), Errno> {
    match change {
        Change::Mode(mode) => chmod(own_name(opened), Mode::from_raw_mode(*mode)),
        Change::Owner(user, group) => {
            let (user, group) = (user.map(Uid::from_raw), group.map(Gid::from_raw));
            chownat(opened, "", user, group, AtFlags::EMPTY_PATH)
        }
        Change::Times(times) => utimensat(opened, "", times, AtFlags::EMPTY_PATH),
        Change::Set(name, value, flags) => setxattr(own_name(opened), name, value, *flags),
        Change::Remove(name) => removexattr(own_name(opened), name),
    }
}

/// Takes the listener that the helper hands over; `None` when it ends without.
fn received(socket: &UnixStream) -> Option<OwnedFd> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    loop {
        let mut bytes = [std::io::IoSliceMut::new(&mut byte)];
        match recvmsg(socket, &mut bytes, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    })
}

/// Has this process and all it starts be judged by whoever reads the socket of that number; where somebody listens
/// already, as an axi does around this one, what changes attributes stays as it is.
///
/// # Errors
/// [`SandboxError::SystemCalls`]: the process must then not go on: its calls would never be answered, or it would read
/// what nobody was asked about.
pub(super) fn submit(socket: Option<i32>, read_only: bool) -> Result<(), SandboxError> {
    let failed = |error: std::io::Error| SandboxError::SystemCalls(error.to_string());
    let unjudged =
        || if read_only { Err(SandboxError::SystemCalls("nobody judges it".to_owned())) } else { Ok(()) };
    let socket = socket.and_then(|socket| listener::inherited(socket).ok()).map(UnixStream::from);
    // What else may be open by that number: `peer_addr` takes a socket only.
    let Some(socket) = socket.filter(|socket| socket.peer_addr().is_ok()) else { return unjudged() };
    let program = if read_only { openings::program() } else { attributes::program() };
    let Ok(listener) = listener::install(&program) else { return unjudged() };
    let descriptors = [listener.as_fd()];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    let sent = sendmsg(&socket, &[std::io::IoSlice::new(b"l")], &mut control, SendFlags::NOSIGNAL);
    sent.map(|_| ()).map_err(|error| failed(error.into()))
}

/// Tells whether a command's calls can be judged on this system: the kernel hands them over, and lets a parent look
/// into its children (Yama's `ptrace_scope`, kernel/yama in the kernel's documentation, forbids it from 2 on but to
/// root, from 3 on to all).
fn is_possible() -> bool {
    let actions = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok();
    let scope: u8 = scope.and_then(|scope| scope.trim().parse().ok()).unwrap_or(0);
    let root = rustix::process::geteuid().is_root();
    actions.split_ascii_whitespace().any(|action| action == "user_notif") && (scope < 2 || scope == 2 && root)
}

/// Tells whether the attributes of files outside are kept from approved commands: tries it on a thread that ends
/// with the trial (some tenths of a millisecond).
pub(super) fn probe() -> bool {
    let tried = std::thread::Builder::new().name("probe".to_owned()).spawn(|| {
        rustix::thread::set_no_new_privs(true).is_ok() && listener::install(&attributes::program()).is_ok()
    });
    is_possible() && tried.is_ok_and(|tried| tried.join().unwrap_or(false))
}
