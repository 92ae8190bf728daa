//! System calls that change the machine for all its users, which no approved command may make, and the capabilities
//! that root keeps. A command that has to change the machine runs outside the sandbox, after a person was asked for
//! exactly that.

use libc::c_long;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
};
use seccompiler::sock_filter;

use super::SandboxError;
use super::filter::{PROCESSOR, jump, load, ret, unless_equal};
use super::system_calls::{KEYS, OF_THE_MACHINE, SECOND_SET};

/// Calls whose first argument is a process id. Process 1 of the machine or container is protected, because a signal
/// to it stops the machine, and what it may use is what all have; for `kill`, so is -1, which means all processes.
const OF_PROCESSES: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_open,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
];
const FIRST: u32 = 1;
const ALL: u32 = u32::MAX;

/// The capabilities for work with one's own files, users and processes: Docker's list without raw sockets and
/// devices. None of them changes the machine.
pub(super) const LEFT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::AUDIT_WRITE)
    .union(CapabilitySet::SETFCAP);

/// Builds the filter of an approved command. Programs for another processor (32-bit ones) are held only by the
/// capabilities, which all these calls need except those for keys and signals.
pub(super) fn program(root: bool) -> Vec<sock_filter> {
    let refused = || ret(libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs());
    let allowed = || ret(libc::SECCOMP_RET_ALLOW);
    // The offsets of the processor, the number and the first argument in `struct seccomp_data` (linux/seccomp.h).
    let mut program = vec![load(4), jump(0x15, PROCESSOR, 1, 0), allowed(), load(0)];
    if let Some(second) = SECOND_SET {
        program.extend([jump(0x35, second, 0, 1), ret(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs())]);
    }
    let keys = if root { KEYS } else { &[] };
    for number in OF_THE_MACHINE.iter().chain(keys) {
        let Ok(number) = u32::try_from(*number) else { continue };
        program.extend([unless_equal(number, 1), refused()]);
    }
    for number in OF_PROCESSES {
        let Ok(number) = u32::try_from(*number) else { continue };
        let tests = [load(16), unless_equal(FIRST, 1), refused(), unless_equal(ALL, 1), refused(), allowed()];
        program.push(unless_equal(number, 6));
        program.extend(tests);
    }
    program.extend(limits_of_others());
    program.push(allowed());
    program
}

/// Refuses to set the limits of another process (`prlimit(2)`): root could leave the first one no file to open. Reading
/// them, and setting one's own by 0, is let through.
fn limits_of_others() -> Vec<sock_filter> {
    let refused = || ret(libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs());
    let Ok(number) = u32::try_from(libc::SYS_prlimit64) else { return Vec::new() };
    // The third argument, in two halves: where the new limit stands.
    let own = [load(16), unless_equal(0, 1), ret(libc::SECCOMP_RET_ALLOW)];
    let new = [load(32), jump(0x15, 0, 1, 0), refused(), load(36), jump(0x15, 0, 1, 0), refused()];
    let steps = own.len() + new.len();
    let mut program = vec![unless_equal(number, u8::try_from(steps).unwrap_or(u8::MAX))];
    program.extend(own);
    program.extend(new);
    program
}

/// Takes the calls that change the machine away from this process and all it starts.
///
/// # Errors
/// [`SandboxError::SystemCalls`]; the process must then not go on.
pub(super) fn restrict() -> Result<(), SandboxError> {
    let program = program(rustix::process::geteuid().is_root());
    seccompiler::apply_filter(&program).map_err(|error| SandboxError::SystemCalls(error.to_string()))
}

