//! Hooks: commands of the person's that are told what the agent does, and may hold a call back. Their form is Claude
//! Code's (<https://docs.claude.com/en/docs/claude-code/hooks>): JSON on standard input, an exit code or JSON as answer.
//!
//! A hook can only make things stricter: nothing it says lets a call run that would not have run without it.

mod answer;
mod form;
mod run;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::event::{AgentEvent, Frontend, Notice};
use crate::conversation::{Outcome, ToolCall, ToolVerb};
use crate::sandbox::Variables;
use crate::session::Session;
use crate::tool::ToolOutput;
use answer::{Answer, Word};
pub(super) use form::Event;
use form::Hook;
use run::{Failed, run};

/// Reads the files with hooks that hold: the person's own, and those of a place that they trust.
pub type ReadHooks = Box<dyn FnOnce() -> Vec<String> + Send>;

/// The most a hook may tell the model, in bytes.
const LONGEST: usize = 16 * 1024;
/// How often a hook may have the model go on where it would have stopped.
pub(super) const MOST_STOPS: u32 = 3;

/// The hooks of a conversation; they are read when the first could run.
pub(super) struct Hooks {
    list: LazyLock<Vec<Hook>, Box<dyn FnOnce() -> Vec<Hook> + Send>>,
    workspace: PathBuf,
    variables: Variables,
    started: AtomicBool,
}

/// What became of the hooks of an event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Replies {
    /// What they hold back, and why.
    pub(super) held: Option<Held>,
    /// What they tell the model.
    pub(super) told: Vec<String>,
    /// Those that came to no proper end: the command and why.
    pub(super) failed: Vec<(String, String)>,
}

impl Replies {
    /// Shows which hooks came to no proper end.
    pub(super) fn tell_failed(&self, redact: &dyn Fn(&str) -> String, frontend: &mut dyn Frontend) {
        for (command, cause) in &self.failed {
            let (command, cause) = (redact(command), redact(cause));
            frontend.show(&AgentEvent::Notice { notice: Notice::HookFailed { command, cause } });
        }
    }
}

/// How a hook holds a call back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Held {
    /// The person is to be asked.
    Ask(String),
    /// It does not run.
    Deny(String),
}

impl Hooks {
    pub(super) fn new(read: ReadHooks, workspace: PathBuf, variables: Variables) -> Self {
        let read: Box<dyn FnOnce() -> Vec<Hook> + Send> =
            Box::new(move || read().iter().flat_map(|text| form::read(text)).collect());
        Self { list: LazyLock::new(read), workspace, variables, started: AtomicBool::new(false) }
    }

    /// The command lines that run at an event, for a call where it is about one.
    pub(super) fn lines(&self, event: Event, about: Option<(&ToolCall, ToolVerb)>) -> Vec<&str> {
        self.wanted(event, about).into_iter().map(|hook| hook.command.as_str()).collect()
    }

    fn wanted(&self, event: Event, about: Option<(&ToolCall, ToolVerb)>) -> Vec<&Hook> {
        let names = about.map(|(call, verb)| (call.name.as_str(), form::their_name(verb)));
        self.list.iter().filter(|hook| hook.event == event && hook.matches(names)).collect()
    }

    /// Before a call is judged.
    pub(super) async fn before_call(
        &self,
        about: (&ToolCall, ToolVerb),
        session: &Session,
        cancel: &CancellationToken,
    ) -> Replies {
        self.tell(Event::PreToolUse, Some(about), session, json!({}), cancel).await
    }

    /// After a call ran.
    pub(super) async fn after_call(
        &self,
        about: (&ToolCall, ToolVerb),
        output: &ToolOutput,
        session: &Session,
        cancel: &CancellationToken,
    ) -> Replies {
        let failed = output.outcome != Outcome::Ok;
        let response = json!({"tool_response": {"content": output.content, "is_error": failed}});
        self.tell(Event::PostToolUse, Some(about), session, response, cancel).await
    }

