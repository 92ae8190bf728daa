//! What filters of system calls are made of, and how the arguments of a call are read.

use std::ffi::CString;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use rustix::io::Errno;
use seccompiler::sock_filter;

/// The kernel's name of this processor (linux/audit.h).
#[cfg(target_arch = "x86_64")]
pub(super) const PROCESSOR: u32 = 0xc000_003e;
/// As above; another processor has no filters here (`system_calls::are_filtered`).
#[cfg(not(target_arch = "x86_64"))]
pub(super) const PROCESSOR: u32 = 0xc000_00b7;

/// The longest path, with its end (`PATH_MAX`, linux/limits.h).
pub(super) const LONGEST_PATH: usize = 4096;

/// What is read at once never reaches into another page: the next may not be there.
const PAGE: u64 = 4096;

/// Loads a word of what is known of the call (linux/bpf_common.h: `BPF_LD | BPF_W | BPF_ABS`).
pub(super) const fn load(offset: u32) -> sock_filter {
    sock_filter { code: 0x20, jt: 0, jf: 0, k: offset }
}

pub(super) const fn jump(code: u16, value: u32, taken: u8, else_taken: u8) -> sock_filter {
    sock_filter { code, jt: taken, jf: else_taken, k: value }
}

/// Skips so many instructions unless the loaded word is this one (`BPF_JMP | BPF_JEQ | BPF_K`).
pub(super) const fn unless_equal(value: u32, skipped: u8) -> sock_filter {
    jump(0x15, value, 0, skipped)
}

pub(super) const fn ret(answer: u32) -> sock_filter {
    jump(0x06, answer, 0, 0)
}

/// Reads a text that ends with a zero within so many bytes.
pub(super) fn text(memory: &File, mut address: u64, longest: usize, too_long: Errno) -> Result<CString, Errno> {
    let mut read = Vec::new();
    while read.len() < longest {
        let in_page = usize::try_from(PAGE - address % PAGE).unwrap_or(1);
        let mut chunk = vec![0; in_page.min(longest - read.len())];
        memory.read_exact_at(&mut chunk, address).map_err(|_| Errno::FAULT)?;
        read.extend_from_slice(&chunk);
        if let Ok(text) = std::ffi::CStr::from_bytes_until_nul(&read) {
            return Ok(text.to_owned());
        }
        address = address.checked_add(chunk.len() as u64).ok_or(Errno::FAULT)?;
    }
    Err(too_long)
}

/// The lower half of an argument, which is all the kernel looks at where it takes an `int`.
#[expect(clippy::cast_possible_truncation, reason = "cutting it off is what the kernel does")]
pub(super) const fn word(argument: u64) -> i32 {
    argument as i32
}
