//! Hooks: the person's own commands, which are told what the agent does and may hold a call back. The format is
//! Claude Code's (<https://docs.claude.com/en/docs/claude-code/hooks>): JSON on standard input, an exit code or
//! JSON as answer.
//!
//! A hook can only make things stricter: nothing it says lets a call run that would not run without the hook.

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

/// Reads the hook files that apply: the person's own, and those of a directory that the person trusts.
pub type ReadHooks = Box<dyn FnOnce() -> Vec<String> + Send>;

/// How many bytes a hook may tell the model at most.
const LONGEST: usize = 16 * 1024;
/// How often a hook may make the model go on where it would have stopped.
pub(super) const MOST_STOPS: u32 = 3;

/// The hooks of a conversation; their files are read when the first hook could run.
pub(super) struct Hooks {
    list: LazyLock<Vec<Hook>, Box<dyn FnOnce() -> Vec<Hook> + Send>>,
    workspace: PathBuf,
    variables: Variables,
    started: AtomicBool,
}

/// What the hooks of an event answered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Replies {
    /// How they hold the call back, and why.
    pub(super) held: Option<Held>,
    /// Their messages for the model.
    pub(super) told: Vec<String>,
    /// Hooks that did not end properly: the command and why.
    pub(super) failed: Vec<(String, String)>,
}

impl Replies {
    /// Reports the hooks that did not end properly.
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
    /// The person must be asked.
    Ask(String),
    /// The call does not run.
    Deny(String),
}

impl Hooks {
    pub(super) fn new(read: ReadHooks, workspace: PathBuf, variables: Variables) -> Self {
        let read: Box<dyn FnOnce() -> Vec<Hook> + Send> =
            Box::new(move || read().iter().flat_map(|text| form::read(text)).collect());
        Self { list: LazyLock::new(read), workspace, variables, started: AtomicBool::new(false) }
    }

    /// Lists the command lines that run at an event; `about` is the call, if the event is about one.
    pub(super) fn lines(&self, event: Event, about: Option<(&ToolCall, ToolVerb)>) -> Vec<&str> {
        self.wanted(event, about).into_iter().map(|hook| hook.command.as_str()).collect()
    }

    fn wanted(&self, event: Event, about: Option<(&ToolCall, ToolVerb)>) -> Vec<&Hook> {
        let names = about.map(|(call, verb)| (call.name.as_str(), form::their_name(verb)));
        self.list.iter().filter(|hook| hook.event == event && hook.matches(names)).collect()
    }

    /// Runs the hooks before a call is judged.
    pub(super) async fn before_call(
        &self,
        about: (&ToolCall, ToolVerb),
        session: &Session,
        cancel: &CancellationToken,
    ) -> Replies {
        self.tell(Event::PreToolUse, Some(about), session, json!({}), cancel).await
    }

    /// Runs the hooks after a call ran.
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

    /// Tells whether the hooks of the start have run.
    pub(super) fn have_started(&self) -> bool {
        self.started.load(Ordering::Relaxed)
    }

    /// Runs the hooks before the first message of this process.
    pub(super) async fn at_start(&self, resumed: bool, session: &Session, cancel: &CancellationToken) -> Replies {
        if self.started.swap(true, Ordering::Relaxed) {
            return Replies::default();
        }
        let source = json!({"source": if resumed { "resume" } else { "startup" }});
        self.tell(Event::SessionStart, None, session, source, cancel).await
    }

    /// Runs the hooks when the model would stop; if one holds it back, its reason tells the model why to go on.
    /// `before` is how often the model already went on in this turn.
    pub(super) async fn at_stop(&self, before: u32, session: &Session, cancel: &CancellationToken) -> Replies {
        if before >= MOST_STOPS {
            return Replies::default();
        }
        self.tell(Event::Stop, None, session, json!({"stop_hook_active": before > 0}), cancel).await
    }

    /// Runs the hooks before the conversation is shortened for requests.
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
                Ok(end) => {
                    if end.left_open {
                        let cause = "it ended, but what it had started kept its output open: that was ended";
                        said.failed.push((hook.command.clone(), cause.to_owned()));
                    }
                    said.take(Answer::read(event, &end), &hook.command);
                }
                Err(Failed::Stopped) => break,
                Err(Failed::NotRun(cause)) => {
                    // A guard that gives no answer has not agreed.
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

    /// Holds the call back; the strictest answer wins.
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
