//! Hooks: the person's own commands, which are told what the agent does and may hold a call back. The format is
//! Claude Code's (<https://docs.claude.com/en/docs/claude-code/hooks>): JSON on standard input, an exit code or
//! JSON as answer.
//!
//! A hook can only make things stricter: nothing it says lets a call run that would not run without the hook.

mod answer;
mod fault;
mod form;
mod run;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::event::{Activity, AgentEvent, Frontend, Notice};
use crate::conversation::{Effect, Outcome};
use crate::sandbox::Variables;
use crate::session::Session;
use crate::tool::ToolOutput;
use answer::{Answer, Word};
pub use fault::{HookFault, HookMistake};
use form::Hook;
pub(super) use form::{About, Event};
use run::{Failed, run};

/// Reads the hook files that apply: the person's own, and those of a directory that the person trusts.
pub type ReadHooks = Box<dyn FnOnce() -> Vec<HookFile> + Send>;

/// A file of hooks, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says, or why it cannot be read.
    pub text: Result<String, String>,
}

impl HookFile {
    /// Finds what is wrong with it.
    #[must_use]
    pub fn mistake(&self) -> Option<HookMistake> {
        self.read().1
    }

    fn read(&self) -> (Vec<Hook>, Option<HookMistake>) {
        match &self.text {
            Ok(text) => form::read(text),
            Err(cause) => {
                let fault = HookFault::Unreadable { cause: cause.clone() };
                (Vec::new(), Some(HookMistake { line: 1, column: 1, fault }))
            }
        }
    }
}

/// How many bytes a hook may tell the model at most.
const LONGEST: usize = 16 * 1024;
/// How often a hook may make the model go on where it would have stopped.
pub(super) const MOST_STOPS: u32 = 3;

/// The hooks of a conversation; their files are read when the first hook could run.
pub(super) struct Hooks {
    list: LazyLock<Listed, Box<dyn FnOnce() -> Listed + Send>>,
    workspace: PathBuf,
    variables: Variables,
    started: AtomicBool,
}

/// What the files have.
struct Listed {
    hooks: Vec<Hook>,
    /// The first file with a mistake, and what it is: a guard may be missing.
    mistaken: Option<String>,
}

impl Listed {
    fn read(files: &[HookFile]) -> Self {
        let (mut hooks, mut mistaken) = (Vec::new(), None);
        for file in files {
            let (found, wrong) = file.read();
            hooks.extend(found);
            if let Some(HookMistake { fault, .. }) = wrong {
                tracing::warn!(path = %file.path.display(), %fault, "a file of hooks has a mistake");
                mistaken.get_or_insert_with(|| format!("{}: {fault}", file.path.display()));
            }
        }
        Self { hooks, mistaken }
    }
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
    /// The person must be asked, because a file of hooks has this mistake.
    Mistake(String),
    /// The call does not run.
    Deny(String),
}

impl Hooks {
    pub(super) fn new(read: ReadHooks, workspace: PathBuf, variables: Variables) -> Self {
        let read: Box<dyn FnOnce() -> Listed + Send> = Box::new(move || Listed::read(&read()));
        Self { list: LazyLock::new(read), workspace, variables, started: AtomicBool::new(false) }
    }

    /// Lists the command lines that run at an event; `about` is the call, if the event is about one.
    pub(super) fn lines(&self, event: Event, about: Option<&About<'_>>) -> Vec<&str> {
        self.wanted(event, about).into_iter().map(|(hook, _)| hook.command.as_str()).collect()
    }

    /// Lists the hooks of an event, each with the name under which it is told of the call.
    fn wanted(&self, event: Event, about: Option<&About<'_>>) -> Vec<(&Hook, String)> {
        let of_event = self.list.hooks.iter().filter(|hook| hook.event == event);
        let named = |hook| match about {
            Some(about) => Hook::matches(hook, about).map(|name| (hook, name)),
            None => Some((hook, String::new())),
        };
        of_event.filter_map(named).collect()
    }

    /// Runs the hooks before a call is judged. While a file has a mistake, the guard that it may lack is the person:
    /// what does more than read is asked about.
    pub(super) async fn before_call(
        &self,
        (about, effect): (&About<'_>, Effect),
        session: &Session,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Replies {
        let mut said = self.tell(Event::PreToolUse, (Some(about), frontend), session, json!({}), cancel).await;
        if let Some(mistaken) = self.list.mistaken.as_ref().filter(|_| effect != Effect::Read) {
            said.hold(Held::Mistake(mistaken.clone()));
        }
        said
    }

    /// Runs the hooks after a call ran.
    pub(super) async fn after_call(
        &self,
        about: &About<'_>,
        output: &ToolOutput,
        session: &Session,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Replies {
        let failed = output.outcome != Outcome::Ok;
        let response = json!({"tool_response": {"content": output.content, "is_error": failed}});
        self.tell(Event::PostToolUse, (Some(about), frontend), session, response, cancel).await
    }

    /// Tells whether the hooks of the start have run.
    pub(super) fn have_started(&self) -> bool {
        self.started.load(Ordering::Relaxed)
    }

    /// Runs the hooks before the first message of this process.
    pub(super) async fn at_start(
        &self,
        resumed: bool,
        session: &Session,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Replies {
        if self.started.swap(true, Ordering::Relaxed) {
            return Replies::default();
        }
        let source = json!({"source": if resumed { "resume" } else { "startup" }});
        self.tell(Event::SessionStart, (None, frontend), session, source, cancel).await
    }

    /// Runs the hooks when the model would stop; if one holds it back, its reason tells the model why to go on.
    /// `before` is how often the model already went on in this turn.
    pub(super) async fn at_stop(
        &self,
        before: u32,
        session: &Session,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Replies {
        if before >= MOST_STOPS {
            return Replies::default();
        }
        self.tell(Event::Stop, (None, frontend), session, json!({"stop_hook_active": before > 0}), cancel).await
    }

    /// Runs the hooks before the conversation is shortened for requests.
    pub(super) async fn before_cut(
        &self,
        (manual, focus): (bool, &str),
        session: &Session,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Replies {
        let trigger = if manual { "manual" } else { "auto" };
        let about = json!({"trigger": trigger, "custom_instructions": focus});
        self.tell(Event::PreCompact, (None, frontend), session, about, cancel).await
    }

    async fn tell(
        &self,
        event: Event,
        (about, frontend): (Option<&About<'_>>, &mut dyn Frontend),
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
        if let (Some(input), Value::Object(fields)) = (input.as_object_mut(), beside) {
            input.extend(fields);
        }
        let given = about
            .map_or_else(|| vec![None], |about| form::their_inputs(about, cwd).into_iter().map(Some).collect());
        for ((hook, name), given) in wanted.iter().flat_map(|hook| given.iter().map(move |given| (hook, given))) {
            if let Some(given) = given {
                input["tool_name"] = name.as_str().into();
                input["tool_input"] = given.clone();
            }
            let activity = Activity::Hook { command: session.redacted(&hook.command) };
            frontend.show(&AgentEvent::Waiting { activity });
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
            (Some(Held::Deny(_)), _) | (Some(_), Held::Ask(_) | Held::Mistake(_)) => {}
            (None, _) | (Some(_), Held::Deny(_)) => self.held = Some(held),
        }
    }
}

#[cfg(test)]
#[path = "hooks/hooks_tests.rs"]
mod tests;
