use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::{Agent, AgentEvent, Approval, ApprovalRequest, Failure, Frontend, Notice, Setup, TurnEnd};
use crate::approval::{Mode, Policy, Surroundings};
use crate::conversation::{
    Conversation, Effect, Message, Outcome, Preview, StopReason, StreamEvent, Subject, ToolSpec, Usage,
};
use crate::provider::{EventStream, ModelInfo, Provider, ProviderError, Request};
use crate::session::{Redactor, Session, SessionId, load};
use crate::tool::{Place, Tool, ToolContext, ToolFacts, ToolOutput, Toolbox};

type Answer = Vec<Result<StreamEvent, ProviderError>>;

/// Gives scripted answers and checks every request for the invariant.
struct Scripted {
    info: ModelInfo,
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<Vec<Message>>>,
}

impl Provider for Scripted {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> EventStream<'a> {
        let accepted = Conversation::restore(request.messages.to_vec());
        assert_eq!(accepted.messages(), request.messages, "the server would refuse this");
        self.requests.lock().unwrap().push(request.messages.to_vec());
        let answer = self.answers.lock().unwrap().pop_front().expect("a scripted answer");
        // Every event is its own wake-up, so that a cancel can fall between any two.
        futures_util::stream::iter(answer)
            .then(|event| async {
                tokio::task::yield_now().await;
                event
            })
            .boxed()
    }
}

/// A tool that writes nothing and says its input back.
struct Echo;

impl Tool for Echo {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "echo".into(), description: String::new(), input_schema: json!({"type": "object"}) }
    }
    fn effect(&self, _: &Value, _: &Place) -> Effect {
        Effect::Write
    }
    fn subject(&self, _: &Value, _: &Place) -> Subject {
        Subject::Whole
    }
    fn preview(&self, _: &Value, _: &Place) -> Result<Preview, String> {
        Ok(Preview::Text { text: "echo".into() })
    }
    fn run<'a>(&'a self, input: Value, context: ToolContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let _ = context.progress.try_send("working".into());
            tokio::task::yield_now().await;
            if context.cancel.is_cancelled() {
                let mut output = ToolOutput::failed("so far");
                output.outcome = Outcome::Interrupted;
                return output;
            }
            ToolOutput::ok(input.to_string(), ToolFacts::default())
        })
    }
}

/// Records events, answers approvals from a list, and cancels at one event.
#[derive(Default)]
struct Recorder {
    events: Vec<AgentEvent>,
    approvals: VecDeque<Approval>,
    cancel_at: Option<usize>,
    cancel: CancellationToken,
}

impl Frontend for Recorder {
    fn show(&mut self, event: &AgentEvent) {
        self.events.push(event.clone());
        if self.cancel_at == Some(self.events.len()) {
            self.cancel.cancel();
        }
    }
    fn approve(&mut self, _: &ApprovalRequest) -> Approval {
        self.approvals.pop_front().unwrap_or(Approval::Once)
    }
}

struct Bench {
    home: tempfile::TempDir,
    provider: Arc<Scripted>,
    agent: Agent,
}

fn bench(answers: Vec<Answer>, max_steps: u32, yes: bool) -> Bench {
    let home = tempfile::tempdir().unwrap();
    let info = ModelInfo {
        provider: "lab".into(),
        model: "m".into(),
        context_window: None,
        tools: true,
        vision: false,
        local: true,
    };
    let provider = Arc::new(Scripted { info, answers: Mutex::new(answers.into()), requests: Mutex::default() });
    let id = SessionId::new(SystemTime::UNIX_EPOCH, Path::new("/"), 1);
    let session = Session::new(id, "/".into(), Some(home.path()), Redactor::default());
    let cwd = home.path().to_path_buf();
    let setup = Setup {
        system: "be brief".into(),
        place: Place { cwd: cwd.clone(), workspace: cwd.clone(), home: None },
        surroundings: Surroundings { cwd: cwd.clone(), workspace: cwd.clone(), ..Surroundings::default() },
        max_steps,
        max_output_tokens: None,
        output_dir: cwd,
        retry: crate::provider::RetryPlan::default(),
        now: || SystemTime::UNIX_EPOCH,
        random: || 0.0,
    };
    let policy = Policy::new(Mode::Build, yes);
    let agent = Agent::new(provider.clone(), Toolbox::new(vec![Arc::new(Echo)]), policy, session, setup);
    Bench { home, provider, agent }
}

impl Bench {
    fn turn(&mut self, text: &str, recorder: &mut Recorder) -> TurnEnd {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let cancel = recorder.cancel.clone();
        runtime.block_on(self.agent.run_turn(Message::user(text), recorder, &cancel))
    }