    /// Whether those of the start have run.
    pub(super) fn have_started(&self) -> bool {
        self.started.load(Ordering::Relaxed)
    }

    /// Before the first message of this process.
    pub(super) async fn at_start(&self, resumed: bool, session: &Session, cancel: &CancellationToken) -> Replies {
        if self.started.swap(true, Ordering::Relaxed) {
            return Replies::default();
        }
        let source = json!({"source": if resumed { "resume" } else { "startup" }});
        self.tell(Event::SessionStart, None, session, source, cancel).await
    }

    /// When the model would stop; what holds it back is why it goes on. `before` is how often it went on in this turn.
    pub(super) async fn at_stop(&self, before: u32, session: &Session, cancel: &CancellationToken) -> Replies {
        if before >= MOST_STOPS {
            return Replies::default();
        }
        self.tell(Event::Stop, None, session, json!({"stop_hook_active": before > 0}), cancel).await
    }

    /// Before what is sent is shortened.
    pub(super) async fn before_cut(
        &self,
        (manual, focus): (bool, &str),
        session: &Session,
        cancel: &CancellationToken,
    ) -> Replies {
        let trigger = if manual { "manual" } else { "auto" };
        let about = json!({"trigger": trigger, "custom_instructions": focus});
        self.tell(Event::PreCompact, None, session, about, cancel).await
    }

    async fn tell(
        &self,
        event: Event,
        about: Option<(&ToolCall, ToolVerb)>,
        session: &Session,
        beside: Value,
        cancel: &CancellationToken,
    ) -> Replies {
        let wanted = self.wanted(event, about);
        let mut said = Replies::default();
        if wanted.is_empty() {
            return said;
        }
        let cwd = session.directory();
        let mut input = json!({
            "session_id": session.id(),
            "transcript_path": session.path().map(|path| path.to_string_lossy()).unwrap_or_default(),
            "cwd": cwd.to_string_lossy(),
            "hook_event_name": event.name(),
        });
        let mut add = |fields: Value| {
            if let (Some(input), Value::Object(fields)) = (input.as_object_mut(), fields) {
                input.extend(fields);
            }
        };
        add(beside);
        if let Some((call, verb)) = about {
            let name = form::their_name(verb).unwrap_or(&call.name);
            add(json!({"tool_name": name, "tool_input": form::their_input(&call.input, cwd)}));
        }
        for hook in wanted {
            let place = (self.workspace.as_path(), &self.variables);
            match run(hook, &input, place, cancel).await {
                Ok(end) => said.take(Answer::read(event, &end), &hook.command),
                Err(Failed::Stopped) => break,
                Err(Failed::NotRun(cause)) => {
                    // A guard that says nothing has not agreed.
                    if event == Event::PreToolUse {
                        said.hold(Held::Ask(format!("{}: {cause}", hook.command)));
                    }
                    said.failed.push((hook.command.clone(), cause));
                }
            }
        }
        said
    }
}

impl Replies {
    fn take(&mut self, answer: Answer, command: &str) {
        match answer.word {
            Some(Word::Ask(why)) => self.hold(Held::Ask(why)),
            Some(Word::Deny(why)) => self.hold(Held::Deny(why)),
            None => {}
        }
        let told = answer.told.map(|text| text[..text.floor_char_boundary(text.len().min(LONGEST))].to_owned());
        self.told.extend(told);
        self.failed.extend(answer.failed.map(|cause| (command.to_owned(), cause)));
    }

    /// The strictest holds.
    fn hold(&mut self, held: Held) {
        match (&self.held, &held) {
            (Some(Held::Deny(_)), _) | (Some(Held::Ask(_)), Held::Ask(_)) => {}
            (None, _) | (Some(Held::Ask(_)), Held::Deny(_)) => self.held = Some(held),
        }
    }
}

#[cfg(test)]
#[path = "hooks/hooks_tests.rs"]
mod tests;
