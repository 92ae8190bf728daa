//! A scripted model, a recording front end and an agent between them, for the tests of this room.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Agent, AgentEvent, Approval, ApprovalRequest, Frontend, Setup, TurnEnd};
use crate::approval::{Mode, Policy, Surroundings};
use crate::conversation::{
    Answer as Reply, Conversation, Effect, Message, Outcome, Preview, Question, StopReason, StreamEvent, ToolSpec,
    Usage,
};
use crate::provider::{EventStream, ModelInfo, Provider, ProviderError, Request};
use crate::secret::{Kinds, Known, StandIns};
use crate::session::{Redactor, Session, SessionId, load};
use crate::tool::{Before, Request as Called, Roots, Tool, ToolContext, ToolFacts, ToolOutput, Toolbox};

pub(crate) type Answer = Vec<Result<StreamEvent, ProviderError>>;

/// Gives scripted answers and checks every request for the invariant.
pub(crate) struct Scripted {
    pub(crate) info: ModelInfo,
    pub(crate) answers: Mutex<VecDeque<Answer>>,
    pub(crate) requests: Mutex<Vec<Vec<Message>>>,
    pub(crate) offered: Mutex<Vec<Vec<String>>>,
    pub(crate) systems: Mutex<Vec<String>>,
    /// Whether a stream hangs after the events of its answer: not even its end arrives.
    pub(crate) stalls: AtomicBool,
}

impl Scripted {
    fn empty() -> Self {
        let info = ModelInfo {
            provider: "lab".into(),
            model: "m".into(),
            context_window: None,
            tools: true,
            vision: false,
            local: true,
            small: false,
            abilities: crate::provider::Abilities::default(),
        };
        Self {
            info,
            answers: Mutex::default(),
            requests: Mutex::default(),
            offered: Mutex::default(),
            systems: Mutex::default(),
            stalls: AtomicBool::default(),
        }
    }
}

impl Provider for Scripted {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> EventStream<'a> {
        let accepted = Conversation::restore(request.messages.to_vec());
        assert_eq!(accepted.messages(), request.messages, "the server would refuse this");
        self.requests.lock().unwrap().push(request.messages.to_vec());
        self.offered.lock().unwrap().push(request.tools.iter().map(|spec| spec.name.clone()).collect());
        self.systems.lock().unwrap().push(request.system.to_owned());
        let answer = self.answers.lock().unwrap().pop_front().expect("a scripted answer");
        // Every event is its own wake-up, so that a cancel can fall between any two.
        let events = futures_util::stream::iter(answer).then(|event| async {
            tokio::task::yield_now().await;
            event
        });
        if self.stalls.load(Ordering::Relaxed) {
            return events.chain(futures_util::stream::pending()).boxed();
        }
        events.boxed()
    }
}

/// A tool that writes nothing and returns its input.
pub(crate) struct Echo;

impl Tool for Echo {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "echo".into(),
            description: String::new(),
            input_schema: json!({"type": "object"}),
            ..ToolSpec::default()
        }
    }
    fn read(&self, input: &Value, _: &Roots) -> Arc<dyn Called> {
        Arc::new(Echoed(input.clone()))
    }
}

/// A call of it.
struct Echoed(Value);

impl Called for Echoed {
    fn effect(&self) -> Effect {
        Effect::Write
    }
    fn check(&self, _: &Before<'_>) -> Result<Preview, String> {
        Ok(Preview::Text { text: "echo".into() })
    }
    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let _ = context.progress.try_send("working".into());
            tokio::task::yield_now().await;
            if context.cancel.is_cancelled() {
                let mut output = ToolOutput::failed("so far");
                output.outcome = Outcome::Interrupted;
                return output;
            }
            ToolOutput::ok(self.0.to_string(), ToolFacts::default())
        })
    }
}

/// Records events, answers approvals from a list, and cancels at one event.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) approvals: VecDeque<Approval>,
    pub(crate) requests: Vec<ApprovalRequest>,
    pub(crate) questions: Vec<Question>,
    pub(crate) replies: VecDeque<Reply>,
    pub(crate) cancel_at: Option<usize>,
    pub(crate) cancel: CancellationToken,
}

impl Frontend for Recorder {
    fn show(&mut self, event: &AgentEvent) {
        self.events.push(event.clone());
        if self.cancel_at == Some(self.events.len()) {
            self.cancel.cancel();
        }
    }
    fn approve(&mut self, request: &ApprovalRequest) -> Approval {
        self.requests.push(request.clone());
        self.approvals.pop_front().unwrap_or(Approval::Once)
    }
    fn ask(&mut self, question: &Question) -> Reply {
        self.questions.push(question.clone());
        self.replies.pop_front().unwrap_or(Reply::Unavailable)
    }
}

pub(crate) struct Bench {
    pub(crate) home: tempfile::TempDir,
    pub(crate) provider: Arc<Scripted>,
    pub(crate) agent: Agent,
}

pub(crate) fn bench(answers: Vec<Answer>, max_steps: u32, yes: bool) -> Bench {
    bench_with(answers, max_steps, yes, vec![Arc::new(Echo)])
}