    fn saved(&self) -> Conversation {
        load(self.agent.session().path().unwrap()).unwrap().conversation
    }
}

fn text(text: &str) -> Answer {
    vec![Ok(StreamEvent::TextDelta(text.into())), Ok(StreamEvent::Done(StopReason::EndTurn))]
}

fn calls(ids: &[&str], stop: StopReason) -> Answer {
    let mut events = vec![Ok(StreamEvent::ReasoningDelta("hm".into())), Ok(StreamEvent::TextDelta("so ".into()))];
    for (slot, id) in ids.iter().enumerate() {
        let extra = serde_json::Map::new();
        events.push(Ok(StreamEvent::ToolCallStart { slot, id: (*id).into(), name: "echo".into(), extra }));
        events.push(Ok(StreamEvent::ToolCallDelta { slot, arguments: format!("{{\"n\":\"{id}\"") }));
        events.push(Ok(StreamEvent::ToolCallDelta { slot, arguments: "}".into() }));
    }
    events.push(Ok(StreamEvent::Usage(Usage { input_tokens: 3, output_tokens: 2, ..Usage::default() })));
    events.push(Ok(StreamEvent::Done(stop)));
    events
}

fn outcomes(conversation: &Conversation) -> Vec<(String, Outcome)> {
    let blocks = conversation.messages().iter().flat_map(|message| &message.content);
    blocks
        .filter_map(|block| match block {
            crate::conversation::ContentBlock::ToolResult(result) => Some((result.call_id.clone(), result.outcome)),
            _ => None,
        })
        .collect()
}

#[test]
fn a_turn_runs_tools_until_none_is_called_and_saves_everything() {
    let mut bench = bench(vec![calls(&["a", "b"], StopReason::Other("odd".into())), text("done")], 9, false);
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
    let expected = vec![("a".to_owned(), Outcome::Ok), ("b".to_owned(), Outcome::Ok)];
    assert_eq!(outcomes(bench.agent.conversation()), expected);
    assert_eq!(bench.saved().messages(), bench.agent.conversation().messages());
    assert_eq!(bench.agent.conversation().messages().last().unwrap().text(), "done");
    assert_eq!(recorder.events.last(), Some(&AgentEvent::TurnEnded { end: TurnEnd::Done }));
}

#[test]
fn cut_at_every_event_the_conversation_stays_valid_and_the_next_message_works() {
    let script = || vec![calls(&["a", "b"], StopReason::ToolUse), calls(&["c"], StopReason::ToolUse), text("done")];
    let mut whole = Recorder::default();
    bench(script(), 9, false).turn("go", &mut whole);
    assert!(whole.events.len() > 20, "{}", whole.events.len());
    for cut in 1..whole.events.len() {
        let mut bench = bench(script(), 9, false);
        let mut recorder = Recorder { cancel_at: Some(cut), ..Recorder::default() };
        // Once the last message is whole there is nothing left to interrupt.
        let expected = if cut + 1 == whole.events.len() { TurnEnd::Done } else { TurnEnd::Interrupted };
        assert_eq!(bench.turn("go", &mut recorder), expected, "cut {cut}: {:?}", recorder.events);
        assert_eq!(bench.agent.conversation().check(), Ok(()), "cut {cut}");
        assert_eq!(bench.saved().messages(), bench.agent.conversation().messages(), "cut {cut}");
        let shown: String = recorder
            .events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::TextDelta { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let kept: String = bench
            .agent
            .conversation()
            .messages()
            .iter()
            .filter(|message| message.role == crate::conversation::Role::Assistant)
            .map(Message::text)
            .collect();
        assert_eq!(kept, shown, "cut {cut}: what was shown is kept");
        *bench.provider.answers.lock().unwrap() = VecDeque::from([text("again")]);
        assert_eq!(bench.turn("next", &mut Recorder::default()), TurnEnd::Done, "cut {cut}");
    }
}

#[test]
fn one_no_denies_the_batch_and_the_model_is_told() {
    let mut bench = bench(vec![calls(&["a", "b", "c"], StopReason::ToolUse), text("fine")], 9, false);
    let approvals = VecDeque::from([Approval::Once, Approval::Deny("use git".into())]);
    let mut recorder = Recorder { approvals, ..Recorder::default() };
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
    let found: Vec<Outcome> =
        outcomes(bench.agent.conversation()).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(found, vec![Outcome::Ok, Outcome::Denied, Outcome::Denied]);
    let told = format!("{:?}", bench.provider.requests.lock().unwrap()[1]);
    assert!(told.contains("said: use git"), "{told}");
}

#[test]
fn esc_in_an_approval_ends_the_turn_and_answers_every_call() {
    let mut bench = bench(vec![calls(&["a", "b"], StopReason::ToolUse)], 9, false);
    let mut recorder = Recorder { approvals: VecDeque::from([Approval::Abort]), ..Recorder::default() };
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Interrupted);
    let found: Vec<Outcome> =
        outcomes(bench.agent.conversation()).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(found, vec![Outcome::Interrupted; 2]);
}

