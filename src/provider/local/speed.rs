//! How fast this machine computes: measured for a moment, without a model, and with one that is there.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::blocks::{Activations, activation_block};
use super::cores::cores;
use super::gguf::{Format, Gguf, ModelError};
use super::likely::likeliest;
use super::network::{Memory, Network, Next};
use super::unpack;
use super::vector::Vector;
use super::weights::{Places, Weights};

/// How long it is measured, and how often: what else the machine does can only make it slower, so the best counts.
const MOMENT: Duration = Duration::from_millis(40);
const TIMES: usize = 5;
/// The format of most weights of these models.
const FORMAT: Format = Format::Q4K;
/// Numbers of a row: those of the models that axi brings have about as many.
const COLUMNS: usize = 1536;
/// Bytes of all threads together: more than what processors keep near, so that, as with a model, memory is waited for.
const BYTES: usize = 192 * 1024 * 1024;
/// Rows between two looks at the clock.
const BETWEEN: usize = 500;

/// How long a model writes to be tested.
const TEST: Duration = Duration::from_secs(2);
/// Tokens that it has read before.
const BEFORE: usize = 32;

/// Returns how many bytes of weights are multiplied with one token a second. A model that has so many writes about one
/// token a second.
#[must_use]
pub fn speed() -> u64 {
    let each = BYTES / cores() / row_size() * row_size();
    // Written, because pages that nobody wrote are all the same one.
    let weights = vec![0x11; each * cores()];
    let at_once = || {
        std::thread::scope(|scope| {
            let threads: Vec<_> = weights.chunks_exact(each).map(|part| scope.spawn(|| one(part))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).sum()
        })
    };
    (0..TIMES).map(|_| at_once()).max().unwrap_or_default()
}

/// Bytes of a row.
fn row_size() -> usize {
    let (numbers, size) = FORMAT.block();
    COLUMNS / numbers * size
}

/// What one thread multiplies, in bytes a second. Making the weights and starting the thread is no part of it.
fn one(weights: &[u8]) -> u64 {
    let size = row_size();
    let activations = Activations::of(&[0.5; COLUMNS], COLUMNS, activation_block(FORMAT));
    let (mut bytes, mut out) = (0, [0.0]);
    let vector = Vector::chosen();
    let multiply = |row: &[u8], out: &mut [f32; 1]| match vector {
        Some(vector) => vector.row(FORMAT, row, &activations, 0, out),
        None => *out = unpack::row(FORMAT, row, &activations, 0),
    };
    let begun = Instant::now();
    for rows in weights.chunks(BETWEEN * size).cycle() {
        for row in rows.chunks_exact(size) {
            multiply(row, &mut out);
        }
        black_box(&out);
        bytes += rows.len();
        let spent = begun.elapsed();
        if spent >= MOMENT {
            return u64::try_from(bytes as u128 * 1_000_000 / spent.as_micros()).unwrap_or(u64::MAX);
        }
    }
    0
}

/// Lets a model write for two seconds, and returns how fast it did, in tenths of a token a second; `None` when it was
/// `stopped`, which is asked at each token.
///
/// # Errors
/// The file cannot be read, or is no model of a known family.
pub fn test(path: &Path, stopped: impl Fn() -> bool) -> Result<Option<u64>, ModelError> {
    let network = Network::new(&Gguf::open(path)?, cores())?;
    let mut memory = Memory::new(network.shape());
    let never = AtomicBool::new(false);
    // What it reads does not matter. Its weights come from the disk meanwhile, which later answers need not wait for.
    let mut likely = network.read(&[0; BEFORE], &mut memory, Next::Wanted, &never).unwrap_or_default();
    let (begun, mut tokens) = (Instant::now(), 0);
    loop {
        if stopped() {
            return Ok(None);
        }
        let spent = begun.elapsed();
        if tokens > 0 && (spent >= TEST || memory.length >= network.shape().context) {
            return Ok(Some(u64::try_from(tokens * 10_000_000 / spent.as_micros().max(1)).unwrap_or(u64::MAX)));
        }
        let token = likeliest(&likely).0;
        likely = network.read(&[token], &mut memory, Next::Wanted, &never).unwrap_or_default();
        tokens += 1;
    }
}

/// Keeps what a test said, for this way to compute.
pub fn keep_test(weights: &Weights, places: &Places, tenths: u64) {
    let Some(file) = tests_file(places) else { return };
    let name = tested_name(weights);
    let text = fs::read_to_string(&file).unwrap_or_default();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.retain(|line| line.rsplit_once(' ').is_none_or(|(known, _)| known != name));
    let line = format!("{name} {tenths}\n");
    lines.push(&line);
    if let Err(error) = fs::write(&file, lines.join("\n")) {
        tracing::info!(%error, "the speed of a model is not remembered");
    }
}

/// Returns what a test on this machine said, in tenths of a token a second.
#[must_use]
pub fn tested(weights: &Weights, places: &Places) -> Option<u64> {
    let (text, name) = (fs::read_to_string(tests_file(places)?).ok()?, tested_name(weights));
    text.lines().find_map(|line| line.rsplit_once(' ').filter(|(known, _)| *known == name)?.1.parse().ok())
}

/// A line each: the hash of the weights, how and on how many cores was computed, tenths of a token a second.
fn tests_file(places: &Places) -> Option<PathBuf> {
    places.cache.as_ref().map(|cache| cache.join("models.speed"))
}

fn tested_name(weights: &Weights) -> String {
    let (path, cores) = super::processor();
    format!("{} {} {cores}", weights.hash, path.unwrap_or("scalar"))
}

#[cfg(test)]
mod tests {
    use super::super::weights::TABLE;
    use super::*;

    #[test]
    fn the_latest_test_of_a_model_is_remembered_and_those_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { cache: Some(folder.path().to_owned()), ..Places::default() };
        assert_eq!(tested(&TABLE[0], &places), None);
        for (weights, tenths) in [(&TABLE[0], 31), (&TABLE[1], 400), (&TABLE[0], 247)] {
            keep_test(weights, &places, tenths);
        }
        assert_eq!([tested(&TABLE[0], &places), tested(&TABLE[1], &places)], [Some(247), Some(400)]);
        fs::write(folder.path().join("models.speed"), "\n \nno number\n").unwrap();
        assert_eq!(tested(&TABLE[0], &places), None);
        keep_test(&TABLE[0], &Places::default(), 1);
    }

    #[test]
    fn a_machine_computes_something() {
        assert!(speed() > 0);
    }
}
