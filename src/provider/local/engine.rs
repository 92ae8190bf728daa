//! The thread that owns a model: loads it, reads prompts into its memory, writes answers, frees it when nobody asks.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc;

use super::ahead::SpeculativeTokens;
use super::chat::{Marks, Prompt, line_prompt, prompt};
use super::cores::{cores, threads};
use super::gguf::{Gguf, ModelError};
use super::job::{Ask, Event, Job, Trouble};
use super::kept::PrefixCache;
use super::likely::likeliest;
use super::network::{Memory, Network, Next, PASS};
use super::tokenizer::{Tokenizer, whole_characters};
use super::weights::{Places, Weights, is_whole};
use crate::conversation::{StopReason, StreamEvent, Usage};

/// Tokens of the context that are left for the answer.
const ANSWER: usize = 1024;
/// How sure one must be of all that is shown in a line that somebody is typing. Of 480 unseen lines in English, cut
/// anywhere, the 0.5B finished 60 in 100 and 15 of those as they went on when it had to be sure by 0.3 of each token;
/// with this, 8 in 100, and 76 of those.
const SURE: f32 = 0.93;

/// How a model is run.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) weights: PathBuf,
    /// What the file is said to be, and where it is written down that it is.
    pub(super) published: Option<(&'static Weights, Places)>,
    /// Where beginnings are kept, if anywhere.
    pub(super) kept: Option<PathBuf>,
    /// How long nobody asks before the memory is freed.
    pub(super) idle: Duration,
    /// The most tokens of one conversation.
    pub(super) context: usize,
}

/// The way to the thread; starts it at the first question, and again after it has ended.
pub(super) struct Engine {
    plan: Plan,
    thread: Arc<Way>,
    /// Stops what is read ahead of any question: a question tells how far it is, and that does not.
    ahead: Mutex<Arc<AtomicBool>>,
}

/// Where questions are sent to; `None` while no thread is there.
type Way = Mutex<Option<Sender<Job>>>;

fn lock(way: &Way) -> MutexGuard<'_, Option<Sender<Job>>> {
    way.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    pub(super) fn new(plan: Plan) -> Self {
        Self { plan, thread: Arc::default(), ahead: Mutex::default() }
    }

    /// Hands a question over. The thread ends by itself when nobody asks for a while, or when the engine is dropped.
    pub(super) fn ask(&self, mut job: Job) -> std::io::Result<()> {
        let mut thread = lock(&self.thread);
        {
            let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
            if job.events.is_none() {
                *ahead = Arc::clone(&job.stop);
            } else {
                ahead.store(true, Ordering::Relaxed);
            }
        }
        if let Some(sender) = thread.as_ref() {
            match sender.send(job) {
                Ok(()) => return Ok(()),
                Err(unsent) => job = unsent.0,
            }
        }
        let (sender, jobs) = channel();
        // It waits in the channel: `jobs` is here.
        drop(sender.send(job));
        let (plan, way) = (self.plan.clone(), Arc::downgrade(&self.thread));
        std::thread::Builder::new().name("model".into()).spawn(move || serve(&plan, &jobs, &way))?;
        *thread = Some(sender);
        Ok(())
    }
}

fn serve(plan: &Plan, jobs: &Receiver<Job>, way: &Weak<Way>) {
    let mut loaded: Option<Result<Loaded, ModelError>> = None;
    loop {
        let job = match jobs.recv_timeout(plan.idle) {
            Ok(job) => job,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let Some(way) = way.upgrade() else { return };
                let mut way = lock(&way);
                // A question may have come just now; behind the lock none can.
                if let Ok(job) = jobs.try_recv() {
                    job
                } else {
                    *way = None;
                    return;
                }
            }
        };
        if let (None, Some(events)) = (&loaded, &job.events) {
            drop(events.blocking_send(Ok(StreamEvent::Loading)));
        }
        let model = loaded.get_or_insert_with(|| Loaded::open(plan));
        let answered = match model {
            Ok(model) => model.answer(&job),
            Err(cause) => Err(cause.clone()),
        };
        if let Err(cause) = answered {
            tracing::warn!(%cause, "the local model cannot be used");
            if let Some(events) = &job.events {
                drop(events.blocking_send(Err(Trouble::Model(cause))));
            }
            // The file may be mended by the next question.
            loaded = None;
        }
    }
}

