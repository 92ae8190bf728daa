//! The turn: ask the model, run what it calls, ask again, until it calls nothing.
//!
//! Knows no terminal and no locale: everything that happens is an [`AgentEvent`], shown by the one front end.

mod aliases;
mod beginning;

#[cfg(test)]
pub(crate) mod bench;
mod call_trials;
mod calls;
mod careful;
mod consent;
mod derived;
mod event;
mod explore;
mod extent;
mod failure;
mod fallback;
mod figures;
mod floor;
mod forecast;
mod found;
mod guard;
mod hooks;
mod instructions;
mod modes;
mod needs;
mod partial;
pub mod prompt;
mod question;
mod reach;
mod recall;
mod recalled;
mod refusal;
pub mod replay;
mod request;
mod results;
mod revealed;
mod runner;
mod said;
mod shorten;
mod skills;
mod substitute;
pub mod suggest;
mod talk;
mod touches;
mod trials;
mod turn;
mod undo;
mod unmade;
mod wait;
mod window;
mod wishes;

pub use beginning::Beginning;
pub use call_trials::{APPLIED_FROM_TRIAL, Bounds, Probe};
pub use event::{Activity, AgentEvent, Doing, Explorer, Frontend, Notice, TurnEnd};
pub use failure::Failure;
pub use figures::{FallbackPrice, Shortened};
use hooks::Hooks;
pub use hooks::{HookFault, HookFile, HookMistake, ReadHooks};
pub use instructions::{Instructions, MEMORY, instructions};
pub use needs::Needs;
pub use question::{Approval, ApprovalRequest, Review, Tried, Tryable, Widened};
pub use recalled::{Line, Recalled, recalled, timestamp};
pub use results::REPEATS;
pub use said::{DroppedTurn, Said};
pub use skills::{Skill, catalogue, skills};
pub use trials::{Reviewer, Trials, touches};
pub use turn::run_call;
pub use undo::PastTurn;
pub use window::Shortening;
pub use wishes::Wishes;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use crate::approval::command::LineJudgement;
use crate::approval::{BlastRadius, Mode, Policy, Surroundings};
use crate::context::Shares;
use crate::conversation::{Conversation, Ledger, tokens};
use crate::file::may_be_there;
use crate::journal::{Foreign, JournalError, Plan, TakenBack, Turn};
use crate::provider::{ModelInfo, Provider, RetryPlan};
use crate::sandbox::Sandbox;
use crate::secret::StandIns;
use crate::session::{LeftOver, Session, SessionError};
use crate::tool::{JobReport, Roots, Toolbox};
use consent::Consent;
use fallback::Fallbacks;
use modes::Purpose;
use prompt::SystemPrompt;
use runner::ToolRunner;
use talk::{Manner, Talk, said_in};
use undo::Undo;

/// The model, its tools, the policy and the conversation of one session. One turn runs at a time.
pub struct Agent {
    talk: Talk,
    consent: Consent,
    undo: Undo,
    runner: ToolRunner,
    /// The most requests a turn may make.
    max_steps: u32,
    /// Whether the step limit ends in an answer instead of nothing.
    speaks_at_limit: bool,
}

