//! Arbitrary model files, and a good one with some bytes changed: no panic, and no more memory than a few times the
//! file (libFuzzer's own limit is 2 GB).
//!
//! `bash fuzz/run 600 gguf`, or with a nightly compiler `cargo fuzz run gguf`.
#![no_main]

use std::io::Write;

use axi::provider::local::served;
use libfuzzer_sys::fuzz_target;

/// A model of one layer, all its weights zero.
const MODEL: &[u8] = include_bytes!("tiny.gguf");
/// Where its weights begin.
const HEAD: usize = 1_344;

fuzz_target!(|data: &[u8]| {
    let Some((&kind, data)) = data.split_first() else { return };
    let mut bytes = MODEL.to_vec();
    match kind % 3 {
        0 => bytes = data.to_vec(),
        // What is new in place of the file's own bytes, all behind it as it was.
        1 => {
            let Some((&[low, high], data)) = data.split_first_chunk() else { return };
            let at = usize::from(u16::from_le_bytes([low, high])) % HEAD;
            let end = (at + data.len()).min(bytes.len());
            bytes[at..end].copy_from_slice(&data[..end - at]);
        }
        _ => {
            for change in data.chunks_exact(3) {
                let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % HEAD;
                bytes[at] = change[2];
            }
        }
    }
    let Ok(mut file) = tempfile::NamedTempFile::new() else { return };
    if file.write_all(&bytes).is_ok() {
        drop(served(file.path()));
    }
});
