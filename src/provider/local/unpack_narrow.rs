//! Blocks of eight rows of weights, unpacked for the byte products of AVX2 (`panel_narrow`).

#![expect(unsafe_code, reason = "loads from slices of checked length")]

use std::arch::x86_64::{
    __m256, __m256i, _mm_loadu_si128, _mm_packus_epi32, _mm256_and_si256, _mm256_castsi128_si256,
    _mm256_castsi256_si128, _mm256_cvtph_ps, _mm256_extracti128_si256, _mm256_inserti128_si256, _mm256_loadu_ps,
    _mm256_loadu_si256, _mm256_mul_ps, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256, _mm256_slli_epi32, _mm256_sllv_epi32,
    _mm256_srai_epi32, _mm256_srli_epi32, _mm256_srlv_epi32, _mm256_sub_ps, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

use super::gguf::Format;
use super::unpack::{Unpacked, above};

/// Rows that are in a register.
pub(super) const LANES: usize = 8;

/// A block of eight rows, unpacked: number `n` of each row is byte `n % 4` of its lane in register `n / 4`.
pub(super) struct Panel {
    pub(super) numbers: [__m256i; 64],
    /// The scale of each part, twice in a lane.
    pub(super) scales: [__m256i; 16],
    /// What is taken away of each number of a part, that of two parts in a lane.
    pub(super) taken: [__m256i; 8],
    pub(super) factor: __m256,
    pub(super) taken_factor: __m256,
    /// Of narrow blocks: what a block's numbers are multiplied with, and what is taken away of each.
    pub(super) factors: [__m256; 8],
    pub(super) less: [__m256; 8],
}

impl Panel {
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) fn empty() -> Self {
        let zero = _mm256_setzero_si256();
        Self {
            numbers: [zero; 64],
            scales: [zero; 16],
            taken: [zero; 8],
            factor: _mm256_setzero_ps(),
            taken_factor: _mm256_setzero_ps(),
            factors: [_mm256_setzero_ps(); 8],
            less: [_mm256_setzero_ps(); 8],
        }
    }
}

/// Sixteen bytes of a row and of the fourth behind it.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn fourth(rows: &[u8], row: usize, at: usize) -> __m256i {
    assert!(rows.len() >= at + row * 4 + 16);
    // SAFETY: sixteen bytes are there at the last of two places, and at the one before it.
    unsafe {
        let bytes = rows.as_ptr().add(at);
        let first = _mm256_castsi128_si256(_mm_loadu_si128(bytes.cast()));
        _mm256_inserti128_si256::<1>(first, _mm_loadu_si128(bytes.add(row * 4).cast()))
    }
}

/// Sixteen bytes of each row, `at` bytes behind its start, as four registers with four bytes a row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn turned(rows: &[u8], row: usize, at: usize) -> [__m256i; 4] {
    let first = fourth(rows, row, at);
    let second = fourth(rows, row, at + row);
    let third = fourth(rows, row, at + row * 2);
    let fourth = fourth(rows, row, at + row * 3);
    let low = [_mm256_unpacklo_epi32(first, second), _mm256_unpacklo_epi32(third, fourth)];
    let high = [_mm256_unpackhi_epi32(first, second), _mm256_unpackhi_epi32(third, fourth)];
    [
        _mm256_unpacklo_epi64(low[0], low[1]),
        _mm256_unpackhi_epi64(low[0], low[1]),
        _mm256_unpacklo_epi64(high[0], high[1]),
        _mm256_unpackhi_epi64(high[0], high[1]),
    ]
}

