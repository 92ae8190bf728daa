//! What every way to look at what was seen has in common.
//!
//! The loops have known lengths and no branches: they are compiled into the vector instructions of whoever calls them.

#![expect(clippy::inline_always, reason = "only in its caller's body is it compiled for its caller's processor")]

use super::blocks::exp;

/// Numbers that are computed at once; a head is a multiple of them.
pub(super) const LANES: usize = 8;

/// Makes scores, times `scale`, shares of one.
#[inline(always)]
pub(super) fn shares(scores: &mut [f32], scale: f32) {
    let (eights, rest) = scores.as_chunks::<LANES>();
    let mut most = [f32::NEG_INFINITY; LANES];
    for eight in eights {
        for (most, score) in most.iter_mut().zip(eight) {
            *most = if score > most { *score } else { *most };
        }
    }
    let largest = most.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
    for score in scores.iter_mut() {
        *score = exp(scale * (*score - largest));
    }
    let (eights, rest) = scores.as_chunks::<LANES>();
    let mut totals = [0.0; LANES];
    for eight in eights {
        for (total, score) in totals.iter_mut().zip(eight) {
            *total += score;
        }
    }
    let inverse = 1.0 / totals.iter().chain(rest).sum::<f32>();
    for score in scores {
        *score *= inverse;
    }
}
