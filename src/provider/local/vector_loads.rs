//! Numbers that AVX2 and AVX-512 load in the same way.

#![expect(unsafe_code, reason = "loads from slices of checked length")]

use std::arch::x86_64::{__m256i, _mm_cvtph_ps, _mm_cvtsi32_si128, _mm_cvtss_f32, _mm256_loadu_si256};

/// Widens the half-precision number at a place.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn half(bytes: &[u8], at: usize) -> f32 {
    _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(i32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])))))
}

/// Loads the first sixteen sums.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn load_sums(sums: &[i16]) -> __m256i {
    assert!(sums.len() >= 16);
    // SAFETY: 32 bytes are there.
    unsafe { _mm256_loadu_si256(sums.as_ptr().cast()) }
}
