//! What each layer of a network computes, with the threads and the fastest way this machine has.

use super::blocks::exp;
use super::crew::Crew;
use super::gguf::ModelError;
use super::layers::{Layer, Linear, Shape};
use super::past::{Heads, Past};
use super::vector::Vector;

mod products;

/// Tokens that come to the same, to the last bit, whether they are read together or one by one.
pub(crate) const EXACT: usize = 8;

/// Tokens of a prompt that look at what was before together, so that it is widened once for them.
const LOOK: usize = 4;

/// Who computes, and by which sizes.
pub(super) struct Arithmetic {
    pub(super) shape: Shape,
    pub(super) vector: Option<Vector>,
    crew: Crew,
}

impl Arithmetic {
    pub(super) fn new(shape: Shape, threads: usize) -> Result<Self, ModelError> {
        Ok(Self { shape, vector: Vector::chosen(), crew: Crew::new(threads.max(1))? })
    }

    /// Computes with so many threads from now on.
    pub(super) fn use_threads(&self, threads: usize) {
        self.crew.use_threads(threads);
    }

    /// Takes the states of tokens, a row each, through a layer. Their keys and values go behind those of the tokens
    /// before, of which there are `start`; `turns` is what [`Self::turns`] says of their places.
    pub(super) fn layer(
        &self,
        layer: &Layer,
        states: &mut [f32],
        (keys, values): (&mut Past, &mut Past),
        (start, turns): (usize, &[(f32, f32)]),
    ) {
        let queries = self.remember(layer, states, (keys, values), turns);
        let seen = self.attend(&queries, keys, values, start);
        let [out] = self.linears(&seen, [&layer.output]);
        add(states, &out);
        let normal = self.normalise(states, &layer.feed_norm);
        let gate = self.gate(&normal, layer);
        let [out] = self.linears(&gate, [&layer.down]);
        add(states, &out);
    }

    /// Does the part of a layer that makes keys and values, and returns the queries.
    pub(super) fn remember(
        &self,
        layer: &Layer,
        states: &[f32],
        (past_keys, past_values): (&mut Past, &mut Past),
        turns: &[(f32, f32)],
    ) -> Vec<f32> {
        let (shape, head) = (&self.shape, self.shape.head);
        let normal = self.normalise(states, &layer.attention_norm);
        let [mut queries, mut keys, values] = self.linears(&normal, [&layer.query, &layer.key, &layer.value]);
        if let Some(norm) = &layer.query_norm {
            queries = self.normalise(&queries, norm);
        }
        if let Some(norm) = &layer.key_norm {
            keys = self.normalise(&keys, norm);
        }
        self.rotate(&mut queries, shape.heads * head, turns);
        self.rotate(&mut keys, shape.key_heads * head, turns);
        past_keys.push(&keys, head);
        past_values.push(&values, head);
        queries
    }

    /// Multiplies the same tokens with several matrices.
    pub(super) fn linears<const N: usize>(&self, values: &[f32], matrices: [&Linear; N]) -> [Vec<f32>; N] {
        let tokens = values.len() / matrices[0].weights.columns;
        let across = self.across(values, &matrices);
        let mut from = 0;
        matrices.map(|matrix| {
            let rows = from..from + matrix.weights.rows;
            from = rows.end;
            self.turn(&across, tokens, rows)
        })
    }

    /// What the feed-forward part makes of its two matrices.
    fn gate(&self, values: &[f32], layer: &Layer) -> Vec<f32> {
        let tokens = values.len() / layer.gate.weights.columns;
        let [mut gate, up] = self.linears(values, [&layer.gate, &layer.up]);
        let size = gate.len() / tokens;
        self.crew.fill(&mut gate, size, |token, gate| {
            for (gate, up) in gate.iter_mut().zip(&up[token * size..]) {
                *gate = *gate / (1.0 + exp(-*gate)) * up;
            }
        });
        gate
    }

    /// Sines and cosines of the places from `start` on, for half a head each.
    pub(super) fn turns(&self, start: usize, tokens: usize) -> Vec<(f32, f32)> {
        let head = self.shape.head;
        let slower = |pair: usize| self.shape.slower.get(pair).copied().unwrap_or(1.0);
        let step = |pair: usize| self.shape.rotation.powf(-2.0 * pair as f32 / head as f32) / slower(pair);
        let steps: Vec<f32> = (0..head / 2).map(step).collect();
        let places = start..start + tokens;
        places.flat_map(|place| steps.iter().map(move |step| (place as f32 * step).sin_cos())).collect()
    }

