//! What the filter answers to each call, and what is read of one.

use std::ffi::CString;
use std::fs::File;

use super::*;

/// Runs the filter as the kernel would (linux/bpf_common.h); only what it is made of is known here.
fn answered(processor: u32, number: u32) -> u32 {
    let program = program();
    let (mut place, mut loaded) = (0, 0);
    loop {
        let step = &program[place];
        place += 1;
        match step.code {
            0x20 => loaded = if step.k == 4 { processor } else { number },
            0x15 => place += usize::from(if loaded == step.k { step.jt } else { step.jf }),
            0x35 => place += usize::from(if loaded >= step.k { step.jt } else { step.jf }),
            0x06 => return step.k,
            other => panic!("an instruction {other:#x}"),
        }
    }
}

fn number(call: c_long) -> u32 {
    u32::try_from(call).unwrap()
}

#[test]
fn the_filter_hands_over_what_changes_attributes_and_leaves_the_rest() {
    for (call, ..) in CALLS.iter().chain(CALLS_OLD) {
        assert_eq!(answered(PROCESSOR, number(*call)), libc::SECCOMP_RET_USER_NOTIF, "{call}");
    }
    let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    for call in ABSENT {
        assert_eq!(answered(PROCESSOR, number(*call)), absent, "{call}");
    }
    for call in [libc::SYS_read, libc::SYS_openat, libc::SYS_execve, libc::SYS_ioctl, libc::SYS_getxattr] {
        assert_eq!(answered(PROCESSOR, number(call)), libc::SECCOMP_RET_ALLOW, "{call}");
    }
    if let Some(second) = SECOND_SET {
        assert_eq!(answered(PROCESSOR, second), absent);
        assert_eq!(answered(PROCESSOR, second + 90), absent);
    }
}

#[test]
fn programs_of_32_bits_run_and_change_no_attributes() {
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    for number in OF_32_BITS {
        assert_eq!(answered(0x4000_0003, *number), refused, "{number}");
    }
    // Exit, read, write and what lies between the refused ones.
    for number in [1, 3, 4, 14, 17, 183, 300] {
        assert_eq!(answered(0x4000_0003, number), libc::SECCOMP_RET_ALLOW, "{number}");
    }
}

/// A file that stands for a memory whose first byte has the address 0.
fn memory(bytes: &[u8]) -> File {
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file
}

fn asked(call: c_long, arguments: [u64; 6]) -> Asked {
    Asked::made(i32::try_from(call).unwrap(), arguments)
}

#[test]
fn a_text_is_read_up_to_its_end_also_over_pages_and_never_past_its_limit() {
    let mut bytes = vec![0; 8192];
    bytes[4090..4100].copy_from_slice(b"over/pages");
    assert_eq!(text(&memory(&bytes), 4090, 4096, Errno::NAMETOOLONG), Ok(CString::new("over/pages").unwrap()));
    assert_eq!(text(&memory(&[b'a'; 8192]), 0, 4096, Errno::NAMETOOLONG), Err(Errno::NAMETOOLONG));
    assert_eq!(text(&memory(b"no end"), 0, 4096, Errno::NAMETOOLONG), Err(Errno::FAULT));
    for address in [9, 1 << 40, u64::MAX, u64::MAX - 4095] {
        assert_eq!(text(&memory(b"x"), address, 4096, Errno::NAMETOOLONG), Err(Errno::FAULT), "{address}");
    }
}

#[test]
fn a_call_is_read_as_the_kernel_reads_it() {
    let memory = memory(&[&b"........way\0"[..], &[0; 8180]].concat());
    let current = u64::from(libc::AT_FDCWD.cast_unsigned());
    let way = Some(CString::new("way").unwrap());
    let of = |call, arguments| read(&asked(call, arguments), &memory).map(|(object, _)| object);
    let object = |descriptor, path: &Option<CString>, follow| Ok(Object { descriptor, path: path.clone(), follow });
    assert_eq!(of(libc::SYS_fchmodat, [current, 8, 0o600, 0, 0, 0]), object(None, &way, true));
    // What lies above the lower half is nobody's.
    assert_eq!(of(libc::SYS_fchmodat, [7 | 9 << 32, 8, 0o600, 0x100, 0, 0]), object(Some(7), &way, true));
    assert_eq!(of(libc::SYS_fchownat, [7, 8, 1, 1, 0x100, 0]), object(Some(7), &way, false));
    assert_eq!(of(libc::SYS_fchownat, [7, 11, 1, 1, 0x1000, 0]), object(Some(7), &None, true));
    assert_eq!(of(libc::SYS_fchownat, [7, 11, 1, 1, 0, 0]), Err(Errno::NOENT));
    assert_eq!(of(libc::SYS_fchownat, [7, 8, 1, 1, 0x400, 0]), Err(Errno::INVAL));
    assert_eq!(of(libc::SYS_utimensat, [7, 0, 0, 0, 0, 0]), object(Some(7), &None, true));
    assert_eq!(of(libc::SYS_fchmod, [u64::MAX, 0o600, 0, 0, 0, 0]), object(Some(-1), &None, true));
    assert_eq!(of(libc::SYS_lsetxattr, [8, 8, 0, 0, 0, 0]), object(None, &way, false));
    assert_eq!(of(libc::SYS_setxattr, [8, 11, 0, 0, 0, 0]), Err(Errno::RANGE));
    assert_eq!(of(libc::SYS_setxattr, [8, 8, 0, 65537, 0, 0]), Err(Errno::TOOBIG));
    assert_eq!(of(libc::SYS_openat, [8, 8, 0, 1, 4, 0]), Err(Errno::NOSYS));
}

#[test]
fn times_are_read_in_each_unit() {
    let numbers =
        |numbers: &[i64]| memory(&numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<_>>());
    let of = |memory: &File, address, unit| {
        times(memory, address, unit).map(|times| {
            let pair = |time: Timespec| (time.tv_sec, time.tv_nsec);
            (pair(times.last_access), pair(times.last_modification))
        })
    };
    assert_eq!(of(&numbers(&[0, 1, 2, 3, 4]), 8, 1), Ok(((1, 2), (3, 4))));
    assert_eq!(of(&numbers(&[0, 1, 2, 3, 4]), 8, 1000), Ok(((1, 2000), (3, 4000))));
    assert_eq!(of(&numbers(&[0, 1, 2]), 8, 0), Ok(((1, 0), (2, 0))));
    assert_eq!(of(&numbers(&[0, 1, 1_000_000, 3, 4]), 8, 1000), Err(Errno::INVAL));
    assert_eq!(of(&numbers(&[0, 1, -1, 3, 4]), 8, 1000), Err(Errno::INVAL));
    assert_eq!(of(&numbers(&[0, 1]), 8, 1), Err(Errno::FAULT));
    assert_eq!(of(&numbers(&[]), 0, 1), Ok(((0, UTIME_NOW), (0, UTIME_NOW))));
}
