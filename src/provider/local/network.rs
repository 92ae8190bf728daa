//! A decoder-only transformer of the Qwen 2, Qwen 3 and Llama families, run on the processor.

use std::sync::atomic::{AtomicBool, Ordering};

use super::blocks::{Activations, activation_block, dot, exp, expand, half, narrow};
use super::crew::Crew;
use super::gguf::{Gguf, ModelError, Tensor};
#[cfg(target_arch = "x86_64")]
use super::vector::Vector;

/// Rows of matrices that one thread takes at a time.
const ROWS: usize = 32;
/// Tokens that are turned from rows to columns at once: what fits a line of the processor's cache.
const TURNED: usize = 16;

/// Whether anybody wants to know what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Wanted,
    Unwanted,
}

/// Weights of one layer.
struct Layer {
    attention_norm: Vec<f32>,
    query: Linear,
    key: Linear,
    value: Linear,
    query_norm: Option<Vec<f32>>,
    key_norm: Option<Vec<f32>>,
    output: Linear,
    feed_norm: Vec<f32>,
    gate: Linear,
    up: Linear,
    down: Linear,
}

struct Linear {
    weights: Tensor,
    bias: Option<Vec<f32>>,
}

/// The shape of a model.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) layers: usize,
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) key_heads: usize,
    pub(crate) head: usize,
    pub(crate) vocabulary: usize,
    /// Tokens the model was trained for.
    pub(crate) context: usize,
    rotation: f32,
    epsilon: f32,
    /// Whether neighbours turn together (Llama), or the two halves of a head (Qwen).
    neighbours: bool,
}

/// A model, ready to run.
pub(crate) struct Network {
    pub(crate) shape: Shape,
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    head: Linear,
    #[cfg(target_arch = "x86_64")]
    vector: Option<Vector>,
    crew: Crew,
}

/// Keys and values of the tokens seen so far, in half precision: for each layer, token after token.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    pub(crate) keys: Vec<Vec<u16>>,
    pub(crate) values: Vec<Vec<u16>>,
    /// Tokens in it.
    pub(crate) length: usize,
}

impl Memory {
    pub(crate) fn new(shape: &Shape) -> Self {
        Self { keys: vec![Vec::new(); shape.layers], values: vec![Vec::new(); shape.layers], length: 0 }
    }

    /// Forgets all but the first tokens.
    pub(crate) fn truncate(&mut self, length: usize, shape: &Shape) {
        let numbers = length * shape.key_heads * shape.head;
        self.keys.iter_mut().chain(&mut self.values).for_each(|layer| layer.truncate(numbers));
        self.length = self.length.min(length);
    }
}

