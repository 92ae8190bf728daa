//! A decoder-only transformer of the Qwen 2, Qwen 3 and Llama families, run on the processor.

use std::sync::atomic::{AtomicBool, Ordering};

use super::arithmetic::Arithmetic;
pub(crate) use super::arithmetic::EXACT;
use super::expand::expand;
use super::gguf::{Gguf, ModelError, Tensor};
pub(crate) use super::layers::Shape;
use super::layers::{EMBEDDING, Layer, Linear, weights_of};
use super::past::Past;

/// Tokens of a prompt that are read in one pass: more are no faster, and progress is told between passes.
pub(crate) const PASS: usize = 64;

/// Whether anybody wants to know what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Behind the last token.
    Wanted,
    /// Behind each.
    Each,
    Unwanted,
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

/// A model, ready to run.
pub(crate) struct Network {
    pub(super) arithmetic: Arithmetic,
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    head: Linear,
}

impl Network {
    /// Finds the weights in a file; reads only the small ones.
    pub(crate) fn new(file: &Gguf, threads: usize) -> Result<Self, ModelError> {
        let shape = Shape::read(file)?;
        let embedding = file.tensor(EMBEDDING)?;
        let layers = (0..shape.layers).map(|index| Layer::find(file, &shape, index));
        let layers = layers.collect::<Result<Vec<_>, ModelError>>()?;
        // Without one of its own, a model says its tokens by what it reads them with.
        let head = match file.optional("output.weight") {
            Some(_) => Linear::find(file, "output", shape.width, shape.vocabulary)?,
            None => Linear::of(embedding.clone(), None)?,
        };
        let norm = weights_of(file, "output_norm", shape.width)?;
        Ok(Self { arithmetic: Arithmetic::new(shape, threads)?, embedding, layers, norm, head })
    }

    /// Returns its shape.
    pub(crate) const fn shape(&self) -> &Shape {
        &self.arithmetic.shape
    }

    /// Tells whether a few tokens read together cost less than one by one. The plain way takes them one by one.
    pub(crate) const fn saves_together(&self) -> bool {
        self.arithmetic.vector.is_some()
    }

    /// Computes with so many threads from now on.
    pub(crate) fn use_threads(&self, threads: usize) {
        self.arithmetic.use_threads(threads);
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
            memory.truncate(length, self.shape());
        }
        likely
    }

    fn forward(&self, tokens: &[u32], memory: &mut Memory, next: Next, stop: &AtomicBool) -> Option<Vec<f32>> {
        let arithmetic = &self.arithmetic;
        let (width, start) = (self.shape().width, memory.length);
        let mut states = vec![0.0; tokens.len() * width];
        for (token, state) in tokens.iter().zip(states.chunks_exact_mut(width)) {
            let row = (*token as usize).min(self.shape().vocabulary - 1);
            expand(self.embedding.format, self.embedding.row(row), state);
        }
        let turns = arithmetic.turns(start, tokens.len());
        let pasts = memory.keys.iter_mut().zip(&mut memory.values);
        for (layer, past) in self.layers.iter().zip(pasts) {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            arithmetic.layer(layer, &mut states, past, (start, &turns));
        }
        memory.length += tokens.len();
        let last = match next {
            Next::Unwanted => return Some(Vec::new()),
            Next::Wanted => &states[states.len().saturating_sub(width)..],
            Next::Each => &states,
        };
        let last = arithmetic.normalise(last, &self.norm);
        let [likely] = arithmetic.linears(&last, [&self.head]);
        Some(likely)
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
pub(super) mod tests;