/// What does not change during a session.
pub struct Setup {
    /// Words the system prompt, when it is needed first: a start must not wait for files of instructions.
    pub system: Box<dyn FnOnce() -> SystemPrompt + Send>,
    /// The system prompt of a small model.
    pub small_system: SystemPrompt,
    /// Whether the person trusts what the place brings.
    pub trusted: bool,
    /// Reads the files of hooks that hold, before the first could run.
    pub hooks: ReadHooks,
    /// Where it works.
    pub roots: Roots,
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
    /// Stands in for secrets before the model sees them.
    pub secrets: Arc<StandIns>,
    /// Confines what the tools start.
    pub sandbox: Sandbox,
    /// The models that stand in, in this order, for the rest of a turn whose model's provider has no room.
    pub fallbacks: Vec<Arc<dyn Provider>>,
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
        let Setup { system, small_system, trusted, roots, surroundings, max_steps, max_output_tokens, .. } = setup;
        let Setup { output_dir, journal, hooks, secrets, sandbox, fallbacks, retry, now, random, .. } = setup;
        let surroundings = Arc::new(surroundings);
        let system = Arc::new(LazyLock::new(system));
        let hooks = Arc::new(Hooks::new(hooks, roots.workspace.clone(), sandbox.variables().clone()));
        let manner =
            Manner { system, small_system, trusted, hooks, max_output_tokens, secrets, retry, now, random };
        let mut undo = Undo::new(journal, Arc::clone(&surroundings));
        undo.begin_session(&session);
        let mut talk = Talk::new(provider, session, manner);
        talk.fallbacks = Fallbacks::new(fallbacks);
        Self {
            talk,
            consent: Consent::new(policy, surroundings, roots.clone(), sandbox.clone()),
            undo,
            runner: ToolRunner::new(tools, roots, output_dir, sandbox),
            max_steps: max_steps.max(1),
            speaks_at_limit: false,
        }
    }

    /// Lets the model have sub-agents explore.
    pub fn allow_exploring(&mut self) {
        self.runner.tools.declare(explore::spec());
    }

    /// Has what writes in a turn run in a trial of that turn; `reviewer` says what is applied where the front end has
    /// nobody to ask.
    pub fn try_turns(&mut self, trials: Box<dyn Trials>, reviewer: Reviewer) {
        self.undo.trials = Some(trials::TurnTrials::new(trials, reviewer));
    }

    /// Returns what is known about the model.
    #[must_use]
    pub fn model(&self) -> &ModelInfo {
        self.talk.model()
    }

    /// Tells the model what the next request will begin with, so that it can read that while a person types.
    pub fn prepare(&self) {
        self.talk.prepare(&next_beginning(self));
    }

    /// Returns the conversation.
    #[must_use]
    pub const fn conversation(&self) -> &Conversation {
        self.talk.conversation()
    }

    /// Returns the session.
    #[must_use]
    pub const fn session(&self) -> &Session {
        self.talk.session()
    }

    /// Returns what the requests of this session cost so far.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        self.talk.ledger()
    }

    /// Returns the tools.
    #[must_use]
    pub const fn tools(&self) -> &Toolbox {
        &self.runner.tools
    }

    /// Counts what a shell line would hit; `None` when it names nothing to change.
    ///
    /// # Cancel safety
    /// Dropping it leaves a thread that ends by itself and changes nothing.
    pub async fn survey(&self, line: &Arc<LineJudgement>, cancel: &CancellationToken) -> Option<BlastRadius> {
        self.consent.survey(line, cancel).await
    }

    /// Returns where it works.
    #[must_use]
    pub const fn roots(&self) -> &Roots {
        &self.runner.roots
    }

    /// Lists the commands in the background.
    #[must_use]
    pub fn jobs(&self) -> Vec<JobReport> {
        self.runner.jobs(self.talk.now())
    }

    /// Ends one of them; see the same of the tool memory.
    pub fn end_job(&self, number: u64) -> bool {
        self.runner.end_job(number, self.talk.now())
    }

    /// Returns where whole outputs of tools are kept.
    #[must_use]
    pub fn outputs(&self) -> &Path {
        self.runner.outputs()
    }

    /// The directory where commands put temporary files.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.runner.temporary()
    }

    /// Returns the policy.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.consent.policy
    }

    /// Returns the policy, to change it.
    pub const fn policy_mut(&mut self) -> &mut Policy {
        &mut self.consent.policy
    }

    /// Goes so far from now on.
    pub fn set_mode(&mut self, mode: Mode) {
        self.consent.policy.set_mode(mode);
    }

    /// Asks another model from now on.
    pub fn set_provider(&mut self, provider: Arc<dyn Provider>) {
        self.talk.set_provider(provider);
    }

    /// Starts over in another session, or goes on with one that was loaded.
    pub fn set_session(&mut self, session: Session, conversation: Conversation, ledger: Ledger) {
        self.undo.begin_session(&session);
        self.talk.set_session(session, conversation, ledger);
        self.runner.forget();
    }

    /// Tells whether this session keeps anything that could be taken back.
    #[must_use]
    pub const fn keeps_journal(&self) -> bool {
        self.undo.keeps()
    }

    /// The turns that changed files and were not taken back, oldest first.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn changed_turns(&self) -> Result<Vec<Turn>, JournalError> {
        self.undo.changed_turns()
    }

    /// The turns of the conversation, oldest first.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn past_turns(&self) -> Result<Vec<PastTurn>, JournalError> {
        self.undo.past_turns(said_in(&self.said().whole()))
    }

    /// Works out what taking back the files of all turns from this one of the journal on would change.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn plan_undo(&self, first: u64) -> Result<Plan, JournalError> {
        self.undo.plan(first)
    }

    /// Takes back what was planned; the model is told with the next message.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn take_back(&mut self, plan: &Plan, foreign: Foreign) -> Result<TakenBack, JournalError> {
        let taken = self.undo.take_back(plan, foreign)?;
        // What it read or wrote is not what is there any more.
        self.runner.memory.forget_files();
        if !taken.done.is_empty() {
            let names: Vec<String> =
                taken.done.iter().map(|path| self.roots().shown(path).display().to_string()).collect();
            let names = names.join(", ");
            self.talk.note(format!("[The user took back earlier changes; as before them are: {names}]"));
        }
        Ok(taken)
    }

    /// Takes the newest cut back: the next request holds what it held before. False where nothing was cut.
    ///
    /// # Errors
    /// [`SessionError`]: it is taken back all the same; the file has it as soon as it can be written.
    pub fn undo_shortening(&mut self) -> Result<bool, SessionError> {
        self.talk.undo_cut()
    }

    /// Returns what is wished of all requests, to change it.
    pub const fn wishes(&mut self) -> &mut Wishes {
        &mut self.talk.wishes
    }

    /// Keeps a text at hand for the model, whatever is cut; it is told with the next message.
    ///
    /// # Errors
    /// [`SessionError`]: it is kept all the same; the file has it as soon as it can be written.
    pub fn pin(&mut self, text: String) -> Result<(), SessionError> {
        self.talk.pin(text)
    }

    /// Returns how many tokens each kind of content has in the next request, as they are estimated.
    #[must_use]
    pub fn shares(&self) -> Shares {
        let beginning = self.beginning(Purpose::Step);
        let system = tokens::estimate(&beginning.system);
        let instructions = self.talk.system().instructions.min(system);
        let shares = Shares {
            system: system - instructions,
            instructions,
            tools: beginning.tokens() - system,
            window: self.talk.window.size(self.model().room()),
            ..Shares::of(&self.talk.sent())
        };
        Shares { counted: self.talk.window.counted(shares.total()), ..shares }
    }

    /// Returns what was said so far, as the next request sees it.
    #[must_use]
    pub const fn said(&self) -> Said<'_> {
        Said { talk: &self.talk, undo: &self.undo }
    }

    /// Goes back to before a message the person sent: the conversation forgets it and all that followed, the session's
    /// file keeps them. Returns what was said.
    ///
    /// # Errors
    /// [`SessionError`]: the conversation has gone back all the same; the file has it as soon as it can be written.
    pub fn rewind(&mut self, messages: usize) -> Result<String, SessionError> {
        self.runner.memory.forget_files();
        self.talk.rewind(messages)
    }
}

