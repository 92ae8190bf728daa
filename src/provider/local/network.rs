//! A decoder-only transformer of the Qwen 2, Qwen 3 and Llama families, run on the processor.

use std::sync::atomic::{AtomicBool, Ordering};

use super::blocks::{activation_block, exp};
use super::crew::Crew;
use super::expand::expand;
use super::gguf::{Gguf, ModelError, Tensor};
use super::past::{Heads, Past};
use super::vector::Vector;

#[path = "products.rs"]
mod products;

/// Tokens that come to the same, to the last bit, whether they are read together or one by one.
pub(crate) const EXACT: usize = 8;

/// The value that names a model's kind, and the tensor that no model is without.
const FAMILY: &str = "general.architecture";
const EMBEDDING: &str = "token_embd.weight";

/// Whether anybody wants to know what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Behind the last token.
    Wanted,
    /// Behind each.
    Each,
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
    /// What turns slower by how much: of Llama 3.1 and later, a factor a pair; of others, none or the same for all.
    slower: Vec<f32>,
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
    pub(super) vector: Option<Vector>,
    crew: Crew,
}

/// Keys and values of the tokens seen so far, for each layer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    pub(super) keys: Vec<Past>,
    pub(super) values: Vec<Past>,
    /// Tokens in it.
    pub(crate) length: usize,
}

impl Memory {
    pub(crate) fn new(shape: &Shape) -> Self {
        let none = vec![Past::default(); shape.layers];
        Self { keys: none.clone(), values: none, length: 0 }
    }

    /// Forgets all but the first tokens.
    pub(crate) fn truncate(&mut self, length: usize, shape: &Shape) {
        let heads = length * shape.key_heads;
        self.keys.iter_mut().chain(&mut self.values).for_each(|layer| layer.truncate(heads, shape.head));
        self.length = self.length.min(length);
    }
}

impl Network {
    /// Finds the weights in a file; reads only the small ones.
    pub(crate) fn new(file: &Gguf, threads: usize) -> Result<Self, ModelError> {
        let family = file.word(FAMILY).ok_or_else(|| ModelError::Missing(FAMILY.to_owned()))?;
        if !["qwen2", "qwen3", "llama"].contains(&family.as_str()) {
            return Err(ModelError::unsupported(FAMILY, family));
        }
        let number = |name: &str| file.number(&format!("{family}.{name}"));
        let size = |name: &str| {
            let value = number(name).filter(|value| *value >= 1.0 && *value < 1e7);
            value.map(|value| value as usize).ok_or_else(|| ModelError::Missing(format!("{family}.{name}")))
        };
        let embedding = file.tensor(EMBEDDING)?;
        let (width, heads) = (size("embedding_length")?, size("attention.head_count")?);
        let head = number("attention.key_length").map_or(width / heads, |length| length as usize);
        if !(8..=1024).contains(&head) {
            return Err(ModelError::Unfit(format!("{family}.attention.head_count")));
        }
        let shape = Shape {
            layers: size("block_count")?,
            width,
            heads,
            key_heads: size("attention.head_count_kv").unwrap_or(heads),
            head,
            vocabulary: embedding.rows,
            context: size("context_length")?,
            rotation: number("rope.freq_base").unwrap_or(10_000.0) as f32,
            slower: slower(file, &family, head)?,
            epsilon: number("attention.layer_norm_rms_epsilon").unwrap_or(1e-6) as f32,
            neighbours: family == "llama",
        };
        let fits = head % 8 == 0 && heads <= 1024 && embedding.rows > 0;
        if !fits || !shape.heads.is_multiple_of(shape.key_heads) || embedding.columns != width {
            return Err(ModelError::Unfit(EMBEDDING.to_owned()));
        }
        let (all, keys) = (shape.heads * head, shape.key_heads * head);
        let feed = size("feed_forward_length")?;
        let linear = |name: String, columns: usize, rows: usize| -> Result<Linear, ModelError> {
            let weights = file.tensor(&format!("{name}.weight"))?;
            if weights.columns != columns || weights.rows != rows {
                return Err(ModelError::Unfit(format!("{name}.weight")));
            }
            let bias = format!("{name}.bias");
            let bias = file.optional(&bias).map(|found| vector(&found, &bias, rows)).transpose()?;
            linear_of(weights, bias)
        };
        let norm = |name: String, length: usize| {
            let name = format!("{name}.weight");
            vector(&file.tensor(&name)?, &name, length)
        };
        // Only Qwen 3 has them, and none of its models is without.
        let of_head = |name: String| {
            let is_there = family == "qwen3" || file.optional(&format!("{name}.weight")).is_some();
            is_there.then(|| norm(name, head)).transpose()
        };
        let layers = (0..shape.layers).map(|index| {
            let name = |part: &str| format!("blk.{index}.{part}");
            Ok(Layer {
                attention_norm: norm(name("attn_norm"), width)?,
                query: linear(name("attn_q"), width, all)?,
                key: linear(name("attn_k"), width, keys)?,
                value: linear(name("attn_v"), width, keys)?,
                query_norm: of_head(name("attn_q_norm"))?,
                key_norm: of_head(name("attn_k_norm"))?,
                output: linear(name("attn_output"), all, width)?,
                feed_norm: norm(name("ffn_norm"), width)?,
                gate: linear(name("ffn_gate"), width, feed)?,
                up: linear(name("ffn_up"), width, feed)?,
                down: linear(name("ffn_down"), feed, width)?,
            })
        });
        let layers = layers.collect::<Result<Vec<_>, ModelError>>()?;
        // Without one of its own, a model says its tokens by what it reads them with.
        let head = match file.optional("output.weight") {
            Some(_) => linear("output".into(), width, shape.vocabulary)?,
            None => linear_of(embedding.clone(), None)?,
        };
        let crew = Crew::new(threads.max(1))?;
        Ok(Self {
            norm: norm("output_norm".into(), width)?,
            head,
            embedding,
            layers,
            shape,
            vector: Vector::chosen(),
            crew,
        })
    }