/// A model with what it has read.
pub(super) struct Loaded {
    pub(super) network: Network,
    pub(super) tokenizer: Tokenizer,
    marks: Marks,
    pub(super) memory: Memory,
    pub(super) tokens: Vec<u32>,
    pub(super) ahead: SpeculativeTokens,
    kept: Option<PrefixCache>,
    pub(super) context: usize,
    whole: Whole,
}

/// Whether the file is the published one.
enum Whole {
    /// It is being read by a thread of its own: seconds, the first time it is used.
    Asked(JoinHandle<bool>),
    Known(bool),
}

impl Whole {
    fn ask(plan: &Plan) -> std::io::Result<Self> {
        let Some((weights, places)) = plan.published.clone() else { return Ok(Self::Known(true)) };
        let path = plan.weights.clone();
        let check = move || is_whole(&path, weights, &places);
        Ok(Self::Asked(std::thread::Builder::new().name("model-check".into()).spawn(check)?))
    }

    /// Waits until it is known.
    fn or_changed(&mut self) -> Result<(), ModelError> {
        let known = match std::mem::replace(self, Self::Known(false)) {
            Self::Asked(thread) => thread.join().unwrap_or(false),
            Self::Known(known) => known,
        };
        *self = Self::Known(known);
        if known { Ok(()) } else { Err(ModelError::Changed) }
    }
}

impl Loaded {
    fn open(plan: &Plan) -> Result<Self, ModelError> {
        let file = Gguf::open(&plan.weights)?;
        let tokenizer = Tokenizer::new(&file)?;
        let marks = Marks::find(&tokenizer)?;
        let network = Network::new(&file, cores())?;
        let memory = Memory::new(network.shape());
        let kept = plan.kept.as_ref().map(|folder| PrefixCache::new(folder, &plan.weights));
        let context = plan.context.min(network.shape().context);
        let whole = Whole::ask(plan)?;
        let (tokens, ahead) = (Vec::new(), SpeculativeTokens::default());
        Ok(Self { network, tokenizer, marks, memory, tokens, ahead, kept, context, whole })
    }

    fn answer(&mut self, job: &Job) -> Result<(), ModelError> {
        self.network.use_threads(threads());
        let limit = self.context.saturating_sub(ANSWER);
        let (found, tools) = match &job.ask {
            Ask::Message { system, messages, tools, stable } => {
                let said = (system.as_str(), messages.as_slice(), *stable);
                (prompt(&self.tokenizer, self.marks, said, tools, limit), tools.as_slice())
            }
            Ask::Line { before, line } => {
                (line_prompt(&self.tokenizer, self.marks, (before, line), limit), [].as_slice())
            }
        };
        let Some(prompt) = found else {
            if let Some(events) = &job.events {
                drop(events.blocking_send(Err(Trouble::TooLong)));
            }
            return Ok(());
        };
        let Some(events) = &job.events else {
            // Stopped by a question, which goes on from there: the pass that was begun is not lost.
            let go_on = |_| !job.stop.load(Ordering::Relaxed);
            self.read_fixed(&prompt, &AtomicBool::new(false), go_on);
            return Ok(());
        };
        let Some((likely, cached)) = self.read_prompt(&prompt, events, &job.stop) else { return Ok(()) };
        self.whole.or_changed()?;
        let read = (prompt.tokens.len() as u64, cached);
        match &job.ask {
            Ask::Message { .. } => self.write(job, tools, events, likely, read),
            Ask::Line { line, .. } => self.finish_line(job, line, events, likely, read),
        }
        Ok(())
    }

    /// Writes the rest of a line while it is sure of it.
    fn finish_line(
        &mut self,
        job: &Job,
        line: &str,
        events: &mpsc::Sender<Event>,
        mut likely: Vec<f32>,
        (read, cached): (u64, u64),
    ) {
        let send = |event| events.blocking_send(Ok(event)).is_ok();
        let (mut word, mut written, mut all) = (Vec::new(), 0, 1.0);
        let mut at_blank = line.ends_with(' ');
        while !job.stop.load(Ordering::Relaxed) && !events.is_closed() {
            let (token, sure) = likeliest(&likely);
            let text = self.tokenizer.bytes(token);
            // Half a word helps nobody: it is shown when the next one begins.
            let is_whole =
                text.first().is_none_or(|byte| !byte.is_ascii_alphanumeric()) || self.tokenizer.is_mark(token);
            if is_whole && !word.is_empty() && !send(StreamEvent::TextDelta(whole_characters(&mut word))) {
                return;
            }
            all *= sure;
            if written == job.most || all < SURE || self.tokenizer.is_mark(token) || text.contains(&b'\n') {
                break;
            }
            // The blank is there already: what does not begin with one does not follow.
            let text = match (at_blank, text.strip_prefix(b" ")) {
                (true, Some(rest)) => rest,
                (true, None) => break,
                (false, _) => text,
            };
            at_blank = false;
            written += 1;
            word.extend_from_slice(text);
            self.tokens.push(token);
            let Some(next) = self.network.read(&[token], &mut self.memory, Next::Wanted, &job.stop) else {
                self.tokens.pop();
                return;
            };
            likely = next;
        }
        let usage = Usage {
            input: read.saturating_sub(cached),
            cached_read: cached,
            output: written as u64,
            ..Usage::default()
        };
        let _ = send(StreamEvent::Usage(usage)) && send(StreamEvent::Done(StopReason::EndTurn));
    }

