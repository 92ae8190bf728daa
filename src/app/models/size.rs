//! Sizes in the unit people read.

/// Writes a number of bytes.
pub(in crate::app) fn megabytes(bytes: u64) -> String {
    if bytes >= 1_000_000_000 {
        format!("{}.{} GB", bytes / 1_000_000_000, bytes / 100_000_000 % 10)
    } else {
        format!("{} MB", bytes / 1_000_000)
    }
}
