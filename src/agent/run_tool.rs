//! One tool while it runs: its output to the screen, its wishes to the person, its end when the turn is stopped.

use std::pin::pin;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::calls::{CallEnd, CallsEnd, closed};
use super::request::tick_at;
use super::{Activity, Agent, AgentEvent, Frontend};
use crate::conversation::{Answer, Outcome, Subject, ToolCall};
use crate::sandbox::Reach;
use crate::tool::{Person, SharedTrash, Tool, ToolContext, ToolOutput, Wish};

/// How long a cancelled tool may take to end its child before it is dropped (TERM, 2 s, KILL, and a margin).
const CANCEL_GRACE: Duration = Duration::from_secs(3);

/// How many lines of output may wait for the screen; more are dropped, the result has them all.
const PROGRESS_LINES: usize = 64;

/// How many wishes may wait: a tool waits for each to be fulfilled.
const WISHES: usize = 4;

impl Agent {
    pub(super) async fn run_tool(
        &self,
        call: &ToolCall,
        tool: &dyn Tool,
        (subject, reach, trash): (Subject, &Reach, Option<SharedTrash>),
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> (ToolOutput, CallEnd) {
        let activity = Activity::Running { name: call.name.clone(), subject };
        frontend.show(&AgentEvent::Waiting { activity });
        let (progress, mut lines) = mpsc::channel(PROGRESS_LINES);
        let (wish, mut wishes) = mpsc::channel(WISHES);
        let redact = |text: &str| self.session.redacted(text);
        let context = ToolContext {
            place: &self.setup.place,
            cancel,
            progress,
            output_dir: &self.setup.output_dir,
            memory: &self.memory,
            sandbox: &self.setup.sandbox,
            reach,
            trash,
            redact: &redact,
            person: Person::new(wish, frontend.can_lend()),
        };
        let mut running = pin!(tool.run(call.input.clone(), context));
        let mut deadline: Option<tokio::time::Instant> = None;
        let (mut printing, mut wishing, mut lent) = (true, true, false);
        let output = loop {
            let due = frontend.next_tick();
            tokio::select! {
                biased;
                () = cancel.cancelled(), if deadline.is_none() => {
                    // The tool sees the token too: it ends its child and gives back what there was so far.
                    deadline = Some(tokio::time::Instant::now() + CANCEL_GRACE);
                }
                output = &mut running => break Some(output),
                () = sleep_until(deadline) => break None,
                wish = wishes.recv(), if wishing => match wish {
                    Some(wish) => fulfil(wish, &mut lent, frontend, cancel),
                    None => wishing = false,
                },
                line = lines.recv(), if printing => match line {
                    Some(line) => frontend.show(&AgentEvent::ToolOutput { call_id: call.id.clone(), line }),
                    None => printing = false,
                },
                () = tick_at(due) => frontend.tick(),
            }
        };
        if lent {
            frontend.take_back();
        }
        let interrupted = cancel.is_cancelled();
        let output = output.unwrap_or_else(|| closed(call, Outcome::Interrupted));
        (output, if interrupted { CallEnd::Stop(CallsEnd::Interrupted) } else { CallEnd::Answered })
    }
}

/// Has the front end do what a tool wishes. A stopped tool gets no answer, and nothing is lent to it.
fn fulfil(wish: Wish, lent: &mut bool, frontend: &mut dyn Frontend, cancel: &CancellationToken) {
    let stopped = cancel.is_cancelled();
    match wish {
        Wish::Ask { question, reply } => {
            if stopped || reply.is_closed() {
                return;
            }
            match frontend.ask(&question) {
                Answer::Aborted => cancel.cancel(),
                answer @ (Answer::Given { .. } | Answer::Unavailable) => drop(reply.send(answer)),
            }
        }
        Wish::Lend { near, pressed, reply } => {
            if !stopped && !reply.is_closed() && !*lent {
                *lent = frontend.lend(near, pressed);
            }
            // Who has gone wants no answer.
            let _ = reply.send(*lent && !stopped);
        }
        Wish::TakeBack { reply } => {
            if std::mem::take(lent) {
                frontend.take_back();
            }
            let _ = reply.send(());
        }
    }
}

async fn sleep_until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "run_tool_tests.rs"]
mod tests;
