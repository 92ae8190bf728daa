use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::super::blocks::{Activations, exp, half};
use super::super::gguf::{Format, Gguf, ModelError};
use super::super::kept::PrefixCache;
use super::super::kernel_tests::{any_row, narrow};
use super::super::tokenizer::Tokenizer;
use super::super::vector::Vector;
use super::*;

/// Numbers that look random and are the same every time.
pub(in crate::provider::local) struct Dice(pub(in crate::provider::local) u64);

impl Dice {
    pub(in crate::provider::local) fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(in crate::provider::local) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.roll().to_le_bytes()[3]).collect()
    }

    pub(in crate::provider::local) fn number(&mut self) -> f32 {
        (self.roll() % 2001) as f32 / 1000.0 - 1.0
    }
}

#[test]
fn powers_of_e_and_bytes_are_what_the_library_says() {
    for step in -2000..2000 {
        let value = step as f32 * 0.04;
        let expected = f64::from(value).exp();
        assert!((f64::from(exp(value)) / expected - 1.0).abs() < 2e-6, "{value}: {} {expected}", exp(value));
    }
    let values: Vec<f32> = (0..256).map(|index| (index as f32 - 100.0) / 3.0).collect();
    let activations = Activations::of(&values, 256, 256);
    for (value, byte) in values.iter().zip(&activations.bytes) {
        assert!((value - f32::from(*byte) * activations.scales[0]).abs() <= activations.scales[0] * 0.5001);
    }
}

#[test]
fn half_precision_keeps_what_it_can_hold() {
    for number in [0.0_f32, 1.0, -2.5, 65504.0, 6.1e-5, 6.0e-8, f32::INFINITY] {
        assert_eq!(half(narrow(number)).to_bits() & 0xffff_0000, number.to_bits() & 0xffff_0000, "{number}");
    }
    assert!(half(narrow(f32::NAN)).is_nan());
    assert_eq!(half(narrow(1e9)), f32::INFINITY);
}

/// Writes a model of one layer: enough to run everything, and to say nothing.
pub(in crate::provider::local) struct Model {
    bytes: Vec<u8>,
}

/// A tensor: its name, columns, rows.
type Shaped = (&'static str, u64, u64);

/// What a model is like.
pub(in crate::provider::local) struct Like<'a> {
    pub(in crate::provider::local) family: &'a str,
    /// Tokens before the others.
    pub(in crate::provider::local) marks: &'a [&'a str],
    /// Numbers of a head.
    pub(in crate::provider::local) head: u64,
    /// Of its matrices, by the code of the format.
    pub(in crate::provider::local) format: u32,
    /// How many layers; the last of them come first in the file, but for the very first.
    pub(in crate::provider::local) layers: u32,
    /// Makes its tensors others.
    pub(in crate::provider::local) change: &'a dyn Fn(&mut Vec<Shaped>),
}

impl Default for Like<'_> {
    fn default() -> Self {
        Self {
            family: "qwen2",
            marks: &["<|im_start|>", "<|im_end|>"],
            head: 8,
            format: 0,
            layers: 1,
            change: &|_| (),
        }
    }
}

impl Model {
    fn text(&mut self, text: &str) {
        self.bytes.extend((text.len() as u64).to_le_bytes());
        self.bytes.extend(text.as_bytes());
    }

    fn number(&mut self, name: &str, number: u32) {
        self.text(name);
        self.bytes.extend(4_u32.to_le_bytes());
        self.bytes.extend(number.to_le_bytes());
    }

    fn texts(&mut self, name: &str, texts: &[&str]) {
        self.text(name);
        self.bytes.extend(9_u32.to_le_bytes());
        self.bytes.extend(8_u32.to_le_bytes());
        self.bytes.extend((texts.len() as u64).to_le_bytes());
        for text in texts {
            self.text(text);
        }
    }

    pub(in crate::provider::local) fn write(folder: &Path) -> PathBuf {
        Self::write_like(folder, &Like::default())
    }

    /// With these marks before the other tokens.
    pub(in crate::provider::local) fn write_with(folder: &Path, marks: &[&str]) -> PathBuf {
        Self::write_like(folder, &Like { marks, ..Like::default() })
    }

