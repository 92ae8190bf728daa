//! Eight rows of weights at once times many tokens, with the byte products of AVX2: what `panel` does with AVX-512.
//!
//! A lane of a register is a row. Two products of an unsigned with a signed byte are summed in 16 bits, which hold as
//! many sums as the numbers of a format allow; only then they are widened, and multiplied with the scale of their part.

#![expect(unsafe_code, reason = "loads from slices and stores into them, both of checked length")]

use std::arch::x86_64::{
    __m256, __m256i, _MM_HINT_T0, _mm_hadd_epi16, _mm_prefetch, _mm_storeu_si128, _mm256_abs_epi8,
    _mm256_add_epi16, _mm256_add_epi32, _mm256_castsi256_si128, _mm256_cvtepi32_ps, _mm256_extracti128_si256,
    _mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_loadu_ps, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mul_ps,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256,
    _mm256_sign_epi8, _mm256_storeu_ps,
};

use super::blocks::Activations;
use super::gguf::Format;
use super::panel::ROWS;
use super::unpack_narrow::{LANES, Panel, any, eight_narrow, four, narrow_block, six};
use super::vector_loads::load_sums;

/// Tokens that are multiplied at once: with two halves as many sums as there are registers for.
const TOKENS: usize = 4;

/// Multiplies sixteen rows, one behind the other in `rows`, with all tokens: sixteen numbers a token. Nothing is
/// written, and `false` returned, where the format has no such way.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn panel(format: Format, rows: &[u8], activations: &Activations, out: &mut [f32]) -> bool {
    let mut panels = [Panel::empty(), Panel::empty()];
    let row = rows.len() / ROWS;
    let (numbers, size) = format.block();
    let step = 256 / numbers;
    out.fill(0.0);
    for block in (0..row / size).step_by(step) {
        let count = step.min(row / size - block);
        for (panel, rows) in panels.iter_mut().zip(rows.chunks_exact(row * LANES)) {
            for index in 0..count {
                let at = (block + index) * size;
                match format {
                    Format::Q4K => four(panel, rows, row, at),
                    Format::Q6K => six(panel, rows, row, at),
                    Format::Q2K | Format::Q3K | Format::Q5K => any(panel, format, rows, row, at),
                    Format::Q8Zero => eight_narrow(panel, rows, row, at, index),
                    Format::Q4Zero | Format::Q5Zero | Format::Q4One | Format::Q5One => {
                        narrow_block(panel, format, rows, row, at, index);
                    }
                    Format::BF16 | Format::F16 | Format::F32 => return false,
                }
            }
        }
        let at = |done: usize| (done, block, count);
        let (tiles, rest) = out.as_chunks_mut::<{ ROWS * TOKENS }>();
        let whole = tiles.len() * TOKENS;
        // Behind the last block come the first ones of the next sixteen rows.
        let next = if block + step < row / size { (block + step) * size } else { rows.len() };
        let share = ROWS.div_ceil(tiles.len().max(1));
        for (index, out) in tiles.iter_mut().enumerate() {
            for row in rows.chunks_exact(row).skip(index * share).take(share) {
                fetch(row, next, step * size);
            }
            tile::<TOKENS>(format, &panels, activations, at(index * TOKENS), out);
        }
        for (index, out) in rest.as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
            tile::<1>(format, &panels, activations, at(whole + index), out);
        }
    }
    true
}

