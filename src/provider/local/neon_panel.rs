//! Sixteen rows of weights at once times many tokens, with the byte products of aarch64 (`dotprod`).
//!
//! A lane of a register is a row: weights are unpacked and turned once for all tokens, and nothing has to be summed
//! across a register. Worth it from a few tokens on; for one, `neon` reads the weights as they lie.

#![expect(unsafe_code, reason = "loads from slices and stores into them, and an instruction with no stable name")]

use std::arch::aarch64::{
    float32x4_t, int8x16_t, int16x4_t, int32x4_t, vcvtq_f32_s32, vdupq_n_f32, vdupq_n_s32, vdupq_n_u8, vfmaq_f32,
    vfmaq_n_f32, vfmsq_f32, vfmsq_n_f32, vld1_s16, vld1q_f32, vld1q_s32, vmlal_n_s16, vmlaq_s32, vmulq_f32,
    vmulq_n_f32, vreinterpretq_s8_s64, vreinterpretq_s32_u8, vreinterpretq_s64_s32, vst1q_f32, vst1q_s8, vsubq_u8,
    vtrn1q_s32, vtrn1q_s64, vtrn2q_s32, vtrn2q_s64,
};
use std::arch::asm;

use super::blocks::Activations;
use super::gguf::Format;
use super::unpack::{Unpacked, above, narrow};
use super::vector::{load, load_signed};

/// Rows of a panel.
pub(super) const ROWS: usize = 16;
/// Rows that share a register.
const LANES: usize = 4;
/// Registers with the same numbers of all rows.
const GROUPS: usize = ROWS / LANES;
/// Narrow blocks that are unpacked at once: as many numbers as a wide block has.
const BLOCKS: usize = 8;
/// Tokens, and groups of rows, that are computed at once: as many as there are registers for.
const TOKENS: usize = 4;
const PAIR: usize = 2;

/// Numbers of the rows of a panel.
type Rows<T> = [[T; LANES]; GROUPS];

/// A block of sixteen rows, unpacked; the numbers are signed where a format's are.
struct Panel {
    /// Number `n` of each row is byte `n % 4` of its lane in register `n / 4`.
    numbers: [[[i8; 16]; GROUPS]; 64],
    /// What the numbers of a part are multiplied with, and what is taken away of each.
    scales: [Rows<i32>; 16],
    minima: [Rows<i16>; 16],
    /// What these are multiplied with. Narrow blocks have one each, and nothing else.
    factors: [Rows<f32>; BLOCKS],
    less: [Rows<f32>; BLOCKS],
}

/// Multiplies sixteen rows, one behind the other in `rows`, with all tokens: sixteen numbers a token. Nothing is
/// written, and `false` returned, where the format has no such way.
#[target_feature(enable = "neon,dotprod")]
pub(super) fn panel(format: Format, rows: &[u8], activations: &Activations, out: &mut [f32]) -> bool {
    if matches!(format, Format::F32 | Format::F16 | Format::BF16) {
        return false;
    }
    let mut panel = Panel {
        numbers: [[[0; 16]; GROUPS]; 64],
        scales: [[[0; LANES]; GROUPS]; 16],
        minima: [[[0; LANES]; GROUPS]; 16],
        factors: [[[0.0; LANES]; GROUPS]; BLOCKS],
        less: [[[0.0; LANES]; GROUPS]; BLOCKS],
    };
    let (numbers, size) = format.block();
    let (row, step) = (rows.len() / ROWS, 256 / numbers);
    out.fill(0.0);
    for block in (0..row / size).step_by(step) {
        let count = step.min(row / size - block);
        for group in 0..GROUPS {
            let rows = &rows[group * LANES * row..][..LANES * row];
            if step == 1 {
                panel.fill_wide(format, rows, block * size, group);
            } else {
                panel.fill_narrow(format, rows, block * size..(block + count) * size, group);
            }
        }
        let (tiles, rest) = out.as_chunks_mut::<{ ROWS * TOKENS }>();
        for (index, out) in tiles.iter_mut().enumerate() {
            tile::<TOKENS>(format, &panel, activations, (index * TOKENS, block, count), out);
        }
        let over = tiles.len() * TOKENS;
        for (index, out) in rest.as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
            tile::<1>(format, &panel, activations, (over + index, block, count), out);
        }
    }
    true
}

impl Panel {
    /// Unpacks a block of four rows.
    #[target_feature(enable = "neon")]
    fn fill_wide(&mut self, format: Format, rows: &[u8], at: usize, group: usize) {
        let size = format.block().1;
        let mut unpacked = [const { Unpacked::EMPTY }; LANES];
        for (lane, (unpacked, row)) in unpacked.iter_mut().zip(rows.chunks_exact(rows.len() / LANES)).enumerate() {
            unpacked.take(format, &row[at..at + size]);
            for part in 0..16 {
                self.scales[part][group][lane] = i32::from(unpacked.scales[part]);
                self.minima[part][group][lane] = unpacked.minima[part];
            }
            self.factors[0][group][lane] = unpacked.factor;
            self.less[0][group][lane] = unpacked.less;
        }
        for part in 0..16 {
            let numbers = unpacked.each_ref().map(|unpacked| &unpacked.numbers.as_chunks().0[part]);
            self.turn(numbers, above(format), part, group);
        }
    }