impl Network {
    /// Finds the weights in a file; reads only the small ones.
    pub(crate) fn new(file: &Gguf, threads: usize) -> Result<Self, ModelError> {
        let family = file.word("general.architecture").unwrap_or_default();
        if !["qwen2", "qwen3", "llama"].contains(&family.as_str()) {
            return Err(ModelError::Unsupported(format!("the architecture {family:?}")));
        }
        let number = |name: &str| file.number(&format!("{family}.{name}"));
        let size = |name: &str| {
            let value = number(name).filter(|value| *value >= 1.0 && *value < 1e7);
            value
                .map(|value| value as usize)
                .ok_or_else(|| ModelError::Unsupported(format!("a model without {name}")))
        };
        let embedding = file.tensor("token_embd.weight")?;
        let (width, heads) = (size("embedding_length")?, size("attention.head_count")?);
        let head = number("attention.key_length").map_or(width / heads, |length| length as usize);
        let shape = Shape {
            layers: size("block_count")?,
            width,
            heads,
            key_heads: size("attention.head_count_kv").unwrap_or(heads),
            head,
            vocabulary: embedding.rows,
            context: size("context_length")?,
            rotation: number("rope.freq_base").unwrap_or(10_000.0) as f32,
            epsilon: number("attention.layer_norm_rms_epsilon").unwrap_or(1e-6) as f32,
            neighbours: family == "llama",
        };
        let fits = (8..=1024).contains(&head) && head % 8 == 0 && heads <= 1024 && embedding.rows > 0;
        if !fits || !shape.heads.is_multiple_of(shape.key_heads) || embedding.columns != width {
            return Err(ModelError::Damaged("its sizes do not fit each other"));
        }
        let (all, keys) = (shape.heads * head, shape.key_heads * head);
        let feed = size("feed_forward_length")?;
        let linear = |name: String, columns: usize, rows: usize| -> Result<Linear, ModelError> {
            let weights = file.tensor(&format!("{name}.weight"))?;
            if weights.columns != columns || weights.rows != rows {
                return Err(ModelError::Damaged("a matrix of another size than the model's"));
            }
            let bias = file.tensor(&format!("{name}.bias")).ok().map(|bias| vector(&bias, rows)).transpose()?;
            Ok(Linear { weights, bias })
        };
        let norm = |name: String, length: usize| vector(&file.tensor(&format!("{name}.weight"))?, length);
        let layers = (0..shape.layers).map(|index| {
            let name = |part: &str| format!("blk.{index}.{part}");
            Ok(Layer {
                attention_norm: norm(name("attn_norm"), width)?,
                query: linear(name("attn_q"), width, all)?,
                key: linear(name("attn_k"), width, keys)?,
                value: linear(name("attn_v"), width, keys)?,
                query_norm: norm(name("attn_q_norm"), head).ok(),
                key_norm: norm(name("attn_k_norm"), head).ok(),
                output: linear(name("attn_output"), all, width)?,
                feed_norm: norm(name("ffn_norm"), width)?,
                gate: linear(name("ffn_gate"), width, feed)?,
                up: linear(name("ffn_up"), width, feed)?,
                down: linear(name("ffn_down"), feed, width)?,
            })
        });
        let layers = layers.collect::<Result<Vec<_>, ModelError>>()?;
        let head = linear("output".into(), width, shape.vocabulary)
            .unwrap_or_else(|_| Linear { weights: embedding.clone(), bias: None });
        let crew = Crew::new(threads.max(1))?;
        Ok(Self {
            norm: norm("output_norm".into(), width)?,
            head,
            embedding,
            layers,
            shape,
            #[cfg(target_arch = "x86_64")]
            vector: Vector::all().into_iter().next(),
            crew,
        })
    }

    /// Computes with so many threads from now on.
    pub(crate) fn use_threads(&self, threads: usize) {
        self.crew.use_threads(threads);
    }

    /// Reads tokens into the memory and returns what the last of them makes likely, where that is wanted: one number a
    /// token. `None`, and the memory as it was, when it was stopped: that is looked at in every layer.
    pub(crate) fn read(
        &self,
        tokens: &[u32],
        memory: &mut Memory,
        next: Next,
        stop: &AtomicBool,
    ) -> Option<Vec<f32>> {
        let length = memory.length;
        let likely = self.forward(tokens, memory, next, stop);
        if likely.is_none() {
            memory.truncate(length, &self.shape);
        }
        likely
    }