    pub(in crate::provider::local) fn write_like(folder: &Path, like: &Like<'_>) -> PathBuf {
        let tokens = [like.marks, &["a", "b", "ab", "Ġ", "Ċ"]].concat();
        let (width, keys, feed) = (like.head * 4, like.head * 2, like.head * 8);
        let mut sizes = vec![
            ("token_embd.weight", width, tokens.len() as u64),
            ("output_norm.weight", width, 1),
            ("blk.0.attn_norm.weight", width, 1),
            ("blk.0.attn_q.weight", width, width),
            ("blk.0.attn_k.weight", width, keys),
            ("blk.0.attn_v.weight", width, keys),
            ("blk.0.attn_k.bias", keys, 1),
            ("blk.0.attn_output.weight", width, width),
            ("blk.0.ffn_norm.weight", width, 1),
            ("blk.0.ffn_gate.weight", width, feed),
            ("blk.0.ffn_up.weight", width, feed),
            ("blk.0.ffn_down.weight", feed, width),
        ];
        let first: Vec<Shaped> = sizes.iter().filter(|(name, ..)| name.starts_with("blk.0.")).copied().collect();
        for index in (1..like.layers).rev() {
            let named = |name: &str| &*name.replace("blk.0.", &format!("blk.{index}.")).leak();
            sizes.extend(first.iter().map(|(name, columns, rows)| (named(name), *columns, *rows)));
        }
        (like.change)(&mut sizes);
        let mut model = Self { bytes: b"GGUF\x03\0\0\0".to_vec() };
        model.bytes.extend((sizes.len() as u64).to_le_bytes());
        model.bytes.extend(11_u64.to_le_bytes());
        model.text("general.architecture");
        model.bytes.extend(8_u32.to_le_bytes());
        model.text(like.family);
        for (name, number) in [
            ("block_count", like.layers),
            ("embedding_length", width as u32),
            ("feed_forward_length", feed as u32),
            ("attention.head_count", 4),
            ("attention.head_count_kv", 2),
            ("context_length", 2048),
        ] {
            model.number(&format!("{}.{name}", like.family), number);
        }
        model.text("tokenizer.ggml.model");
        model.bytes.extend(8_u32.to_le_bytes());
        model.text("gpt2");
        model.texts("tokenizer.ggml.tokens", &tokens);
        model.texts("tokenizer.ggml.merges", &["a b"]);
        model.text("tokenizer.ggml.token_type");
        model.bytes.extend(9_u32.to_le_bytes());
        model.bytes.extend(5_u32.to_le_bytes());
        model.bytes.extend((tokens.len() as u64).to_le_bytes());
        for index in 0..tokens.len() {
            model.bytes.extend(if index < like.marks.len() { 3_i32 } else { 1 }.to_le_bytes());
        }
        let (mut dice, mut numbers) = (Dice(3), Vec::new());
        for (name, columns, rows) in sizes {
            let code = if rows == 1 { 0 } else { like.format };
            model.text(name);
            model.bytes.extend(2_u32.to_le_bytes());
            model.bytes.extend(columns.to_le_bytes());
            model.bytes.extend(rows.to_le_bytes());
            model.bytes.extend(code.to_le_bytes());
            model.bytes.extend((numbers.len() as u64).to_le_bytes());
            let format = Format::ALL.iter().find(|(known, _)| *known == code).unwrap().1;
            for _ in 0..rows {
                numbers.extend(any_row(format, columns as usize, &mut dice));
            }
        }
        while !model.bytes.len().is_multiple_of(32) {
            model.bytes.push(0);
        }
        model.bytes.extend(numbers);
        let path = folder.join("tiny.gguf");
        std::fs::File::create(&path).unwrap().write_all(&model.bytes).unwrap();
        path
    }
}

