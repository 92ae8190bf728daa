//! Performs a judged call with the caller's rights: the judge must not lend its own rights to a command that has
//! given some up.

use rustix::fs::{Gid, Uid};
use rustix::io::Errno;
use rustix::thread::{set_thread_res_gid, set_thread_res_uid};

use super::attributes::Change;

/// The capabilities over files: `CAP_CHOWN`, `CAP_DAC_OVERRIDE`, `CAP_DAC_READ_SEARCH`, `CAP_FOWNER`, `CAP_FSETID`,
/// `CAP_SETFCAP` (linux/capability.h).
const OF_FILES: u64 = 0b1_1111 | 1 << 31;

/// Who made a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// One with the judge's own rights.
    Same,
    /// Another user; root's processes can become one.
    Other(u32, u32),
}

/// A process's rights over files, from `/proc/N/status`; see `proc_pid_status(5)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rights {
    user: u32,
    group: u32,
    capabilities: u64,
}

impl Rights {
    fn parse(status: &str) -> Option<Self> {
        let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        // The line has the real, effective and saved id, and that for files.
        let of_files = |name| line(name)?.split_ascii_whitespace().nth(3)?.parse().ok();
        let capabilities = u64::from_str_radix(line("CapEff:")?.trim(), 16).ok()?;
        Some(Self { user: of_files("Uid:")?, group: of_files("Gid:")?, capabilities: capabilities & OF_FILES })
    }

    /// Returns the rights of the judge's own thread; `None` unless it is root's: other users' processes gain no
    /// privileges, and so cannot become another user. Read once, because the kernel writes that file anew each
    /// time.
    ///
    /// # Errors
    /// `PERM` where they cannot be read.
    pub(super) fn own() -> Result<Option<Self>, Errno> {
        if rustix::process::geteuid().is_root() { Self::of("thread-self").map(Some) } else { Ok(None) }
    }

    fn of(process: &str) -> Result<Self, Errno> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).map_err(|_| Errno::PERM)?;
        Self::parse(&status).ok_or(Errno::PERM)
    }
}

impl Caller {
    /// Finds out who made a call; `ours` is the result of [`Rights::own`].
    ///
    /// # Errors
    /// `PERM` for a caller whose rights this thread cannot take on.
    pub(super) fn of(thread: u32, change: &Change, ours: Option<Rights>) -> Result<Self, Errno> {
        let (own, changes_owner) = match change {
            Change::Owner(..) => (false, true),
            Change::Set(..) | Change::Remove(..) => (true, false),
            Change::Mode(_) | Change::Times(_) => (false, false),
        };
        // These attributes need `CAP_SYS_ADMIN`, which the judge may have, and no command has (`machine::LEFT`).
        if let Change::Set(name, ..) | Change::Remove(name) = change
            && ours.is_some()
            && is_of_system(name.as_bytes())
        {
            return Err(Errno::PERM);
        }
        // In a user namespace of its own, users have other numbers, and root is root only there.
        if (ours.is_some() || changes_owner) && !same_users(thread) {
            return Err(Errno::PERM);
        }
        let Some(ours) = ours else { return Ok(Self::Same) };
        let theirs = Rights::of(&thread.to_string())?;
        if theirs == ours {
            return Ok(Self::Same);
        }
        if theirs.user == ours.user || own || changes_owner {
            return Err(Errno::PERM);
        }
        Ok(Self::Other(theirs.user, theirs.group))
    }

    /// Performs an action as the caller.
    ///
    /// # Errors
    /// The action's error, or the system's error if this thread could not become the caller.
    pub(super) fn act(self, action: impl FnOnce() -> Result<(), Errno>) -> Result<(), Errno> {
        let Self::Other(user, group) = self else { return action() };
        let (real_user, real_group) = (rustix::process::getuid(), rustix::process::getgid());
        let (own_user, own_group) = (rustix::process::geteuid(), rustix::process::getegid());
        let back = || {
            let user = set_thread_res_uid(real_user, own_user, own_user);
            user.and(set_thread_res_gid(real_group, own_group, own_group))
        };
        set_thread_res_gid(real_group, Gid::from_raw(group), own_group)?;
        let result = set_thread_res_uid(real_user, Uid::from_raw(user), own_user).and_then(|()| action());
        back().and(result)
    }
}

/// Tells whether an extended attribute belongs to the system (`xattr(7)`). Security labels and the capabilities of
/// a program are excepted: setting those takes rights of its own.
fn is_of_system(name: &[u8]) -> bool {
    name.starts_with(b"trusted.")
        || name.starts_with(b"security.") && name != b"security.capability" && name != b"security.selinux"
}

fn same_users(thread: u32) -> bool {
    let space = |process: &str| rustix::fs::readlink(format!("/proc/{process}/ns/user"), Vec::new());
    matches!((space(&thread.to_string()), space("thread-self")), (Ok(theirs), Ok(ours)) if theirs == ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_over_files_are_read_off_the_status_and_others_are_not_looked_at() {
        let status = "Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nCapEff:\t000001ffffffffff\n";
        assert_eq!(Rights::parse(status), Some(Rights { user: 4, group: 8, capabilities: OF_FILES }));
        let network = status.replace("000001ffffffffff", "0000000000001000");
        assert_eq!(Rights::parse(&network), Some(Rights { user: 4, group: 8, capabilities: 0 }));
        assert_eq!(Rights::parse("Name:\tx\n"), None);
    }

    #[test]
    fn this_process_is_the_same_as_itself() {
        assert_eq!(Caller::of(std::process::id(), &Change::Mode(0o644), Rights::own().unwrap()), Ok(Caller::Same));
    }
}
