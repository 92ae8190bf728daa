//! Rows of weights times activations with the vector instructions of aarch64: NEON, which every one of these processors
//! has, and its products of bytes (`dotprod`), which those
//! since about 2018 have.

#![expect(unsafe_code, reason = "loads from slices, and instructions the compiler has no stable name for")]

use std::arch::aarch64::{
    float32x4_t, int8x16_t, int16x8_t, int32x4_t, uint8x16_t, vaddvq_f32, vandq_u8, vbicq_u8, vcreate_u8,
    vcvt_f32_f16, vcvtq_f32_s32, vdup_n_u16, vdupq_n_f32, vdupq_n_s32, vdupq_n_u8, vdupq_n_u32, vfmaq_n_f32,
    vget_low_s8, vget_low_s16, vgetq_lane_f32, vld1q_s8, vld1q_s16, vld1q_u8, vmlal_high_s8, vmlal_high_s16,
    vmlal_s16, vmlaq_n_s32, vmovl_high_s8, vmovl_s8, vmovl_u8, vmull_s8, vmull_s16, vorrq_u8, vpadalq_s16,
    vpaddq_s16, vqtbl1q_u8, vreinterpret_f16_u16, vreinterpretq_s8_u8, vreinterpretq_s16_u16, vreinterpretq_u8_u32,
    vshlq_n_s32, vshlq_n_u8, vshrq_n_u8, vsubq_s32, vsubq_u8, vtstq_u8,
};
use std::arch::{asm, is_aarch64_feature_detected};

use super::attention::LANES;
use super::blocks::{Activations, scales_and_minima};
use super::gguf::Format;
use super::neon_attention::attend;
use super::past::Heads;
use super::{neon_panel as panel, unpack};

/// Proof that the processor has the instructions of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Vector {
    way: Way,
}

/// The ways, the slowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Dot,
}

impl Vector {
    /// Asks the processor: the best it can do first.
    pub(crate) fn all() -> Vec<Self> {
        let found = [is_aarch64_feature_detected!("dotprod").then_some(Way::Dot), Some(Way::Plain)];
        found.into_iter().flatten().map(|way| Self { way }).collect()
    }

    /// The way this process computes: the best one, or the one that `AXI_CPU` names.
    pub(crate) fn chosen() -> Option<Self> {
        Self::named(&std::env::var("AXI_CPU").unwrap_or_default())
    }

    /// The way of a name: `neon`, which is without `dotprod`, or none for `scalar`; the best one for any other.
    pub(crate) fn named(wanted: &str) -> Option<Self> {
        let mut all = Self::all().into_iter();
        match wanted {
            "scalar" => None,
            "neon" => all.find(|vector| vector.way == Way::Plain),
            _ => all.next(),
        }
    }