#[test]
fn reading_at_once_in_parts_and_from_the_disk_comes_to_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = Model::write(folder.path());
    let file = Gguf::open(&path).unwrap();
    let network = Network::new(&file, 1).unwrap();
    let stop = AtomicBool::new(false);
    let tokens = [2, 3, 4, 5, 2, 6];
    let mut whole = Memory::new(network.shape());
    let expected = network.read(&tokens, &mut whole, Next::Wanted, &stop).unwrap();
    let mut parts = Memory::new(network.shape());
    network.read(&tokens[..2], &mut parts, Next::Wanted, &stop).unwrap();
    let kept = PrefixCache::new(folder.path(), &path);
    kept.save(&tokens[..2], &parts, network.shape()).unwrap();
    // What was read behind it is forgotten again, as after an answer that was thrown away.
    network.read(&[6, 6, 6], &mut parts, Next::Wanted, &stop).unwrap();
    parts.truncate(2, network.shape());
    let mut again = kept.load(&tokens[..2], network.shape()).unwrap();
    for memory in [&mut parts, &mut again] {
        let likely = network.read(&tokens[2..], memory, Next::Wanted, &stop).unwrap();
        for (left, right) in likely.iter().zip(&expected) {
            assert!((left - right).abs() < 1e-3, "{likely:?} {expected:?}");
        }
    }
    assert!(kept.load(&tokens[..3], network.shape()).is_none());
}

#[test]
fn a_stopped_read_leaves_the_memory_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = Gguf::open(&Model::write(folder.path())).unwrap();
    let network = Network::new(&file, 1).unwrap();
    let mut memory = Memory::new(network.shape());
    network.read(&[2, 3], &mut memory, Next::Wanted, &AtomicBool::new(false)).unwrap();
    let before = memory.clone();
    assert_eq!(network.read(&[4], &mut memory, Next::Wanted, &AtomicBool::new(true)), None);
    assert_eq!((memory.length, &memory.keys, &memory.values), (2, &before.keys, &before.values));
}

#[test]
fn a_damaged_file_is_refused_wherever_it_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(Model::write(folder.path())).unwrap();
    let path = folder.path().join("cut.gguf");
    for length in (0..whole.len()).step_by(97) {
        std::fs::write(&path, &whole[..length]).unwrap();
        let opened = Gguf::open(&path);
        assert!(matches!(opened, Err(ModelError::Short | ModelError::Io(_))), "cut at {length}");
    }
    let mut dice = Dice(11);
    for _ in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..4 {
            let at = dice.roll() as usize % 900;
            bytes[at] = dice.roll() as u8;
        }
        std::fs::write(&path, &bytes).unwrap();
        // Whatever it says of itself: no panic, and no memory that the file could not fill.
        if let Ok(file) = Gguf::open(&path) {
            drop(Tokenizer::new(&file));
            drop(Network::new(&file, 1));
        }
    }
}

#[test]
fn text_becomes_tokens_and_never_marks() {
    let folder = tempfile::tempdir().unwrap();
    let file = Gguf::open(&Model::write(folder.path())).unwrap();
    let tokenizer = Tokenizer::new(&file).unwrap();
    let mut tokens = Vec::new();
    tokenizer.encode("ab a\n", &mut tokens);
    assert_eq!(tokens, vec![4, 5, 2, 6]);
    assert_eq!(tokenizer.mark("<|im_end|>"), Some(1));
    let mut tokens = Vec::new();
    tokenizer.encode("<|im_end|>", &mut tokens);
    assert!(!tokens.iter().any(|token| tokenizer.is_mark(*token) && tokenizer.mark("<|im_end|>") == Some(*token)));
}

/// What is wrong with a model whose tensors are changed.
fn refused(like: &Like<'_>) -> Option<ModelError> {
    let folder = tempfile::tempdir().unwrap();
    let file = Gguf::open(&Model::write_like(folder.path(), like)).unwrap();
    Network::new(&file, 1).err()
}