    /// Tells whether a few tokens read together cost less than one by one. The plain way takes them one by one.
    pub(crate) const fn saves_together(&self) -> bool {
        self.vector.is_some()
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
            let normal = self.normalise(&states, &layer.attention_norm);
            let [mut queries, mut keys, values] = self.linears(&normal, [&layer.query, &layer.key, &layer.value]);
            if let Some(norm) = &layer.query_norm {
                queries = self.normalise(&queries, norm);
            }
            if let Some(norm) = &layer.key_norm {
                keys = self.normalise(&keys, norm);
            }
            self.rotate(&mut queries, shape.heads * head, &turns);
            self.rotate(&mut keys, shape.key_heads * head, &turns);
            memory.keys[index].push(&keys, head);
            memory.values[index].push(&values, head);
            let seen = self.attend(&queries, &memory.keys[index], &memory.values[index], start);
            let [out] = self.linears(&seen, [&layer.output]);
            add(&mut states, &out);
            let normal = self.normalise(&states, &layer.feed_norm);
            let gate = self.gate(&normal, layer);
            let [out] = self.linears(&gate, [&layer.down]);
            add(&mut states, &out);
        }
        memory.length += tokens.len();
        let last = match next {
            Next::Unwanted => return Some(Vec::new()),
            Next::Wanted => &states[states.len().saturating_sub(width)..],
            Next::Each => &states,
        };
        let last = self.normalise(last, &self.norm);
        let [likely] = self.linears(&last, [&self.head]);
        Some(likely)
    }

    /// Multiplies the same tokens with several matrices.
    fn linears<const N: usize>(&self, values: &[f32], matrices: [&Linear; N]) -> [Vec<f32>; N] {
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
    fn turns(&self, start: usize, tokens: usize) -> Vec<(f32, f32)> {
        let head = self.shape.head;
        let slower = |pair: usize| self.shape.slower.get(pair).copied().unwrap_or(1.0);
        let step = |pair: usize| self.shape.rotation.powf(-2.0 * pair as f32 / head as f32) / slower(pair);
        let steps: Vec<f32> = (0..head / 2).map(step).collect();
        let places = start..start + tokens;
        places.flat_map(|place| steps.iter().map(move |step| (place as f32 * step).sin_cos())).collect()
    }

    /// Divides each row by its root mean square, times the weights.
    fn normalise(&self, values: &[f32], weights: &[f32]) -> Vec<f32> {
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
        let shape = &self.shape;
        let head = shape.head;
        let shared = shape.heads / shape.key_heads;
        let scale = 1.0 / (head as f32).sqrt();
        let mut out = vec![0.0; queries.len()];
        self.crew.fill(&mut out, shared * head, |index, out| {
            let queries = &queries[index * shared * head..][..shared * head];
            let (token, which) = (index / shape.key_heads, index % shape.key_heads);
            let seen = start + token + 1;
            let of = [keys, values].map(|past| Heads { past, head, which, of: shape.key_heads });
            if self.vector.is_some_and(|vector| vector.attend(queries, of, seen, out)) {
                return;
            }
            let [keys, values] = of;
            for (query, out) in queries.chunks_exact(head).zip(out.chunks_exact_mut(head)) {
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
        });
        out
    }
}

/// How much slower each pair of a head turns than its place says.
fn slower(file: &Gguf, family: &str, head: usize) -> Result<Vec<f32>, ModelError> {
    if let Some(factors) = file.optional("rope_freqs.weight") {
        return vector(&factors, "rope_freqs.weight", head / 2);
    }
    let factor = file.number(&format!("{family}.rope.scaling.factor")).unwrap_or(1.0) as f32;
    let name = format!("{family}.rope.scaling.type");
    match file.word(&name).as_deref() {
        None | Some("none") => Ok(Vec::new()),
        Some("linear") if factor >= 1.0 => Ok(vec![factor; head / 2]),
        Some(other) => Err(ModelError::unsupported(name, other)),
    }
}

fn linear_of(weights: Tensor, bias: Option<Vec<f32>>) -> Result<Linear, ModelError> {
    if !weights.columns.is_multiple_of(activation_block(weights.format)) {
        return Err(ModelError::unsupported("tensor.columns", weights.columns.to_string()));
    }
    Ok(Linear { weights, bias })
}

fn vector(tensor: &Tensor, name: &str, length: usize) -> Result<Vec<f32>, ModelError> {
    if tensor.rows != 1 || tensor.columns != length {
        return Err(ModelError::Unfit(name.to_owned()));
    }
    let mut out = vec![0.0; length];
    expand(tensor.format, tensor.bytes(), &mut out);
    Ok(out)
}

fn add(into: &mut [f32], values: &[f32]) {
    into.iter_mut().zip(values).for_each(|(into, value)| *into += value);
}

#[cfg(test)]
#[path = "network_tests.rs"]
pub(super) mod tests;
