//! Reads what every conversation begins with while the model's file still arrives.
//!
//! The file takes a minute to arrive, and the beginning takes some seconds to read; the first question would wait for both.
//! So each layer takes all tokens as soon as its weights have arrived, and the next layer goes on from its results. That
//! gives the same result, to the last bit, as taking the tokens through all layers one after the other. If the hash of
//! the whole file is right, the keys and values are put where the first question looks for them.
//!
//! Nobody has checked what is read here: nothing of it is mapped, each length in it is bounded before memory is taken,
//! and whatever is wrong only ends the reading.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::arithmetic::Arithmetic;
use super::arrivals::{Arrivals, Vain};
use super::chat::{Marks, prompt};
use super::cores::{cores, threads};
use super::expand::expand;
use super::gguf::{Gguf, ModelError, bytes_at};
use super::kept::PrefixCache;
use super::layers::{EMBEDDING, Layer, SLOWER, Shape};
use super::network::{Memory, PASS};
use super::sources::Progress;
use super::tokenizer::Tokenizer;
use crate::conversation::ToolSpec;

/// Bytes of a file in which its tables are looked for first; twice as many each time they go on.
const FRONT: usize = 4096;
/// The most numbers that one step may make: some times as many as the largest of the models that axi brings.
const MOST_NUMBERS: usize = 1 << 24;
/// Bytes of a file that its tables may take at most: those of real ones take six millions.
const MOST_FRONT: usize = 1 << 26;
/// The most layers a file may claim; real ones have a hundred at most.
const MOST_LAYERS: usize = 1 << 10;
/// How often it is looked whether the reading has ended.
const LOOK: Duration = Duration::from_millis(50);

/// What every conversation with a model begins with, as its requests say it.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    /// The system prompt. Its first paragraph is read.
    pub system: String,
    /// The tools.
    pub tools: Vec<ToolSpec>,
    /// The folder where beginnings are kept.
    pub kept: PathBuf,
}

/// A reading on a thread of its own. Dropped, it ends, and nothing is kept.
pub(super) struct Early {
    kept: PathBuf,
    arrivals: Arc<Arrivals>,
    told: Arc<ReadSoFar>,
    thread: Option<JoinHandle<Option<Read>>>,
}

/// How far it is.
#[derive(Debug, Default)]
struct ReadSoFar {
    tokens: AtomicUsize,
    layers: AtomicUsize,
    done: AtomicUsize,
}

/// What was read.
struct Read {
    tokens: Vec<u32>,
    memory: Memory,
    shape: Shape,
    turn: usize,
}

/// Why nothing was read.
#[derive(Debug)]
enum Missed {
    Vain(Vain),
    Model(ModelError),
}

impl From<Vain> for Missed {
    fn from(vain: Vain) -> Self {
        Self::Vain(vain)
    }
}

impl From<ModelError> for Missed {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

impl From<std::io::Error> for Missed {
    fn from(error: std::io::Error) -> Self {
        Self::Model(error.into())
    }
}

impl Early {
    /// Begins to read a file that will have `size` bytes. `None` where there is nothing to read, or no thread for it.
    pub(super) fn begin(opening: Opening, size: u64, arrivals: &Arc<Arrivals>) -> Option<Self> {
        let size = usize::try_from(size).ok()?;
        let (arrivals, told) = (Arc::clone(arrivals), Arc::<ReadSoFar>::default());
        let kept = opening.kept.clone();
        let (for_thread, telling) = (Arc::clone(&arrivals), Arc::clone(&told));
        let read = move || read(&opening, size, &for_thread, &telling);
        let thread = std::thread::Builder::new().name("model-early".into()).spawn(read).ok()?;
        Some(Self { kept, arrivals, told, thread: Some(thread) })
    }

