//! Blocks of weights as bytes with whole factors: what any processor multiplies quickly, whatever the format.
//!
//! The loops here have no branches and known lengths: they are compiled into the vector instructions of whoever calls
//! them, which is why everything is inlined.

#![expect(clippy::inline_always, reason = "only in its caller's body is it compiled for its caller's processor")]

use super::blocks::{Activations, half_at, scales_and_minima};
use super::expand::{expand, scales_of_six};
use super::gguf::Format;

/// A block of 256 numbers: number `n` is `factor * scales[n / 16] * numbers[n] - less * minima[n / 16]`.
#[derive(Debug, Clone)]
pub(super) struct Unpacked {
    pub(super) numbers: [u8; 256],
    pub(super) scales: [i16; 16],
    pub(super) minima: [i16; 16],
    pub(super) factor: f32,
    pub(super) less: f32,
}

impl Unpacked {
    pub(super) const EMPTY: Self =
        Self { numbers: [0; 256], scales: [0; 16], minima: [0; 16], factor: 0.0, less: 0.0 };

    /// Takes a block of a format of 256 numbers; of others, nothing.
    #[inline(always)]
    pub(super) fn take(&mut self, format: Format, block: &[u8]) {
        match format {
            Format::Q2K => self.take_two(block),
            Format::Q3K => self.take_three(block),
            Format::Q4K => self.take_four(block),
            Format::Q5K => self.take_five(block),
            Format::Q6K => self.take_six(block),
            Format::F32
            | Format::F16
            | Format::BF16
            | Format::Q4Zero
            | Format::Q4One
            | Format::Q5Zero
            | Format::Q5One
            | Format::Q8Zero => {}
        }
    }

    /// Two bits of each number.
    #[inline(always)]
    fn twos(&mut self, packed: &[u8]) {
        let (halves, _) = packed.as_chunks::<32>();
        for (numbers, packed) in self.numbers.as_chunks_mut::<128>().0.iter_mut().zip(halves) {
            for (quarter, numbers) in numbers.as_chunks_mut::<32>().0.iter_mut().enumerate() {
                for (number, packed) in numbers.iter_mut().zip(packed) {
                    *number = (packed >> (quarter * 2)) & 3;
                }
            }
        }
    }

    #[inline(always)]
    fn take_two(&mut self, block: &[u8]) {
        self.twos(&block[16..80]);
        for ((scale, minimum), both) in self.scales.iter_mut().zip(&mut self.minima).zip(&block[..16]) {
            *scale = i16::from(both & 15);
            *minimum = i16::from(both >> 4);
        }
        (self.factor, self.less) = (half_at(block, 80), half_at(block, 82));
    }

