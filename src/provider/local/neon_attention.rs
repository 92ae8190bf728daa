//! What was seen, looked at by all heads that share it. Keys and values are widened once for them.
//!
//! The loops have known lengths and no branches: they are compiled into the vector instructions of whoever calls them,
//! which must multiply and add in one.

#![expect(clippy::inline_always, reason = "only in its caller's body is it compiled for its caller's processor")]

use std::ops::Range;

use super::attention::{LANES, shares};
use super::past::{Heads, PART};

/// Places whose keys or values are widened at once.
const PLACES: usize = 8;

/// Lets heads of one token look at the first `seen` places.
#[inline(always)]
pub(super) fn attend(queries: &[f32], [keys, values]: [Heads<'_>; 2], seen: usize, out: &mut [f32]) {
    let head = keys.head;
    let length = seen.next_multiple_of(PLACES);
    let mut weights = vec![0.0; queries.len() / head * length];
    let mut wide = vec![0.0; PLACES * head];
    for from in (0..seen).step_by(PLACES) {
        widen(keys, from..seen.min(from + PLACES), &mut wide);
        for (query, weights) in queries.chunks_exact(head).zip(weights.chunks_exact_mut(length)) {
            for (weight, key) in weights[from..].iter_mut().zip(wide.chunks_exact(head)) {
                *weight = product(query, key);
            }
        }
    }
    for weights in weights.chunks_exact_mut(length) {
        shares(&mut weights[..seen], 1.0 / (head as f32).sqrt());
    }
    out.fill(0.0);
    for from in (0..seen).step_by(PLACES) {
        let places = from..seen.min(from + PLACES);
        widen(values, places.clone(), &mut wide);
        for (out, weights) in out.chunks_exact_mut(head).zip(weights.chunks_exact(length)) {
            let (parts, rest) = out.as_chunks_mut::<PART>();
            for (part, out) in parts.iter_mut().enumerate() {
                add(out, &wide[part * PART..], head, &weights[places.clone()]);
            }
            let done = parts.len() * PART;
            for (part, out) in rest.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                add(out, &wide[done + part * LANES..], head, &weights[places.clone()]);
            }
        }
    }
}

/// The numbers of some places, one behind the other.
#[inline(always)]
fn widen(heads: Heads<'_>, places: Range<usize>, wide: &mut [f32]) {
    for (place, wide) in places.zip(wide.chunks_exact_mut(heads.head)) {
        for (wide, (bytes, scale)) in wide.chunks_mut(PART).zip(heads.at(place).parts()) {
            for (wide, byte) in wide.iter_mut().zip(bytes) {
                *wide = f32::from(*byte) * scale;
            }
        }
    }
}

/// The sum of products.
#[inline(always)]
fn product(query: &[f32], key: &[f32]) -> f32 {
    let ((query, query_rest), (key, key_rest)) = (query.as_chunks::<PART>(), key.as_chunks::<PART>());
    let mut sums = [0.0; PART];
    for (query, key) in query.iter().zip(key) {
        multiply(&mut sums, query, key);
    }
    let mut sums = eighths(&sums);
    for (query, key) in query_rest.as_chunks().0.iter().zip(key_rest.as_chunks().0) {
        multiply(&mut sums, query, key);
    }
    let sums: [f32; 4] = std::array::from_fn(|lane| sums[lane] + sums[lane + 4]);
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

#[inline(always)]
fn multiply<const N: usize>(sums: &mut [f32; N], left: &[f32; N], right: &[f32; N]) {
    for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
        *sum = left.mul_add(*right, *sum);
    }
}

/// Sums that are a multiple of [`LANES`] apart, together.
#[inline(always)]
fn eighths(sums: &[f32; PART]) -> [f32; LANES] {
    let mut all = [0.0; LANES];
    for sums in sums.as_chunks::<LANES>().0 {
        for (all, sum) in all.iter_mut().zip(sums) {
            *all += sum;
        }
    }
    all
}

/// Adds to a part of a head the same part of some values, each `head` numbers behind the one before, times its weight.
#[inline(always)]
fn add<const N: usize>(out: &mut [f32; N], values: &[f32], head: usize, weights: &[f32]) {
    let mut sums = *out;
    for (value, weight) in values.chunks(head).zip(weights) {
        for (sum, value) in sums.iter_mut().zip(&value[..N]) {
            *sum = weight.mul_add(*value, *sum);
        }
    }
    *out = sums;
}