    /// Waits until all is read, and keeps it for the first question to the file that has arrived and is right.
    ///
    /// # Cancel safety
    /// `cancel` or dropping the future ends the reading; then nothing is kept.
    pub(super) async fn keep(
        mut self,
        whole: &Path,
        progress: &mut dyn FnMut(Progress),
        cancel: &CancellationToken,
    ) {
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            progress(self.told.progress());
            tokio::select! {
                biased;
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
        let Some(read) = self.thread.take().and_then(|thread| thread.join().ok()).flatten() else { return };
        // What was read of a source that was given up may be something else.
        if read.turn == self.arrivals.turn()
            && let Err(error) = PrefixCache::new(&self.kept, whole).save(&read.tokens, &read.memory, &read.shape)
        {
            tracing::info!(%error, "the beginning was not kept");
        }
    }
}

impl Drop for Early {
    fn drop(&mut self) {
        self.arrivals.end();
        if let Some(thread) = self.thread.take() {
            // It looks at each pass of each layer. What went wrong in it ends it and nothing else.
            drop(thread.join());
        }
    }
}

impl ReadSoFar {
    fn progress(&self) -> Progress {
        let number = |number: &AtomicUsize| number.load(Ordering::Relaxed) as u64;
        let all = number(&self.tokens);
        Progress::Read { read: all * number(&self.done) / number(&self.layers).max(1), all }
    }
}

fn read(opening: &Opening, size: usize, arrivals: &Arrivals, told: &ReadSoFar) -> Option<Read> {
    loop {
        match attempt(opening, size, arrivals, told) {
            Ok(read) if read.turn == arrivals.turn() => return Some(read),
            Ok(_) | Err(Missed::Vain(Vain::Forgotten)) => {}
            Err(Missed::Vain(Vain::Ended)) => return None,
            Err(Missed::Model(cause)) => {
                tracing::info!(%cause, "nothing is read of a model before it is whole");
                return None;
            }
        }
    }
}

fn attempt(opening: &Opening, size: usize, arrivals: &Arrivals, told: &ReadSoFar) -> Result<Read, Missed> {
    let (file, turn) = arrivals.file()?;
    let there = |bytes: &Range<usize>| arrivals.wait(turn, &(bytes.start as u64..bytes.end as u64));
    let mut model = tables(&file, size, &there)?;
    for place in model.places(SLOWER) {
        there(&place.bytes)?;
    }
    model.bring(SLOWER, &file)?;
    let shape = Shape::read(&model)?;
    let tokenizer = Tokenizer::new(&model)?;
    let marks = Marks::find(&tokenizer)?;
    let said = (opening.system.as_str(), [].as_slice(), 0);
    let Some(mut found) = prompt(&tokenizer, marks, said, &opening.tools, shape.context) else {
        return Err(ModelError::Unfit(EMBEDDING.to_owned()).into());
    };
    found.tokens.truncate(found.fixed);
    let tokens = found.tokens;
    drop(tokenizer);
    arrivals.want(turn, wanted(&model, &shape)?);
    for (number, value) in [(&told.tokens, tokens.len()), (&told.layers, shape.layers), (&told.done, 0)] {
        number.store(value, Ordering::Relaxed);
    }
    let mut states = embedded(&model, &shape, &tokens, &file, &there)?;
    let arithmetic = Arithmetic::new(shape, cores())?;
    let shape = &arithmetic.shape;
    let starts = (0..tokens.len()).step_by(PASS);
    let turns: Vec<_> = starts.map(|start| arithmetic.turns(start, PASS.min(tokens.len() - start))).collect();
    let mut memory = Memory::new(shape);
    for index in 0..shape.layers {
        let prefix = Layer::prefix(index);
        for place in model.places(&prefix) {
            there(&place.bytes)?;
        }
        model.bring(&prefix, &file)?;
        let layer = Layer::find(&model, shape, index)?;
        // Who fetches needs a part of the machine, too.
        let arrives = !arrivals.has(&(0..size as u64));
        arithmetic.use_threads(if arrives { cores().div_ceil(2) } else { threads() });
        let (keys, values) = (&mut memory.keys[index], &mut memory.values[index]);
        for (pass, states) in states.chunks_mut(PASS * shape.width).enumerate() {
            if arrivals.has_ended() {
                return Err(Vain::Ended.into());
            }
            let past = (&mut *keys, &mut *values);
            if index + 1 < shape.layers {
                arithmetic.layer(&layer, states, past, (pass * PASS, &turns[pass]));
            } else {
                // Nobody asks what comes behind it.
                arithmetic.remember(&layer, states, past, &turns[pass]);
            }
        }
        told.done.store(index + 1, Ordering::Relaxed);
    }
    memory.length = tokens.len();
    Ok(Read { tokens, memory, shape: shape.clone(), turn })
}

/// Reads the tables at the front of a file.
fn tables(file: &File, size: usize, there: &impl Fn(&Range<usize>) -> Result<(), Vain>) -> Result<Gguf, Missed> {
    let mut front = FRONT;
    loop {
        let end = front.min(size);
        there(&(0..end))?;
        match Gguf::arriving(bytes_at(file, 0, end)?, size) {
            Err(ModelError::Short) if end < size.min(MOST_FRONT) => front *= 2,
            read => return Ok(read?),
        }
    }
}

/// Lists where in the file is what will be read, in this order.
///
/// # Errors
/// A layer is missing, or a step would make more numbers than any model does.
fn wanted(model: &Gguf, shape: &Shape) -> Result<Vec<Range<u64>>, ModelError> {
    let widest = shape.width.max(shape.feed).max(shape.heads * shape.head).max(shape.key_heads * shape.head);
    if widest > MOST_NUMBERS / PASS || shape.layers > MOST_LAYERS {
        return Err(ModelError::Unfit(EMBEDDING.to_owned()));
    }
    let range = |bytes: &Range<usize>| bytes.start as u64..bytes.end as u64;
    let mut wanted = vec![range(&model.place(EMBEDDING)?.bytes)];
    for index in 0..shape.layers {
        let prefix = Layer::prefix(index);
        let before = wanted.len();
        wanted.extend(model.places(&prefix).map(|place| range(&place.bytes)));
        if wanted.len() == before {
            return Err(ModelError::Missing(prefix));
        }
        wanted[before..].sort_by_key(|bytes| bytes.start);
    }
    Ok(wanted)
}

/// Reads what the first layer is given: a row of `shape.width` numbers for each token.
fn embedded(
    model: &Gguf,
    shape: &Shape,
    tokens: &[u32],
    file: &File,
    there: &impl Fn(&Range<usize>) -> Result<(), Vain>,
) -> Result<Vec<f32>, Missed> {
    let place = model.place(EMBEDDING)?;
    there(&place.bytes)?;
    if tokens.is_empty() || tokens.len() > MOST_NUMBERS / shape.width {
        return Err(ModelError::Unfit(EMBEDDING.to_owned()).into());
    }
    let mut states = vec![0.0; tokens.len() * shape.width];
    for (token, state) in tokens.iter().zip(states.chunks_exact_mut(shape.width)) {
        let row = place.row((*token as usize).min(shape.vocabulary - 1));
        expand(place.format, &bytes_at(file, row.start as u64, row.len())?, state);
    }
    Ok(states)
}

#[cfg(test)]
#[path = "early_tests.rs"]
mod tests;
