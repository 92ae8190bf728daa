//! The turn: ask the model, run what it calls, ask again, until it calls nothing.
//!
//! Knows no terminal and no locale: everything that happens is an [`AgentEvent`], shown by the one front end.

mod aliases;
#[cfg(test)]
mod bench;
mod calls;
mod event;
mod explore;
mod extent;
mod failure;
mod found;
mod guard;
mod modes;
mod partial;
pub mod prompt;
mod reach;
mod request;
mod run_tool;
pub mod suggest;
mod touches;
mod turn;
mod undo;

pub use calls::REPEATS;
pub use event::{
    Activity, AgentEvent, Approval, ApprovalRequest, Doing, Explorer, Failure, Frontend, Notice, TurnEnd, Widened,
};

pub use undo::PastTurn;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::approval::{BlastRadius, Policy, Surroundings};
use crate::conversation::{Conversation, Message, ToolSpec, Usage};
use crate::journal::Journal;
use crate::provider::{ModelInfo, Provider, Request, RetryPlan};
use crate::sandbox::Sandbox;
use crate::session::{EntryKind, Session};
use crate::tool::table::terse;
use crate::tool::{JobReport, Place, ToolMemory, Toolbox};

/// The model, its tools, the policy and the conversation of one session. One turn runs at a time.
pub struct Agent {
    provider: Arc<dyn Provider>,
    tools: Toolbox,
    policy: Policy,
    conversation: Conversation,
    session: Session,
    memory: ToolMemory,
    setup: Setup,
    usage: Usage,
    not_saved: bool,
    no_sandbox_told: bool,
    /// Which call of a message is judged, from 1, and how many it has.
    number: (usize, usize),
    /// The model is asked for its last words of a turn: it has no tools then.
    last_words: bool,
    journal: Option<Journal>,
    /// What the model is told with the next message.
    notes: Vec<String>,
    /// Whether there are sub-agents.
    explores: bool,
    /// Whether the step limit ends in an answer instead of nothing.
    speaks_at_limit: bool,
}

/// What does not change during a session.
#[derive(Clone)]
pub struct Setup {
    /// The system prompt.
    pub system: String,
    /// The system prompt of a small model.
    pub small_system: String,
    /// Where it works.
    pub place: Place,
    /// The same for the policy, with the environment a shell line would run in.
    pub surroundings: Surroundings,
    /// The most requests a turn may make; at least 1.
    pub max_steps: u32,
    /// The most tokens an answer may have; `None` leaves it to the provider.
    pub max_output_tokens: Option<u64>,
    /// Where whole outputs of tools are kept.
    pub output_dir: PathBuf,
    /// Where the journals of all sessions are; `None` keeps nothing that could be taken back.
    pub journal: Option<PathBuf>,
    /// Confines what the tools start.
    pub sandbox: Sandbox,
    /// When a failed request is sent again.
    pub retry: RetryPlan,
    /// Tells the time.
    pub now: fn() -> SystemTime,
    /// Gives a number in 0..1 for back-off.
    pub random: fn() -> f64,
}

impl Agent {
    /// Puts an agent together.
    #[must_use]
    pub fn new(
        provider: Arc<dyn Provider>,
        tools: Toolbox,
        policy: Policy,
        session: Session,
        setup: Setup,
    ) -> Self {
        let mut agent = Self {
            provider,
            tools,
            policy,
            conversation: Conversation::new(),
            session,
            memory: ToolMemory::default(),
            setup,
            usage: Usage::default(),
            not_saved: false,
            no_sandbox_told: false,
            number: (1, 1),
            last_words: false,
            explores: false,
            speaks_at_limit: false,
            journal: None,
            notes: Vec::new(),
        };
        agent.journal = agent.open_journal();
        agent
    }

    /// Returns what is known about the model.
    #[must_use]
    pub fn model(&self) -> &ModelInfo {
        self.provider.model()
    }

