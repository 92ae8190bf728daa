//! Holds the tools and what they work with. Runs one tool: shows its output, passes its requests on to the person,
//! and ends it when the turn is stopped.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::json;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::results::closed;
use super::undo::Undo;
use super::wait::tick_at;
use super::{Activity, AgentEvent, Frontend, reach};
use crate::approval::Mode;
use crate::conversation::{Answer, Effect, Outcome, Subject, ToolCall, ToolSpec};
use crate::sandbox::{Reach, Sandbox};
use crate::tool::{
    JobReport, Person, Request, Roots, Settled, SharedTrash, ToolContext, ToolMemory, ToolOutput, Toolbox, Wish,
    followed,
};
use crate::trial::{Refused, Trial};

/// How long a cancelled tool may take to end its child before the tool is dropped (TERM, 2 s, KILL, and a margin).
const CANCEL_GRACE: Duration = Duration::from_secs(3);

/// How many lines of output may wait for the screen; more are not shown, but the result has all lines.
const PROGRESS_LINES: usize = 64;

/// How many requests to the person may wait: a tool waits for the answer to each.
const WISHES: usize = 4;

/// Runs tools, and keeps their memory.
pub(super) struct ToolRunner {
    pub(super) tools: Toolbox,
    /// Shared with threads that read the disk.
    pub(super) memory: Arc<ToolMemory>,
    pub(super) roots: Roots,
    /// The directory in which complete outputs are saved.
    pub(super) output_dir: PathBuf,
    sandbox: Sandbox,
}

/// The terms on which a call was agreed to.
pub(super) struct Terms<'a> {
    pub(super) subject: Subject,
    pub(super) reach: &'a Reach,
    pub(super) trash: Option<SharedTrash>,
    /// The trial that it runs in.
    pub(super) trial: Option<&'a Trial>,
    /// Removes from a text what must not be written to the disk.
    pub(super) redact: &'a (dyn Fn(&str) -> String + Sync),
}

/// A call, settled, with its paths followed.
pub(super) struct Looked {
    pub(super) settled: Settled,
    pub(super) followed: Followed,
}

/// The subject of a call, and where its paths lead.
pub(super) struct Followed {
    pub(super) subject: Subject,
    /// Whether the disk answered; if not, only the named paths are known.
    pub(super) answered: bool,
}

impl Followed {
    fn unanswered(subject: Subject) -> Self {
        let answered = !matches!(subject, Subject::Paths { .. });
        Self { subject, answered }
    }
}

impl ToolRunner {
    pub(super) fn new(tools: Toolbox, roots: Roots, output_dir: PathBuf, sandbox: Sandbox) -> Self {
        Self { tools, memory: Arc::default(), roots, output_dir, sandbox }
    }

    /// Makes a runner of the tools that a sub-agent may call; its memory is empty.
    pub(super) fn for_sub_agents(&self) -> Self {
        let (roots, output_dir, sandbox) = (self.roots.clone(), self.output_dir.clone(), self.sandbox.clone());
        Self::new(self.tools.for_sub_agents(), roots, output_dir, sandbox)
    }

