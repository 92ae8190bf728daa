//! Print mode: one message, one turn, then exit. The answer on stdout, everything else on stderr.

use std::io::Write;

use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use super::json::{Json, StreamJson};
use super::pipe::Pipe;
use super::text::Text;
use super::words::{self, Diagnostic};
use crate::agent::{Agent, AgentEvent, Approval, ApprovalRequest, Frontend, Notice, TurnEnd};
use crate::conversation::Message;
use crate::locale::{Locale, Word, word};
use crate::terminal::sanitize_line;
use crate::tool::{Roots, Toolbox};

/// How the answer is printed when standard output is not a terminal, or when programs read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The final answer.
    Text,
    /// One object.
    Json,
    /// One object an event.
    StreamJson,
}

/// Runs one turn and says how the process ends. `cancel` is cancelled by signals.
pub async fn run<W: Write, E: Write>(
    agent: &mut Agent,
    message: Message,
    form: Form,
    streams: (W, E),
    locale: &Locale,
    roots: &Roots,
    cancel: &CancellationToken,
) -> Exit {
    let (out, err) = streams;
    let pipe = Pipe::new(out, cancel.clone());
    let direct = !agent.model().tools || agent.tools().specs().is_empty();
    let mut told = Stderr {
        err,
        locale,
        roots,
        tools: agent.tools().clone(),
        about: Vec::new(),
        retry: None,
        told_broken: false,
        is_kept: agent.keeps_journal(),
    };
    let (end, mut pipe) = match form {
        Form::Text => {
            let mut text = Both { answer: Text::new(pipe, direct), told: &mut told };
            (agent.run_turn(message, &mut text, cancel).await, text.answer.into_pipe())
        }
        Form::Json => {
            let mut json = Both { answer: Json::new(pipe), told: &mut told };
            (agent.run_turn(message, &mut json, cancel).await, json.answer.into_pipe())
        }
        Form::StreamJson => {
            let mut json = Both { answer: StreamJson::new(pipe), told: &mut told };
            (agent.run_turn(message, &mut json, cancel).await, json.answer.into_pipe())
        }
    };
    if pipe.closed() {
        return Exit::Done;
    }
    if let Some(error) = pipe.take_error() {
        let what = locale.with(word::error::Io { path: "stdout", cause: &error.to_string() });
        told.tell(word::error::LABEL, &Diagnostic { what, hint: String::new() });
        return Exit::Failed;
    }
    Exit::from(&end)
}

/// What prints the answer, in one of the three forms.
trait Answer: Frontend {
    /// Tells whether nobody reads it any more.
    fn closed(&self) -> bool;
}

impl<W: Write> Answer for Text<W> {
    fn closed(&self) -> bool {
        self.pipe().closed()
    }
}

impl<W: Write> Answer for Json<W> {
    fn closed(&self) -> bool {
        self.pipe().closed()
    }
}

impl<W: Write> Answer for StreamJson<W> {
    fn closed(&self) -> bool {
        self.pipe().closed()
    }
}

/// The answer for stdout and the rest for stderr, from one stream of events.
struct Both<'a, 'b, A, E> {
    answer: A,
    told: &'a mut Stderr<'b, E>,
}

impl<A: Answer, E: Write> Frontend for Both<'_, '_, A, E> {
    fn show(&mut self, event: &AgentEvent) {
        self.answer.show(event);
        // Who closed the pipe has what they wanted (`| head`): that the turn was stopped for it is no news.
        if !self.answer.closed() {
            self.told.show(event);
        }
    }

    fn approve(&mut self, request: &ApprovalRequest) -> Approval {
        self.answer.approve(request)
    }
}

/// What a person reads beside the answer: a line a tool, warnings, errors.
struct Stderr<'a, E> {
    err: E,
    locale: &'a Locale,
    roots: &'a Roots,
    tools: Toolbox,
    about: Vec<(String, String)>,
    /// The retry that was told last: its seconds are counted down event by event, and a line cannot be written over.
    retry: Option<u32>,
    /// Whether it was told that the answer broke off, and why: the end of the turn says no more.
    told_broken: bool,
    /// Whether the session is written: only then is there one to go on with.
    is_kept: bool,
}

