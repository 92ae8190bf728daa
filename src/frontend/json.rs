//! Events for programs: one JSON object an event, or one object when the turn is over.

use std::io::Write;

use serde::Serialize;

use super::pipe::Pipe;
use crate::agent::{Activity, AgentEvent, Approval, ApprovalRequest, Frontend, TurnEnd};
use crate::conversation::{Bill, Money, Outcome, Usage};
use crate::terminal::escape_json;

/// Prints every [`AgentEvent`] as one line of JSON, as it happens.
pub struct StreamJson<W> {
    pipe: Pipe<W>,
}

impl<W: Write> StreamJson<W> {
    /// Prints to `pipe`.
    pub const fn new(pipe: Pipe<W>) -> Self {
        Self { pipe }
    }

    /// Returns the pipe.
    pub const fn pipe(&self) -> &Pipe<W> {
        &self.pipe
    }

    /// Gives the pipe back.
    pub fn into_pipe(self) -> Pipe<W> {
        self.pipe
    }
}

impl<W: Write> Frontend for StreamJson<W> {
    fn show(&mut self, event: &AgentEvent) {
        write_line(&mut self.pipe, event);
    }

    fn approve(&mut self, _: &ApprovalRequest) -> Approval {
        Approval::Unavailable
    }
}

/// The one object of `--output json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Report {
    #[serde(rename = "type")]
    kind: &'static str,
    session: String,
    model: String,
    answer: String,
    end: Option<TurnEnd>,
    steps: u32,
    usage: Usage,
    /// Dollars; left out where the price of a part is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<Money>,
    #[serde(skip)]
    bill: Bill,
    tool_calls: Vec<ToolReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ToolReport {
    id: String,
    name: String,
    outcome: Outcome,
    duration_ms: u64,
}

/// Collects a turn and prints one object at its end.
pub struct Json<W> {
    pipe: Pipe<W>,
    report: Report,
    /// Whether the next request repeats the last one: it is no step of its own then.
    again: bool,
}

impl<W: Write> Json<W> {
    /// Prints to `pipe`.
    pub fn new(pipe: Pipe<W>) -> Self {
        Self { pipe, report: Report { kind: "result", ..Report::default() }, again: false }
    }

    /// Returns the pipe.
    pub const fn pipe(&self) -> &Pipe<W> {
        &self.pipe
    }

    /// Gives the pipe back.
    pub fn into_pipe(self) -> Pipe<W> {
        self.pipe
    }
}

impl<W: Write> Frontend for Json<W> {
    fn show(&mut self, event: &AgentEvent) {
        let report = &mut self.report;
        match event {
            AgentEvent::TurnStarted { session, model } => {
                report.session.clone_from(session);
                report.model.clone_from(model);
            }
            AgentEvent::Waiting { activity: Activity::Connecting } => {
                report.answer.clear();
                report.steps += u32::from(!std::mem::take(&mut self.again));
            }
            AgentEvent::Retrying { .. } => self.again = true,
            AgentEvent::TextDelta { text } => report.answer.push_str(text),
            AgentEvent::Usage { usage, usd, .. } => {
                report.bill.add(Bill::stored(*usage, *usd));
                (report.usage, report.usd) = (report.bill.usage, report.bill.cost());
            }
            AgentEvent::ToolFinished { call_id, name, outcome, duration_ms, .. } => {
                let call = ToolReport {
                    id: call_id.clone(),
                    name: name.clone(),
                    outcome: *outcome,
                    duration_ms: *duration_ms,
                };
                report.tool_calls.push(call);
            }
            AgentEvent::TurnEnded { end } => {
                report.end = Some(end.clone());
                write_line(&mut self.pipe, &self.report);
            }
            AgentEvent::Waiting { .. }
            | AgentEvent::ReasoningDelta { .. }
            | AgentEvent::MessageEnded
            | AgentEvent::ToolRequested { .. }
            | AgentEvent::ToolOutput { .. }
            | AgentEvent::Notice { .. } => {}
        }
    }

    fn approve(&mut self, _: &ApprovalRequest) -> Approval {
        Approval::Unavailable
    }
}

fn write_line<W: Write>(pipe: &mut Pipe<W>, value: &impl Serialize) {
    // Every type here is plain data with text keys, which always serializes.
    if let Ok(line) = serde_json::to_string(value) {
        let mut line = escape_json(line);
        line.push('\n');
        pipe.write(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::agent::Failure;

    #[test]
    fn a_request_that_is_sent_again_is_no_further_step() {
        let mut json = Json::new(Pipe::new(Vec::new(), CancellationToken::new()));
        let asks = || AgentEvent::Waiting { activity: Activity::Connecting };
        let error = Failure::Timeout { url: String::new(), seconds: 9 };
        let retries = |wait_ms| AgentEvent::Retrying { attempt: 1, of: 4, wait_ms, error: error.clone() };
        // A retry reports its countdown every second; all these events are one repetition.
        for event in [asks(), retries(2000), retries(1000), asks(), AgentEvent::MessageEnded, asks()] {
            json.show(&event);
        }
        assert_eq!(json.report.steps, 2);
    }
}