/// Has the processor bring some bytes of a row, `from` its start on, while it computes: rows lie far from each other,
/// which it does not foresee. They need not be there.
#[target_feature(enable = "avx2,fma,f16c")]
fn fetch(row: &[u8], from: usize, count: usize) {
    for at in (from..from + count + 63).step_by(64) {
        _mm_prefetch::<_MM_HINT_T0>(row.as_ptr().wrapping_add(at).cast());
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn tile<const N: usize>(
    format: Format,
    panels: &[Panel; 2],
    activations: &Activations,
    at: (usize, usize, usize),
    out: &mut [f32],
) {
    match format {
        // At most 8 · 2 · 15 · 127, which 16 bits hold.
        Format::Q4K => wide::<N, 8, 8>(panels, activations, at, out),
        // At most 4 · 2 · 31 · 127.
        Format::Q5K => wide::<N, 8, 4>(panels, activations, at, out),
        // At most 4 · 2 · 7 · 127.
        Format::Q2K | Format::Q3K => wide::<N, 4, 4>(panels, activations, at, out),
        // At most 2 · 2 · 63 · 127.
        Format::Q6K => wide::<N, 4, 2>(panels, activations, at, out),
        // As with those of 256.
        Format::Q4Zero | Format::Q4One => narrow::<N, 8>(panels, activations, at, out),
        Format::Q5Zero | Format::Q5One => narrow::<N, 4>(panels, activations, at, out),
        Format::Q8Zero => eight::<N>(panels, activations, at, out),
        Format::BF16 | Format::F16 | Format::F32 => {}
    }
}

/// Adds the products of a block of 256 numbers, in parts of `4 * REGISTERS` that share a scale; the products of as many
/// registers as `SUMMED` are summed in 16 bits.
#[target_feature(enable = "avx2,fma,f16c")]
fn wide<const N: usize, const REGISTERS: usize, const SUMMED: usize>(
    panels: &[Panel; 2],
    activations: &Activations,
    (first, block, _): (usize, usize, usize),
    out: &mut [f32],
) {
    let blocks = activations.width / 256;
    let bytes: [&[i8; 256]; N] =
        std::array::from_fn(|token| &activations.bytes.as_chunks().0[(first + token) * blocks + block]);
    let mut sums = [[_mm256_setzero_si256(); 2]; N];
    for part in 0..64 / REGISTERS {
        for group in 0..REGISTERS / SUMMED {
            let short = summed::<N, SUMMED, 256>(panels, &bytes, part * REGISTERS + group * SUMMED, 0);
            for (sums, short) in sums.iter_mut().zip(&short) {
                for half in 0..2 {
                    let products = _mm256_madd_epi16(short[half], panels[half].scales[part]);
                    sums[half] = _mm256_add_epi32(sums[half], products);
                }
            }
        }
    }
    for (token, (sums, out)) in sums.iter().zip(out.as_chunks_mut::<ROWS>().0).enumerate() {
        let at = (first + token) * blocks + block;
        let sixteens = &activations.sums.as_chunks::<16>().0[at];
        let mut met = *sixteens;
        if REGISTERS == 8 {
            met[..8].copy_from_slice(&pairs(sixteens));
        }
        let mut taken = [_mm256_setzero_si256(); 2];
        for (index, met) in met.as_chunks::<2>().0[..32 / REGISTERS].iter().enumerate() {
            let met = two_times(*met);
            for half in 0..2 {
                let products = _mm256_madd_epi16(panels[half].taken[index], met);
                taken[half] = _mm256_add_epi32(taken[half], products);
            }
        }
        for (half, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
            let panel = &panels[half];
            let sum = _mm256_mul_ps(panel.factor, _mm256_cvtepi32_ps(sums[half]));
            let sum = _mm256_fnmadd_ps(panel.taken_factor, _mm256_cvtepi32_ps(taken[half]), sum);
            add(out, _mm256_set1_ps(activations.scales[at]), sum);
        }
    }
}

/// The products of as many registers of each half as `SUMMED`, from one on, in 16 bits. Four bytes of a token are
/// spread over a register once for both halves; the first of them is the first of register `before`.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn summed<const N: usize, const SUMMED: usize, const LENGTH: usize>(
    panels: &[Panel; 2],
    bytes: &[&[i8; LENGTH]; N],
    from: usize,
    before: usize,
) -> [[__m256i; 2]; N] {
    let mut short = [[_mm256_setzero_si256(); 2]; N];
    // Unrolled, it would multiply all first, and what comes of it would find no register.
    let count = if SUMMED > 4 { std::hint::black_box(SUMMED) } else { SUMMED };
    for index in from..from + count {
        // The remainders are the numbers themselves: with them, the compiler checks no place.
        let place = index % panels[0].numbers.len();
        let numbers = [panels[0].numbers[place], panels[1].numbers[place]];
        for (bytes, short) in bytes.iter().zip(&mut short) {
            let bytes = four_times(bytes.as_chunks::<4>().0[(index - before) % (LENGTH / 4)]);
            for half in 0..2 {
                short[half] = _mm256_add_epi16(short[half], _mm256_maddubs_epi16(numbers[half], bytes));
            }
        }
    }
    short
}

/// Adds the products of blocks of 32 numbers; the products of as many registers as `SUMMED` are summed in 16 bits.
#[target_feature(enable = "avx2,fma,f16c")]
fn narrow<const N: usize, const SUMMED: usize>(
    panels: &[Panel; 2],
    activations: &Activations,
    (first, block, count): (usize, usize, usize),
    out: &mut [f32],
) {
    let blocks = activations.width / 32;
    let one = _mm256_set1_epi16(1);
    let mut totals = [[_mm256_setzero_ps(); 2]; N];
    for index in 0..count {
        let at = |token: usize| (first + token) * blocks + block + index;
        let bytes: [&[i8; 32]; N] = std::array::from_fn(|token| &activations.bytes.as_chunks().0[at(token)]);
        let mut sums = [[_mm256_setzero_si256(); 2]; N];
        for group in 0..8 / SUMMED {
            let short = summed::<N, SUMMED, 32>(panels, &bytes, index * 8 + group * SUMMED, index * 8);
            for (sum, short) in sums.as_flattened_mut().iter_mut().zip(short.as_flattened()) {
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(*short, one));
            }
        }
        for (token, (totals, sums)) in totals.iter_mut().zip(sums).enumerate() {
            let (scale, mean) =
                (_mm256_set1_ps(activations.scales[at(token)]), _mm256_set1_ps(activations.means[at(token)]));
            for half in 0..2 {
                let factor = _mm256_mul_ps(panels[half].factors[index], scale);
                let total = _mm256_fmadd_ps(factor, _mm256_cvtepi32_ps(sums[half]), totals[half]);
                totals[half] = _mm256_fnmadd_ps(panels[half].less[index], mean, total);
            }
        }
    }
    add_all(out, &totals);
}

