//! Every way a processor has comes to what the formats are specified to be: any size, any place, the largest numbers.

use proptest::prelude::*;

use super::blocks::{Activations, activation_block};
use super::expand::expand;
use super::gguf::Format;
use super::network::tests::Dice;
use super::past::{Heads, PART, Past};
use super::unpack;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::vector::Vector;

/// Rows of a panel.
const ROWS: usize = 16;

/// What bytes a row is made of.
#[derive(Debug, Clone, Copy)]
enum Filled {
    Any,
    /// All numbers as large as they can be, which sums of 16 bits have to hold.
    Largest,
    /// All as small.
    Smallest,
}

/// Where the scales and minima in half precision are in a block.
const fn halves(format: Format) -> &'static [usize] {
    match format {
        Format::F32 | Format::F16 | Format::BF16 => &[],
        Format::Q4Zero | Format::Q5Zero | Format::Q8Zero => &[0],
        Format::Q4One | Format::Q5One | Format::Q4K | Format::Q5K => &[0, 2],
        Format::Q2K => &[80, 82],
        Format::Q3K => &[108],
        Format::Q6K => &[208],
    }
}

/// Narrows a number to half precision, rounding to nearest.
pub(super) fn narrow(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude >= 0x4780_0000 {
        return sign | if magnitude > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
    }
    if magnitude < 0x3880_0000 {
        // Subnormal: adding 0.5 puts the bits that stay at the end of the mantissa.
        let shifted = f32::from_bits(magnitude) + 0.5;
        return sign | (shifted.to_bits().wrapping_sub(0x3f00_0000)) as u16;
    }
    let odd = (magnitude >> 13) & 1;
    sign | ((magnitude.wrapping_add(0xc800_0fff).wrapping_add(odd)) >> 13) as u16
}

/// A row of weights with scales of a usual size.
fn row(format: Format, columns: usize, filled: Filled, dice: &mut Dice) -> Vec<u8> {
    let (numbers, size) = format.block();
    let count = columns / numbers * size;
    let mut bytes = match filled {
        Filled::Any => dice.bytes(count),
        Filled::Largest => vec![if format == Format::Q8Zero { 0x80 } else { 0xff }; count],
        Filled::Smallest => vec![0; count],
    };
    for block in bytes.chunks_exact_mut(size) {
        match format {
            Format::F32 => block.copy_from_slice(&dice.number().to_le_bytes()),
            Format::F16 => block.copy_from_slice(&narrow(dice.number()).to_le_bytes()),
            Format::BF16 => block.copy_from_slice(&dice.number().to_le_bytes()[2..]),
            Format::Q4Zero
            | Format::Q4One
            | Format::Q5Zero
            | Format::Q5One
            | Format::Q8Zero
            | Format::Q2K
            | Format::Q3K
            | Format::Q4K
            | Format::Q5K
            | Format::Q6K => {}
        }
        for (at, size) in halves(format).iter().zip([0.011_f32, -0.007]) {
            let size = if matches!(filled, Filled::Any) { size } else { size.max(0.0) };
            block[*at..at + 2].copy_from_slice(&narrow(size).to_le_bytes());
        }
        if format == Format::Q6K && matches!(filled, Filled::Largest) {
            block[192..208].fill(127);
        }
    }
    bytes
}

/// A row of weights of a usual size.
pub(super) fn any_row(format: Format, columns: usize, dice: &mut Dice) -> Vec<u8> {
    row(format, columns, Filled::Any, dice)
}

/// A case: rows of one format, somewhere in memory, and tokens to multiply them with.
#[derive(Debug, Clone)]
struct Case {
    format: Format,
    columns: usize,
    tokens: usize,
    /// Bytes before the rows, so that they lie anywhere.
    before: usize,
    filled: Filled,
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let format = prop::sample::select(Format::ALL.map(|(_, format)| format).to_vec());
    let filled = prop_oneof![4 => Just(Filled::Any), 1 => Just(Filled::Largest), 1 => Just(Filled::Smallest)];
    let case = (format, 1_usize..=21, 1_usize..=13, 0_usize..16, filled, 1_u64..);
    case.prop_map(|(format, size, tokens, before, filled, seed)| {
        let block = activation_block(format);
        let columns = if block == 32 { size * 32 } else { size.div_ceil(4) * 256 };
        Case { format, columns, tokens, before, filled, seed }
    })
}