    /// Names the instructions.
    pub(crate) const fn name(self) -> &'static str {
        match self.way {
            Way::Plain => "NEON",
            Way::Dot => "NEON dotprod",
        }
    }

    /// Multiplies one row of weights with the tokens from `first` on, one for each place in `out`.
    pub(crate) fn row(self, format: Format, row: &[u8], activations: &Activations, first: usize, out: &mut [f32]) {
        let (tiles, rest) = out.as_chunks_mut::<4>();
        let over = first + tiles.len() * 4;
        for (index, out) in tiles.iter_mut().enumerate() {
            *out = self.tile(format, row, activations, first + index * 4);
        }
        for (index, out) in rest.iter_mut().enumerate() {
            [*out] = self.tile(format, row, activations, over + index);
        }
    }

    fn tile<const N: usize>(self, format: Format, row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
        // SAFETY: every processor of this kind has NEON, and a way with `dotprod` exists only where it was found.
        unsafe {
            match (format, self.way) {
                (Format::Q4K, Way::Plain) => four::<N, false>(row, activations, first),
                (Format::Q4K, Way::Dot) => four::<N, true>(row, activations, first),
                (Format::Q6K, Way::Plain) => six::<N, false>(row, activations, first),
                (Format::Q6K, Way::Dot) => six::<N, true>(row, activations, first),
                (Format::Q5Zero, Way::Plain) => five_narrow::<N, false>(row, activations, first),
                (Format::Q5Zero, Way::Dot) => five_narrow::<N, true>(row, activations, first),
                (Format::Q8Zero, Way::Plain) => eight_narrow::<N, false>(row, activations, first),
                (Format::Q8Zero, Way::Dot) => eight_narrow::<N, true>(row, activations, first),
                (
                    Format::Q2K
                    | Format::Q3K
                    | Format::Q5K
                    | Format::Q4Zero
                    | Format::Q4One
                    | Format::Q5One
                    | Format::BF16
                    | Format::F16
                    | Format::F32,
                    _,
                ) => any(format, row, activations, first),
            }
        }
    }

    /// Multiplies [`panel::ROWS`] rows of weights with all tokens; `false` where they have to be taken one by one.
    pub(crate) fn panel(self, format: Format, rows: &[u8], activations: &Activations, out: &mut [f32]) -> bool {
        match self.way {
            Way::Plain => false,
            // SAFETY: this way exists only where `dotprod` was found.
            Way::Dot => unsafe { panel::panel(format, rows, activations, out) },
        }
    }

    /// Lets the heads of some tokens that share keys and values, `shared` of each token, look at what was before: the
    /// first token at the first `seen` places, each other at one more; `false` where that is not done at once.
    #[expect(clippy::unused_self, reason = "it is the proof that numbers are multiplied and added in one")]
    pub(super) fn attend(
        self,
        queries: &[f32],
        shared: usize,
        heads: [Heads<'_>; 2],
        seen: usize,
        out: &mut [f32],
    ) -> bool {
        let size = shared * heads[0].head;
        let together = heads[0].head.is_multiple_of(LANES);
        if together {
            let tokens = queries.chunks_exact(size).zip(out.chunks_exact_mut(size));
            for (seen, (queries, out)) in (seen..).zip(tokens) {
                attend(queries, heads, seen, out);
            }
        }
        together
    }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load(bytes: &[u8]) -> uint8x16_t {
    assert!(bytes.len() >= 16);
    // SAFETY: sixteen bytes are there; the load needs no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load_signed(bytes: &[i8]) -> int8x16_t {
    assert!(bytes.len() >= 16);
    // SAFETY: as above.
    unsafe { vld1q_s8(bytes.as_ptr()) }
}

/// The sums of sixteen sixteens.
#[inline]
#[target_feature(enable = "neon")]
fn load_sums(sums: &[i16; 16]) -> [int16x8_t; 2] {
    // SAFETY: sixteen numbers are there.
    unsafe { [vld1q_s16(sums.as_ptr()), vld1q_s16(sums.as_ptr().add(8))] }
}

/// Widens the half-precision number at a place.
#[inline]
#[target_feature(enable = "neon")]
fn half(bytes: &[u8], at: usize) -> f32 {
    let bits = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    vgetq_lane_f32::<0>(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(bits))))
}