/// Adds the products of blocks of 32 signed bytes: the sign goes over to the other factor.
#[target_feature(enable = "avx2,fma,f16c")]
fn eight<const N: usize>(
    panels: &[Panel; 2],
    activations: &Activations,
    (first, block, count): (usize, usize, usize),
    out: &mut [f32],
) {
    let blocks = activations.width / 32;
    let one = _mm256_set1_epi16(1);
    let mut totals = [[_mm256_setzero_ps(); 2]; N];
    for index in 0..count {
        for (token, totals) in totals.iter_mut().enumerate() {
            let at = (first + token) * blocks + block + index;
            let bytes: &[i8; 32] = &activations.bytes.as_chunks().0[at];
            let mut sums = [_mm256_setzero_si256(); 2];
            for (place, bytes) in bytes.as_chunks::<4>().0.iter().enumerate() {
                let bytes = four_times(*bytes);
                for (sum, panel) in sums.iter_mut().zip(panels) {
                    let numbers = panel.numbers[index * 8 + place];
                    let bytes = _mm256_sign_epi8(bytes, numbers);
                    let short = _mm256_maddubs_epi16(_mm256_abs_epi8(numbers), bytes);
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(short, one));
                }
            }
            let scale = _mm256_set1_ps(activations.scales[at]);
            for half in 0..2 {
                let factor = _mm256_mul_ps(panels[half].factors[index], scale);
                totals[half] = _mm256_fmadd_ps(factor, _mm256_cvtepi32_ps(sums[half]), totals[half]);
            }
        }
    }
    add_all(out, &totals);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn four_times(bytes: [i8; 4]) -> __m256i {
    _mm256_set1_epi32(i32::from_le_bytes(bytes.map(|byte| byte as u8)))
}

/// The sums of each two sums.
#[target_feature(enable = "avx2,fma,f16c")]
fn pairs(sums: &[i16; 16]) -> [i16; 8] {
    let sums = load_sums(sums);
    let pairs = _mm_hadd_epi16(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    let mut out = [0; 8];
    // SAFETY: eight numbers of 16 bits are sixteen bytes.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), pairs) };
    out
}

#[target_feature(enable = "avx2,fma,f16c")]
fn two_times([left, right]: [i16; 2]) -> __m256i {
    _mm256_set1_epi32(i32::from(left as u16) | i32::from(right) << 16)
}

#[target_feature(enable = "avx2,fma,f16c")]
fn add(out: &mut [f32; LANES], factor: __m256, numbers: __m256) {
    // SAFETY: eight numbers are there.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), _mm256_fmadd_ps(factor, numbers, _mm256_loadu_ps(out.as_ptr()))) };
}

#[target_feature(enable = "avx2,fma,f16c")]
fn add_all(out: &mut [f32], totals: &[[__m256; 2]]) {
    for (out, total) in out.as_chunks_mut().0.iter_mut().zip(totals.as_flattened()) {
        add(out, _mm256_set1_ps(1.0), *total);
    }
}
