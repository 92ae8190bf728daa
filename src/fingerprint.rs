//! The hash of what is written down and read again by another version: stable, unlike the standard library's hasher.

/// FNV-1a with 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>). It tells things apart by accident only: somebody
/// who wants two with the same hash finds them.
#[must_use]
pub fn fingerprint(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let fold = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_its_authors_publish() {
        for (text, expected) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(fingerprint(text.bytes()), expected, "{text}");
        }
    }
}