    /// Unpacks some blocks of four rows.
    #[target_feature(enable = "neon")]
    fn fill_narrow(&mut self, format: Format, rows: &[u8], at: std::ops::Range<usize>, group: usize) {
        let size = format.block().1;
        let mut unpacked = [[0_u8; 256]; LANES];
        for (lane, (unpacked, row)) in unpacked.iter_mut().zip(rows.chunks_exact(rows.len() / LANES)).enumerate() {
            let blocks = row[at.clone()].chunks_exact(size).zip(unpacked.as_chunks_mut().0);
            for (index, (block, numbers)) in blocks.enumerate() {
                let (factor, less) = narrow(format, block, numbers);
                self.factors[index][group][lane] = factor;
                self.less[index][group][lane] = less;
            }
        }
        for part in 0..at.len() / size * 2 {
            let numbers = unpacked.each_ref().map(|unpacked| &unpacked.as_chunks().0[part]);
            self.turn(numbers, above(format), part, group);
        }
    }

    /// Puts sixteen numbers of four rows into lanes.
    #[target_feature(enable = "neon")]
    fn turn(&mut self, numbers: [&[u8; 16]; LANES], above: u8, part: usize, group: usize) {
        let above = vdupq_n_u8(above);
        let rows = numbers.map(|numbers| vreinterpretq_s32_u8(vsubq_u8(load(numbers), above)));
        let low =
            [vtrn1q_s32(rows[0], rows[1]), vtrn1q_s32(rows[2], rows[3])].map(|pair| vreinterpretq_s64_s32(pair));
        let high =
            [vtrn2q_s32(rows[0], rows[1]), vtrn2q_s32(rows[2], rows[3])].map(|pair| vreinterpretq_s64_s32(pair));
        let turned = [
            vtrn1q_s64(low[0], low[1]),
            vtrn1q_s64(high[0], high[1]),
            vtrn2q_s64(low[0], low[1]),
            vtrn2q_s64(high[0], high[1]),
        ];
        for (quad, turned) in turned.into_iter().enumerate() {
            let place = &mut self.numbers[part * 4 + quad][group];
            // SAFETY: sixteen bytes are there.
            unsafe { vst1q_s8(place.as_mut_ptr(), vreinterpretq_s8_s64(turned)) };
        }
    }
}

/// Multiplies what is unpacked with `N` tokens. `at`: the first of them, the first block, how many blocks.
#[target_feature(enable = "neon,dotprod")]
fn tile<const N: usize>(
    format: Format,
    panel: &Panel,
    activations: &Activations,
    at: (usize, usize, usize),
    out: &mut [f32],
) {
    match format {
        Format::Q4K | Format::Q5K => wide::<N, 8, true>(panel, activations, at, out),
        Format::Q2K => wide::<N, 16, true>(panel, activations, at, out),
        Format::Q3K | Format::Q6K => wide::<N, 16, false>(panel, activations, at, out),
        Format::Q4Zero | Format::Q5Zero | Format::Q8Zero => blocks::<N, false>(panel, activations, at, out),
        Format::Q4One | Format::Q5One => blocks::<N, true>(panel, activations, at, out),
        Format::F32 | Format::F16 | Format::BF16 => {}
    }
}

/// Adds to four sums each the products of four bytes of a lane with bytes `4 * QUAD` to `4 * QUAD + 3`.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn dot<const QUAD: usize>(mut sums: int32x4_t, numbers: int8x16_t, bytes: int8x16_t) -> int32x4_t {
    // SAFETY: it reads and writes these registers only, and who calls it has `dotprod`.
    unsafe {
        asm!(
            ".arch_extension dotprod",
            "sdot {sums:v}.4s, {numbers:v}.16b, {bytes:v}.4b[{quad}]",
            sums = inout(vreg) sums, numbers = in(vreg) numbers, bytes = in(vreg) bytes, quad = const QUAD,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sums
}

/// The products of sixteen numbers of some rows with those of `N` tokens, added to sums.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn sixteen<const N: usize>(
    numbers: &[[[i8; 16]; GROUPS]],
    groups: usize,
    bytes: [int8x16_t; N],
    sums: &mut [[int32x4_t; PAIR]; N],
) {
    let numbers = &numbers[..4];
    let load = |quad: usize| [load_signed(&numbers[quad][groups]), load_signed(&numbers[quad][groups + 1])];
    let (first, second, third, fourth) = (load(0), load(1), load(2), load(3));
    for (sums, bytes) in sums.iter_mut().zip(bytes) {
        for group in 0..PAIR {
            let sum = dot::<0>(sums[group], first[group], bytes);
            let sum = dot::<1>(sum, second[group], bytes);
            let sum = dot::<2>(sum, third[group], bytes);
            sums[group] = dot::<3>(sum, fourth[group], bytes);
        }
    }
}

