//! Numbers in blocks, as model files keep them, and what activations become to be multiplied with them.
//!
//! Layouts: `ggml-common.h` and the reference functions of `ggml-quants.c` in llama.cpp.

use super::gguf::Format;

/// Numbers in one block of the K formats.
pub(crate) const WIDE: usize = 256;
/// Numbers in one block of the older formats.
pub(crate) const NARROW: usize = 32;

/// Activations of several tokens as signed bytes with a scale for each block ([`WIDE`] or [`NARROW`]), and the sum of each 16 bytes.
#[derive(Debug, Default)]
pub(crate) struct Activations {
    /// Numbers of one token.
    pub(crate) width: usize,
    pub(crate) bytes: Vec<i8>,
    pub(crate) scales: Vec<f32>,
    pub(crate) sums: Vec<i16>,
    /// The sum of a block's bytes, times its scale.
    pub(crate) means: Vec<f32>,
}

impl Activations {
    /// Rounds rows of `width` numbers to bytes.
    pub(crate) fn of(values: &[f32], width: usize, block: usize) -> Self {
        let mut bytes = vec![0_i8; values.len()];
        let mut scales = Vec::with_capacity(values.len() / block);
        let mut sums = Vec::with_capacity(values.len() / 16);
        let mut means = Vec::with_capacity(values.len() / block);
        for (values, bytes) in values.chunks_exact(block).zip(bytes.chunks_exact_mut(block)) {
            let scale = rounded(values, bytes);
            scales.push(scale);
            let from = sums.len();
            sums.extend(bytes.chunks_exact(16).map(|part| part.iter().map(|byte| i16::from(*byte)).sum::<i16>()));
            means.push(scale * sums[from..].iter().map(|sum| i32::from(*sum)).sum::<i32>() as f32);
        }
        Self { width, bytes, scales, sums, means }
    }
}

/// Rounds numbers to bytes times a scale, which is returned.
pub(crate) fn rounded(values: &[f32], bytes: &mut [i8]) -> f32 {
    let scale = largest(values) / 127.0;
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    for (value, byte) in values.iter().zip(bytes) {
        // Adding this number rounds: what is left of the fraction is the last byte of the sum's bits.
        *byte = (value * inverse + 12_582_912.0).to_bits() as i8;
    }
    scale
}

/// The largest absolute value; eight at a time, so that the processor can do them at once.
fn largest(values: &[f32]) -> f32 {
    let (eights, rest) = values.as_chunks::<8>();
    let mut most = [0_f32; 8];
    for values in eights {
        for (most, value) in most.iter_mut().zip(values) {
            let value = value.abs();
            *most = if value > *most { value } else { *most };
        }
    }
    most.iter().copied().chain(rest.iter().map(|value| value.abs())).fold(0.0, f32::max)
}

/// e to the power of a number, right to six digits: many at once, which the library's function is not.
pub(crate) fn exp(value: f32) -> f32 {
    let value = value.clamp(-87.0, 88.0);
    let whole = value * std::f32::consts::LOG2_E + 12_582_912.0;
    let power = (whole.to_bits() << 23).wrapping_add(0x3f80_0000);
    let whole = whole - 12_582_912.0;
    // ln 2 in two parts: the first has few bits, so that its product is exact.
    let rest = value - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let series = 1.0 / 120.0 + rest * (1.0 / 720.0);
    let series = 1.0 / 24.0 + rest * series;
    let series = 1.0 / 6.0 + rest * series;
    let series = 0.5 + rest * series;
    let series = 1.0 + rest * (1.0 + rest * series);
    series * f32::from_bits(power)
}

/// The block length activations must have to meet weights of a format.
pub(crate) const fn activation_block(format: Format) -> usize {
    match format {
        Format::Q2K | Format::Q3K | Format::Q4K | Format::Q5K | Format::Q6K => WIDE,
        Format::F32
        | Format::F16
        | Format::BF16
        | Format::Q4Zero
        | Format::Q4One
        | Format::Q5Zero
        | Format::Q5One
        | Format::Q8Zero => NARROW,
    }
}

/// Widens a half-precision number.
pub(crate) fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let rest = u32::from(bits & 0x7fff) << 13;
    // Multiplying by 2^112 moves the exponent's bias, and makes subnormal numbers right.
    let value = f32::from_bits(rest) * f32::from_bits(0x7780_0000);
    let value = if bits & 0x7c00 == 0x7c00 { f32::from_bits(rest | 0x7f80_0000) } else { value };
    f32::from_bits(value.to_bits() | sign)
}

pub(crate) fn half_at(bytes: &[u8], at: usize) -> f32 {
    half(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

/// The eight scales and eight minima of a Q4_K block, six bits each.
#[inline]
pub(crate) fn scales_and_minima(packed: &[u8]) -> ([u8; 8], [u8; 8]) {
    let word = |at: usize| u32::from_le_bytes([packed[at], packed[at + 1], packed[at + 2], packed[at + 3]]);
    let (first, second, third) = (word(0), word(4), word(8));
    let scales = [first & 0x3f3f_3f3f, (third & 0x0f0f_0f0f) | (((first >> 6) & 0x0303_0303) << 4)];
    let minima = [second & 0x3f3f_3f3f, ((third >> 4) & 0x0f0f_0f0f) | (((second >> 6) & 0x0303_0303) << 4)];
    let bytes = |words: [u32; 2]| {
        let [low, high] = words.map(u32::to_le_bytes);
        [low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]]
    };
    (bytes(scales), bytes(minima))
}
