//! Rows of weights times activations with the byte products of AVX-512 (VNNI): twice the width, a third of the steps.

#![expect(unsafe_code, reason = "loads from slices and stores into them, both of checked length")]

use std::arch::x86_64::{
    __m128, __m256, __m512, __m512i, _MM_HINT_T0, _mm_add_ps, _mm_add_ss, _mm_cvtepu8_epi16, _mm_cvtph_ps,
    _mm_cvtsi64_si128, _mm_cvtss_f32, _mm_loadu_ps, _mm_loadu_si128, _mm_movehdup_ps, _mm_movehl_ps, _mm_mul_ps,
    _mm_prefetch, _mm_set_epi64x, _mm256_add_ps, _mm256_castps256_ps128, _mm256_cvtepi8_epi16, _mm256_cvtepi32_ps,
    _mm256_cvtepu16_epi32, _mm256_extractf128_ps, _mm256_fnmadd_ps, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_or_si256, _mm256_set_m128i, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_slli_epi32,
    _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_broadcast_i64x4, _mm512_castps128_ps512,
    _mm512_castps512_ps256, _mm512_castsi256_si512, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_dpwssd_epi32,
    _mm512_extractf32x8_ps, _mm512_fmadd_ps, _mm512_inserti64x4, _mm512_loadu_si512, _mm512_mask_add_epi8,
    _mm512_or_si512, _mm512_packs_epi32, _mm512_permutexvar_epi16, _mm512_permutexvar_epi64, _mm512_permutexvar_ps,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_set1_ps, _mm512_setr_epi32, _mm512_setr_epi64,
    _mm512_setzero_ps, _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_slli_epi16, _mm512_srlv_epi16,
    _mm512_xor_si512,
};

use super::blocks::{Activations, scales_and_minima};
use super::vector_loads::{half, load_sums};

/// How far ahead the memory is asked, in bytes.
const AHEAD: usize = 2048;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn load(bytes: &[u8]) -> __m512i {
    assert!(bytes.len() >= 64);
    // SAFETY: 64 bytes are there; the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn load_signed(bytes: &[i8]) -> __m512i {
    assert!(bytes.len() >= 64);
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The same 32 bytes in both halves.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn load_twice(bytes: &[u8]) -> __m512i {
    assert!(bytes.len() >= 32);
    // SAFETY: 32 bytes are there.
    _mm512_broadcast_i64x4(unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) })
}

