//! Tokens times the matrices of a network, with the fastest way the processor has.

use std::ops::Range;

use super::super::blocks::{Activations, activation_block};
use super::super::gguf::Format;
use super::super::layers::Linear;
use super::super::unpack;
use super::{Arithmetic, EXACT, add};

/// Rows of matrices that one thread takes at a time.
const PART: usize = 32;
/// Rows that are computed together, where a processor can.
const GROUP: usize = 16;
/// Tokens from which on that is done: fewer are rounded as one alone is.
const TOGETHER: usize = EXACT + 1;
/// Tokens that are rounded to bytes at once.
const ROUNDED: usize = 16;

impl Arithmetic {
    /// Rounds tokens to bytes, several at once.
    fn activations(&self, values: &[f32], columns: usize, block: usize) -> Activations {
        let tokens = values.len() / columns;
        if tokens < ROUNDED {
            return Activations::of(values, columns, block);
        }
        let mut parts: Vec<Activations> = (0..tokens.div_ceil(ROUNDED)).map(|_| Activations::default()).collect();
        self.crew.fill(&mut parts, 1, |part, out| {
            let values = &values[part * ROUNDED * columns..values.len().min((part + 1) * ROUNDED * columns)];
            out[0] = Activations::of(values, columns, block);
        });
        let mut whole = Activations { width: columns, ..Activations::default() };
        for part in parts {
            whole.bytes.extend(part.bytes);
            whole.scales.extend(part.scales);
            whole.sums.extend(part.sums);
            whole.means.extend(part.means);
        }
        whole
    }

    /// Multiplies tokens with matrices: for each group of [`GROUP`] rows, token after token, one number a row.
    pub(super) fn across(&self, values: &[f32], matrices: &[&Linear]) -> Vec<f32> {
        let columns = matrices[0].weights.columns;
        let mut rounded: Vec<(usize, Activations)> = Vec::new();
        for matrix in matrices {
            let block = activation_block(matrix.weights.format);
            if !rounded.iter().any(|(found, _)| *found == block) {
                rounded.push((block, self.activations(values, columns, block)));
            }
        }
        let tokens = values.len() / columns;
        let rows: usize = matrices.iter().map(|matrix| matrix.weights.rows).sum();
        let mut across = vec![0.0; tokens * rows];
        self.crew.fill(&mut across, PART * tokens, |part, out| {
            for (group, out) in out.chunks_mut(GROUP * tokens).enumerate() {
                let mut first = part * PART + group * GROUP;
                let mut done = 0;
                for matrix in matrices {
                    let rows = matrix.weights.rows;
                    let block = activation_block(matrix.weights.format);
                    let Some((_, activations)) = rounded.iter().find(|(found, _)| *found == block) else {
                        continue;
                    };
                    if first < rows {
                        let some = first..rows.min(first + out.len() / tokens - done);
                        let count = some.len();
                        self.rows(matrix, some, activations, (out, tokens, done));
                        (first, done) = (rows, done + count);
                    }
                    first -= rows;
                }
            }
        });
        across
    }

    /// Multiplies some rows of a matrix with all tokens. In `out` they stand `done` behind the first of their group.
    fn rows(
        &self,
        matrix: &Linear,
        rows: Range<usize>,
        activations: &Activations,
        (out, tokens, done): (&mut [f32], usize, usize),
    ) {
        let (format, size, width) = (matrix.weights.format, matrix.weights.row_bytes(), out.len() / tokens);
        let weights = &matrix.weights.bytes()[rows.start * size..rows.end * size];
        let together = tokens >= TOGETHER
            && self.vector.is_some_and(|vector| {
                rows.len() == GROUP && width == GROUP && vector.panel(format, weights, activations, out)
            });
        if !together {
            let mut row_out = vec![0.0; tokens];
            for (row, weights) in weights.chunks_exact(size).enumerate() {
                self.row(format, weights, activations, &mut row_out);
                for (out, value) in out.chunks_exact_mut(width).zip(&row_out) {
                    out[done + row] = *value;
                }
            }
        }
        if let Some(bias) = &matrix.bias {
            for out in out.chunks_exact_mut(width) {
                add(&mut out[done..done + rows.len()], &bias[rows.clone()]);
            }
        }
    }

    /// Turns groups of rows into tokens, with a number a row.
    pub(super) fn turn(&self, across: &[f32], tokens: usize, wanted: Range<usize>) -> Vec<f32> {
        if tokens == 1 {
            return across[wanted].to_vec();
        }
        let rows = across.len() / tokens;
        let mut out = vec![0.0; wanted.len() * tokens];
        self.crew.fill(&mut out, wanted.len(), |token, out| {
            let mut row = wanted.start;
            while row < wanted.end {
                let group = row / GROUP * GROUP;
                let width = GROUP.min(rows - group);
                let end = wanted.end.min(group + width);
                let from = group * tokens + token * width - group;
                let (out, across) =
                    (&mut out[row - wanted.start..end - wanted.start], &across[from + row..from + end]);
                match (out.as_mut_array::<GROUP>(), across.as_array::<GROUP>()) {
                    // Of known length it is a move, and no call.
                    (Some(out), Some(across)) => *out = *across,
                    _ => out.copy_from_slice(across),
                }
                row = end;
            }
        });
        out
    }

    fn row(&self, format: Format, weights: &[u8], activations: &Activations, out: &mut [f32]) {
        if let Some(vector) = self.vector {
            return vector.row(format, weights, activations, 0, out);
        }
        for (token, out) in out.iter_mut().enumerate() {
            [*out] = unpack::row(format, weights, activations, token);
        }
    }
}
