//! Sixteen rows of weights at once times many tokens, with the byte products of AVX-512 (VNNI).
//!
//! A lane of a register is a row: weights are unpacked and turned once for all tokens, and nothing has to be summed
//! across a register. Worth it from a few tokens on; for one, `vector_wide` reads the weights as they lie.

#![expect(unsafe_code, reason = "loads from slices and stores into them, both of checked length")]

use std::arch::x86_64::{
    __m512, __m512i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm512_and_si512, _mm512_castsi128_si512,
    _mm512_cvtepi32_epi16, _mm512_cvtepi32_ps, _mm512_cvtph_ps, _mm512_dpbusd_epi32, _mm512_dpwssd_epi32,
    _mm512_fmadd_ps, _mm512_fnmadd_ps, _mm512_inserti32x4, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mul_ps,
    _mm512_mullo_epi32, _mm512_or_si512, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
    _mm512_setzero_si512, _mm512_slli_epi32, _mm512_sllv_epi32, _mm512_srai_epi32, _mm512_srli_epi32,
    _mm512_srlv_epi32, _mm512_storeu_ps, _mm512_sub_ps, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi32, _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use super::blocks::Activations;
use super::gguf::Format;
use super::unpack::{Unpacked, above};

/// Rows of a panel.
pub(super) const ROWS: usize = 16;

/// A block of sixteen rows, unpacked: number `n` of each row is byte `n % 4` of its lane in register `n / 4`.
struct Panel {
    numbers: [__m512i; 64],
    /// What the numbers of a part are multiplied with; of narrow blocks, those of a block.
    factors: [__m512; 16],
    /// What is taken away of each sixteen numbers, two in a lane, and what that is multiplied with.
    taken: [__m512i; 8],
    taken_factor: __m512,
    /// What is taken away of each number of a narrow block.
    less: [__m512; 8],
}

/// Multiplies sixteen rows, one behind the other in `rows`, with all tokens: sixteen numbers a token. Nothing is
/// written, and `false` returned, where the format has no such way.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
pub(super) fn panel(format: Format, rows: &[u8], activations: &Activations, out: &mut [f32]) -> bool {
    let zero = _mm512_setzero_si512();
    let mut panel = Panel {
        numbers: [zero; 64],
        factors: [_mm512_setzero_ps(); 16],
        taken: [zero; 8],
        taken_factor: _mm512_setzero_ps(),
        less: [_mm512_setzero_ps(); 8],
    };
    let row = rows.len() / ROWS;
    let (numbers, size) = format.block();
    let step = 256 / numbers;
    out.fill(0.0);
    for block in (0..row / size).step_by(step) {
        let count = step.min(row / size - block);
        for index in 0..count {
            let at = (block + index) * size;
            match format {
                Format::Q4K => four(&mut panel, rows, row, at),
                Format::Q6K => six(&mut panel, rows, row, at),
                Format::Q2K | Format::Q3K | Format::Q5K => any(&mut panel, format, rows, row, at),
                Format::Q8Zero => eight_narrow(&mut panel, rows, row, at, index),
                Format::Q4Zero | Format::Q5Zero | Format::Q4One | Format::Q5One => {
                    narrow_block(&mut panel, format, rows, row, at, index);
                }
                Format::BF16 | Format::F16 | Format::F32 => return false,
            }
        }
        ahead(rows, row, (block + count) * size);
        let at = |done: usize| (done, block, count);
        let mut done = 0;
        let (tiles, rest) = out.as_chunks_mut::<{ ROWS * 8 }>();
        for out in tiles {
            tile::<8>(format, &panel, activations, at(done), out);
            done += 8;
        }
        let (tiles, rest) = rest.as_chunks_mut::<{ ROWS * 4 }>();
        for out in tiles {
            tile::<4>(format, &panel, activations, at(done), out);
            done += 4;
        }
        for out in rest.as_chunks_mut::<ROWS>().0 {
            tile::<1>(format, &panel, activations, at(done), out);
            done += 1;
        }
    }
    true
}

/// Has the memory send the next block while this one is computed.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn ahead(rows: &[u8], row: usize, at: usize) {
    for index in 0..ROWS {
        for line in 0..3 {
            // A hint about any address, also of none.
            _mm_prefetch::<_MM_HINT_T0>(rows.as_ptr().wrapping_add(index * row + at + line * 64).cast());
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
fn tile<const N: usize>(
    format: Format,
    panel: &Panel,
    activations: &Activations,
    at: (usize, usize, usize),
    out: &mut [f32],
) {
    match format {
        Format::Q4K | Format::Q5K => wide::<N, 8>(panel, activations, at, out),
        Format::Q2K | Format::Q3K | Format::Q6K => wide::<N, 4>(panel, activations, at, out),
        Format::Q4Zero | Format::Q4One | Format::Q5Zero | Format::Q5One | Format::Q8Zero => {
            narrow::<N>(panel, activations, at, out);
        }
        Format::BF16 | Format::F16 | Format::F32 => {}
    }
}

/// Adds the products of a block of 256 numbers, in parts of `4 * REGISTERS` that share a factor.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
fn wide<const N: usize, const REGISTERS: usize>(
    panel: &Panel,
    activations: &Activations,
    (first, block, _): (usize, usize, usize),
    out: &mut [f32],
) {
    let blocks = activations.width / 256;
    let bytes: [&[i8; 256]; N] =
        std::array::from_fn(|token| &activations.bytes.as_chunks().0[(first + token) * blocks + block]);
    let mut sums = [_mm512_setzero_ps(); N];
    for (part, (numbers, factor)) in panel.numbers.as_chunks::<REGISTERS>().0.iter().zip(&panel.factors).enumerate()
    {
        for (bytes, sum) in bytes.iter().zip(&mut sums) {
            let bytes = &bytes.as_chunks::<4>().0[part * REGISTERS..][..REGISTERS];
            let mut products = _mm512_setzero_si512();
            for (numbers, bytes) in numbers.iter().zip(bytes) {
                products = _mm512_dpbusd_epi32(products, *numbers, four_times(*bytes));
            }
            *sum = _mm512_fmadd_ps(*factor, _mm512_cvtepi32_ps(products), *sum);
        }
    }
    for (token, sum) in sums.iter_mut().enumerate() {
        let at = (first + token) * blocks + block;
        let sixteens = &activations.sums.as_chunks::<16>().0[at];
        let mut taken = _mm512_setzero_si512();
        for (numbers, sixteens) in panel.taken.iter().zip(sixteens.as_chunks::<2>().0) {
            taken = _mm512_dpwssd_epi32(taken, *numbers, two_times(*sixteens));
        }
        *sum = _mm512_fnmadd_ps(panel.taken_factor, _mm512_cvtepi32_ps(taken), *sum);
        add(&mut out[token * ROWS..], _mm512_set1_ps(activations.scales[at]), *sum);
    }
}

/// Adds the products of blocks of 32 numbers.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
fn narrow<const N: usize>(
    panel: &Panel,
    activations: &Activations,
    (first, block, count): (usize, usize, usize),
    out: &mut [f32],
) {
    let blocks = activations.width / 32;
    let mut sums = [_mm512_setzero_ps(); N];
    for (index, numbers) in panel.numbers.as_chunks::<8>().0[..count].iter().enumerate() {
        for (token, sum) in sums.iter_mut().enumerate() {
            let at = (first + token) * blocks + block + index;
            let bytes: &[i8; 32] = &activations.bytes.as_chunks().0[at];
            let mut products = _mm512_setzero_si512();
            for (numbers, bytes) in numbers.iter().zip(bytes.as_chunks::<4>().0) {
                products = _mm512_dpbusd_epi32(products, *numbers, four_times(*bytes));
            }
            let factor = _mm512_mul_ps(panel.factors[index], _mm512_set1_ps(activations.scales[at]));
            *sum = _mm512_fmadd_ps(factor, _mm512_cvtepi32_ps(products), *sum);
            *sum = _mm512_fnmadd_ps(panel.less[index], _mm512_set1_ps(activations.means[at]), *sum);
        }
    }
    for (out, sum) in out.as_chunks_mut::<ROWS>().0.iter_mut().zip(sums) {
        add(out, _mm512_set1_ps(1.0), sum);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn four_times(bytes: [i8; 4]) -> __m512i {
    _mm512_set1_epi32(i32::from_le_bytes(bytes.map(|byte| byte as u8)))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn two_times([left, right]: [i16; 2]) -> __m512i {
    _mm512_set1_epi32(i32::from(left as u16) | i32::from(right) << 16)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
fn add(out: &mut [f32], factor: __m512, numbers: __m512) {
    let out = &mut out[..ROWS];
    // SAFETY: sixteen numbers are there.
    unsafe { _mm512_storeu_ps(out.as_mut_ptr(), _mm512_fmadd_ps(factor, numbers, _mm512_loadu_ps(out.as_ptr()))) };
}

/// Sixteen bytes of every fourth row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn fourth(rows: &[u8], row: usize, at: usize) -> __m512i {
    assert!(rows.len() >= at + row * 12 + 16);
    // SAFETY: sixteen bytes are there at the last of four places, and at those before it.
    unsafe {
        let bytes = rows.as_ptr().add(at);
        let all = _mm512_castsi128_si512(_mm_loadu_si128(bytes.cast()));
        let all = _mm512_inserti32x4::<1>(all, _mm_loadu_si128(bytes.add(row * 4).cast()));
        let all = _mm512_inserti32x4::<2>(all, _mm_loadu_si128(bytes.add(row * 8).cast()));
        _mm512_inserti32x4::<3>(all, _mm_loadu_si128(bytes.add(row * 12).cast()))
    }
}

/// Sixteen bytes of each row, `at` bytes behind its start, as four registers with four bytes a row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn turned(rows: &[u8], row: usize, at: usize) -> [__m512i; 4] {
    let first = fourth(rows, row, at);
    let second = fourth(rows, row, at + row);
    let third = fourth(rows, row, at + row * 2);
    let fourth = fourth(rows, row, at + row * 3);
    let low = [_mm512_unpacklo_epi32(first, second), _mm512_unpacklo_epi32(third, fourth)];
    let high = [_mm512_unpackhi_epi32(first, second), _mm512_unpackhi_epi32(third, fourth)];
    [
        _mm512_unpacklo_epi64(low[0], low[1]),
        _mm512_unpackhi_epi64(low[0], low[1]),
        _mm512_unpacklo_epi64(high[0], high[1]),
        _mm512_unpackhi_epi64(high[0], high[1]),
    ]
}

/// A word of each row, `at` bytes behind its start; `SIZE` bytes of it, the rest is zero.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn words<const SIZE: usize>(rows: &[u8], row: usize, at: usize) -> __m512i {
    let mut words = [0_u32; ROWS];
    for (index, word) in words.iter_mut().enumerate() {
        let mut bytes = [0; 4];
        bytes[..SIZE].copy_from_slice(&rows[index * row + at..][..SIZE]);
        *word = u32::from_le_bytes(bytes);
    }
    // SAFETY: sixteen words are 64 bytes.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Widens the half-precision numbers in the lower halves of lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn widened(halves: __m512i) -> __m512 {
    _mm512_cvtph_ps(_mm512_cvtepi32_epi16(halves))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
fn four(panel: &mut Panel, rows: &[u8], row: usize, at: usize) {
    let low = _mm512_set1_epi8(15);
    for quad in 0..8 {
        for (index, fours) in turned(rows, row, at + 16 + quad * 16).into_iter().enumerate() {
            let place = quad / 2 * 16 + quad % 2 * 4 + index;
            panel.numbers[place] = _mm512_and_si512(fours, low);
            panel.numbers[place + 8] = _mm512_and_si512(_mm512_srli_epi32::<4>(fours), low);
        }
    }
    let [halves, first, second, third] = turned(rows, row, at);
    let (six, four, two) = (_mm512_set1_epi8(0x3f), _mm512_set1_epi8(0x0f), _mm512_set1_epi8(0x30));
    let mixed = |fours: __m512i, twos: __m512i| {
        let twos = _mm512_and_si512(_mm512_srli_epi32::<2>(twos), two);
        _mm512_or_si512(_mm512_and_si512(fours, four), twos)
    };
    let scales = [_mm512_and_si512(first, six), mixed(third, first)];
    let minima = [_mm512_and_si512(second, six), mixed(_mm512_srli_epi32::<4>(third), second)];
    let scale = widened(halves);
    for part in 0..8 {
        let shift = _mm512_set1_epi32(part % 4 * 8);
        let byte = |words: [__m512i; 2]| {
            _mm512_and_si512(_mm512_srlv_epi32(words[part as usize / 4], shift), _mm512_set1_epi32(255))
        };
        panel.factors[part as usize] = _mm512_mul_ps(scale, _mm512_cvtepi32_ps(byte(scales)));
        let minimum = byte(minima);
        panel.taken[part as usize] = _mm512_or_si512(minimum, _mm512_slli_epi32::<16>(minimum));
    }
    panel.taken_factor = widened(_mm512_srli_epi32::<16>(halves));
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
fn six(panel: &mut Panel, rows: &[u8], row: usize, at: usize) {
    let (low, high) = (_mm512_set1_epi8(15), _mm512_set1_epi8(0x30));
    for quad in 0..4 {
        let (part, half) = (quad / 2, quad % 2);
        let fours = [0, 32].map(|more| turned(rows, row, at + part * 64 + half * 16 + more));
        let twos = turned(rows, row, at + 128 + part * 32 + half * 16);
        for index in 0..4 {
            let place = part * 32 + half * 4 + index;
            let (first, second, twos) = (fours[0][index], fours[1][index], twos[index]);
            let joined = |four: __m512i, two: __m512i| {
                _mm512_or_si512(_mm512_and_si512(four, low), _mm512_and_si512(two, high))
            };
            panel.numbers[place] = joined(first, _mm512_slli_epi32::<4>(twos));
            panel.numbers[place + 8] = joined(second, _mm512_slli_epi32::<2>(twos));
            panel.numbers[place + 16] = joined(_mm512_srli_epi32::<4>(first), twos);
            panel.numbers[place + 24] = joined(_mm512_srli_epi32::<4>(second), _mm512_srli_epi32::<2>(twos));
        }
    }
    let scale = widened(words::<2>(rows, row, at + 208));
    let scales = turned(rows, row, at + 192);
    let scales: [__m512i; 16] = std::array::from_fn(|part| {
        let up = _mm512_set1_epi32(24 - part as i32 % 4 * 8);
        _mm512_srai_epi32::<24>(_mm512_sllv_epi32(scales[part / 4], up))
    });
    for (factor, scales) in panel.factors.iter_mut().zip(scales) {
        *factor = _mm512_mul_ps(scale, _mm512_cvtepi32_ps(scales));
    }
    for (taken, [left, right]) in panel.taken.iter_mut().zip(scales.as_chunks().0) {
        let left = _mm512_and_si512(*left, _mm512_set1_epi32(0xffff));
        *taken = _mm512_or_si512(left, _mm512_slli_epi32::<16>(*right));
    }
    panel.taken_factor = _mm512_mul_ps(scale, _mm512_set1_ps(32.0));
}

/// Unpacks a block of 32 numbers of four or five bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
fn narrow_block(panel: &mut Panel, format: Format, rows: &[u8], row: usize, at: usize, index: usize) {
    let low = _mm512_set1_epi8(15);
    let has_minimum = matches!(format, Format::Q4One | Format::Q5One);
    let behind = at + if has_minimum { 4 } else { 2 };
    let factor = widened(words::<2>(rows, row, at));
    panel.factors[index] = factor;
    panel.less[index] = if has_minimum {
        _mm512_sub_ps(_mm512_setzero_ps(), widened(words::<2>(rows, row, at + 2)))
    } else {
        _mm512_mul_ps(factor, _mm512_set1_ps(f32::from(above(format))))
    };
    let has_fifths = matches!(format, Format::Q5Zero | Format::Q5One);
    let fifths = if has_fifths { words::<4>(rows, row, behind) } else { _mm512_setzero_si512() };
    let fifth = |place: usize| {
        // Four bits become the fifth of four bytes: each factor moves one of them there.
        let bits = _mm512_srlv_epi32(fifths, _mm512_set1_epi32(place as i32 * 4));
        let bits = _mm512_and_si512(bits, _mm512_set1_epi32(15));
        let spread = _mm512_mullo_epi32(bits, _mm512_set1_epi32(0x0020_4081 << 4));
        _mm512_and_si512(spread, _mm512_set1_epi8(16))
    };
    let packed = turned(rows, row, behind + if has_fifths { 4 } else { 0 });
    for (place, fours) in packed.into_iter().enumerate() {
        let high = _mm512_and_si512(_mm512_srli_epi32::<4>(fours), low);
        let mut both = [_mm512_and_si512(fours, low), high];
        if has_fifths {
            both = [_mm512_or_si512(both[0], fifth(place)), _mm512_or_si512(both[1], fifth(place + 4))];
        }
        [panel.numbers[index * 8 + place], panel.numbers[index * 8 + place + 4]] = both;
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
fn eight_narrow(panel: &mut Panel, rows: &[u8], row: usize, at: usize, index: usize) {
    let top = _mm512_set1_epi8(-128);
    let factor = widened(words::<2>(rows, row, at));
    panel.factors[index] = factor;
    panel.less[index] = _mm512_mul_ps(factor, _mm512_set1_ps(f32::from(above(Format::Q8Zero))));
    for half in 0..2 {
        for (place, bytes) in turned(rows, row, at + 2 + half * 16).into_iter().enumerate() {
            panel.numbers[index * 8 + half * 4 + place] = _mm512_xor_si512(bytes, top);
        }
    }
}

/// Unpacks a block of 256 numbers of any format, row by row.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")]
fn any(panel: &mut Panel, format: Format, rows: &[u8], row: usize, at: usize) {
    let size = format.block().1;
    let mut unpacked = Unpacked::EMPTY;
    let mut numbers = [[0; 256]; ROWS];
    let (mut scales, mut taken) = ([[0.0; ROWS]; 16], [[0; ROWS]; 8]);
    let mut less = [0.0; ROWS];
    for (index, numbers) in numbers.iter_mut().enumerate() {
        unpacked.take(format, &rows[index * row + at..][..size]);
        *numbers = unpacked.numbers;
        for (scales, scale) in scales.iter_mut().zip(unpacked.scales) {
            scales[index] = unpacked.factor * f32::from(scale);
        }
        for (taken, [left, right]) in taken.iter_mut().zip(unpacked.minima.as_chunks().0) {
            taken[index] = i32::from(*left as u16) | i32::from(*right) << 16;
        }
        less[index] = unpacked.less;
    }
    for (quad, turn) in panel.numbers.as_chunks_mut().0.iter_mut().enumerate() {
        *turn = turned(numbers.as_flattened(), 256, quad * 16);
    }
    // Parts of 32 have one scale.
    let parts = if format == Format::Q5K { 2 } else { 1 };
    for (factor, scales) in panel.factors.iter_mut().zip(scales.iter().step_by(parts)) {
        *factor = load(scales);
    }
    for (lanes, taken) in panel.taken.iter_mut().zip(&taken) {
        // SAFETY: sixteen words are 64 bytes.
        *lanes = unsafe { _mm512_loadu_si512(taken.as_ptr().cast()) };
    }
    panel.taken_factor = load(&less);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn load(numbers: &[f32; ROWS]) -> __m512 {
    // SAFETY: sixteen numbers are there.
    unsafe { _mm512_loadu_ps(numbers.as_ptr()) }
}
