//! Weights as plain numbers, format by format as they are specified: what every faster way must come to.
//!
//! Layouts: `ggml-common.h` and the reference functions of `ggml-quants.c` in llama.cpp.

use super::blocks::{half_at, scales_and_minima};
use super::gguf::Format;

/// Writes a row of weights out as numbers.
pub(crate) fn expand(format: Format, row: &[u8], out: &mut [f32]) {
    let (numbers, size) = format.block();
    for (block, out) in row.chunks_exact(size).zip(out.chunks_exact_mut(numbers)) {
        match format {
            Format::F32 => out[0] = f32::from_le_bytes([block[0], block[1], block[2], block[3]]),
            Format::F16 => out[0] = half_at(block, 0),
            Format::BF16 => out[0] = f32::from_le_bytes([0, 0, block[0], block[1]]),
            Format::Q4Zero => expand_pairs(&block[2..], 0, (half_at(block, 0), -8.0, 0.0), out),
            Format::Q4One => expand_pairs(&block[4..], 0, (half_at(block, 0), 0.0, half_at(block, 2)), out),
            Format::Q5Zero => expand_pairs(&block[6..], word(block, 2), (half_at(block, 0), -16.0, 0.0), out),
            Format::Q5One => {
                expand_pairs(&block[8..], word(block, 4), (half_at(block, 0), 0.0, half_at(block, 2)), out);
            }
            Format::Q8Zero => {
                let scale = half_at(block, 0);
                out.iter_mut().zip(&block[2..]).for_each(|(out, byte)| *out = scale * f32::from(*byte as i8));
            }
            Format::Q2K => expand_two(block, out),
            Format::Q3K => expand_three(block, out),
            Format::Q4K => expand_four(block, out),
            Format::Q5K => expand_five(block, out),
            Format::Q6K => expand_six(block, out),
        }
    }
}

fn word(block: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
}

/// Numbers of four bits, the first sixteen in the low halves; `fifths` are their fifth bits.
fn expand_pairs(packed: &[u8], fifths: u32, (scale, above, minimum): (f32, f32, f32), out: &mut [f32]) {
    for at in 0..16 {
        let low = u32::from(packed[at] & 15) | (((fifths >> at) & 1) << 4);
        let next = u32::from(packed[at] >> 4) | (((fifths >> (at + 16)) & 1) << 4);
        out[at] = scale * (low as f32 + above) + minimum;
        out[at + 16] = scale * (next as f32 + above) + minimum;
    }
}

/// The two bits of number `at` of 256: bytes of 32 numbers each, four times over.
fn two(packed: &[u8], at: usize) -> u8 {
    let (half, quarter, place) = (at / 128, at % 128 / 32, at % 32);
    (packed[half * 32 + place] >> (quarter * 2)) & 3
}

fn expand_two(block: &[u8], out: &mut [f32]) {
    let (scale, minimum) = (half_at(block, 80), half_at(block, 82));
    for (at, out) in out.iter_mut().enumerate() {
        let both = block[at / 16];
        let number = f32::from(two(&block[16..80], at));
        *out = scale * f32::from(both & 15) * number - minimum * f32::from(both >> 4);
    }
}

/// The sixteen scales of a Q3_K block: the low four bits of two in a byte, then the upper two bits of four in a byte.
pub(crate) fn scales_of_six(packed: &[u8]) -> [i8; 16] {
    std::array::from_fn(|at| {
        let low = if at < 8 { packed[at] & 15 } else { packed[at - 8] >> 4 };
        let high = (packed[8 + at % 4] >> (at / 4 * 2)) & 3;
        (low | (high << 4)) as i8 - 32
    })
}

fn expand_three(block: &[u8], out: &mut [f32]) {
    let scale = half_at(block, 108);
    let scales = scales_of_six(&block[96..108]);
    for (at, out) in out.iter_mut().enumerate() {
        let third = (block[at % 32] >> (at / 32)) & 1;
        let number = f32::from(two(&block[32..96], at) | (third << 2)) - 4.0;
        *out = scale * f32::from(scales[at / 16]) * number;
    }
}

fn expand_four(block: &[u8], out: &mut [f32]) {
    let (scale, minimum) = (half_at(block, 0), half_at(block, 2));
    let (scales, minima) = scales_and_minima(&block[4..16]);
    for part in 0..8 {
        let shift = (part % 2) * 4;
        let (factor, less) = (scale * f32::from(scales[part]), minimum * f32::from(minima[part]));
        for at in 0..32 {
            let four = (block[16 + part / 2 * 32 + at] >> shift) & 15;
            out[part * 32 + at] = factor * f32::from(four) - less;
        }
    }
}

fn expand_five(block: &[u8], out: &mut [f32]) {
    let (scale, minimum) = (half_at(block, 0), half_at(block, 2));
    let (scales, minima) = scales_and_minima(&block[4..16]);
    for part in 0..8 {
        let (factor, less) = (scale * f32::from(scales[part]), minimum * f32::from(minima[part]));
        for at in 0..32 {
            let four = (block[48 + part / 2 * 32 + at] >> (part % 2 * 4)) & 15;
            let fifth = (block[16 + at] >> part) & 1;
            out[part * 32 + at] = factor * f32::from(four | (fifth << 4)) - less;
        }
    }
}

/// The six bits of number `at` (0..128) in one half of a Q6_K block.
fn six(low: &[u8], high: &[u8], at: usize) -> u8 {
    let (quarter, at) = (at / 32, at % 32);
    let four = (low[at + quarter % 2 * 32] >> (quarter / 2 * 4)) & 15;
    four | (((high[at] >> (quarter * 2)) & 3) << 4)
}

fn expand_six(block: &[u8], out: &mut [f32]) {
    let scale = half_at(block, 208);
    for part in 0..2 {
        let (low, high) = (&block[part * 64..][..64], &block[128 + part * 32..][..32]);
        for at in 0..128 {
            let factor = scale * f32::from(block[192 + part * 8 + at / 16] as i8);
            out[part * 128 + at] = factor * (f32::from(six(low, high, at)) - 32.0);
        }
    }
}
