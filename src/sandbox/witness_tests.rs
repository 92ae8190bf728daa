use super::*;

/// Runs the filter as the kernel would (linux/bpf_common.h); knows only the instructions that the filter uses.
fn answered(processor: u32, number: c_long, address: u64) -> u32 {
    let program = program();
    let (mut place, mut loaded) = (0, 0);
    loop {
        let step = &program[place];
        place += 1;
        match (step.code, step.k) {
            (0x20, 0) => loaded = u32::try_from(number).unwrap(),
            (0x20, 4) => loaded = processor,
            (0x20, 48) => loaded = u32::try_from(address & u64::from(u32::MAX)).unwrap(),
            (0x20, 52) => loaded = u32::try_from(address >> 32).unwrap(),
            (0x15, value) => place += usize::from(if loaded == value { step.jt } else { step.jf }),
            (0x35, value) => place += usize::from(if loaded >= value { step.jt } else { step.jf }),
            (0x06, answer) => return answer,
            other => panic!("an instruction {other:?}"),
        }
    }
}

#[test]
fn what_names_somebody_is_looked_at_and_all_else_goes_by() {
    let (seen, allowed) = (libc::SECCOMP_RET_USER_NOTIF, libc::SECCOMP_RET_ALLOW);
    let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    for number in 0..500 {
        let expected = match number {
            libc::SYS_connect | libc::SYS_sendmsg | libc::SYS_sendmmsg => seen,
            number if renames::CALLS.contains(&number) || links::CALLS.contains(&number) => seen,
            libc::SYS_io_uring_setup => absent,
            _ => allowed,
        };
        assert_eq!(answered(PROCESSOR, number, 0), expected, "{number}");
        assert_eq!(answered(0x4000_0003, number, 0), allowed, "{number}");
    }
    for address in [1, 1 << 32, 0x7ffe_0000_0000, u64::MAX] {
        assert_eq!(answered(PROCESSOR, libc::SYS_sendto, address), seen, "{address}");
    }
}
