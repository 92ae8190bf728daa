//! What the heads that share their keys make of what they see, with the registers of AVX-512.

#![expect(unsafe_code, reason = "loads from slices and stores into them, both of checked length")]

use std::arch::x86_64::{
    __m512, _mm_add_ps, _mm_loadu_si128, _mm_storeu_ps, _mm256_add_ps, _mm256_castps256_ps128,
    _mm256_extractf128_ps, _mm512_add_ps, _mm512_castpd_ps, _mm512_castps_pd, _mm512_castps512_ps256,
    _mm512_cvtepi8_epi32, _mm512_cvtepi32_ps, _mm512_extractf32x8_ps, _mm512_fmadd_ps, _mm512_loadu_ps,
    _mm512_mul_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps, _mm512_unpackhi_pd, _mm512_unpackhi_ps,
    _mm512_unpacklo_pd, _mm512_unpacklo_ps,
};

use super::attention::shares;
use super::past::{Heads, PART, Rounded};

/// Places whose keys or values are widened at once, for all heads.
const PLACES: usize = 16;

/// The numbers of a head.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn widened<const REGISTERS: usize>(numbers: Rounded<'_>) -> [__m512; REGISTERS] {
    let bytes = &numbers.bytes[..REGISTERS * 16];
    let scales = &numbers.scales[..REGISTERS * 16 / PART];
    std::array::from_fn(|index| {
        // SAFETY: sixteen bytes a register are there.
        let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().add(index * 16).cast()) };
        _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes)), _mm512_set1_ps(scales[index * 16 / PART]))
    })
}

/// Lets the heads of one token, each of `16 * REGISTERS` numbers in `queries`, look at the first `seen` places.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma")]
pub(super) fn attend<const REGISTERS: usize>(
    queries: &[f32],
    [keys, values]: [Heads<'_>; 2],
    seen: usize,
    out: &mut [f32],
) {
    let head = REGISTERS * 16;
    let scale = 1.0 / (head as f32).sqrt();
    let length = seen.next_multiple_of(PLACES);
    let mut weights = vec![0.0_f32; queries.len() / head * length];
    let mut wide = [[_mm512_setzero_ps(); REGISTERS]; PLACES];
    for from in (0..seen).step_by(PLACES) {
        let count = PLACES.min(seen - from);
        for (index, wide) in wide[..count].iter_mut().enumerate() {
            *wide = widened(keys.at(from + index));
        }
        for (query, weights) in queries.chunks_exact(head).zip(weights.chunks_exact_mut(length)) {
            let query: [__m512; REGISTERS] = load(query);
            for (weights, wide) in weights[from..].as_chunks_mut::<4>().0.iter_mut().zip(wide.as_chunks::<4>().0) {
                let products = wide.each_ref().map(|key| {
                    let mut sum = _mm512_setzero_ps();
                    for (query, key) in query.iter().zip(key) {
                        sum = _mm512_fmadd_ps(*query, *key, sum);
                    }
                    sum
                });
                *weights = sums(products);
            }
        }
    }
    for weights in weights.chunks_exact_mut(length) {
        shares(&mut weights[..seen], scale);
    }
    out.fill(0.0);
    for from in (0..seen).step_by(PLACES) {
        let count = PLACES.min(seen - from);
        for (index, wide) in wide[..count].iter_mut().enumerate() {
            *wide = widened(values.at(from + index));
        }
        for (out, weights) in out.chunks_exact_mut(head).zip(weights.chunks_exact(length)) {
            let mut sums: [__m512; REGISTERS] = load(out);
            for (value, weight) in wide[..count].iter().zip(&weights[from..]) {
                let weight = _mm512_set1_ps(*weight);
                for (sum, value) in sums.iter_mut().zip(value) {
                    *sum = _mm512_fmadd_ps(weight, *value, *sum);
                }
            }
            for (out, sum) in out.as_chunks_mut::<16>().0.iter_mut().zip(sums) {
                // SAFETY: sixteen numbers are there.
                unsafe { _mm512_storeu_ps(out.as_mut_ptr(), sum) };
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn load<const REGISTERS: usize>(numbers: &[f32]) -> [__m512; REGISTERS] {
    let numbers = &numbers[..REGISTERS * 16];
    // SAFETY: sixteen numbers a register are there.
    std::array::from_fn(|index| unsafe { _mm512_loadu_ps(numbers.as_ptr().add(index * 16)) })
}

/// The sums of four registers.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn sums([first, second, third, fourth]: [__m512; 4]) -> [f32; 4] {
    let left =
        _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(first, second), _mm512_unpackhi_ps(first, second)));
    let right =
        _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(third, fourth), _mm512_unpackhi_ps(third, fourth)));
    let (low, high) = (_mm512_unpacklo_pd(left, right), _mm512_unpackhi_pd(left, right));
    let all = _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high));
    let half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps::<1>(all));
    let quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps::<1>(half));
    let mut sums = [0.0; 4];
    // SAFETY: four numbers are there.
    unsafe { _mm_storeu_ps(sums.as_mut_ptr(), quarter) };
    sums
}