#[test]
fn a_tensor_that_is_missing_or_of_another_size_is_named() {
    // Only what says its tokens may be missing: then a model says them by what it reads them with.
    assert_eq!(refused(&Like::default()), None);
    let with = |name: &'static str, columns: u64, rows: u64| {
        let change = move |all: &mut Vec<Shaped>| {
            all.retain(|(known, _, _)| *known != name);
            all.push((name, columns, rows));
        };
        refused(&Like { change: &change, ..Like::default() })
    };
    assert_eq!(with("output.weight", 32, 7), None);
    for (name, columns, rows) in [
        ("output.weight", 32, 6),
        ("output.weight", 16, 7),
        ("output_norm.weight", 16, 1),
        ("blk.0.attn_norm.weight", 32, 2),
        ("blk.0.attn_q_norm.weight", 16, 1),
        ("blk.0.attn_k.bias", 8, 1),
        ("blk.0.ffn_up.weight", 32, 32),
        ("rope_freqs.weight", 8, 1),
    ] {
        assert_eq!(with(name, columns, rows), Some(ModelError::Unfit(name.to_owned())));
    }
    for name in ["output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight", "blk.0.attn_v.weight"] {
        let change = move |all: &mut Vec<Shaped>| all.retain(|(known, _, _)| *known != name);
        let error = refused(&Like { change: &change, ..Like::default() });
        assert_eq!(error, Some(ModelError::Missing(name.to_owned())));
    }
    let missing = ModelError::Missing("blk.0.attn_q_norm.weight".to_owned());
    assert_eq!(refused(&Like { family: "qwen3", ..Like::default() }), Some(missing));
    let other = ModelError::unsupported("general.architecture", "gemma");
    assert_eq!(refused(&Like { family: "gemma", ..Like::default() }), Some(other));
}

/// With every format and every way of a processor, and with the heads that are looked at together.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn tokens_that_are_read_together_come_to_the_same_to_the_last_bit_as_one_by_one() {
    let heads = Format::ALL.iter().map(|(code, _)| (64, *code)).chain([(8, 0), (128, 12)]);
    for (head, format) in heads {
        let folder = tempfile::tempdir().unwrap();
        let like = Like { head, format, ..Like::default() };
        let file = Gguf::open(&Model::write_like(folder.path(), &like)).unwrap();
        let mut network = Network::new(&file, 1).unwrap();
        let stop = AtomicBool::new(false);
        // The plain way takes token by token, whatever the format.
        let plain = (head == 8).then_some(None);
        let ways = Vector::all().into_iter().map(Some).chain(plain);
        for vector in ways {
            network.arithmetic.vector = vector;
            let tokens = [2, 3, 4, 5, 2, 6, 3, 3, 5, 4, 2];
            let (mut one, mut all) = (Memory::new(network.shape()), Memory::new(network.shape()));
            for pass in tokens.chunks(EXACT) {
                let expected: Vec<f32> = pass
                    .iter()
                    .flat_map(|token| network.read(&[*token], &mut one, Next::Wanted, &stop).unwrap())
                    .collect();
                let found = network.read(pass, &mut all, Next::Each, &stop).unwrap();
                let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
                assert!(expected.iter().all(|number| number.is_finite()), "{format} {head} {vector:?}");
                assert_eq!(bits(&found), bits(&expected), "format {format}, head {head}, {vector:?}");
            }
            assert_eq!((&one.keys, &one.values), (&all.keys, &all.values));
        }
    }
}

/// So many that they look at what was before in groups, of which the last is not full; in a format that is not rounded
/// otherwise for many.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn many_tokens_come_to_the_same_to_the_last_bit_as_one_by_one() {
    let tokens = [2, 3, 4, 5, 2, 6, 3, 3, 5, 4, 2, 6, 6, 2, 4];
    assert!(tokens.len() > EXACT);
    for head in [8, 64] {
        let folder = tempfile::tempdir().unwrap();
        let like = Like { head, layers: 2, ..Like::default() };
        let file = Gguf::open(&Model::write_like(folder.path(), &like)).unwrap();
        let mut network = Network::new(&file, 2).unwrap();
        let stop = AtomicBool::new(false);
        for vector in Vector::all().into_iter().map(Some).chain([None]) {
            network.arithmetic.vector = vector;
            let (mut one, mut all) = (Memory::new(network.shape()), Memory::new(network.shape()));
            let expected: Vec<f32> = tokens
                .iter()
                .flat_map(|token| network.read(&[*token], &mut one, Next::Wanted, &stop).unwrap())
                .collect();
            let found = network.read(&tokens, &mut all, Next::Each, &stop).unwrap();
            assert_eq!(found, expected, "head {head}, {vector:?}");
            assert_eq!((&one.keys, &one.values), (&all.keys, &all.values));
        }
    }
}
