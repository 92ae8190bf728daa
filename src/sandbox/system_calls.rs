//! seccomp: which system calls a child cannot make, where Landlock has no say (`seccomp(2)`).

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    sock_filter,
};

use super::{Confinement, SandboxError};

/// Calls that change the machine for all its users (`syscalls(2)`); no child may make them. Calls that also read
/// the clock (`adjtimex`) are not among them: without `CAP_SYS_TIME` they cannot set it.
pub(super) const OF_THE_MACHINE: &[c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_bpf,
    libc::SYS_quotactl,
    QUOTACTL_FD,
    libc::SYS_acct,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// The kernel's keyring: root's keyring belongs to the machine, everybody else's to the user.
pub(super) const KEYS: &[c_long] = &[libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl];

/// Missing in the C library's table for some processors (arch/x86/entry/syscalls/syscall_64.tbl).
#[cfg(target_arch = "x86_64")]
const KEXEC_FILE_LOAD: c_long = 320;
/// As above (include/uapi/asm-generic/unistd.h).
#[cfg(not(target_arch = "x86_64"))]
const KEXEC_FILE_LOAD: c_long = 294;
/// The same number on every processor.
const QUOTACTL_FD: c_long = 443;

/// Calls that a child that only reads may not make, besides those.
const FORBIDDEN: &[c_long] = &[
    // Modes, owners, times and extended attributes: Landlock does not know them.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
    // Sockets of every kind: one that is connected to a service leads out of the sandbox.
    libc::SYS_socket,
    // io_uring opens files and sockets past every filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // What processes share besides files: memory, messages, locks.
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Files without a path, and namespaces.
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_chroot,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    // Landlock controls it only since ABI 3, and no reading program needs it.
    libc::SYS_truncate,
];

/// The older names of the same; other processors never had them.
#[cfg(target_arch = "x86_64")]
const FORBIDDEN_OLD: &[c_long] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];
/// The older names of the same; this processor never had them.
#[cfg(not(target_arch = "x86_64"))]
const FORBIDDEN_OLD: &[c_long] = &[];

/// Newer than the C library's table; the same number on every processor (`include/uapi/asm-generic/unistd.h`).
pub(super) const FCHMODAT2: c_long = 452;
/// As above.
pub(super) const SETXATTRAT: c_long = 463;
/// As above.
pub(super) const REMOVEXATTRAT: c_long = 466;
/// As above.
pub(super) const FILE_SETATTR: c_long = 469;

/// Requests of `ioctl(2)` that change a file opened for reading, or type into a terminal: request and mask.
const FORBIDDEN_REQUESTS: &[(u64, u64)] = &[
    // FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_SETVERSION, FS_IOC_FSSETXATTR (linux/fs.h), whatever the size.
    (0x4000_6602, 0xc000_ffff),
    (0x4000_7602, 0xc000_ffff),
    (0x4000_5820, 0xc000_ffff),
    // All of btrfs (linux/btrfs.h): subvolumes are made and deleted through a directory opened for reading.
    (0x0000_9400, 0x0000_ff00),
    // TIOCSTI, TIOCLINUX (asm-generic/ioctls.h).
    (0x5412, 0xffff_ffff),
    (0x541c, 0xffff_ffff),
];

/// Calls that may change another process, and the argument that says which: 0 is the caller itself.
const OF_A_PROCESS: &[(c_long, u8)] = &[
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_migrate_pages, 0),
    // The first argument says what kind of number the second is; both name single processes as below.
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

