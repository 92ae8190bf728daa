//! How fast this machine computes: measured for a moment, without a model.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::blocks::{Activations, activation_block};
use super::cores::cores;
use super::gguf::Format;
use super::unpack;
use super::vector::Vector;

/// How long it is measured.
const MOMENT: Duration = Duration::from_millis(60);
/// Numbers of a row: those of the models that axi brings have about as many.
const COLUMNS: usize = 1536;
/// Rows of each thread: more than what its core keeps near.
const ROWS: usize = 10_000;
/// Rows between two looks at the clock.
const BETWEEN: usize = 500;

/// Returns how many bytes of weights are multiplied with one token a second. A model that has so many writes about one
/// token a second.
#[must_use]
pub fn speed() -> u64 {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores()).map(|_| scope.spawn(one)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).sum()
    })
}

/// What one thread multiplies, in bytes a second. Making the weights and starting the thread is no part of it.
fn one() -> u64 {
    let format = Format::Q4K;
    let (numbers, size) = format.block();
    let size = COLUMNS / numbers * size;
    let weights = vec![0x11; ROWS * size];
    let activations = Activations::of(&[0.5; COLUMNS], COLUMNS, activation_block(format));
    let (mut bytes, mut out) = (0, [0.0]);
    let vector = Vector::chosen();
    let multiply = |row: &[u8], out: &mut [f32; 1]| match vector {
        Some(vector) => vector.row(format, row, &activations, 0, out),
        None => *out = unpack::row(format, row, &activations, 0),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_computes_something() {
        assert!(speed() > 0);
    }
}