/// Leaves this process, and all it starts, these capabilities at most. They do not come back at exec: Landlock was
/// applied with `no_new_privs`, and a capability that has left the bounding set never returns.
pub(super) fn leave(left: CapabilitySet) -> Result<(), SandboxError> {
    let failed = |error: rustix::io::Errno| SandboxError::Privileges(error.to_string());
    let now = capabilities(None).map_err(failed)?;
    for capability in CapabilitySet::all().iter().filter(|one| !left.contains(*one)) {
        if now.effective.contains(CapabilitySet::SETPCAP) {
            // A capability that this kernel does not know needs no removal.
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    let kept = now.permitted & left;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(failed)
}

/// Leaves this process, and all it starts, no capability that changes the machine.
///
/// # Errors
/// [`SandboxError::Privileges`]; the process must then not go on.
pub fn leave_the_machine() -> Result<(), SandboxError> {
    leave(LEFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the filter as the kernel would (linux/bpf_common.h); knows only the instructions that the filter uses.
    fn answered(root: bool, processor: u32, number: c_long, first: u32) -> u32 {
        answered_with(root, processor, number, (first, 0))
    }

    fn answered_with(root: bool, processor: u32, number: c_long, (first, third): (u32, u64)) -> u32 {
        let program = program(root);
        let (mut place, mut loaded) = (0, 0);
        loop {
            let step = &program[place];
            place += 1;
            match (step.code, step.k) {
                (0x20, 0) => loaded = u32::try_from(number).unwrap(),
                (0x20, 4) => loaded = processor,
                (0x20, 16) => loaded = first,
                (0x20, 32) => loaded = u32::try_from(third & 0xffff_ffff).unwrap(),
                (0x20, 36) => loaded = u32::try_from(third >> 32).unwrap(),
                (0x15, value) => place += usize::from(if loaded == value { step.jt } else { step.jf }),
                (0x35, value) => place += usize::from(if loaded >= value { step.jt } else { step.jf }),
                (0x06, answer) => return answer,
                other => panic!("an instruction {other:?}"),
            }
        }
    }

    #[test]
    fn each_call_that_changes_the_machine_is_refused_and_its_neighbours_are_not() {
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
        for number in 0..600 {
            let wanted = if OF_THE_MACHINE.contains(&number) || KEYS.contains(&number) {
                refused
            } else {
                libc::SECCOMP_RET_ALLOW
            };
            assert_eq!(answered(true, PROCESSOR, number, 77), wanted, "{number}");
            let own_keys = KEYS.contains(&number);
            let wanted = if own_keys { libc::SECCOMP_RET_ALLOW } else { wanted };
            assert_eq!(answered(false, PROCESSOR, number, 77), wanted, "{number}");
            assert_eq!(answered(true, 0x4000_0003, number, 77), libc::SECCOMP_RET_ALLOW);
        }
    }

    #[test]
    fn the_first_process_and_all_of_them_get_no_signal() {
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
        for number in OF_PROCESSES {
            for (process, wanted) in
                [(1, refused), (u32::MAX, refused), (0, libc::SECCOMP_RET_ALLOW), (4711, libc::SECCOMP_RET_ALLOW)]
            {
                assert_eq!(answered(false, PROCESSOR, *number, process), wanted, "{number} {process}");
            }
        }
    }

    #[test]
    fn another_process_keeps_its_limits() {
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
        let allowed = libc::SECCOMP_RET_ALLOW;
        for (process, new, wanted) in [
            (0, 0x7fff_0000_1000, allowed),
            (1, 0, allowed),
            (1, 0x7fff_0000_0000, refused),
            (4711, 0x1000, refused),
        ] {
            let number = libc::SYS_prlimit64;
            assert_eq!(answered_with(true, PROCESSOR, number, (process, new)), wanted, "{process} {new:x}");
        }
    }

    #[test]
    fn nothing_that_changes_the_machine_is_left_to_root() {
        let never = CapabilitySet::SYS_ADMIN
            | CapabilitySet::NET_ADMIN
            | CapabilitySet::NET_RAW
            | CapabilitySet::SYS_TIME
            | CapabilitySet::SYS_BOOT
            | CapabilitySet::SYS_MODULE
            | CapabilitySet::SYS_RAWIO
            | CapabilitySet::SYS_PTRACE
            | CapabilitySet::SYS_RESOURCE
            | CapabilitySet::MKNOD
            | CapabilitySet::SYSLOG
            | CapabilitySet::BPF
            | CapabilitySet::PERFMON
            | CapabilitySet::MAC_ADMIN
            | CapabilitySet::AUDIT_CONTROL;
        assert!((LEFT & never).is_empty());
    }
}