/// A word of each row, `at` bytes behind its start; `SIZE` bytes of it, the rest is zero.
#[target_feature(enable = "avx2,fma,f16c")]
fn words<const SIZE: usize>(rows: &[u8], row: usize, at: usize) -> __m256i {
    let mut words = [0_u32; LANES];
    for (index, word) in words.iter_mut().enumerate() {
        let mut bytes = [0; 4];
        bytes[..SIZE].copy_from_slice(&rows[index * row + at..][..SIZE]);
        *word = u32::from_le_bytes(bytes);
    }
    // SAFETY: eight words are 32 bytes.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

/// Widens the half-precision numbers in the lower halves of lanes.
#[target_feature(enable = "avx2,fma,f16c")]
fn widened(halves: __m256i) -> __m256 {
    let halves = _mm256_and_si256(halves, _mm256_set1_epi32(0xffff));
    let (low, high) = (_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
    _mm256_cvtph_ps(_mm_packus_epi32(low, high))
}

/// A number below 2^15 twice in its lane.
#[target_feature(enable = "avx2,fma,f16c")]
fn twice(numbers: __m256i) -> __m256i {
    let low = _mm256_and_si256(numbers, _mm256_set1_epi32(0xffff));
    _mm256_or_si256(low, _mm256_slli_epi32::<16>(numbers))
}

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn four(panel: &mut Panel, rows: &[u8], row: usize, at: usize) {
    let low = _mm256_set1_epi8(15);
    for quad in 0..8 {
        for (index, fours) in turned(rows, row, at + 16 + quad * 16).into_iter().enumerate() {
            let place = quad / 2 * 16 + quad % 2 * 4 + index;
            panel.numbers[place] = _mm256_and_si256(fours, low);
            panel.numbers[place + 8] = _mm256_and_si256(_mm256_srli_epi32::<4>(fours), low);
        }
    }
    let [halves, first, second, third] = turned(rows, row, at);
    let (six, four, two) = (_mm256_set1_epi8(0x3f), _mm256_set1_epi8(0x0f), _mm256_set1_epi8(0x30));
    let mixed = |fours: __m256i, twos: __m256i| {
        let twos = _mm256_and_si256(_mm256_srli_epi32::<2>(twos), two);
        _mm256_or_si256(_mm256_and_si256(fours, four), twos)
    };
    let scales = [_mm256_and_si256(first, six), mixed(third, first)];
    let minima = [_mm256_and_si256(second, six), mixed(_mm256_srli_epi32::<4>(third), second)];
    let mut taken = [_mm256_setzero_si256(); 8];
    for part in 0..8 {
        let shift = _mm256_set1_epi32(part % 4 * 8);
        let byte = |words: [__m256i; 2]| {
            _mm256_and_si256(_mm256_srlv_epi32(words[part as usize / 4], shift), _mm256_set1_epi32(255))
        };
        panel.scales[part as usize] = twice(byte(scales));
        taken[part as usize] = byte(minima);
    }
    for (both, [left, right]) in panel.taken.iter_mut().zip(taken.as_chunks().0) {
        *both = _mm256_or_si256(*left, _mm256_slli_epi32::<16>(*right));
    }
    panel.factor = widened(halves);
    panel.taken_factor = widened(_mm256_srli_epi32::<16>(halves));
}

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn six(panel: &mut Panel, rows: &[u8], row: usize, at: usize) {
    let (low, high) = (_mm256_set1_epi8(15), _mm256_set1_epi8(0x30));
    for quad in 0..4 {
        let (part, half) = (quad / 2, quad % 2);
        let fours = [0, 32].map(|more| turned(rows, row, at + part * 64 + half * 16 + more));
        let twos = turned(rows, row, at + 128 + part * 32 + half * 16);
        for index in 0..4 {
            let place = part * 32 + half * 4 + index;
            let (first, second, twos) = (fours[0][index], fours[1][index], twos[index]);
            let joined = |four: __m256i, two: __m256i| {
                _mm256_or_si256(_mm256_and_si256(four, low), _mm256_and_si256(two, high))
            };
            panel.numbers[place] = joined(first, _mm256_slli_epi32::<4>(twos));
            panel.numbers[place + 8] = joined(second, _mm256_slli_epi32::<2>(twos));
            panel.numbers[place + 16] = joined(_mm256_srli_epi32::<4>(first), twos);
            panel.numbers[place + 24] = joined(_mm256_srli_epi32::<4>(second), _mm256_srli_epi32::<2>(twos));
        }
    }
    let scales = turned(rows, row, at + 192);
    let scales: [__m256i; 16] = std::array::from_fn(|part| {
        let up = _mm256_set1_epi32(24 - part as i32 % 4 * 8);
        _mm256_srai_epi32::<24>(_mm256_sllv_epi32(scales[part / 4], up))
    });
    for (twice_in_lane, scale) in panel.scales.iter_mut().zip(scales) {
        *twice_in_lane = twice(scale);
    }
    for (taken, [left, right]) in panel.taken.iter_mut().zip(scales.as_chunks().0) {
        let left = _mm256_and_si256(*left, _mm256_set1_epi32(0xffff));
        *taken = _mm256_or_si256(left, _mm256_slli_epi32::<16>(*right));
    }
    panel.factor = widened(words::<2>(rows, row, at + 208));
    panel.taken_factor = _mm256_mul_ps(panel.factor, _mm256_set1_ps(32.0));
}

/// Unpacks a block of 32 numbers of four or five bits.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn narrow_block(panel: &mut Panel, format: Format, rows: &[u8], row: usize, at: usize, index: usize) {
    let low = _mm256_set1_epi8(15);
    let has_minimum = matches!(format, Format::Q4One | Format::Q5One);
    let behind = at + if has_minimum { 4 } else { 2 };
    let factor = widened(words::<2>(rows, row, at));
    panel.factors[index] = factor;
    panel.less[index] = if has_minimum {
        _mm256_sub_ps(_mm256_setzero_ps(), widened(words::<2>(rows, row, at + 2)))
    } else {
        _mm256_mul_ps(factor, _mm256_set1_ps(f32::from(above(format))))
    };
    let has_fifths = matches!(format, Format::Q5Zero | Format::Q5One);
    let fifths = if has_fifths { words::<4>(rows, row, behind) } else { _mm256_setzero_si256() };
    let fifth = |place: usize| {
        // Four bits become the fifth of four bytes: each factor moves one of them there.
        let bits = _mm256_srlv_epi32(fifths, _mm256_set1_epi32(place as i32 * 4));
        let bits = _mm256_and_si256(bits, _mm256_set1_epi32(15));
        let spread = _mm256_mullo_epi32(bits, _mm256_set1_epi32(0x0020_4081 << 4));
        _mm256_and_si256(spread, _mm256_set1_epi8(16))
    };
    let packed = turned(rows, row, behind + if has_fifths { 4 } else { 0 });
    for (place, fours) in packed.into_iter().enumerate() {
        let high = _mm256_and_si256(_mm256_srli_epi32::<4>(fours), low);
        let mut both = [_mm256_and_si256(fours, low), high];
        if has_fifths {
            both = [_mm256_or_si256(both[0], fifth(place)), _mm256_or_si256(both[1], fifth(place + 4))];
        }
        [panel.numbers[index * 8 + place], panel.numbers[index * 8 + place + 4]] = both;
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn eight_narrow(panel: &mut Panel, rows: &[u8], row: usize, at: usize, index: usize) {
    panel.factors[index] = widened(words::<2>(rows, row, at));
    for half in 0..2 {
        let bytes = turned(rows, row, at + 2 + half * 16);
        panel.numbers[index * 8 + half * 4..][..4].copy_from_slice(&bytes);
    }
}

/// Unpacks a block of 256 numbers of any format, row by row.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn any(panel: &mut Panel, format: Format, rows: &[u8], row: usize, at: usize) {
    let size = format.block().1;
    // Sixteens that are one part.
    let parts = if format == Format::Q5K { 2 } else { 1 };
    let mut unpacked = Unpacked::EMPTY;
    let mut numbers = [[0; 256]; LANES];
    let (mut scales, mut taken) = ([[0; LANES]; 16], [[0; LANES]; 8]);
    let (mut factor, mut less) = ([0.0; LANES], [0.0; LANES]);
    let pair = |left: i16, right: i16| i32::from(left as u16) | i32::from(right) << 16;
    for (index, numbers) in numbers.iter_mut().enumerate() {
        unpacked.take(format, &rows[index * row + at..][..size]);
        *numbers = unpacked.numbers;
        for (scales, scale) in scales.iter_mut().zip(unpacked.scales) {
            scales[index] = pair(scale, scale);
        }
        for (part, taken) in taken[..8 / parts].iter_mut().enumerate() {
            taken[index] = pair(unpacked.minima[part * 2 * parts], unpacked.minima[(part * 2 + 1) * parts]);
        }
        (factor[index], less[index]) = (unpacked.factor, unpacked.less);
    }
    for (quad, turn) in panel.numbers.as_chunks_mut().0.iter_mut().enumerate() {
        *turn = turned(numbers.as_flattened(), 256, quad * 16);
    }
    let lanes = |numbers: &[i32; LANES]| {
        // SAFETY: eight words are 32 bytes.
        unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
    };
    panel.scales.iter_mut().zip(scales.iter().step_by(parts)).for_each(|(to, from)| *to = lanes(from));
    panel.taken.iter_mut().zip(&taken).for_each(|(to, from)| *to = lanes(from));
    // SAFETY: eight numbers are there, two times.
    (panel.factor, panel.taken_factor) =
        unsafe { (_mm256_loadu_ps(factor.as_ptr()), _mm256_loadu_ps(less.as_ptr())) };
}