impl<E: Write> Stderr<'_, E> {
    fn line(&mut self, text: &str) {
        // Standard error that is gone cannot be told about anywhere.
        drop(writeln!(self.err, "{}", sanitize_line(text)));
    }

    fn tell(&mut self, label: Word, told: &Diagnostic) {
        let label = self.locale.text(label).to_owned();
        for (index, text) in told.what.lines().enumerate() {
            let lead = if index == 0 { format!("{label} ") } else { String::new() };
            self.line(&format!("{lead}{text}"));
        }
        let hint = self.locale.text(word::error::HINT).to_owned();
        for text in told.hint.lines() {
            self.line(&format!("{hint} {text}"));
        }
    }

    fn show(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::ToolRequested { call, subject, about, .. } => {
                self.about.push((call.id.clone(), words::about(self.locale, self.roots, about, subject)));
            }
            // Something came: the next retry is another request's.
            AgentEvent::MessageEnded => self.retry = None,
            AgentEvent::ToolFinished { call_id, name, outcome, facts, duration_ms, .. } => {
                self.retry = None;
                let index = self.about.iter().position(|(id, _)| id == call_id);
                let about = index.map(|index| self.about.swap_remove(index).1).unwrap_or_default();
                let title = words::title_about(
                    self.locale,
                    &about,
                    (name, self.tools.identity(name).verb),
                    *outcome,
                    facts,
                    *duration_ms,
                );
                self.line(&format!("· {title}"));
            }
            AgentEvent::Retrying { attempt, of, wait_ms, error } => {
                if self.retry.replace(*attempt) != Some(*attempt) {
                    let speaking = words::Speaking::ByFlags;
                    self.line(&words::retrying(self.locale, error, speaking, (*attempt, *of), *wait_ms));
                }
            }
            AgentEvent::Notice { notice } => {
                let mut told = words::notice(self.locale, notice, words::Speaking::ByFlags);
                self.is_kept |= matches!(notice, Notice::SavedAgain { .. });
                self.is_kept &= !matches!(notice, Notice::NotSaved { .. });
                if matches!(notice, Notice::BrokenMidway { .. }) {
                    let hint = self.is_kept.then(|| self.locale.text(word::notice::BROKEN_MIDWAY_HINT_FLAG));
                    told.hint = hint.unwrap_or_default().to_owned();
                }
                self.tell(words::notice_label(notice), &told);
                self.told_broken = matches!(notice, Notice::BrokenMidway { .. });
            }
            AgentEvent::TurnEnded { end } => {
                let is_told = std::mem::take(&mut self.told_broken);
                let mut told = words::turn_end(self.locale, end, words::Speaking::ByFlags);
                if let (TurnEnd::StepLimit { .. }, Some(told)) = (end, &mut told) {
                    let (kept, unkept) = (word::turn::STEP_LIMIT_HINT_FLAG, word::turn::STEP_LIMIT_HINT_UNSAVED);
                    self.locale.text(if self.is_kept { kept } else { unkept }).clone_into(&mut told.hint);
                }
                if let Some(told) = told.filter(|_| !is_told) {
                    let label = match end {
                        TurnEnd::Interrupted | TurnEnd::Done | TurnEnd::Length => word::error::WARNING,
                        TurnEnd::ApprovalNeeded { .. }
                        | TurnEnd::StepLimit { .. }
                        | TurnEnd::BudgetLimit { .. }
                        | TurnEnd::Looping
                        | TurnEnd::Refused
                        | TurnEnd::Failed { .. } => word::error::LABEL,
                    };
                    self.tell(label, &told);
                }
            }
            AgentEvent::TurnStarted { .. }
            | AgentEvent::Waiting { .. }
            | AgentEvent::TextDelta { .. }
            | AgentEvent::ReasoningDelta { .. }
            | AgentEvent::ToolOutput { .. }
            | AgentEvent::Usage { .. } => {}
        }
    }
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
