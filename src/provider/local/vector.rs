//! Rows of weights times activations with the vector instructions of x86 processors (AVX2, FMA, F16C).

#![expect(unsafe_code, reason = "loads from slices and the step into functions of a processor's extension")]

use std::arch::x86_64::{
    __m256, __m256i, _mm_add_ps, _mm_add_ss, _mm_cvtepi32_ps, _mm_cvtepu8_epi16, _mm_cvtss_f32, _mm_fmadd_ps,
    _mm_hadd_epi16, _mm_loadu_si128, _mm_madd_epi16, _mm_movehdup_ps, _mm_movehl_ps, _mm_set_epi64x,
    _mm_set1_epi16, _mm_set1_ps, _mm_setzero_ps, _mm_srli_epi16, _mm256_abs_epi8, _mm256_add_epi32,
    _mm256_and_si256, _mm256_castps256_ps128, _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_cvtepi8_epi16,
    _mm256_cvtepi32_ps, _mm256_extractf128_ps, _mm256_extracti128_si256, _mm256_fmadd_ps, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_or_si256, _mm256_set_m128, _mm256_set_m128i, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_ps, _mm256_setr_epi64x,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sign_epi8, _mm256_slli_epi16,
    _mm256_slli_epi32, _mm256_srli_epi16, _mm256_sub_epi8, _mm256_sub_epi32, _mm256_sub_ps,
};

use super::attention::LANES;
use super::attention_narrow::attend;
use super::attention_wide::attend as wide_attend;
use super::blocks::{Activations, scales_and_minima};
use super::gguf::Format;
use super::past::Heads;
use super::vector_loads::{half, load_sums};
use super::vector_wide as wide;
use super::{panel, panel_narrow, unpack};

/// Proof that the processor has the extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vector {
    /// Whether it has those of [`wide`] too.
    wide: bool,
}

impl Vector {
    /// Asks the processor: the best it can do first.
    pub(crate) fn all() -> Vec<Self> {
        let narrow =
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vnni");
        let found = [(narrow && wide).then_some(Self { wide: true }), narrow.then_some(Self { wide: false })];
        found.into_iter().flatten().collect()
    }

    /// The way this process computes: the best one, or the one that `AXI_CPU` names if the processor has it.
    pub(crate) fn chosen() -> Option<Self> {
        Self::named(&std::env::var("AXI_CPU").unwrap_or_default())
    }

    /// The way of a name: `avx512`, `avx2`, or none for `scalar`; the best one for any other.
    pub(crate) fn named(wanted: &str) -> Option<Self> {
        let mut all = Self::all().into_iter();
        match wanted {
            "scalar" => None,
            "avx2" => all.find(|vector| !vector.wide),
            _ => all.next(),
        }
    }