/// Adds the products of a block of 256 numbers in `PARTS` parts; `MINIMA` where something is taken away of each.
#[target_feature(enable = "neon,dotprod")]
fn wide<const N: usize, const PARTS: usize, const MINIMA: bool>(
    panel: &Panel,
    activations: &Activations,
    (first, block, _): (usize, usize, usize),
    out: &mut [f32],
) {
    let all = activations.width / 256;
    for groups in (0..GROUPS).step_by(PAIR) {
        let mut sums = [[vdupq_n_s32(0); PAIR]; N];
        for part in 0..PARTS {
            let mut products = [[vdupq_n_s32(0); PAIR]; N];
            for sixteenth in part * 16 / PARTS..(part + 1) * 16 / PARTS {
                let bytes: [int8x16_t; N] = std::array::from_fn(|token| {
                    let bytes = &activations.bytes.as_chunks::<256>().0[(first + token) * all + block];
                    load_signed(&bytes[sixteenth * 16..])
                });
                sixteen(&panel.numbers[sixteenth * 4..], groups, bytes, &mut products);
            }
            for group in 0..PAIR {
                let scale = whole(&panel.scales[part * 16 / PARTS][groups + group]);
                for (sums, products) in sums.iter_mut().zip(&products) {
                    sums[group] = vmlaq_s32(sums[group], products[group], scale);
                }
            }
        }
        for group in 0..PAIR {
            let factor = plain(&panel.factors[0][groups + group]);
            let less = plain(&panel.less[0][groups + group]);
            for (token, sums) in sums.iter().enumerate() {
                let at = (first + token) * all + block;
                let mut sum = vmulq_f32(factor, vcvtq_f32_s32(sums[group]));
                if MINIMA {
                    let sixteens = &activations.sums.as_chunks::<16>().0[at];
                    let mut taken = vdupq_n_s32(0);
                    for part in 0..PARTS {
                        let from = part * 16 / PARTS;
                        let met = sixteens[from..from + 16 / PARTS].iter().sum::<i16>();
                        taken = vmlal_n_s16(taken, short(&panel.minima[from][groups + group]), met);
                    }
                    sum = vfmsq_f32(sum, less, vcvtq_f32_s32(taken));
                }
                add(&mut out[token * ROWS + (groups + group) * LANES..], sum, activations.scales[at]);
            }
        }
    }
}

/// Adds the products of blocks of 32 numbers; `MINIMA` as above.
#[target_feature(enable = "neon,dotprod")]
fn blocks<const N: usize, const MINIMA: bool>(
    panel: &Panel,
    activations: &Activations,
    (first, block, count): (usize, usize, usize),
    out: &mut [f32],
) {
    let all = activations.width / 32;
    for groups in (0..GROUPS).step_by(PAIR) {
        let mut sums = [[vdupq_n_f32(0.0); PAIR]; N];
        for index in 0..count {
            let mut products = [[vdupq_n_s32(0); PAIR]; N];
            for half in 0..2 {
                let bytes: [int8x16_t; N] = std::array::from_fn(|token| {
                    let bytes = &activations.bytes.as_chunks::<32>().0[(first + token) * all + block + index];
                    load_signed(&bytes[half * 16..])
                });
                sixteen(&panel.numbers[index * 8 + half * 4..], groups, bytes, &mut products);
            }
            for group in 0..PAIR {
                let factor = plain(&panel.factors[index][groups + group]);
                for (token, (sums, products)) in sums.iter_mut().zip(&products).enumerate() {
                    let at = (first + token) * all + block + index;
                    let scaled = vmulq_n_f32(vcvtq_f32_s32(products[group]), activations.scales[at]);
                    sums[group] = vfmaq_f32(sums[group], scaled, factor);
                    if MINIMA {
                        let less = plain(&panel.less[index][groups + group]);
                        sums[group] = vfmsq_n_f32(sums[group], less, activations.means[at]);
                    }
                }
            }
        }
        for (token, sums) in sums.iter().enumerate() {
            for (group, sum) in sums.iter().enumerate() {
                add(&mut out[token * ROWS + (groups + group) * LANES..], *sum, 1.0);
            }
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn whole(numbers: &[i32; LANES]) -> int32x4_t {
    // SAFETY: four numbers are there, here and below.
    unsafe { vld1q_s32(numbers.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn short(numbers: &[i16; LANES]) -> int16x4_t {
    // SAFETY: as above.
    unsafe { vld1_s16(numbers.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn plain(numbers: &[f32; LANES]) -> float32x4_t {
    // SAFETY: as above.
    unsafe { vld1q_f32(numbers.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn add(out: &mut [f32], numbers: float32x4_t, factor: f32) {
    let out = &mut out[..LANES];
    // SAFETY: as above.
    unsafe { vst1q_f32(out.as_mut_ptr(), vfmaq_n_f32(vld1q_f32(out.as_ptr()), numbers, factor)) };
}