/// Has unknown programs run in a trial first, where `-y` or a rule would let them run. Of a trial's changes those inside
/// the bounds are applied. The layers lie in the first of these places that can hold them. If the probe says that the
/// system allows no trials, or if a trial cannot be made, the person is asked about such a program.
pub fn try_calls(agent: &mut Agent, places: Vec<PathBuf>, bounds: Bounds, probe: Probe) {
    agent.undo.calls = Some(call_trials::CallTrials::new(places, bounds, probe));
}

/// Puts those secrets of a line back, for which the model saw stand-ins, that were `said` by the person themselves.
#[must_use]
pub fn with_said_secrets(agent: &Agent, line: &str, said: &str) -> String {
    agent.talk.manner.secrets.reveal_said(line, said)
}

/// Returns what the next request will begin with.
#[must_use]
pub fn next_beginning(agent: &Agent) -> Beginning {
    agent.beginning(Purpose::Step)
}

/// Tells whether a line loses nothing, or only what was said to go; see [`LineJudgement::names_its_losses`].
///
/// [`LineJudgement::names_its_losses`]: crate::approval::command::LineJudgement::names_its_losses
#[must_use]
pub fn names_its_losses(agent: &Agent, line: &LineJudgement, said: &str) -> bool {
    line.names_its_losses(said, &agent.consent.surroundings().cwd, &may_be_there)
}

/// Where the agent works, as it judges lines.
#[must_use]
pub fn surroundings(agent: &Agent) -> &Surroundings {
    agent.consent.surroundings()
}

/// Tells whether the policy lets a line run where the agent works without a question.
#[must_use]
pub fn runs_unasked(agent: &Agent, line: &Arc<LineJudgement>) -> bool {
    agent.consent.runs_unasked(line)
}

/// Takes up what the session that is gone on with was left with.
pub fn take_up(agent: &mut Agent, left: LeftOver) {
    agent.talk.take_up(left);
}

/// Tells the model something with the next message.
pub fn tell_later(agent: &mut Agent, text: String) {
    agent.talk.note(text);
}