/// Has the memory send what is needed next: by itself it stops at the end of each page.
#[target_feature(enable = "avx512f")]
fn ahead(block: &[u8], lines: usize) {
    for line in 0..lines {
        // A hint about any address, also of none.
        _mm_prefetch::<_MM_HINT_T0>(block.as_ptr().wrapping_add(AHEAD + line * 64).cast());
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
fn sum(wide: __m512, narrow: __m256) -> f32 {
    let eight = _mm256_add_ps(_mm512_castps512_ps256(wide), _mm512_extractf32x8_ps::<1>(wide));
    let eight = _mm256_add_ps(eight, narrow);
    let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}

/// Four bits a number. A pair of parts is unpacked into one register, the products of two pairs are narrowed into
/// one, which meets the scales: they stay below 32,768.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
pub(super) fn four<const N: usize>(row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    const ZERO: i64 = i64::from_le_bytes([0, 128, 0, 128, 0, 128, 0, 128]);
    const STEP: i64 = i64::from_le_bytes([1, 0, 1, 0, 1, 0, 1, 0]);
    let blocks = activations.width / 256;
    let low = _mm512_set1_epi8(15);
    let nibbles = {
        let high = i64::from_le_bytes([4, 0, 4, 0, 4, 0, 4, 0]);
        _mm512_setr_epi64(0, 0, 0, 0, high, high, high, high)
    };
    // Where the scales of parts stand in a register of narrowed products.
    let places = |from: i64| {
        let (even, odd) = (ZERO + STEP * from, ZERO + STEP * (from + 1));
        let (even_next, odd_next) = (ZERO + STEP * (from + 2), ZERO + STEP * (from + 3));
        _mm512_setr_epi64(even, even_next, even, even_next, odd, odd_next, odd, odd_next)
    };
    let (places, next_places) = (places(0), places(4));
    let mut totals = [_mm512_setzero_ps(); N];
    let mut less = [_mm256_setzero_ps(); N];
    for (block, weights) in row.as_chunks::<144>().0.iter().enumerate() {
        ahead(weights, 4);
        let (scale, minimum) = (half(weights, 0), half(weights, 2));
        let (scales, minima) = scales_and_minima(&weights[4..16]);
        let scales = _mm512_set1_epi64(i64::from_le_bytes(scales));
        let factors = [_mm512_shuffle_epi8(scales, places), _mm512_shuffle_epi8(scales, next_places)];
        let minima = _mm256_cvtepu16_epi32(_mm_cvtepu8_epi16(_mm_set_epi64x(0, i64::from_le_bytes(minima))));
        let minima = _mm256_or_si256(minima, _mm256_slli_epi32::<16>(minima));
        let numbers: [__m512i; 4] = std::array::from_fn(|pair| {
            _mm512_and_si512(_mm512_srlv_epi16(load_twice(&weights[16 + pair * 32..]), nibbles), low)
        });
        for token in 0..N {
            let at = (first + token) * blocks + block;
            let bytes = &activations.bytes.as_chunks::<256>().0[at];
            let zero = _mm512_setzero_si512();
            let products: [__m512i; 4] = std::array::from_fn(|pair| {
                _mm512_dpbusd_epi32(zero, numbers[pair], load_signed(&bytes[pair * 64..]))
            });
            let sums = _mm512_dpwssd_epi32(zero, _mm512_packs_epi32(products[0], products[1]), factors[0]);
            let sums = _mm512_dpwssd_epi32(sums, _mm512_packs_epi32(products[2], products[3]), factors[1]);
            let factor = activations.scales[at];
            totals[token] =
                _mm512_fmadd_ps(_mm512_set1_ps(scale * factor), _mm512_cvtepi32_ps(sums), totals[token]);
            let taken = _mm256_madd_epi16(minima, load_sums(&activations.sums[at * 16..]));
            less[token] =
                _mm256_fnmadd_ps(_mm256_set1_ps(minimum * factor), _mm256_cvtepi32_ps(taken), less[token]);
        }
    }
    std::array::from_fn(|token| sum(totals[token], less[token]))
}

/// Six bits a number, 32 too high: that much times what they meet is taken back.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
pub(super) fn six<const N: usize>(row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    let blocks = activations.width / 256;
    let (low, high) = (_mm512_set1_epi8(15), _mm512_set1_epi8(0x30));
    let by = |left: i64, right: i64| {
        let spread = |bits: i64| bits * 0x0001_0001_0001_0001;
        let (left, right) = (spread(left), spread(right));
        _mm512_setr_epi64(left, left, left, left, right, right, right, right)
    };
    let (nibble, two, six) = (by(4, 4), by(0, 2), by(4, 6));
    // Lane by lane: four products of scale n, four of scale n + 4.
    let places = |from: i64| {
        let spread = |scale: i64| scale * 0x0001_0001_0001_0001;
        let at = |scale: i64| spread(from + scale);
        _mm512_setr_epi64(at(0), at(4), at(1), at(5), at(2), at(6), at(3), at(7))
    };
    let places = [places(0), places(8)];
    let mut totals = [_mm512_setzero_ps(); N];
    let mut less = [_mm256_setzero_ps(); N];
    for (block, weights) in row.as_chunks::<210>().0.iter().enumerate() {
        ahead(weights, 4);
        let scale = half(weights, 208);
        // SAFETY: sixteen bytes of scales follow the 192 of numbers.
        let scales = _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(weights[192..208].as_ptr().cast()) });
        let wide = _mm512_castsi256_si512(scales);
        let factors = places.map(|places| _mm512_permutexvar_epi16(places, wide));
        let numbers: [__m512i; 4] = std::array::from_fn(|index| {
            let (part, upper) = (index / 2, index % 2 == 1);
            let fours = load(&weights[part * 64..]);
            let fours = if upper { _mm512_srlv_epi16(fours, nibble) } else { fours };
            let twos = load_twice(&weights[128 + part * 32..]);
            let twos = _mm512_srlv_epi16(twos, if upper { six } else { two });
            let twos = _mm512_and_si512(_mm512_slli_epi16::<4>(twos), high);
            _mm512_or_si512(_mm512_and_si512(fours, low), twos)
        });
        for token in 0..N {
            let at = (first + token) * blocks + block;
            let bytes = &activations.bytes.as_chunks::<256>().0[at];
            let zero = _mm512_setzero_si512();
            let products: [__m512i; 4] = std::array::from_fn(|pair| {
                _mm512_dpbusd_epi32(zero, numbers[pair], load_signed(&bytes[pair * 64..]))
            });
            let sums = _mm512_dpwssd_epi32(zero, _mm512_packs_epi32(products[0], products[1]), factors[0]);
            let sums = _mm512_dpwssd_epi32(sums, _mm512_packs_epi32(products[2], products[3]), factors[1]);
            let factor = scale * activations.scales[at];
            totals[token] = _mm512_fmadd_ps(_mm512_set1_ps(factor), _mm512_cvtepi32_ps(sums), totals[token]);
            let taken = _mm256_madd_epi16(scales, load_sums(&activations.sums[at * 16..]));
            less[token] = _mm256_fnmadd_ps(_mm256_set1_ps(factor * 32.0), _mm256_cvtepi32_ps(taken), less[token]);
        }
    }
    std::array::from_fn(|token| sum(totals[token], less[token]))
}

