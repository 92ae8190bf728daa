//! What the heads that share their keys make of what they see, with the registers of AVX2. Several tokens look at once:
//! keys and values are widened once for all of them.

#![expect(unsafe_code, reason = "loads from slices and stores into them, both of checked length")]

use std::arch::x86_64::{
    __m256, _mm_add_ps, _mm_loadl_epi64, _mm_storeu_ps, _mm256_add_ps, _mm256_broadcast_ss, _mm256_castpd_ps,
    _mm256_castps_pd, _mm256_castps256_ps128, _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps, _mm256_extractf128_ps,
    _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    _mm256_unpackhi_pd, _mm256_unpackhi_ps, _mm256_unpacklo_pd, _mm256_unpacklo_ps,
};
use std::ops::Range;

use super::attention::{LANES, shares};
use super::past::{Heads, PART};

/// Places whose keys or values are widened at once: they fit into the nearest memory beside what meets them.
const PLACES: usize = 32;
/// Keys that meet a query at once, and registers of a value.
const TOGETHER: usize = 4;

/// Lets the heads of some tokens, `shared` of each, look at what was before: the first token at the first `seen`
/// places, each other at one more. What a token gets does not hang on the tokens beside it, to the last bit.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn attend(queries: &[f32], shared: usize, [keys, values]: [Heads<'_>; 2], seen: usize, out: &mut [f32]) {
    let head = keys.head;
    let most = seen + queries.len() / (head * shared) - 1;
    let length = most.next_multiple_of(PLACES);
    let mut weights = vec![0.0; queries.len() / head * length];
    let mut wide = vec![[0.0; LANES]; PLACES * head / LANES];
    for from in (0..most).step_by(PLACES) {
        let places = from..most.min(from + PLACES);
        widen(keys, places.clone(), &mut wide);
        let used = &wide[..places.len().next_multiple_of(TOGETHER) * head / LANES];
        for (queries, weights) in queries.chunks(head * 2).zip(weights.chunks_mut(length * 2)) {
            if queries.len() == head * 2 {
                score::<2>(queries, used, weights, from);
            } else {
                score::<1>(queries, used, weights, from);
            }
        }
    }
    for (index, weights) in weights.chunks_exact_mut(length).enumerate() {
        let (seen, unseen) = weights.split_at_mut(seen + index / shared);
        shares(seen, 1.0 / (head as f32).sqrt());
        unseen.fill(0.0);
    }
    out.fill(0.0);
    for from in (0..most).step_by(PLACES) {
        let places = from..most.min(from + PLACES);
        widen(values, places.clone(), &mut wide);
        for (out, weights) in out.chunks_mut(head * 2).zip(weights.chunks(length * 2)) {
            if out.len() == head * 2 {
                weigh::<2>(out, &wide, weights, places.clone());
            } else {
                weigh::<1>(out, &wide, weights, places.clone());
            }
        }
    }
}

/// The numbers of some places, one behind the other.
#[target_feature(enable = "avx2,fma,f16c")]
fn widen(heads: Heads<'_>, places: Range<usize>, wide: &mut [[f32; LANES]]) {
    for (place, wide) in places.zip(wide.chunks_exact_mut(heads.head / LANES)) {
        for (wide, (bytes, scale)) in wide.chunks_mut(PART / LANES).zip(heads.at(place).parts()) {
            let scale = _mm256_set1_ps(scale);
            for (wide, bytes) in wide.iter_mut().zip(bytes.as_chunks::<LANES>().0) {
                // SAFETY: eight bytes are there.
                let bytes = _mm256_cvtepi8_epi32(unsafe { _mm_loadl_epi64(bytes.as_ptr().cast()) });
                store(wide, _mm256_mul_ps(_mm256_cvtepi32_ps(bytes), scale));
            }
        }
    }
}