pub(crate) fn bench_with(answers: Vec<Answer>, max_steps: u32, yes: bool, tools: Vec<Arc<dyn Tool>>) -> Bench {
    bench_of(answers, max_steps, yes, tools, false)
}

/// Makes another model, for use as a fallback.
pub(crate) fn standby(model: &str, price: Option<&str>, answers: Vec<Answer>) -> Arc<Scripted> {
    let mut other = Scripted { answers: Mutex::new(answers.into()), ..Scripted::empty() };
    other.info.model = model.into();
    other.info.abilities.price = price.and_then(crate::conversation::Price::parse);
    Arc::new(other)
}

/// Makes a bench whose model has a known context window.
pub(crate) fn bench_within(answers: Vec<Answer>, window: Option<u64>) -> Bench {
    let mut bench = bench_of(answers, 99, true, vec![Arc::new(Echo)], false);
    let info = ModelInfo { context_window: window, ..bench.provider.info.clone() };
    let answers = std::mem::take(&mut *bench.provider.answers.lock().unwrap());
    bench.provider = Arc::new(Scripted { info, answers: answers.into(), ..Scripted::empty() });
    bench.agent.set_provider(bench.provider.clone());
    bench
}

/// Makes a bench whose model is small, and asked nothing.
pub(crate) fn bench_small() -> Bench {
    let mut bench = bench(Vec::new(), 9, false);
    let info = ModelInfo { small: true, ..bench.provider.info.clone() };
    bench.provider = Arc::new(Scripted { info, ..Scripted::empty() });
    bench.agent.set_provider(bench.provider.clone());
    bench
}

/// Makes a bench; with `journal`, changes can be taken back.
pub(crate) fn bench_of(
    answers: Vec<Answer>,
    max_steps: u32,
    yes: bool,
    tools: Vec<Arc<dyn Tool>>,
    journal: bool,
) -> Bench {
    let home = tempfile::tempdir().unwrap();
    let provider = Arc::new(Scripted { answers: Mutex::new(answers.into()), ..Scripted::empty() });
    let id = SessionId::new(SystemTime::UNIX_EPOCH, Path::new("/"), 1);
    let session = Session::new(id, "/".into(), Some(home.path()), Redactor::default());
    let cwd = home.path().to_path_buf();
    let setup = Setup {
        system: Box::new(|| "be brief".into()),
        small_system: "be short".into(),
        trusted: false,
        hooks: Box::new(Vec::new),
        roots: Roots { cwd: cwd.clone(), workspace: cwd.clone(), home: None },
        surroundings: Surroundings { cwd: cwd.clone(), workspace: cwd.clone(), ..Surroundings::default() },
        max_steps,
        max_output_tokens: None,
        output_dir: cwd.clone(),
        journal: journal.then(|| cwd.join("journal")),
        secrets: Arc::new(StandIns::new(
            Known::default(),
            Kinds { known: true, shapes: true },
            Box::new(|| [7; 32]),
        )),
        sandbox: crate::sandbox::Sandbox::default(),
        fallbacks: Vec::new(),
        retry: crate::provider::RetryPlan::default(),
        now: || SystemTime::UNIX_EPOCH,
        random: || 0.0,
    };
    let policy = Policy::new(Mode::Build, yes);
    let agent = Agent::new(provider.clone(), Toolbox::new(tools), policy, session, setup);
    Bench { home, provider, agent }
}

impl Bench {
    pub(crate) fn turn(&mut self, text: &str, recorder: &mut Recorder) -> TurnEnd {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let cancel = recorder.cancel.clone();
        runtime.block_on(self.agent.run_turn(Message::user(text), recorder, &cancel))
    }

    pub(crate) fn saved(&self) -> Conversation {
        load(self.agent.session().path().unwrap()).unwrap().conversation
    }
}

pub(crate) fn text(text: &str) -> Answer {
    vec![Ok(StreamEvent::TextDelta(text.into())), Ok(StreamEvent::Done(StopReason::EndTurn))]
}

pub(crate) fn calls(ids: &[&str], stop: StopReason) -> Answer {
    let mut events = vec![Ok(StreamEvent::ReasoningDelta("hm".into())), Ok(StreamEvent::TextDelta("so ".into()))];
    for (slot, id) in ids.iter().enumerate() {
        let extra = serde_json::Map::new();
        events.push(Ok(StreamEvent::ToolCallStart { slot, id: (*id).into(), name: "echo".into(), extra }));
        events.push(Ok(StreamEvent::ToolCallDelta { slot, arguments: format!("{{\"n\":\"{id}\"") }));
        events.push(Ok(StreamEvent::ToolCallDelta { slot, arguments: "}".into() }));
    }
    events.push(Ok(StreamEvent::Usage(Usage { input: 3, output: 2, ..Usage::default() })));
    events.push(Ok(StreamEvent::Done(stop)));
    events
}

pub(crate) fn outcomes(conversation: &Conversation) -> Vec<(String, Outcome)> {
    let blocks = conversation.messages().iter().flat_map(|message| &message.content);
    blocks
        .filter_map(|block| match block {
            crate::conversation::ContentBlock::ToolResult(result) => Some((result.call_id.clone(), result.outcome)),
            _ => None,
        })
        .collect()
}