/// Adds the products of sixteen signed bytes, each of at most 127 on one side, to four sums.
#[inline]
#[target_feature(enable = "neon")]
fn dot<const DOT: bool>(mut sums: int32x4_t, left: int8x16_t, right: int8x16_t) -> int32x4_t {
    if DOT {
        // SAFETY: it reads and writes these registers only; who asks for it has found that the processor can.
        unsafe {
            asm!(
                ".arch_extension dotprod",
                "sdot {sums:v}.4s, {left:v}.16b, {right:v}.16b",
                sums = inout(vreg) sums, left = in(vreg) left, right = in(vreg) right,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        sums
    } else {
        let products = vmull_s8(vget_low_s8(left), vget_low_s8(right));
        vpadalq_s16(sums, vmlal_high_s8(products, left, right))
    }
}

#[target_feature(enable = "neon")]
fn four<const N: usize, const DOT: bool>(row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    let blocks = activations.width / 256;
    let low = vdupq_n_u8(15);
    let mut totals = [vdupq_n_f32(0.0); N];
    for (block, weights) in row.as_chunks::<144>().0.iter().enumerate() {
        let (scale, minimum) = (half(weights, 0), half(weights, 2));
        let (scales, minima) = scales_and_minima(&weights[4..16]);
        let minima = vreinterpretq_s16_u16(vmovl_u8(vcreate_u8(u64::from_le_bytes(minima))));
        let bytes: [&[i8; 256]; N] =
            std::array::from_fn(|token| &activations.bytes.as_chunks::<256>().0[(first + token) * blocks + block]);
        let mut sums = [vdupq_n_s32(0); N];
        for pair in 0..4 {
            let packed = [load(&weights[16 + pair * 32..]), load(&weights[32 + pair * 32..])];
            let lows = packed.map(|packed| vreinterpretq_s8_u8(vandq_u8(packed, low)));
            let highs = packed.map(|packed| vreinterpretq_s8_u8(vshrq_n_u8::<4>(packed)));
            for (half, numbers) in [lows, highs].into_iter().enumerate() {
                let part = pair * 2 + half;
                for (bytes, sum) in bytes.iter().zip(&mut sums) {
                    let products = dot::<DOT>(vdupq_n_s32(0), numbers[0], load_signed(&bytes[part * 32..]));
                    let products = dot::<DOT>(products, numbers[1], load_signed(&bytes[part * 32 + 16..]));
                    *sum = vmlaq_n_s32(*sum, products, i32::from(scales[part]));
                }
            }
        }
        for (token, total) in totals.iter_mut().enumerate() {
            let at = (first + token) * blocks + block;
            let factor = activations.scales[at];
            let [left, right] = load_sums(&activations.sums.as_chunks().0[at]);
            let pairs = vpaddq_s16(left, right);
            let taken = vmull_s16(vget_low_s16(pairs), vget_low_s16(minima));
            let taken = vmlal_high_s16(taken, pairs, minima);
            *total = vfmaq_n_f32(*total, vcvtq_f32_s32(sums[token]), scale * factor);
            *total = vfmaq_n_f32(*total, vcvtq_f32_s32(taken), -minimum * factor);
        }
    }
    totals.map(|total| vaddvq_f32(total))
}

/// Six bits a number, 32 too high: that much times what they meet is taken back.
#[target_feature(enable = "neon")]
fn six<const N: usize, const DOT: bool>(row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    let blocks = activations.width / 256;
    let (low, two) = (vdupq_n_u8(15), vdupq_n_u8(0x30));
    let mut totals = [vdupq_n_f32(0.0); N];
    for (block, weights) in row.as_chunks::<210>().0.iter().enumerate() {
        let scale = half(weights, 208);
        let scales = vreinterpretq_s8_u8(load(&weights[192..]));
        let wide = [vmovl_s8(vget_low_s8(scales)), vmovl_high_s8(scales)];
        let bytes: [&[i8; 256]; N] =
            std::array::from_fn(|token| &activations.bytes.as_chunks::<256>().0[(first + token) * blocks + block]);
        let mut sums = [vdupq_n_s32(0); N];
        for place in 0..4 {
            // Sixteen numbers of each quarter of a half.
            let (half, more) = (place / 2, place % 2);
            let fours = [0, 32].map(|from| load(&weights[half * 64 + more * 16 + from..]));
            let twos = load(&weights[128 + half * 32 + more * 16..]);
            let numbers = [
                vorrq_u8(vandq_u8(fours[0], low), vandq_u8(vshlq_n_u8::<4>(twos), two)),
                vorrq_u8(vandq_u8(fours[1], low), vandq_u8(vshlq_n_u8::<2>(twos), two)),
                vorrq_u8(vshrq_n_u8::<4>(fours[0]), vandq_u8(twos, two)),
                vorrq_u8(vshrq_n_u8::<4>(fours[1]), vandq_u8(vshrq_n_u8::<2>(twos), two)),
            ];
            for (quarter, numbers) in numbers.into_iter().enumerate() {
                let part = half * 8 + quarter * 2 + more;
                let factor = i32::from(weights[192 + part] as i8);
                for (bytes, sum) in bytes.iter().zip(&mut sums) {
                    let bytes = load_signed(&bytes[part * 16..]);
                    let products = dot::<DOT>(vdupq_n_s32(0), vreinterpretq_s8_u8(numbers), bytes);
                    *sum = vmlaq_n_s32(*sum, products, factor);
                }
            }
        }
        for (token, total) in totals.iter_mut().enumerate() {
            let at = (first + token) * blocks + block;
            let sixteens = load_sums(&activations.sums.as_chunks().0[at]);
            let mut taken = vmull_s16(vget_low_s16(wide[0]), vget_low_s16(sixteens[0]));
            taken = vmlal_high_s16(taken, wide[0], sixteens[0]);
            taken = vmlal_s16(taken, vget_low_s16(wide[1]), vget_low_s16(sixteens[1]));
            taken = vmlal_high_s16(taken, wide[1], sixteens[1]);
            let sum = vcvtq_f32_s32(vsubq_s32(sums[token], vshlq_n_s32::<5>(taken)));
            *total = vfmaq_n_f32(*total, sum, scale * activations.scales[at]);
        }
    }
    totals.map(|total| vaddvq_f32(total))
}

/// Adds the products of a block of 32 signed bytes.
#[inline]
#[target_feature(enable = "neon")]
fn signed<const DOT: bool>(
    numbers: [int8x16_t; 2],
    scale: f32,
    activations: &Activations,
    at: usize,
    total: float32x4_t,
) -> float32x4_t {
    let bytes = &activations.bytes.as_chunks::<32>().0[at];
    let sums = dot::<DOT>(vdupq_n_s32(0), numbers[0], load_signed(bytes));
    let sums = dot::<DOT>(sums, numbers[1], load_signed(&bytes[16..]));
    vfmaq_n_f32(total, vcvtq_f32_s32(sums), scale * activations.scales[at])
}

#[target_feature(enable = "neon")]
fn eight_narrow<const N: usize, const DOT: bool>(row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    let blocks = activations.width / 32;
    let mut totals = [vdupq_n_f32(0.0); N];
    for (block, weights) in row.as_chunks::<34>().0.iter().enumerate() {
        let scale = half(weights, 0);
        let numbers = [2, 18].map(|at| vreinterpretq_s8_u8(load(&weights[at..])));
        for (token, total) in totals.iter_mut().enumerate() {
            *total = signed::<DOT>(numbers, scale, activations, (first + token) * blocks + block, *total);
        }
    }
    totals.map(|total| vaddvq_f32(total))
}

#[target_feature(enable = "neon")]
fn five_narrow<const N: usize, const DOT: bool>(row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    // Byte n of two registers gets bit n of the word: its byte is spread, one bit of it tested.
    const BYTES: [[u8; 16]; 2] =
        [[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3]];
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    let blocks = activations.width / 32;
    let (low, sixteen, bits) = (vdupq_n_u8(15), vdupq_n_u8(16), load(&BITS));
    let places = BYTES.map(|bytes| load(&bytes));
    let mut totals = [vdupq_n_f32(0.0); N];
    for (block, weights) in row.as_chunks::<22>().0.iter().enumerate() {
        let scale = half(weights, 0);
        let word = u32::from_le_bytes([weights[2], weights[3], weights[4], weights[5]]);
        let word = vreinterpretq_u8_u32(vdupq_n_u32(word));
        let packed = load(&weights[6..]);
        let fours = [vandq_u8(packed, low), vshrq_n_u8::<4>(packed)];
        // What has no fifth bit is sixteen less.
        let numbers: [int8x16_t; 2] = std::array::from_fn(|half| {
            let is_set = vtstq_u8(vqtbl1q_u8(word, places[half]), bits);
            vreinterpretq_s8_u8(vsubq_u8(fours[half], vbicq_u8(sixteen, is_set)))
        });
        for (token, total) in totals.iter_mut().enumerate() {
            *total = signed::<DOT>(numbers, scale, activations, (first + token) * blocks + block, *total);
        }
    }
    totals.map(|total| vaddvq_f32(total))
}

/// Any format.
#[target_feature(enable = "neon")]
fn any<const N: usize>(format: Format, row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    unpack::row(format, row, activations, first)
}