    fn forward(&self, tokens: &[u32], memory: &mut Memory, next: Next, stop: &AtomicBool) -> Option<Vec<f32>> {
        let shape = &self.shape;
        let (width, head, start) = (shape.width, shape.head, memory.length);
        let mut states = vec![0.0; tokens.len() * width];
        for (token, state) in tokens.iter().zip(states.chunks_exact_mut(width)) {
            let row = (*token as usize).min(shape.vocabulary - 1);
            expand(self.embedding.format, self.embedding.row(row), state);
        }
        let turns = self.turns(start, tokens.len());
        for (index, layer) in self.layers.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let normal = normalise(&states, &layer.attention_norm, shape.epsilon);
            let [mut queries, mut keys, values] = self.linears(&normal, [&layer.query, &layer.key, &layer.value]);
            if let Some(norm) = &layer.query_norm {
                queries = normalise(&queries, norm, shape.epsilon);
            }
            if let Some(norm) = &layer.key_norm {
                keys = normalise(&keys, norm, shape.epsilon);
            }
            self.rotate(&mut queries, shape.heads * head, &turns);
            self.rotate(&mut keys, shape.key_heads * head, &turns);
            memory.keys[index].extend(keys.iter().map(|key| narrow(*key)));
            memory.values[index].extend(values.iter().map(|value| narrow(*value)));
            let seen = self.attend(&queries, &memory.keys[index], &memory.values[index], start);
            let [out] = self.linears(&seen, [&layer.output]);
            add(&mut states, &out);
            let normal = normalise(&states, &layer.feed_norm, shape.epsilon);
            let gate = self.gate(&normal, layer);
            let [out] = self.linears(&gate, [&layer.down]);
            add(&mut states, &out);
        }
        memory.length += tokens.len();
        if next == Next::Unwanted {
            return Some(Vec::new());
        }
        let last = &states[states.len().saturating_sub(width)..];
        let last = normalise(last, &self.norm, shape.epsilon);
        let [likely] = self.linears(&last, [&self.head]);
        Some(likely)
    }

    /// Multiplies the same tokens with several matrices.
    fn linears<const N: usize>(&self, values: &[f32], matrices: [&Linear; N]) -> [Vec<f32>; N] {
        let tokens = values.len() / matrices[0].weights.columns;
        let across = self.across(values, &matrices);
        let mut rest = across.as_slice();
        matrices.map(|matrix| {
            let (own, others) = rest.split_at(matrix.weights.rows * tokens);
            rest = others;
            self.turn(own, tokens)
        })
    }

    /// What the feed-forward part makes of its two matrices.
    fn gate(&self, values: &[f32], layer: &Layer) -> Vec<f32> {
        let tokens = values.len() / layer.gate.weights.columns;
        let mut gate = self.across(values, &[&layer.gate, &layer.up]);
        let up = gate.split_off(gate.len() / 2);
        self.crew.fill(&mut gate, ROWS * TURNED * 4, |part, gate| {
            for (gate, up) in gate.iter_mut().zip(&up[part * ROWS * TURNED * 4..]) {
                *gate = *gate / (1.0 + exp(-*gate)) * up;
            }
        });
        self.turn(&gate, tokens)
    }

    /// Rounds tokens to bytes, several at once.
    fn activations(&self, values: &[f32], columns: usize, block: usize) -> Activations {
        let tokens = values.len() / columns;
        if tokens < TURNED {
            return Activations::of(values, columns, block);
        }
        let mut parts: Vec<Activations> = (0..tokens.div_ceil(TURNED)).map(|_| Activations::default()).collect();
        self.crew.fill(&mut parts, 1, |part, out| {
            let values = &values[part * TURNED * columns..values.len().min((part + 1) * TURNED * columns)];
            out[0] = Activations::of(values, columns, block);
        });
        let mut whole = Activations { width: columns, block, ..Activations::default() };
        for part in parts {
            whole.bytes.extend(part.bytes);
            whole.scales.extend(part.scales);
            whole.sums.extend(part.sums);
            whole.means.extend(part.means);
        }
        whole
    }

    /// Multiplies tokens with matrices: for each of their rows one number a token.
    fn across(&self, values: &[f32], matrices: &[&Linear]) -> Vec<f32> {
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
        self.crew.fill(&mut across, ROWS * tokens, |chunk, out| {
            let mut scratch = Vec::new();
            for (row, out) in out.chunks_exact_mut(tokens).enumerate() {
                let (mut row, mut which) = (chunk * ROWS + row, 0);
                while row >= matrices[which].weights.rows {
                    row -= matrices[which].weights.rows;
                    which += 1;
                }
                let matrix = matrices[which];
                let block = activation_block(matrix.weights.format);
                let Some((_, activations)) = rounded.iter().find(|(found, _)| *found == block) else { continue };
                self.row(matrix, matrix.weights.row(row), activations, out, &mut scratch);
                if let Some(bias) = &matrix.bias {
                    for out in out.iter_mut() {
                        *out += bias[row];
                    }
                }
            }
        });
        across
    }

    /// Turns rows with a number a token into tokens with a number a row.
    fn turn(&self, across: &[f32], tokens: usize) -> Vec<f32> {
        if tokens == 1 {
            return across.to_vec();
        }
        let rows = across.len() / tokens;
        let mut out = vec![0.0; across.len()];
        self.crew.fill(&mut out, rows * TURNED, |part, out| {
            for from in (0..rows).step_by(ROWS) {
                let to = rows.min(from + ROWS);
                for (token, out) in out.chunks_exact_mut(rows).enumerate() {
                    let column = across[part * TURNED + token..].iter().step_by(tokens);
                    out[from..to].iter_mut().zip(column.skip(from)).for_each(|(out, value)| *out = *value);
                }
            }
        });
        out
    }

    fn row(
        &self,
        matrix: &Linear,
        weights: &[u8],
        activations: &Activations,
        out: &mut [f32],
        scratch: &mut Vec<f32>,
    ) {
        let format = matrix.weights.format;
        #[cfg(target_arch = "x86_64")]
        if let Some(vector) = self.vector {
            return vector.row(format, weights, activations, 0, out);
        }
        for (token, out) in out.iter_mut().enumerate() {
            *out = dot(format, weights, activations, token, scratch);
        }
    }

    /// Sines and cosines of the places from `start` on, for half a head each.
    fn turns(&self, start: usize, tokens: usize) -> Vec<(f32, f32)> {
        let head = self.shape.head;
        let step = |pair: usize| self.shape.rotation.powf(-2.0 * pair as f32 / head as f32);
        let steps: Vec<f32> = (0..head / 2).map(step).collect();
        let places = start..start + tokens;
        places.flat_map(|place| steps.iter().map(move |step| (place as f32 * step).sin_cos())).collect()
    }

    /// Turns queries or keys by their place.
    fn rotate(&self, values: &mut [f32], width: usize, turns: &[(f32, f32)]) {
        let head = self.shape.head;
        for (row, turns) in values.chunks_exact_mut(width).zip(turns.chunks_exact(head / 2)) {
            for head_values in row.chunks_exact_mut(head) {
                for (pair, (sine, cosine)) in turns.iter().enumerate() {
                    let (left, right) =
                        if self.shape.neighbours { (pair * 2, pair * 2 + 1) } else { (pair, pair + head / 2) };
                    let (first, second) = (head_values[left], head_values[right]);
                    head_values[left] = first * cosine - second * sine;
                    head_values[right] = first * sine + second * cosine;
                }
            }
        }
    }

    /// Lets each token look at itself and what was before it.
    fn attend(&self, queries: &[f32], keys: &[u16], values: &[u16], start: usize) -> Vec<f32> {
        let shape = &self.shape;
        let (head, row) = (shape.head, shape.key_heads * shape.head);
        let shared = shape.heads / shape.key_heads;
        let scale = 1.0 / (head as f32).sqrt();
        let mut out = vec![0.0; queries.len()];
        self.crew.fill(&mut out, head, |index, out| {
            let query = &queries[index * head..][..head];
            let (token, which) = (index / shape.heads, index % shape.heads);
            let at = which / shared * head;
            let seen = start + token + 1;
            let mut weights: Vec<f32> =
                (0..seen).map(|place| scale * self.dot_half(query, &keys[place * row + at..][..head])).collect();
            let largest = weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for weight in &mut weights {
                *weight = exp(*weight - largest);
            }
            let total: f32 = weights.iter().sum();
            for (place, weight) in weights.iter().enumerate() {
                self.add_half(out, weight / total, &values[place * row + at..][..head]);
            }
        });
        out
    }

    fn dot_half(&self, left: &[f32], right: &[u16]) -> f32 {
        #[cfg(target_arch = "x86_64")]
        if let Some(vector) = self.vector {
            return vector.dot_half(left, right);
        }
        left.iter().zip(right).map(|(left, right)| left * half(*right)).sum()
    }

    fn add_half(&self, into: &mut [f32], factor: f32, numbers: &[u16]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(vector) = self.vector {
            return vector.add_half(into, factor, numbers);
        }
        into.iter_mut().zip(numbers).for_each(|(into, number)| *into += factor * half(*number));
    }
}

fn vector(tensor: &Tensor, length: usize) -> Result<Vec<f32>, ModelError> {
    if tensor.rows != 1 || tensor.columns != length {
        return Err(ModelError::Damaged("a vector of another size than the model's"));
    }
    let mut out = vec![0.0; length];
    expand(tensor.format, tensor.bytes(), &mut out);
    Ok(out)
}

/// Divides each row by its root mean square, times the weights.
fn normalise(values: &[f32], weights: &[f32], epsilon: f32) -> Vec<f32> {
    let mut out = Vec::with_capacity(values.len());
    for row in values.chunks_exact(weights.len()) {
        let mean = row.iter().map(|value| value * value).sum::<f32>() / row.len() as f32;
        let factor = 1.0 / (mean + epsilon).sqrt();
        out.extend(row.iter().zip(weights).map(|(value, weight)| value * factor * weight));
    }
    out
}

fn add(into: &mut [f32], values: &[f32]) {
    into.iter_mut().zip(values).for_each(|(into, value)| *into += value);
}

#[cfg(test)]
#[path = "network_tests.rs"]
pub(super) mod tests;
