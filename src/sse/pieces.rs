//! Bytes in pieces, as a network brings them.

use proptest::sample::Index;

/// Cuts bytes at the given places, in any order.
pub(crate) fn cut<'a>(bytes: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    at.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = 0;
    for to in at {
        pieces.push(&bytes[from..to]);
        from = to;
    }
    pieces.push(&bytes[from..]);
    pieces
}
