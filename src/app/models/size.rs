//! Sizes in the unit people read.

/// Writes a number of bytes, of gigabytes with one digit behind the point.
pub(in crate::app) fn megabytes(bytes: u64) -> String {
    if bytes >= 1_000_000_000 {
        let tenths = bytes.saturating_add(50_000_000) / 100_000_000;
        format!("{}.{} GB", tenths / 10, tenths % 10)
    } else {
        format!("{} MB", bytes / 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gigabytes_are_rounded() {
        let shown = [2_497_280_256, 1_117_320_768, 1_960_000_000, 491_400_064, 0].map(megabytes);
        assert_eq!(shown, ["2.5 GB", "1.1 GB", "2.0 GB", "491 MB", "0 MB"]);
    }
}
