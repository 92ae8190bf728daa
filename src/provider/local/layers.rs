//! The shape of a model and the weights of its layers, found in its file.

use super::blocks::activation_block;
use super::expand::expand;
use super::gguf::{Gguf, ModelError, Tensor};

/// The value that names a model's kind, and the tensors that no model is without.
const FAMILY: &str = "general.architecture";
pub(super) const EMBEDDING: &str = "token_embd.weight";
/// What turns slower by how much, in a model of the Llama family that says so.
pub(super) const SLOWER: &str = "rope_freqs.weight";

/// The shape of a model.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) layers: usize,
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) key_heads: usize,
    pub(crate) head: usize,
    /// Numbers between the two halves of a feed-forward part.
    pub(super) feed: usize,
    pub(crate) vocabulary: usize,
    /// Tokens the model was trained for.
    pub(crate) context: usize,
    pub(super) rotation: f32,
    /// What turns slower by how much: of Llama 3.1 and later, a factor a pair; of others, none or the same for all.
    pub(super) slower: Vec<f32>,
    pub(super) epsilon: f32,
    /// Whether neighbours turn together (Llama), or the two halves of a head (Qwen).
    pub(super) neighbours: bool,
    /// Whether queries and keys are always normalised by themselves (Qwen 3).
    normal_heads: bool,
}

impl Shape {
    /// Reads it from what a file says of itself.
    ///
    /// # Errors
    /// The file is of a family that is not known, or says sizes that do not fit each other.
    pub(super) fn read(file: &Gguf) -> Result<Self, ModelError> {
        let family = file.word(FAMILY).ok_or_else(|| ModelError::Missing(FAMILY.to_owned()))?;
        if !["qwen2", "qwen3", "llama"].contains(&family.as_str()) {
            return Err(ModelError::unsupported(FAMILY, family));
        }
        let number = |name: &str| file.number(&format!("{family}.{name}"));
        let size = |name: &str| {
            let value = number(name).filter(|value| *value >= 1.0 && *value < 1e7);
            value.map(|value| value as usize).ok_or_else(|| ModelError::Missing(format!("{family}.{name}")))
        };
        let embedding = file.place(EMBEDDING)?;
        let (width, heads) = (size("embedding_length")?, size("attention.head_count")?);
        let head = number("attention.key_length").map_or(width / heads, |length| length as usize);
        if !(8..=1024).contains(&head) {
            return Err(ModelError::Unfit(format!("{family}.attention.head_count")));
        }
        let shape = Self {
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
            // None of its models is without.
            normal_heads: family == "qwen3",
            feed: size("feed_forward_length")?,
        };
        let fits = head % 8 == 0 && heads <= 1024 && embedding.rows > 0;
        if !fits || !shape.heads.is_multiple_of(shape.key_heads) || embedding.columns != width {
            return Err(ModelError::Unfit(EMBEDDING.to_owned()));
        }
        Ok(shape)
    }
}

/// Weights of one layer.
pub(super) struct Layer {
    pub(super) attention_norm: Vec<f32>,
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) query_norm: Option<Vec<f32>>,
    pub(super) key_norm: Option<Vec<f32>>,
    pub(super) output: Linear,
    pub(super) feed_norm: Vec<f32>,
    pub(super) gate: Linear,
    pub(super) up: Linear,
    pub(super) down: Linear,
}

impl Layer {
    /// What the names of the tensors of a layer begin with.
    pub(super) fn prefix(index: usize) -> String {
        format!("blk.{index}.")
    }

    /// Finds a layer in a file; reads only the small ones of its weights.
    ///
    /// # Errors
    /// A tensor is missing, or has another size than the shape says.
    pub(super) fn find(file: &Gguf, shape: &Shape, index: usize) -> Result<Self, ModelError> {
        let (width, head, feed) = (shape.width, shape.head, shape.feed);
        let (all, keys) = (shape.heads * head, shape.key_heads * head);
        let name = |part: &str| format!("{}{part}", Self::prefix(index));
        let linear = |part: &str, columns, rows| Linear::find(file, &name(part), columns, rows);
        let norm = |part: &str, length| weights_of(file, &name(part), length);
        let of_head = |part: &str| {
            let is_there = shape.normal_heads || file.optional(&format!("{}.weight", name(part))).is_some();
            is_there.then(|| norm(part, head)).transpose()
        };
        Ok(Self {
            attention_norm: norm("attn_norm", width)?,
            query: linear("attn_q", width, all)?,
            key: linear("attn_k", width, keys)?,
            value: linear("attn_v", width, keys)?,
            query_norm: of_head("attn_q_norm")?,
            key_norm: of_head("attn_k_norm")?,
            output: linear("attn_output", all, width)?,
            feed_norm: norm("ffn_norm", width)?,
            gate: linear("ffn_gate", width, feed)?,
            up: linear("ffn_up", width, feed)?,
            down: linear("ffn_down", feed, width)?,
        })
    }
}

/// A matrix, and what is added to what it makes.
pub(super) struct Linear {
    pub(super) weights: Tensor,
    pub(super) bias: Option<Vec<f32>>,
}

impl Linear {
    /// Finds one of a file by its name and its size.
    pub(super) fn find(file: &Gguf, name: &str, columns: usize, rows: usize) -> Result<Self, ModelError> {
        let weights = file.tensor(&format!("{name}.weight"))?;
        if weights.columns != columns || weights.rows != rows {
            return Err(ModelError::Unfit(format!("{name}.weight")));
        }
        let bias = format!("{name}.bias");
        let bias = file.optional(&bias).map(|found| vector(&found, &bias, rows)).transpose()?;
        Self::of(weights, bias)
    }

    /// Makes one of a tensor.
    pub(super) fn of(weights: Tensor, bias: Option<Vec<f32>>) -> Result<Self, ModelError> {
        if !weights.columns.is_multiple_of(activation_block(weights.format)) {
            return Err(ModelError::unsupported("tensor.columns", weights.columns.to_string()));
        }
        Ok(Self { weights, bias })
    }
}

/// Reads the weights of a norm.
pub(super) fn weights_of(file: &Gguf, name: &str, length: usize) -> Result<Vec<f32>, ModelError> {
    let name = format!("{name}.weight");
    vector(&file.tensor(&name)?, &name, length)
}

/// How much slower each pair of a head turns than its place says.
fn slower(file: &Gguf, family: &str, head: usize) -> Result<Vec<f32>, ModelError> {
    if let Some(factors) = file.optional(SLOWER) {
        return vector(&factors, SLOWER, head / 2);
    }
    let factor = file.number(&format!("{family}.rope.scaling.factor")).unwrap_or(1.0) as f32;
    let name = format!("{family}.rope.scaling.type");
    match file.word(&name).as_deref() {
        None | Some("none") => Ok(Vec::new()),
        Some("linear") if factor >= 1.0 => Ok(vec![factor; head / 2]),
        Some(other) => Err(ModelError::unsupported(name, other)),
    }
}

fn vector(tensor: &Tensor, name: &str, length: usize) -> Result<Vec<f32>, ModelError> {
    if tensor.rows != 1 || tensor.columns != length {
        return Err(ModelError::Unfit(name.to_owned()));
    }
    let mut out = vec![0.0; length];
    expand(tensor.format, tensor.bytes(), &mut out);
    Ok(out)
}