/// The products of `N` queries with keys, into the weights of each from one on.
#[target_feature(enable = "avx2,fma,f16c")]
fn score<const N: usize>(queries: &[f32], keys: &[[f32; LANES]], weights: &mut [f32], from: usize) {
    let (registers, length) = (queries.len() / N / LANES, weights.len() / N);
    let queries: [_; N] = std::array::from_fn(|query| &queries.as_chunks().0[query * registers..][..registers]);
    for (index, keys) in keys.chunks_exact(registers * TOGETHER).enumerate() {
        let keys: [_; TOGETHER] = std::array::from_fn(|key| &keys[key * registers..][..registers]);
        let mut products = [[_mm256_setzero_ps(); TOGETHER]; N];
        for register in 0..registers {
            let keys = keys.map(|key| load(&key[register]));
            for (products, query) in products.iter_mut().zip(queries) {
                let query = load(&query[register]);
                for (product, key) in products.iter_mut().zip(keys) {
                    *product = _mm256_fmadd_ps(query, key, *product);
                }
            }
        }
        for (products, weights) in products.into_iter().zip(weights.chunks_exact_mut(length)) {
            weights[from + index * TOGETHER..][..TOGETHER].copy_from_slice(&sums(products));
        }
    }
}

/// Adds the values of some places, times their weights, to `N` heads.
#[target_feature(enable = "avx2,fma,f16c")]
fn weigh<const N: usize>(out: &mut [f32], values: &[[f32; LANES]], weights: &[f32], places: Range<usize>) {
    let (registers, length) = (out.len() / N / LANES, weights.len() / N);
    let weights: [_; N] = std::array::from_fn(|head| &weights[head * length..][places.clone()]);
    let out = out.as_chunks_mut().0;
    let whole = registers / TOGETHER * TOGETHER;
    for at in (0..whole).step_by(TOGETHER) {
        weigh_part::<N, TOGETHER>(out, values, &weights, (registers, at));
    }
    for at in whole..registers {
        weigh_part::<N, 1>(out, values, &weights, (registers, at));
    }
}

/// Does so with as many registers as `WIDTH`, from one on, of the `registers` of a head.
#[target_feature(enable = "avx2,fma,f16c")]
fn weigh_part<const N: usize, const WIDTH: usize>(
    out: &mut [[f32; LANES]],
    values: &[[f32; LANES]],
    weights: &[&[f32]; N],
    (registers, at): (usize, usize),
) {
    let mut sums: [[__m256; WIDTH]; N] = std::array::from_fn(|head| {
        let out = &out[head * registers + at..][..WIDTH];
        std::array::from_fn(|index| load(&out[index]))
    });
    let weights = weights.map(|all| &all[..weights[0].len()]);
    for (place, values) in (0..weights[0].len()).zip(values.chunks_exact(registers)) {
        let values = &values[at..][..WIDTH];
        let values: [__m256; WIDTH] = std::array::from_fn(|index| load(&values[index]));
        for (sums, weights) in sums.iter_mut().zip(weights) {
            let weight = _mm256_broadcast_ss(&weights[place]);
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = _mm256_fmadd_ps(weight, value, *sum);
            }
        }
    }
    for (head, sums) in sums.iter().enumerate() {
        for (out, sum) in out[head * registers + at..].iter_mut().zip(sums) {
            store(out, *sum);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn load(numbers: &[f32; LANES]) -> __m256 {
    // SAFETY: eight numbers are there.
    unsafe { _mm256_loadu_ps(numbers.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn store(into: &mut [f32; LANES], numbers: __m256) {
    // SAFETY: room for eight numbers is there.
    unsafe { _mm256_storeu_ps(into.as_mut_ptr(), numbers) };
}

/// The sums of four registers.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn sums([first, second, third, fourth]: [__m256; 4]) -> [f32; 4] {
    let left =
        _mm256_castps_pd(_mm256_add_ps(_mm256_unpacklo_ps(first, second), _mm256_unpackhi_ps(first, second)));
    let right =
        _mm256_castps_pd(_mm256_add_ps(_mm256_unpacklo_ps(third, fourth), _mm256_unpackhi_ps(third, fourth)));
    let (low, high) = (_mm256_unpacklo_pd(left, right), _mm256_unpackhi_pd(left, right));
    let all = _mm256_add_ps(_mm256_castpd_ps(low), _mm256_castpd_ps(high));
    let quarter = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
    let mut sums = [0.0; 4];
    // SAFETY: four numbers are there.
    unsafe { _mm_storeu_ps(sums.as_mut_ptr(), quarter) };
    sums
}