    /// Reads the last token of an answer, whose others are in memory, and says what it makes likely; `None` when stopped.
    pub(super) fn read_next(&mut self, stop: &AtomicBool) -> Option<Vec<f32>> {
        self.ahead.read(&self.network, &self.tokens, &mut self.memory, stop)
    }

    /// Goes back to what the memory and these tokens have in common.
    fn go_back(&mut self, tokens: &[u32]) -> usize {
        self.ahead.clear();
        let same = self.tokens.iter().zip(tokens).take_while(|(left, right)| left == right).count();
        self.tokens.truncate(same);
        self.memory.truncate(same, self.network.shape());
        same
    }

    /// Has the fixed beginning in memory: it is there, or kept on disk, or read now and kept. Returns how much of it
    /// need not be read; `None` when stopped.
    fn read_fixed(&mut self, prompt: &Prompt, stop: &AtomicBool, told: impl FnMut(usize) -> bool) -> Option<usize> {
        let fixed = &prompt.tokens[..prompt.fixed];
        let known = self.go_back(fixed);
        if known == fixed.len() {
            return Some(known);
        }
        if let Some(memory) = self.kept.as_ref().and_then(|kept| kept.load(fixed, self.network.shape())) {
            self.memory = memory;
            self.tokens = fixed.to_vec();
            return Some(fixed.len());
        }
        self.read_to(fixed, stop, told)?;
        // Of a file with other bytes it would be used again when the file is mended.
        if self.whole.or_changed().is_ok()
            && let Some(kept) = &self.kept
            && let Err(error) = kept.save(fixed, &self.memory, self.network.shape())
        {
            tracing::info!(%error, "the beginning was not kept");
        }
        Some(known)
    }

    /// Reads what of these tokens is not in memory yet, and says what the last makes likely; `None` when stopped.
    fn read_to(
        &mut self,
        tokens: &[u32],
        stop: &AtomicBool,
        mut told: impl FnMut(usize) -> bool,
    ) -> Option<Vec<f32>> {
        let mut likely = Vec::new();
        while self.tokens.len() < tokens.len() {
            let from = self.tokens.len();
            let pass = &tokens[from..tokens.len().min(from + PASS)];
            let next = if from + pass.len() == tokens.len() { Next::Wanted } else { Next::Unwanted };
            likely = self.network.read(pass, &mut self.memory, next, stop)?;
            self.tokens.extend(pass);
            if !told(self.tokens.len()) {
                return None;
            }
        }
        Some(likely)
    }

    fn read_prompt(
        &mut self,
        prompt: &Prompt,
        events: &mpsc::Sender<Event>,
        stop: &AtomicBool,
    ) -> Option<(Vec<f32>, u64)> {
        let all = prompt.tokens.len() as u64;
        let mut told =
            |read: usize| events.blocking_send(Ok(StreamEvent::Reading { read: read as u64, all })).is_ok();
        let mut cached = self.tokens.iter().zip(&prompt.tokens).take_while(|(left, right)| left == right).count();
        if cached < prompt.fixed {
            cached = self.read_fixed(prompt, stop, &mut told)?;
        }
        // The last token is always read again: it says what comes next.
        let reused = self.go_back(&prompt.tokens).min(prompt.tokens.len() - 1);
        self.tokens.truncate(reused);
        self.memory.truncate(reused, self.network.shape());
        if !told(reused) {
            return None;
        }
        let likely = self.read_to(&prompt.tokens, stop, told)?;
        Some((likely, cached.min(reused) as u64))
    }
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