    /// Divides each row by its root mean square, times the weights.
    pub(super) fn normalise(&self, values: &[f32], weights: &[f32]) -> Vec<f32> {
        let width = weights.len();
        let mut out = vec![0.0; values.len()];
        self.crew.fill(&mut out, width, |index, out| {
            let row = &values[index * width..][..width];
            let mean = row.iter().map(|value| value * value).sum::<f32>() / width as f32;
            let factor = 1.0 / (mean + self.shape.epsilon).sqrt();
            for ((out, value), weight) in out.iter_mut().zip(row).zip(weights) {
                *out = value * factor * weight;
            }
        });
        out
    }

    /// Turns queries or keys by their place.
    fn rotate(&self, values: &mut [f32], width: usize, turns: &[(f32, f32)]) {
        let head = self.shape.head;
        self.crew.fill(values, width, |token, row| {
            let turns = &turns[token * head / 2..][..head / 2];
            for head_values in row.chunks_exact_mut(head) {
                for (pair, (sine, cosine)) in turns.iter().enumerate() {
                    let (left, right) =
                        if self.shape.neighbours { (pair * 2, pair * 2 + 1) } else { (pair, pair + head / 2) };
                    let (first, second) = (head_values[left], head_values[right]);
                    head_values[left] = first * cosine - second * sine;
                    head_values[right] = first * sine + second * cosine;
                }
            }
        });
    }

    /// Lets each token look at itself and what was before it.
    fn attend(&self, queries: &[f32], keys: &Past, values: &Past, start: usize) -> Vec<f32> {
        let (head, key_heads) = (self.shape.head, self.shape.key_heads);
        let shared = self.shape.heads / key_heads;
        let size = shared * head;
        let tokens = queries.len() / size / key_heads;
        let look = if tokens > EXACT { LOOK } else { 1 };
        // Where a token's heads that share keys are among those of all.
        let at = |token: usize, which: usize| (token * key_heads + which) * size;
        let mut groups = vec![0.0; tokens.next_multiple_of(look) * key_heads * size];
        self.crew.fill(&mut groups, look * size, |index, out| {
            let (first, which) = (index / key_heads * look, index % key_heads);
            let some = first..tokens.min(first + look);
            let queries: Vec<&[f32]> = some.map(|token| &queries[at(token, which)..][..size]).collect();
            let out = &mut out[..queries.len() * size];
            let of = [keys, values].map(|past| Heads { past, head, which, of: key_heads });
            self.look(&queries.concat(), of, start + first + 1, out);
        });
        let mut out = Vec::with_capacity(queries.len());
        for (token, which) in (0..tokens).flat_map(|token| (0..key_heads).map(move |which| (token, which))) {
            let group = token / look * key_heads + which;
            out.extend_from_slice(&groups[(group * look + token % look) * size..][..size]);
        }
        out
    }

    /// Lets the heads of some tokens that share keys look, the first token at the first `seen` places.
    fn look(&self, queries: &[f32], of: [Heads<'_>; 2], seen: usize, out: &mut [f32]) {
        let (head, shared) = (self.shape.head, self.shape.heads / self.shape.key_heads);
        if self.vector.is_some_and(|vector| vector.attend(queries, shared, of, seen, out)) {
            return;
        }
        let [keys, values] = of;
        let scale = 1.0 / (head as f32).sqrt();
        for (index, (query, out)) in queries.chunks_exact(head).zip(out.chunks_exact_mut(head)).enumerate() {
            let seen = seen + index / shared;
            let mut weights: Vec<f32> = (0..seen).map(|place| scale * keys.at(place).dot(query)).collect();
            let largest = weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for weight in &mut weights {
                *weight = exp(*weight - largest);
            }
            let total: f32 = weights.iter().sum();
            for (place, weight) in weights.iter().enumerate() {
                values.at(place).add_to(out, weight / total);
            }
        }
    }
}

fn add(into: &mut [f32], values: &[f32]) {
    into.iter_mut().zip(values).for_each(|(into, value)| *into += value);
}