#[test]
fn nobody_to_ask_ends_the_turn_with_what_was_needed() {
    let mut bench = bench(vec![calls(&["a"], StopReason::ToolUse)], 9, false);
    let mut recorder = Recorder { approvals: VecDeque::from([Approval::Unavailable]), ..Recorder::default() };
    let expected = TurnEnd::ApprovalNeeded { name: "echo".into(), subject: Subject::Whole };
    assert_eq!(bench.turn("go", &mut recorder), expected);
    assert_eq!(bench.agent.conversation().check(), Ok(()));
}

#[test]
fn yes_runs_without_asking_and_the_step_limit_ends_clearly() {
    let script = vec![calls(&["a"], StopReason::ToolUse), calls(&["b"], StopReason::ToolUse)];
    let mut bench = bench(script, 2, true);
    let mut recorder = Recorder { approvals: VecDeque::from([Approval::Unavailable]), ..Recorder::default() };
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::StepLimit { limit: 2 });
    assert_eq!(recorder.approvals.len(), 1, "nobody was asked");
    assert_eq!(outcomes(&bench.saved()).len(), 2);
}

#[test]
fn a_call_cut_by_length_is_not_run_and_the_model_is_told() {
    let mut bench = bench(vec![calls(&["a"], StopReason::Length), text("ok")], 9, true);
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
    assert_eq!(outcomes(bench.agent.conversation()), vec![("a".to_owned(), Outcome::Failed)]);
    assert!(recorder.events.contains(&AgentEvent::Notice { notice: Notice::CallsCut }));
    assert!(!recorder.events.iter().any(|event| matches!(event, AgentEvent::ToolRequested { .. })));
}

fn broken() -> ProviderError {
    ProviderError::Broken { url: "http://lab".into(), cause: "reset".into() }
}

#[test]
fn a_break_before_anything_was_shown_is_retried_with_a_countdown() {
    let mut bench = bench(vec![vec![Err(broken())], text("ok")], 9, false);
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
    assert!(recorder.events.iter().any(|event| matches!(event, AgentEvent::Retrying { attempt: 1, .. })));
}

#[test]
fn a_break_after_text_keeps_the_text_and_is_not_retried() {
    let mut bench = bench(vec![vec![Ok(StreamEvent::TextDelta("half".into())), Err(broken())]], 9, false);
    let mut recorder = Recorder::default();
    let error = Failure::Broken { url: "http://lab".into(), cause: "reset".into() };
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Failed { error });
    assert_eq!(bench.saved().messages().last(), Some(&Message::assistant("half")));
}

#[test]
fn an_empty_answer_is_asked_once_more() {
    let nothing = || vec![Ok(StreamEvent::ReasoningDelta("hm".into())), Ok(StreamEvent::Done(StopReason::EndTurn))];
    let mut twice = bench(vec![nothing(), nothing()], 9, false);
    assert_eq!(twice.turn("go", &mut Recorder::default()), TurnEnd::Failed { error: Failure::Empty });
    let mut once = bench(vec![nothing(), text("ok")], 9, false);
    assert_eq!(once.turn("go", &mut Recorder::default()), TurnEnd::Done);
}

#[test]
fn a_session_that_cannot_be_written_is_told_once_and_the_turn_goes_on() {
    let mut bench = bench(vec![calls(&["a"], StopReason::ToolUse), text("ok")], 9, true);
    std::fs::create_dir(bench.home.path().join(format!("{}.jsonl", bench.agent.session().id()))).unwrap();
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
    let told = recorder
        .events
        .iter()
        .filter(|event| matches!(event, AgentEvent::Notice { notice: Notice::NotSaved { .. } }));
    assert_eq!(told.count(), 1);
}

#[test]
fn a_retry_wait_ends_at_once_when_it_is_interrupted() {
    let mut bench = bench(vec![vec![Err(broken())]], 9, false);
    let mut recorder = Recorder { cancel_at: Some(3), ..Recorder::default() };
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Interrupted);
    assert!(recorder.events.iter().any(|event| matches!(event, AgentEvent::Retrying { .. })));
    assert_eq!(bench.agent.conversation().messages(), [Message::user("go")]);
}