/// Blocks of 32 numbers of some bits that stand in the middle of what they can be, four at a time; how many were done.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
pub(super) fn narrow<const N: usize, const BITS: usize>(
    row: &[u8],
    activations: &Activations,
    first: usize,
) -> ([f32; N], usize) {
    let size = 2 + BITS * 4;
    let blocks = activations.width / 32;
    // That much times what the numbers meet is taken back: of block n in lane n, or 8 + n.
    let above = -(1_i32 << (BITS - 1)) & 0xffff;
    let both = above | above << 16;
    let taken = [
        _mm512_setr_epi32(both, 0, 0, 0, 0, 0, 0, 0, 0, both, 0, 0, 0, 0, 0, 0),
        _mm512_setr_epi32(0, 0, both, 0, 0, 0, 0, 0, 0, 0, 0, both, 0, 0, 0, 0),
    ];
    let places =
        [0, 2].map(|block| _mm512_inserti64x4::<1>(_mm512_set1_epi32(block), _mm256_set1_epi32(block + 1)));
    let mut totals = [_mm512_setzero_ps(); N];
    let (mut done, step) = (0, size * 4);
    for weights in row.chunks_exact(step) {
        ahead(weights, step.div_ceil(64));
        let scale =
            |block: usize| u64::from(u16::from_le_bytes([weights[block * size], weights[block * size + 1]]));
        let scales = scale(0) | scale(1) << 16 | scale(2) << 32 | scale(3) << 48;
        let scales = _mm_cvtph_ps(_mm_cvtsi64_si128(scales as i64));
        let numbers = [pair::<BITS>(weights, size), pair::<BITS>(&weights[size * 2..], size)];
        for (token, total) in totals.iter_mut().enumerate() {
            let at = (first + token) * blocks + done;
            let bytes = &activations.bytes[at * 32..][..128];
            let sums = four_sums(&activations.sums[at * 2..]);
            let scales = _mm512_castps128_ps512(_mm_mul_ps(scales, four_scales(&activations.scales[at..])));
            for half in 0..2 {
                let products =
                    _mm512_dpbusd_epi32(_mm512_setzero_si512(), numbers[half], load_signed(&bytes[half * 64..]));
                let products = _mm512_cvtepi32_ps(_mm512_dpwssd_epi32(products, sums, taken[half]));
                *total = _mm512_fmadd_ps(_mm512_permutexvar_ps(places[half], scales), products, *total);
            }
        }
        done += 4;
    }
    (totals.map(|total| sum(total, _mm256_setzero_ps())), done)
}

/// The numbers of two blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
fn pair<const BITS: usize>(weights: &[u8], size: usize) -> __m512i {
    let (left, right) = (&weights[..size], &weights[size..size * 2]);
    match BITS {
        4 => nibbles(&left[2..], &right[2..]),
        5 => {
            let word = |block: &[u8]| u64::from(u32::from_le_bytes([block[2], block[3], block[4], block[5]]));
            let fours = nibbles(&left[6..], &right[6..]);
            _mm512_mask_add_epi8(fours, word(left) | word(right) << 32, fours, _mm512_set1_epi8(16))
        }
        _ => {
            assert!(size == 34);
            // SAFETY: 32 bytes follow each scale of two bytes.
            let (left, right) = unsafe {
                let bytes = |block: &[u8]| _mm256_loadu_si256(block.as_ptr().add(2).cast());
                (bytes(left), bytes(right))
            };
            let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(left), right);
            _mm512_xor_si512(both, _mm512_set1_epi8(-128))
        }
    }
}

/// Twice 32 numbers of four bits, the first sixteen of each in the low halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn nibbles(left: &[u8], right: &[u8]) -> __m512i {
    assert!(left.len() >= 16 && right.len() >= 16);
    // SAFETY: sixteen bytes are in each.
    let (left, right) = unsafe { (_mm_loadu_si128(left.as_ptr().cast()), _mm_loadu_si128(right.as_ptr().cast())) };
    let both = _mm512_castsi256_si512(_mm256_set_m128i(right, left));
    let spread = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 0, 1, 2, 3, 2, 3), both);
    let four = i64::from_le_bytes([4, 0, 4, 0, 4, 0, 4, 0]);
    let shifted = _mm512_srlv_epi16(spread, _mm512_setr_epi64(0, 0, four, four, 0, 0, four, four));
    _mm512_and_si512(shifted, _mm512_set1_epi8(15))
}

/// The sums of four blocks, two each, four times over.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn four_sums(sums: &[i16]) -> __m512i {
    assert!(sums.len() >= 8);
    // SAFETY: sixteen bytes are there.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(sums.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn four_scales(scales: &[f32]) -> __m128 {
    assert!(scales.len() >= 4);
    // SAFETY: sixteen bytes are there.
    unsafe { _mm_loadu_ps(scales.as_ptr()) }
}