    /// Lists the tools of a mode: a tool whose every call would be denied is left out.
    pub(super) fn offered(&self, mode: Mode) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        if mode != Mode::Build {
            specs.retain(|spec| {
                let tool = self.tools.find(&spec.name);
                tool.is_none_or(|tool| match tool.read(&json!({}), &self.roots).effect() {
                    Effect::Read => true,
                    // The policy judges what a command line does; nobody knows what a server's tool does.
                    Effect::Execute => !self.tools.is_of_server(&spec.name),
                    Effect::Write | Effect::Delete | Effect::Network => false,
                })
            });
        }
        specs
    }

    /// Clears the memory, and ends the commands in the background.
    pub(super) fn forget(&mut self) {
        self.memory.end_all();
        self.memory = Arc::default();
        self.tools.forget();
    }

    /// Returns the subject of a call of which only the path is known so far.
    pub(super) fn subject_of_path(&self, tool: &str, path: &str) -> Option<Subject> {
        Some(self.tools.find(tool)?.read(&json!({ "path": path }), &self.roots).subject())
    }

    /// Settles a call and follows its paths, on a thread of its own: a file system may not answer. `None` if the
    /// turn was stopped.
    ///
    /// # Cancel safety
    /// If it is dropped, its thread ends by itself and changes nothing.
    pub(super) async fn look(&self, request: &Arc<dyn Request>, cancel: &CancellationToken) -> Option<Looked> {
        let at_it = Arc::clone(request);
        let (roots, memory) = (self.roots.clone(), Arc::clone(&self.memory));
        let looked = reach::aside(cancel, move || {
            let settled = at_it.settle(&roots, &memory);
            let at_it = if let Settled::Instead { request, .. } = &settled { request } else { &at_it };
            let subject = followed(&at_it.subject());
            Looked { settled, followed: Followed { subject, answered: true } }
        });
        match looked.await {
            Some(looked) => Some(looked),
            None if cancel.is_cancelled() => None,
            None => Some(Looked { settled: Settled::AsIs, followed: Followed::unanswered(request.subject()) }),
        }
    }

    /// Follows the paths of a subject, on a thread of its own; `None` if the turn was stopped.
    ///
    /// # Cancel safety
    /// As [`ToolRunner::look`].
    pub(super) async fn follow(&self, subject: Subject, cancel: &CancellationToken) -> Option<Followed> {
        let named = subject.clone();
        match reach::aside(cancel, move || followed(&named)).await {
            Some(subject) => Some(Followed { subject, answered: true }),
            None if cancel.is_cancelled() => None,
            None => Some(Followed::unanswered(subject)),
        }
    }

    /// Lists the commands in the background.
    pub(super) fn jobs(&self, now: SystemTime) -> Vec<JobReport> {
        self.memory.jobs(&self.output_dir, now)
    }

    /// Ends one of the background commands, as the tool memory does.
    pub(super) fn end_job(&self, number: u64, now: SystemTime) -> bool {
        self.memory.end_job(&self.output_dir, number, now)
    }

    pub(super) fn outputs(&self) -> &Path {
        &self.output_dir
    }

    pub(super) fn temporary(&self) -> &Path {
        self.sandbox.temporary()
    }

    /// Makes the trial of a call that reaches so far.
    pub(super) fn begin_trial(&self, undo: &Undo, reach: &Reach) -> Result<Trial, Refused> {
        let also = match reach {
            Reach::Workspace { also, .. } => also.as_slice(),
            Reach::ReadOnly | Reach::Alone | Reach::Full => &[],
        };
        let calls = undo.calls.as_ref().ok_or(Refused::Unsupported)?;
        calls.begin(&self.roots.workspace, also, &self.sandbox)
    }

    /// Runs a tool to its end.
    ///
    /// # Cancel safety
    /// As [`Request::run`]; if the terminal was lent, the front end takes it back.
    pub(super) async fn run(
        &self,
        call: &ToolCall,
        request: &Arc<dyn Request>,
        terms: Terms<'_>,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> ToolOutput {
        let Terms { subject, reach, trash, trial, redact } = terms;
        let activity = Activity::Running { name: call.name.clone(), subject };
        frontend.show(&AgentEvent::Waiting { activity });
        let (progress, mut lines) = mpsc::channel(PROGRESS_LINES);
        let (wish, mut wishes) = mpsc::channel(WISHES);
        let context = ToolContext {
            roots: &self.roots,
            cancel,
            progress,
            output_dir: &self.output_dir,
            memory: &self.memory,
            sandbox: &self.sandbox,
            reach,
            trash,
            trial,
            redact,
            // In a trial it keeps away from the terminal.
            person: Person::new(wish, trial.is_none() && frontend.can_lend()),
        };
        let mut running = pin!(Arc::clone(request).run(context));
        let mut deadline: Option<tokio::time::Instant> = None;
        let (mut printing, mut wishing) = (true, true);
        let mut lender = Lender { frontend, lent: false };
        let output = loop {
            let due = lender.frontend.next_tick();
            tokio::select! {
                biased;
                () = cancel.cancelled(), if deadline.is_none() => {
                    // The tool sees the token, too: it ends its child and returns what it has so far.
                    deadline = Some(tokio::time::Instant::now() + CANCEL_GRACE);
                }
                output = &mut running => break Some(output),
                () = sleep_until(deadline) => break None,
                wish = wishes.recv(), if wishing => match wish {
                    Some(wish) => lender.fulfil(wish, cancel),
                    None => wishing = false,
                },
                line = lines.recv(), if printing => match line {
                    Some(line) => lender.frontend.show(&AgentEvent::ToolOutput { call_id: call.id.clone(), line }),
                    None => printing = false,
                },
                () = tick_at(due) => lender.frontend.tick(),
            }
        };
        output.unwrap_or_else(|| closed(call, Outcome::Interrupted))
    }
}

impl Drop for ToolRunner {
    fn drop(&mut self) {
        // A thread that hangs on a disk may hold the memory longer than this.
        self.memory.end_all();
    }
}

/// The front end while a tool runs. If the terminal was lent, dropping this takes it back.
struct Lender<'a> {
    frontend: &'a mut dyn Frontend,
    lent: bool,
}

impl Lender<'_> {
    /// Has the front end do what a tool asks for. A stopped tool gets no answer, and no terminal.
    fn fulfil(&mut self, wish: Wish, cancel: &CancellationToken) {
        let stopped = cancel.is_cancelled();
        match wish {
            Wish::Ask { question, reply } => {
                if stopped || reply.is_closed() {
                    return;
                }
                match self.frontend.ask(&question) {
                    Answer::Aborted => cancel.cancel(),
                    answer @ (Answer::Given { .. } | Answer::Unavailable) => drop(reply.send(answer)),
                }
            }
            Wish::Lend { near, pressed, reply } => {
                if !stopped && !reply.is_closed() && !self.lent {
                    self.lent = self.frontend.lend(near, pressed);
                }
                // Fails if the tool is gone: it wants no answer then.
                let _ = reply.send(self.lent && !stopped);
            }
            Wish::TakeBack { reply } => {
                self.take_back();
                let _ = reply.send(());
            }
        }
    }

    fn take_back(&mut self) {
        if std::mem::take(&mut self.lent) {
            self.frontend.take_back();
        }
    }
}

impl Drop for Lender<'_> {
    fn drop(&mut self) {
        self.take_back();
    }
}

async fn sleep_until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "runner_tests.rs"]
mod tests;