    /// Names the extensions.
    pub(crate) const fn name(self) -> &'static str {
        if self.wide { "AVX-512 VNNI" } else { "AVX2" }
    }

    /// Multiplies one row of weights with the tokens from `first` on, one for each place in `out`.
    pub(crate) fn row(self, format: Format, row: &[u8], activations: &Activations, first: usize, out: &mut [f32]) {
        if self.wide {
            self.tiles::<8>(format, row, activations, first, out);
        } else {
            self.tiles::<4>(format, row, activations, first, out);
        }
    }

    /// Multiplies [`panel::ROWS`] rows of weights with all tokens; `false` where they have to be taken one by one.
    pub(crate) fn panel(self, format: Format, rows: &[u8], activations: &Activations, out: &mut [f32]) -> bool {
        // SAFETY: a Vector exists only where the extensions were found, a wide one where those of `panel` were too.
        unsafe {
            if self.wide {
                panel::panel(format, rows, activations, out)
            } else {
                panel_narrow::panel(format, rows, activations, out)
            }
        }
    }

    /// As many tokens at once as there are registers for; what is over in smaller tiles.
    fn tiles<const N: usize>(
        self,
        format: Format,
        row: &[u8],
        activations: &Activations,
        first: usize,
        out: &mut [f32],
    ) {
        let (tiles, rest) = out.as_chunks_mut::<N>();
        let over = first + tiles.len() * N;
        for (index, out) in tiles.iter_mut().enumerate() {
            *out = self.tile(format, row, activations, first + index * N);
        }
        let (pairs, rest) = rest.as_chunks_mut::<2>();
        let last = over + pairs.len() * 2;
        for (index, out) in pairs.iter_mut().enumerate() {
            *out = self.tile(format, row, activations, over + index * 2);
        }
        for (index, out) in rest.iter_mut().enumerate() {
            [*out] = self.tile(format, row, activations, last + index);
        }
    }

    fn tile<const N: usize>(self, format: Format, row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
        // SAFETY: a Vector exists only where the extensions were found, a wide one where those of `wide` were too.
        unsafe {
            match (format, self.wide) {
                (Format::Q4K, true) => wide::four(row, activations, first),
                (Format::Q6K, true) => wide::six(row, activations, first),
                (Format::Q4Zero, true) => {
                    let done = wide::narrow::<N, 4>(row, activations, first);
                    and(done, narrow::<N, 4>(row, done.1, activations, first))
                }
                (Format::Q5Zero, true) => {
                    let done = wide::narrow::<N, 5>(row, activations, first);
                    and(done, narrow::<N, 5>(row, done.1, activations, first))
                }
                (Format::Q8Zero, true) => {
                    let done = wide::narrow::<N, 8>(row, activations, first);
                    and(done, narrow::<N, 8>(row, done.1, activations, first))
                }
                (Format::Q4K, false) => four(row, activations, first),
                (Format::Q6K, false) => six(row, activations, first),
                (Format::Q4Zero, false) => narrow::<N, 4>(row, 0, activations, first),
                (Format::Q5Zero, false) => narrow::<N, 5>(row, 0, activations, first),
                (Format::Q8Zero, false) => narrow::<N, 8>(row, 0, activations, first),
                (
                    Format::Q2K
                    | Format::Q3K
                    | Format::Q5K
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

    /// Lets the heads of some tokens that share keys and values, `shared` of each token, look at what was before: the
    /// first token at the first `seen` places, each other at one more; `false` where that is not done at once.
    pub(super) fn attend(
        self,
        queries: &[f32],
        shared: usize,
        heads: [Heads<'_>; 2],
        seen: usize,
        out: &mut [f32],
    ) -> bool {
        let head = heads[0].head;
        if self.wide && (head == 64 || head == 128) {
            let tokens = queries.chunks_exact(shared * head).zip(out.chunks_exact_mut(shared * head));
            for (seen, (queries, out)) in (seen..).zip(tokens) {
                // SAFETY: a wide Vector exists only where the extensions were found.
                unsafe {
                    if head == 64 {
                        wide_attend::<4>(queries, heads, seen, out);
                    } else {
                        wide_attend::<8>(queries, heads, seen, out);
                    }
                }
            }
            return true;
        }
        let together = head.is_multiple_of(LANES);
        if together {
            // SAFETY: any Vector exists only where AVX2 and FMA were found.
            unsafe { attend(queries, shared, heads, seen, out) };
        }
        together
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn load(bytes: &[u8]) -> __m256i {
    assert!(bytes.len() >= 32);
    // SAFETY: 32 bytes are there; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn load_signed(bytes: &[i8]) -> __m256i {
    assert!(bytes.len() >= 32);
    // SAFETY: as above.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn sum(numbers: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(numbers), _mm256_extractf128_ps::<1>(numbers));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}

#[target_feature(enable = "avx2,fma,f16c")]
fn four<const N: usize>(row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    let width = activations.width;
    let blocks = width / 256;
    let low = _mm256_set1_epi8(15);
    let mut totals = [_mm256_setzero_ps(); N];
    let mut less = [_mm_setzero_ps(); N];
    for (block, weights) in row.as_chunks::<144>().0.iter().enumerate() {
        let (scale, minimum) = (half(weights, 0), half(weights, 2));
        let (scales, minima) = scales_and_minima(&weights[4..16]);
        let minima = _mm_cvtepu8_epi16(_mm_set_epi64x(0, i64::from_le_bytes(minima)));
        let bytes: [&[i8; 256]; N] =
            std::array::from_fn(|token| &activations.bytes.as_chunks::<256>().0[(first + token) * blocks + block]);
        let mut sums = [_mm256_setzero_si256(); N];
        for pair in 0..4 {
            let packed = load(&weights[16 + pair * 32..]);
            let halves = [_mm256_and_si256(packed, low), _mm256_and_si256(_mm256_srli_epi16::<4>(packed), low)];
            for (half, numbers) in halves.into_iter().enumerate() {
                let part = pair * 2 + half;
                let factor = _mm256_set1_epi16(i16::from(scales[part]));
                for token in 0..N {
                    let products = _mm256_maddubs_epi16(numbers, load_signed(&bytes[token][part * 32..]));
                    sums[token] = _mm256_add_epi32(sums[token], _mm256_madd_epi16(products, factor));
                }
            }
        }
        for token in 0..N {
            let at = (first + token) * blocks + block;
            let factor = activations.scales[at];
            totals[token] =
                _mm256_fmadd_ps(_mm256_set1_ps(scale * factor), _mm256_cvtepi32_ps(sums[token]), totals[token]);
            let sixteens = load_sums(&activations.sums[at * 16..]);
            let pairs = _mm_hadd_epi16(_mm256_castsi256_si128(sixteens), _mm256_extracti128_si256::<1>(sixteens));
            let taken = _mm_cvtepi32_ps(_mm_madd_epi16(minima, pairs));
            less[token] = _mm_fmadd_ps(_mm_set1_ps(minimum * factor), taken, less[token]);
        }
    }
    std::array::from_fn(|token| sum(_mm256_sub_ps(totals[token], _mm256_set_m128(_mm_setzero_ps(), less[token]))))
}

#[target_feature(enable = "avx2,fma,f16c")]
fn six<const N: usize>(row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    let blocks = activations.width / 256;
    let (low, two) = (_mm256_set1_epi8(15), _mm256_set1_epi8(3));
    let mut totals = [_mm256_setzero_ps(); N];
    for (block, weights) in row.as_chunks::<210>().0.iter().enumerate() {
        let scale = half(weights, 208);
        // SAFETY: sixteen bytes of scales follow the 192 of numbers.
        let scales = _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(weights[192..208].as_ptr().cast()) });
        let bytes: [&[i8; 256]; N] =
            std::array::from_fn(|token| &activations.bytes.as_chunks::<256>().0[(first + token) * blocks + block]);
        // The numbers stand 32 too high: that much times what they meet is taken back first.
        let mut sums: [__m256i; N] = std::array::from_fn(|token| {
            let sixteens = load_sums(&activations.sums[((first + token) * blocks + block) * 16..]);
            let taken = _mm256_slli_epi32::<5>(_mm256_madd_epi16(scales, sixteens));
            _mm256_sub_epi32(_mm256_setzero_si256(), taken)
        });
        for part in 0..2 {
            let (lows, highs) = (&weights[part * 64..], load(&weights[128 + part * 32..]));
            let fours = [load(lows), load(&lows[32..])];
            for quarter in 0..4 {
                let four = fours[quarter % 2];
                let four = if quarter < 2 { four } else { _mm256_srli_epi16::<4>(four) };
                let high = match quarter {
                    0 => highs,
                    1 => _mm256_srli_epi16::<2>(highs),
                    2 => _mm256_srli_epi16::<4>(highs),
                    _ => _mm256_srli_epi16::<6>(highs),
                };
                let high = _mm256_slli_epi16::<4>(_mm256_and_si256(high, two));
                let numbers = _mm256_or_si256(_mm256_and_si256(four, low), high);
                let at = 192 + part * 8 + quarter * 2;
                let factor = _mm256_set_m128i(
                    _mm_set1_epi16(i16::from(weights[at + 1] as i8)),
                    _mm_set1_epi16(i16::from(weights[at] as i8)),
                );
                for token in 0..N {
                    let products =
                        _mm256_maddubs_epi16(numbers, load_signed(&bytes[token][part * 128 + quarter * 32..]));
                    sums[token] = _mm256_add_epi32(sums[token], _mm256_madd_epi16(products, factor));
                }
            }
        }
        for token in 0..N {
            let factor = scale * activations.scales[(first + token) * blocks + block];
            totals[token] = _mm256_fmadd_ps(_mm256_set1_ps(factor), _mm256_cvtepi32_ps(sums[token]), totals[token]);
        }
    }
    totals.map(|total| sum(total))
}

/// Adds the products of 32 signed bytes with 32 signed bytes, times a factor.
#[target_feature(enable = "avx2,fma,f16c")]
fn signed(numbers: __m256i, bytes: &[i8], factor: f32, total: __m256) -> __m256 {
    let bytes = load_signed(bytes);
    let products = _mm256_maddubs_epi16(_mm256_abs_epi8(numbers), _mm256_sign_epi8(bytes, numbers));
    let sums = _mm256_madd_epi16(products, _mm256_set1_epi16(1));
    _mm256_fmadd_ps(_mm256_set1_ps(factor), _mm256_cvtepi32_ps(sums), total)
}

/// What most blocks of a row come to, and what the rest does.
fn and<const N: usize>((mut totals, _): ([f32; N], usize), rest: [f32; N]) -> [f32; N] {
    totals.iter_mut().zip(rest).for_each(|(total, rest)| *total += rest);
    totals
}

/// Blocks of 32 numbers of some bits that stand in the middle of what they can be, from one on.
#[target_feature(enable = "avx2,fma,f16c")]
fn narrow<const N: usize, const BITS: usize>(
    row: &[u8],
    from: usize,
    activations: &Activations,
    first: usize,
) -> [f32; N] {
    let width = activations.width;
    // Byte n of a register gets bit n of the word: its byte is spread, one bit of it tested.
    let spread = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let above = _mm256_set1_epi8(if BITS == 5 { 16 } else { 8 });
    let mut totals = [_mm256_setzero_ps(); N];
    for (block, weights) in row.chunks_exact(2 + BITS * 4).enumerate().skip(from) {
        let scale = half(weights, 0);
        let numbers = match BITS {
            4 => _mm256_sub_epi8(nibbles(&weights[2..]), above),
            5 => {
                let word = i32::from_le_bytes([weights[2], weights[3], weights[4], weights[5]]);
                let spread = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(word), spread), bits);
                let fifth = _mm256_and_si256(_mm256_cmpeq_epi8(spread, bits), _mm256_set1_epi8(16));
                _mm256_sub_epi8(_mm256_or_si256(nibbles(&weights[6..]), fifth), above)
            }
            _ => load(&weights[2..]),
        };
        for (token, total) in totals.iter_mut().enumerate() {
            let at = (first + token) * width + block * 32;
            *total = signed(numbers, &activations.bytes[at..], scale * activations.scales[at / 32], *total);
        }
    }
    totals.map(|total| sum(total))
}

/// 32 numbers of four bits, the first sixteen in the low halves.
#[target_feature(enable = "avx2,fma,f16c")]
fn nibbles(packed: &[u8]) -> __m256i {
    assert!(packed.len() >= 16);
    // SAFETY: sixteen bytes are there.
    let packed = unsafe { _mm_loadu_si128(packed.as_ptr().cast()) };
    let both = _mm256_set_m128i(_mm_srli_epi16::<4>(packed), packed);
    _mm256_and_si256(both, _mm256_set1_epi8(15))
}

/// Any format.
#[target_feature(enable = "avx2,fma,f16c")]
fn any<const N: usize>(format: Format, row: &[u8], activations: &Activations, first: usize) -> [f32; N] {
    unpack::row(format, row, activations, first)
}