    /// Tells the model what the next request will begin with, so that it can read that while a person types.
    pub fn prepare(&self) {
        let (system, tools) = self.beginning();
        let messages = self.conversation.messages();
        let request =
            Request { system: &system, messages, tools: &tools, max_output_tokens: None, temperature: None };
        self.provider.prepare(request);
    }

    /// What every request to the present model begins with.
    fn beginning(&self) -> (Cow<'_, str>, Vec<ToolSpec>) {
        let model = self.provider.model();
        let specs = if model.tools && !self.last_words { self.offered() } else { Vec::new() };
        (self.system(), if model.small { terse(&specs) } else { specs })
    }

    /// Returns the conversation.
    #[must_use]
    pub const fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Returns the session.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the tokens of all requests of this session so far.
    #[must_use]
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the tools.
    #[must_use]
    pub const fn tools(&self) -> &Toolbox {
        &self.tools
    }

    /// Counts what a shell line would hit; `None` when it names nothing to change.
    ///
    /// # Cancel safety
    /// Dropping it leaves a thread that ends by itself and changes nothing.
    pub async fn survey(&self, line: &str, cancel: &tokio_util::sync::CancellationToken) -> Option<BlastRadius> {
        reach::survey(line, &self.setup.surroundings, cancel).await
    }

    /// Returns where it works.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.setup.place
    }

    /// Lists the commands in the background.
    #[must_use]
    pub fn jobs(&self) -> Vec<JobReport> {
        self.memory.jobs(&self.setup.output_dir, (self.setup.now)())
    }

    /// Ends one of them; see [`ToolMemory::end_job`].
    pub fn end_job(&self, number: u64) -> bool {
        self.memory.end_job(&self.setup.output_dir, number, (self.setup.now)())
    }

    /// Returns where whole outputs of tools are kept.
    #[must_use]
    pub fn outputs(&self) -> &Path {
        &self.setup.output_dir
    }

    /// Returns the policy.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the policy, to change it.
    pub const fn policy_mut(&mut self) -> &mut Policy {
        &mut self.policy
    }

    /// Asks another model from now on.
    pub fn set_provider(&mut self, provider: Arc<dyn Provider>) {
        self.provider = provider;
        let model = self.provider.model().id();
        // A session that cannot be written was told about in its turn.
        drop(self.session.append(EntryKind::Model { model }, (self.setup.now)()));
    }

    /// Starts over in another session, or goes on with one that was loaded.
    pub fn set_session(&mut self, session: Session, conversation: Conversation, usage: Usage) {
        self.session = session;
        self.conversation = conversation;
        self.usage = usage;
        self.memory = ToolMemory::default();
        self.not_saved = false;
        self.notes.clear();
        self.journal = self.open_journal();
    }

    /// Writes a message to the session; tells once when it cannot.
    fn save(&mut self, message: &Message, frontend: &mut dyn Frontend) {
        let model = self.provider.model().id();
        let saved = self.session.append_message(&model, message, (self.setup.now)());
        self.tell_unsaved(saved, frontend);
    }

    fn note(&mut self, kind: EntryKind, frontend: &mut dyn Frontend) {
        let saved = self.session.append(kind, (self.setup.now)());
        self.tell_unsaved(saved, frontend);
    }

    fn tell_unsaved(&mut self, saved: Result<(), crate::session::SessionError>, frontend: &mut dyn Frontend) {
        let Err(error) = saved else { return };
        tracing::warn!(%error, "the session could not be written");
        if self.not_saved {
            return;
        }
        self.not_saved = true;
        let (path, cause) = match error {
            crate::session::SessionError::Io { path, cause } => (path, cause.to_string()),
            other => (self.session.path().map(PathBuf::from).unwrap_or_default(), other.to_string()),
        };
        frontend.show(&AgentEvent::Notice { notice: Notice::NotSaved { path, cause } });
    }
}
