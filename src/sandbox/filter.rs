//! Builds filters of system calls, and reads the arguments of a call.

use std::ffi::CString;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use rustix::io::Errno;
use seccompiler::sock_filter;

/// The kernel's number for this processor (linux/audit.h).
#[cfg(target_arch = "x86_64")]
pub(super) const PROCESSOR: u32 = 0xc000_003e;
/// As above; on other processors there are no filters (`system_calls::are_filtered`).
#[cfg(not(target_arch = "x86_64"))]
pub(super) const PROCESSOR: u32 = 0xc000_00b7;

/// The longest path, including its final zero byte (`PATH_MAX`, linux/limits.h).
pub(super) const LONGEST_PATH: usize = 4096;

/// One read never crosses a page boundary: the next page may not exist.
const PAGE: u64 = 4096;

/// Loads a word of the call's data (linux/bpf_common.h: `BPF_LD | BPF_W | BPF_ABS`).
pub(super) const fn load(offset: u32) -> sock_filter {
    sock_filter { code: 0x20, jt: 0, jf: 0, k: offset }
}

pub(super) const fn jump(code: u16, value: u32, taken: u8, else_taken: u8) -> sock_filter {
    sock_filter { code, jt: taken, jf: else_taken, k: value }
}

/// Skips `skipped` instructions unless the loaded word is `value` (`BPF_JMP | BPF_JEQ | BPF_K`).
pub(super) const fn unless_equal(value: u32, skipped: u8) -> sock_filter {
    jump(0x15, value, 0, skipped)
}

pub(super) const fn ret(answer: u32) -> sock_filter {
    jump(0x06, answer, 0, 0)
}

/// Reads a text that ends with a zero byte, within `longest` bytes.
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

/// Returns the lower half of an argument: where the kernel takes an `int`, it looks at nothing else.
#[expect(clippy::cast_possible_truncation, reason = "cutting it off is what the kernel does")]
pub(super) const fn word(argument: u64) -> i32 {
    argument as i32
}