    #[inline(always)]
    fn take_three(&mut self, block: &[u8]) {
        self.twos(&block[32..96]);
        for (eighth, numbers) in self.numbers.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            for (number, packed) in numbers.iter_mut().zip(&block[..32]) {
                *number |= ((packed >> eighth) & 1) << 2;
            }
        }
        self.scales = scales_of_six(&block[96..108]).map(i16::from);
        self.minima = self.scales;
        self.factor = half_at(block, 108);
        self.less = self.factor * 4.0;
    }

    /// Four bits of each number, scales and minima.
    #[inline(always)]
    fn fours(&mut self, packed: &[u8], block: &[u8]) {
        let (pairs, _) = packed.as_chunks::<32>();
        for (numbers, packed) in self.numbers.as_chunks_mut::<64>().0.iter_mut().zip(pairs) {
            let (low, high) = numbers.split_at_mut(32);
            for ((low, high), packed) in low.iter_mut().zip(high).zip(packed) {
                (*low, *high) = (packed & 15, packed >> 4);
            }
        }
        let (scales, minima) = scales_and_minima(&block[4..16]);
        for at in 0..16 {
            self.scales[at] = i16::from(scales[at / 2]);
            self.minima[at] = i16::from(minima[at / 2]);
        }
        (self.factor, self.less) = (half_at(block, 0), half_at(block, 2));
    }

    #[inline(always)]
    fn take_four(&mut self, block: &[u8]) {
        self.fours(&block[16..144], block);
    }

    #[inline(always)]
    fn take_five(&mut self, block: &[u8]) {
        self.fours(&block[48..176], block);
        for (part, numbers) in self.numbers.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            for (number, packed) in numbers.iter_mut().zip(&block[16..48]) {
                *number |= ((packed >> part) & 1) << 4;
            }
        }
    }

    #[inline(always)]
    fn take_six(&mut self, block: &[u8]) {
        for (half, numbers) in self.numbers.as_chunks_mut::<128>().0.iter_mut().enumerate() {
            let (low, high) = (&block[half * 64..][..64], &block[128 + half * 32..][..32]);
            for (quarter, numbers) in numbers.as_chunks_mut::<32>().0.iter_mut().enumerate() {
                let low = &low[quarter % 2 * 32..][..32];
                for ((number, low), high) in numbers.iter_mut().zip(low).zip(high) {
                    let four = (low >> (quarter / 2 * 4)) & 15;
                    *number = four | (((high >> (quarter * 2)) & 3) << 4);
                }
            }
        }
        for (scale, byte) in self.scales.iter_mut().zip(&block[192..208]) {
            *scale = i16::from(*byte as i8);
        }
        self.minima = self.scales;
        self.factor = half_at(block, 208);
        self.less = self.factor * 32.0;
    }
}

/// How much higher than it should be a number of a block stands, where all stand as high.
pub(super) const fn above(format: Format) -> u8 {
    match format {
        Format::Q3K => 4,
        Format::Q4Zero => 8,
        Format::Q5Zero => 16,
        Format::Q6K => 32,
        Format::Q8Zero => 128,
        Format::F32
        | Format::F16
        | Format::BF16
        | Format::Q4One
        | Format::Q5One
        | Format::Q2K
        | Format::Q4K
        | Format::Q5K => 0,
    }
}

/// Takes a block of a format of 32 numbers, and returns `factor` and `less`: number `n` is
/// `factor * numbers[n] - less`. Of other formats, nothing.
#[inline(always)]
pub(super) fn narrow(format: Format, block: &[u8], numbers: &mut [u8; 32]) -> (f32, f32) {
    let factor = half_at(block, 0);
    let stands = f32::from(above(format)) * factor;
    match format {
        Format::Q4Zero => pairs(&block[2..18], numbers),
        Format::Q5Zero => {
            pairs(&block[6..22], numbers);
            fifths(&block[2..6], numbers);
        }
        Format::Q8Zero => numbers.iter_mut().zip(&block[2..34]).for_each(|(number, byte)| *number = byte ^ 0x80),
        Format::Q4One => {
            pairs(&block[4..20], numbers);
            return (factor, -half_at(block, 2));
        }
        Format::Q5One => {
            pairs(&block[8..24], numbers);
            fifths(&block[4..8], numbers);
            return (factor, -half_at(block, 2));
        }
        Format::F32
        | Format::F16
        | Format::BF16
        | Format::Q2K
        | Format::Q3K
        | Format::Q4K
        | Format::Q5K
        | Format::Q6K => {}
    }
    (factor, stands)
}

#[inline(always)]
fn pairs(packed: &[u8], numbers: &mut [u8; 32]) {
    let (low, high) = numbers.split_at_mut(16);
    for ((low, high), packed) in low.iter_mut().zip(high).zip(packed) {
        (*low, *high) = (packed & 15, packed >> 4);
    }
}

#[inline(always)]
fn fifths(bits: &[u8], numbers: &mut [u8; 32]) {
    for (numbers, bits) in numbers.as_chunks_mut::<8>().0.iter_mut().zip(bits) {
        for (at, number) in numbers.iter_mut().enumerate() {
            *number |= ((bits >> at) & 1) << 4;
        }
    }
}