/// What that first argument is for a single process: `PRIO_PROCESS`, `IOPRIO_WHO_PROCESS` (linux/ioprio.h).
const ONE_PROCESS: &[(c_long, u64)] = &[(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];

/// On this processor a second set of numbers (x32) reaches the same calls; no ordinary program uses it.
#[cfg(target_arch = "x86_64")]
pub(super) const SECOND_SET: Option<u32> = Some(0x4000_0000);
/// Other processors have one set.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const SECOND_SET: Option<u32> = None;

/// Tells whether filters can be installed here.
pub(super) fn are_filtered() -> bool {
    let actions = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    let known = actions.split_ascii_whitespace().any(|action| action == "errno");
    known && TargetArch::try_from(std::env::consts::ARCH).is_ok()
}

/// Takes the calls away from this process and all it starts.
///
/// # Errors
/// [`SandboxError::SystemCalls`]; the process must then not go on.
pub(super) fn restrict(confinement: &Confinement) -> Result<(), SandboxError> {
    let failed = |error: &dyn std::error::Error| SandboxError::SystemCalls(error.to_string());
    let rules = if confinement.read_only {
        reading().map_err(|error| failed(&error))?
    } else if confinement.network {
        return Ok(());
    } else {
        offline(confinement.alone).map_err(|error| failed(&error))?
    };
    let program = compiled(rules).map_err(|error| failed(&error))?;
    seccompiler::apply_filter(&program).map_err(|error| failed(&error))
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn compiled(rules: Rules) -> Result<Vec<sock_filter>, seccompiler::BackendError> {
    // The number fits: `EPERM` is 1.
    let denied = SeccompAction::Errno(u32::try_from(libc::EPERM).unwrap_or(1));
    let processor = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, processor)?;
    let program: Vec<sock_filter> = filter.try_into()?;
    let Some(second) = SECOND_SET else { return Ok(program) };
    // Loads the call's number; from `second` on, answers ENOSYS; else goes on with what follows (linux/filter.h).
    let mut whole = vec![
        sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 },
        sock_filter { code: 0x35, jt: 0, jf: 1, k: second },
        sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | libc::ENOSYS.unsigned_abs() },
    ];
    whole.extend(program);
    Ok(whole)
}

/// Returns the calls that a child that only reads cannot make.
fn reading() -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = FORBIDDEN
        .iter()
        .chain(FORBIDDEN_OLD)
        .chain(OF_THE_MACHINE)
        .chain(KEYS)
        .map(|number| (*number, Vec::new()))
        .collect();
    let mut requests = Vec::new();
    for (request, mask) in FORBIDDEN_REQUESTS {
        let same = SeccompCmpOp::MaskedEq(*mask);
        let condition = SeccompCondition::new(1, SeccompCmpArgLen::Dword, same, *request)?;
        requests.push(SeccompRule::new(vec![condition])?);
    }
    rules.insert(libc::SYS_ioctl, requests);
    let differs = |argument, from| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, from);
    for (number, argument) in OF_A_PROCESS {
        rules.entry(*number).or_default().push(SeccompRule::new(vec![differs(*argument, 0)?])?);
    }
    for (number, kind) in ONE_PROCESS {
        rules.entry(*number).or_default().push(SeccompRule::new(vec![differs(0, *kind)?])?);
    }
    // The limits of others: reading them sets none.
    let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![differs(0, 0)?, sets])?]);
    Ok(rules)
}

/// Returns the calls that an approved child without network cannot make; one that is alone reaches no service of this
/// machine either.
fn offline(alone: bool) -> Result<Rules, seccompiler::BackendError> {
    let mut others = Vec::new();
    let families = [libc::AF_NETLINK, libc::AF_UNIX];
    for family in &families[..if alone { 1 } else { 2 }] {
        let family = u64::from(family.unsigned_abs());
        others.push(SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)?);
    }
    let uring = [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];
    let mut rules: Rules = uring.into_iter().map(|number| (number, Vec::new())).collect();
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(others)?]);
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_filters_compile_and_know_the_second_set_of_numbers() {
        for rules in [reading().unwrap(), offline(false).unwrap(), offline(true).unwrap()] {
            let program = compiled(rules).unwrap();
            assert!(program.len() > 8);
            assert_eq!(program[0].k, 0, "the first instruction loads the call's number");
        }
    }
}