impl Case {
    /// The rows, with what is before them, and the tokens.
    fn made(&self, rows: usize) -> (Vec<u8>, Activations) {
        let mut dice = Dice(self.seed);
        let mut bytes = vec![0xa5; self.before];
        for _ in 0..rows {
            bytes.extend(row(self.format, self.columns, self.filled, &mut dice));
        }
        let is_any = matches!(self.filled, Filled::Any);
        let values: Vec<f32> =
            (0..self.columns * self.tokens).map(|_| if is_any { dice.number() } else { 1.0 }).collect();
        (bytes, Activations::of(&values, self.columns, activation_block(self.format)))
    }

    /// Compares with the numbers written out, multiplied one by one.
    fn check(&self, way: &str, row: &[u8], activations: &Activations, token: usize, found: f32) {
        let mut weights = vec![0.0; self.columns];
        expand(self.format, row, &mut weights);
        let (mut sum, mut size) = (0.0, 0.0);
        for (at, weight) in weights.iter().enumerate() {
            let at = token * self.columns + at;
            let value = f64::from(activations.bytes[at])
                * f64::from(activations.scales[at / activation_block(self.format)]);
            sum += f64::from(*weight) * value;
            // Numbers that stand too high are taken back: that much more is rounded.
            size += (f64::from(weight.abs()) + 1.0) * value.abs();
        }
        let error = (f64::from(found) - sum).abs();
        assert!(error <= 1e-5 * size + 1e-6, "{way}, token {token} of {self:?}: {found} is not {sum}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_row_of_any_size_anywhere_comes_to_the_same_on_every_way(case in cases()) {
        let (bytes, activations) = case.made(1);
        let row = &bytes[case.before..];
        for token in 0..case.tokens {
            let [found] = unpack::row(case.format, row, &activations, token);
            case.check("plain", row, &activations, token, found);
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        for vector in Vector::all() {
            let first = case.seed as usize % case.tokens;
            let mut out = vec![7.0; case.tokens - first];
            vector.row(case.format, row, &activations, first, &mut out);
            for (token, found) in out.iter().enumerate() {
                case.check(vector.name(), row, &activations, first + token, *found);
                // Several at once come to the same as one alone, to the last bit.
                let mut alone = [7.0];
                vector.row(case.format, row, &activations, first + token, &mut alone);
                prop_assert_eq!(alone[0].to_bits(), found.to_bits(), "{} token {} of {:?}", vector.name(), token, case);
            }
        }
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn rows_that_are_computed_together_come_to_the_same(case in cases()) {
        let (bytes, activations) = case.made(ROWS);
        let rows = &bytes[case.before..];
        let size = rows.len() / ROWS;
        for vector in Vector::all() {
            let mut out = vec![7.0; case.tokens * ROWS];
            if vector.panel(case.format, rows, &activations, &mut out) {
                for (at, found) in out.iter().enumerate() {
                    let row = &rows[at % ROWS * size..][..size];
                    case.check(vector.name(), row, &activations, at / ROWS, *found);
                }
            }
        }
    }
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn a_way_is_what_its_name_says() {
    assert!(Vector::named("scalar").is_none());
    let all: Vec<&str> = Vector::all().into_iter().map(Vector::name).collect();
    // Set by tests/aarch64.sh, which knows what its processors have.
    if let Ok(ways) = std::env::var("AXI_TEST_WAYS") {
        assert_eq!(all.join(", "), ways);
    }
    let named = |name: &str| Vector::named(name).map(Vector::name);
    assert_eq!(named(""), all.first().copied());
    let narrow = if cfg!(target_arch = "aarch64") { "neon" } else { "avx2" };
    assert_eq!(named(narrow), all.last().copied());
}

/// Blocks of bytes `(7 i² + 31 i + 13) / 2`, with 0x2166 and 0x9f0a for scale and minimum, and what llama.cpp's own
/// `to_float` makes of them (`ggml-quants.c`): every 23rd number from the fifth on, and the sum of all, each times its
/// place.
const GOLDEN: &[(Format, &str, &str)] = &[
    (
        Format::Q4Zero,
        "0.0632629395 0 0.0210876465 0 -0.042175293 0.0738067627 -0.0738067627 -0.0632629395 -0.0843505859 0.0632629395 0.0738067627 0.042175293",
        "-6.04161072",
    ),
    (
        Format::Q4One,
        "0.130195618 0.0669326782 0.00366973877 0.130195618 0.109107971 0.109107971 0.119651794 0.151283264 -0.00687408447 0.056388855 0.014213562 0.00366973877",
        "35.2561035",
    ),
    (
        Format::Q5Zero,
        "0.0843505859 -0.0843505859 0.105438232 0.147613525 0.147613525 0.0843505859 -0.137069702 -0.0843505859 0.0105438232 0.158157349 -0.158157349 -0.147613525",
        "-1.39178467",
    ),
    (
        Format::Q5One,
        "0.319984436 0.277809143 0.0458450317 0.109107971 0.130195618 0.0669326782 0.225090027 0.29889679 0.0458450317 0.109107971 0.288352966 0.319984436",
        "84.4852142",
    ),
    (
        Format::Q8Zero,
        "0.316314697 0.39012146 0.875137329 -0.759155273 0.885681152 -0.432296753 0.0105438232 1.03329468 0.105438232 -0.0738067627 0.326858521 1.30743408",
        "23.02771",
    ),
    (
        Format::Q2K,
        "0.189788818 0.00687408447 0.0765457153 0.17464447 0.0962371826 0.15448761 0.0834197998 0.419425964 0.28742218 0.165031433 0.0549926758 0.189788818",
        "6367.9377",
    ),
    (
        Format::Q3K,
        "0.189788818 0.295227051 0.295227051 -0.42175293 0.537734985 0.147613525 -0.611541748 -0 1.01220703 0.727523804 0.790786743 0.189788818",
        "4110.53058",
    ),
    (
        Format::Q4K,
        "2.13160706 5.29475403 6.65671539 2.86869049 4.27706909 1.43023682 2.71611786 2.70464325 0.226844788 8.10302734 0.215423584 7.19264221",
        "90026.4098",
    ),
    (
        Format::Q5K,
        "12.2536774 5.29475403 3.4830246 8.43582916 3.328125 1.11392212 2.71611786 12.1202774 10.6335983 18.3937988 0.742614746 17.3147125",
        "192854.835",
    ),
    (
        Format::Q6K,
        "-25.6214905 2.36181641 -22.4372559 9.15203857 -0.0210876465 -37.1986084 0.042175293 -10.1326141 6.83239746 -0.0948944092 28.0043945 -18.0299377",
        "83500.3315",
    ),
];

#[test]
fn formats_are_what_llama_cpp_makes_of_them() {
    for (format, samples, sum) in GOLDEN {
        let (numbers, size) = format.block();
        let mut block: Vec<u8> = (0..size).map(|at| ((at * at * 7 + at * 31 + 13) >> 1) as u8).collect();
        for (at, half) in halves(*format).iter().zip([0x2166_u16, 0x9f0a]) {
            block[*at..at + 2].copy_from_slice(&half.to_le_bytes());
        }
        let mut out = vec![0.0; numbers];
        expand(*format, &block, &mut out);
        for (index, sample) in samples.split(' ').enumerate() {
            assert_eq!(out[(index * 23 + 5) % numbers], sample.parse::<f32>().unwrap(), "{format:?} {index}");
        }
        let sum: f64 = sum.parse().unwrap();
        let found: f64 = out.iter().enumerate().map(|(at, number)| f64::from(*number) * (at + 1) as f64).sum();
        assert!((found - sum).abs() < 1e-3, "{format:?}: {found} and {sum}");
    }
    let mut out = [0.0; 3];
    expand(Format::BF16, &[0x80, 0x3f, 0x49, 0xc0, 0x01, 0x00], &mut out);
    assert_eq!(out, [1.0, -3.140_625, f32::from_bits(0x0001_0000)]);
}

proptest! {
    /// One large number costs only those of its part their precision; on disk and cut, it stays the same.
    #[test]
    fn what_was_seen_is_kept_to_half_a_step_of_its_part(
        head in (1_usize..=16).prop_map(|eights| eights * 8),
        tokens in 1_usize..4,
        seed in any::<u64>(),
        large in -300.0_f32..300.0,
    ) {
        let mut dice = Dice(seed | 1);
        let mut values: Vec<f32> = (0..head * 2 * tokens).map(|_| dice.number()).collect();
        values[0] = large;
        let mut past = Past::default();
        past.push(&values[..head * 2], head);
        past.push(&values[head * 2..], head);
        for (index, values) in values.chunks(head).enumerate() {
            let kept: Vec<f32> = Heads { past: &past, head, which: index % 2, of: 2 }.at(index / 2).numbers().collect();
            for (values, kept) in values.chunks(PART).zip(kept.chunks(PART)) {
                let most = values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
                for (value, kept) in values.iter().zip(kept) {
                    prop_assert!((value - kept).abs() <= most / 127.0 * 0.5001, "{value} {kept} {most}");
                }
            }
        }
        let written = past.to_disk(2, head);
        prop_assert_eq!(written.len(), Past::size(2, head));
        let read = Past::from_disk(&written, 2, head);
        past.truncate(2, head);
        prop_assert_eq!(read, past);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Heads of any size, any number of them and of tokens, behind any number of places: what each gets is what it gets
    /// alone, to the last bit.
    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn heads_and_tokens_that_look_together_see_the_same(
        head in prop_oneof![prop::sample::select(vec![64_usize, 128]), (1_usize..=17).prop_map(|eights| eights * 8)],
        shared in 1_usize..=7,
        tokens in 1_usize..=5,
        seen in 1_usize..=70,
        seed in any::<u64>(),
    ) {
        let mut dice = Dice(seed | 1);
        let all = seen + tokens - 1;
        let pasts = [(), ()].map(|()| {
            let mut past = Past::default();
            past.push(&(0..head * 2 * all).map(|_| dice.number()).collect::<Vec<f32>>(), head);
            past
        });
        let heads = pasts.each_ref().map(|past| Heads { past, head, which: 1, of: 2 });
        let [keys, values] = heads.map(|heads| {
            (0..all).map(|place| heads.at(place).numbers().collect::<Vec<f32>>()).collect::<Vec<_>>()
        });
        let queries: Vec<f32> = (0..head * shared * tokens).map(|_| dice.number()).collect();
        for vector in Vector::all() {
            let mut fast = vec![7.0; queries.len()];
            prop_assert!(vector.attend(&queries, shared, heads, seen, &mut fast), "{vector:?}");
            for (index, (query, fast)) in queries.chunks(head).zip(fast.chunks(head)).enumerate() {
                let seen = seen + index / shared;
                let mut alone = vec![7.0; head];
                prop_assert!(vector.attend(query, 1, heads, seen, &mut alone));
                let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(fast), bits(&alone), "{:?}", vector);
                let score = |seen: usize| -> f32 {
                    let products = query.iter().zip(&keys[seen]).map(|(query, key)| query * key);
                    (products.sum::<f32>() / (head as f32).sqrt()).exp()
                };
                let scores: Vec<f32> = (0..seen).map(score).collect();
                let total: f32 = scores.iter().sum();
                for (index, fast) in fast.iter().enumerate() {
                    let slow: f32 = scores.iter().zip(&values).map(|(score, value)| score / total * value[index]).sum();
                    prop_assert!((fast - slow).abs() < 1e-4, "{:?}: {} and {}", vector, fast, slow);
                }
            }
        }
    }
}