/// The sum of the products of sixteen bytes.
#[inline(always)]
fn products(numbers: &[u8; 16], bytes: &[i8; 16]) -> i32 {
    numbers.iter().zip(bytes).map(|(number, byte)| i32::from(*number) * i32::from(*byte)).sum()
}

/// Multiplies a row of weights of any format with the tokens from `first` on.
#[inline(always)]
pub(super) fn row<const N: usize>(format: Format, row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    match format {
        Format::F32 | Format::F16 | Format::BF16 => floats(format, row, activations, first),
        Format::Q4Zero | Format::Q4One | Format::Q5Zero | Format::Q5One | Format::Q8Zero => {
            narrow_row(format, row, activations, first)
        }
        Format::Q2K | Format::Q3K | Format::Q4K | Format::Q5K | Format::Q6K => {
            wide_row(format, row, activations, first)
        }
    }
}

#[inline(always)]
fn wide_row<const N: usize>(format: Format, row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    let blocks = activations.width / 256;
    let (_, size) = format.block();
    let mut totals = [0.0; N];
    let mut unpacked = Unpacked::EMPTY;
    for (block, weights) in row.chunks_exact(size).enumerate() {
        unpacked.take(format, weights);
        for (token, total) in totals.iter_mut().enumerate() {
            let at = (first + token) * blocks + block;
            let bytes = &activations.bytes.as_chunks::<256>().0[at];
            let sums = &activations.sums.as_chunks::<16>().0[at];
            let (mut whole, mut less) = (0, 0);
            for (part, sum) in sums.iter().enumerate() {
                let met = products(&unpacked.numbers.as_chunks().0[part], &bytes.as_chunks().0[part]);
                whole += met * i32::from(unpacked.scales[part]);
                less += i32::from(unpacked.minima[part]) * i32::from(*sum);
            }
            *total += activations.scales[at] * (unpacked.factor * whole as f32 - unpacked.less * less as f32);
        }
    }
    totals
}

#[inline(always)]
fn narrow_row<const N: usize>(format: Format, row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    let blocks = activations.width / 32;
    let (_, size) = format.block();
    let mut totals = [0.0; N];
    let mut numbers = [0; 32];
    for (block, weights) in row.chunks_exact(size).enumerate() {
        let (factor, less) = narrow(format, weights, &mut numbers);
        for (token, total) in totals.iter_mut().enumerate() {
            let at = (first + token) * blocks + block;
            let bytes = &activations.bytes.as_chunks::<32>().0[at];
            let sum: i32 =
                numbers.iter().zip(bytes).map(|(number, byte)| i32::from(*number) * i32::from(*byte)).sum();
            *total += factor * activations.scales[at] * sum as f32 - less * activations.means[at];
        }
    }
    totals
}

/// Plain numbers, 32 at a time.
#[inline(always)]
fn floats<const N: usize>(format: Format, row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    let blocks = activations.width / 32;
    let (_, size) = format.block();
    let mut totals = [0.0; N];
    let mut numbers = [0.0; 32];
    for (block, weights) in row.chunks_exact(size * 32).enumerate() {
        expand(format, weights, &mut numbers);
        for (token, total) in totals.iter_mut().enumerate() {
            let at = (first + token) * blocks + block;
            let bytes = &activations.bytes.as_chunks::<32>().0[at];
            let mut sums = [0.0; 8];
            for (numbers, bytes) in numbers.as_chunks::<8>().0.iter().zip(bytes.as_chunks::<8>().0) {
                for ((sum, number), byte) in sums.iter_mut().zip(numbers).zip(bytes) {
                    *sum += number * f32::from(*byte);
                }
            }
            *total += sums.iter().sum::<f32>() * activations.scales[at];
        }
    }
    totals
}
