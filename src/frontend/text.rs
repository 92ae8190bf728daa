//! The final answer only, as the model's own markdown source: print mode in a pipe.

use std::io::Write;

use super::pipe::Pipe;
use crate::agent::{Activity, AgentEvent, Approval, ApprovalRequest, Frontend};

/// Keeps the text of the message under way and prints it when the turn is over and it is the last one.
pub struct Text<W> {
    pipe: Pipe<W>,
    answer: String,
    /// Whether the model has no tools: then the first message is the last, and is printed as it arrives.
    direct: bool,
    written: String,
}

impl<W: Write> Text<W> {
    /// Prints to `pipe`; `direct` prints text as it arrives.
    pub const fn new(pipe: Pipe<W>, direct: bool) -> Self {
        Self { pipe, answer: String::new(), direct, written: String::new() }
    }

    /// Returns the pipe.
    pub const fn pipe(&self) -> &Pipe<W> {
        &self.pipe
    }

    /// Gives the pipe back, to ask how writing went.
    pub fn into_pipe(self) -> Pipe<W> {
        self.pipe
    }
}

impl<W: Write> Frontend for Text<W> {
    fn show(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TextDelta { text } if self.direct => {
                self.pipe.write(text.as_bytes());
                self.written.clone_from(text);
            }
            AgentEvent::TextDelta { text } => self.answer.push_str(text),
            AgentEvent::Waiting { activity: Activity::Connecting } => self.answer.clear(),
            AgentEvent::TurnEnded { .. } => {
                let answer = std::mem::take(&mut self.answer);
                self.pipe.write(answer.as_bytes());
                let last = if self.direct { &self.written } else { &answer };
                if !last.is_empty() && !last.ends_with('\n') {
                    self.pipe.write(b"\n");
                }
            }
            AgentEvent::TurnStarted { .. }
            | AgentEvent::Waiting { .. }
            | AgentEvent::ReasoningDelta { .. }
            | AgentEvent::MessageEnded
            | AgentEvent::ToolRequested { .. }
            | AgentEvent::ToolOutput { .. }
            | AgentEvent::ToolFinished { .. }
            | AgentEvent::Retrying { .. }
            | AgentEvent::Usage { .. }
            | AgentEvent::Notice { .. } => {}
        }
    }

    fn approve(&mut self, _: &ApprovalRequest) -> Approval {
        Approval::Unavailable
    }
}
