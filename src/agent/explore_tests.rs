use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::super::bench::{Answer, Bench, Recorder, bench_with, outcomes, text};
use super::super::{Activity, AgentEvent, Explorer, TurnEnd};
use crate::approval::{Decision, Rule, Source};
use crate::conversation::{
    ContentBlock, Effect, Outcome, Preview, StopReason, StreamEvent, ToolIdentity, ToolSpec, Usage,
};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolFacts, ToolOutput};

/// A tool of this name and effect that says its name.
struct Named(&'static str, Effect);

impl Tool for Named {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.0.into(),
            description: String::new(),
            input_schema: json!({"type": "object"}),
            identity: ToolIdentity { for_sub_agents: self.0 != "write", ..ToolIdentity::default() },
        }
    }
    fn read(&self, _: &Value, _: &Roots) -> Arc<dyn Request> {
        Arc::new(Self(self.0, self.1))
    }
}
impl Request for Named {
    fn effect(&self) -> Effect {
        self.1
    }
    fn check(&self, _: &Before<'_>) -> Result<Preview, String> {
        Ok(Preview::Text { text: String::new() })
    }
    fn run(self: Arc<Self>, _: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            ToolOutput::ok(format!("{} ran", self.0), ToolFacts::default())
        })
    }
}

fn call(slot: usize, name: &str, arguments: &Value) -> Answer {
    let (id, extra) = (format!("{name}{slot}{arguments}"), serde_json::Map::new());
    vec![
        Ok(StreamEvent::ToolCallStart { slot, id, name: name.into(), extra }),
        Ok(StreamEvent::ToolCallDelta { slot, arguments: arguments.to_string() }),
    ]
}

fn calls(parts: impl IntoIterator<Item = Answer>) -> Answer {
    let mut events: Answer = parts.into_iter().flatten().collect();
    events.push(Ok(StreamEvent::Usage(Usage { input: 10, output: 1, ..Usage::default() })));
    events.push(Ok(StreamEvent::Done(StopReason::ToolUse)));
    events
}

fn explores(questions: &[&str]) -> Answer {
    calls(questions.iter().enumerate().map(|(slot, text)| call(slot, "explore", &json!({ "question": text }))))
}

fn short(explorer: &Explorer) -> String {
    let doing = explorer.doing.as_ref().map_or("-", |doing| doing.name.as_str());
    format!("{} {} {doing}", explorer.number, explorer.question)
}

fn scene(script: Vec<Answer>) -> Bench {
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Named("read", Effect::Read)),
        Arc::new(Named("shell", Effect::Execute)),
        Arc::new(Named("write", Effect::Write)),
    ];
    let mut bench = bench_with(script, 9, false, tools);
    bench.agent.allow_exploring();
    bench
}

/// What each request was about: the first words of the person in it.
fn topics(bench: &Bench) -> Vec<String> {
    bench.provider.requests.lock().unwrap().iter().map(|messages| messages[0].text()).collect()
}

fn results(bench: &Bench) -> Vec<String> {
    let blocks = bench.agent.conversation().messages().iter().flat_map(|message| message.content.clone());
    let results = blocks.filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(result.content),
        _ => None,
    });
    results.collect()
}

#[test]
fn sub_agents_run_side_by_side_and_only_their_answers_come_back() {
    let read = || calls([call(0, "read", &json!({}))]);
    let script =
        vec![explores(&["where?", "why?"]), read(), read(), text("here"), text("here"), text("all is said")];
    let mut bench = scene(script);
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
    let mut asked = topics(&bench);
    // Both begin before one goes on; which of them goes on first nobody knows.
    asked[3..5].sort();
    assert_eq!(asked, ["go", "where?", "why?", "where?", "why?", "go"]);
    assert_eq!(results(&bench), ["here", "here"]);
    assert_eq!(bench.agent.conversation().messages().len(), 4);
    assert_eq!(bench.saved().messages(), bench.agent.conversation().messages());
    let told = recorder.events.iter().filter_map(|event| match event {
        AgentEvent::Waiting { activity: Activity::Exploring { explorers } } => Some(explorers),
        _ => None,
    });
    // Each is told apart, with what it does now.
    let told: Vec<Vec<String>> = told.map(|explorers| explorers.iter().map(short).collect()).collect();
    assert_eq!(told.first(), Some(&vec!["1 where? -".to_owned()]));
    assert!(told.contains(&vec!["1 where? -".to_owned(), "2 why? -".to_owned()]), "{told:?}");
    assert!(told.iter().flatten().any(|line| line == "1 where? read"), "{told:?}");
    assert!(told.iter().flatten().any(|line| line == "2 why? read"), "{told:?}");
    // Their tokens are the session's.
    assert_eq!(bench.agent.ledger().total().usage.input, 30);
    let offered = bench.provider.offered.lock().unwrap().clone();
    assert_eq!((offered[0].len(), offered[1].join(" ")), (4, "read shell".to_owned()));
    assert!(bench.provider.systems.lock().unwrap()[1].contains("You are exploring"));
}

#[test]
fn what_would_ask_or_change_is_denied_to_a_sub_agent() {
    let tries = calls([call(0, "shell", &json!({})), call(1, "write", &json!({}))]);
    let mut bench = scene(vec![explores(&["where?"]), tries, text("not found"), text("so")]);
    assert_eq!(bench.turn("go", &mut Recorder::default()), TurnEnd::Done);
    let requests = bench.provider.requests.lock().unwrap();
    let told = format!("{:?}", requests[2]);
    assert!(told.contains("you can only read now") && told.contains("There is no tool named"), "{told}");
    assert!(!told.contains(" ran"), "{told}");
}

#[test]
fn a_rule_that_denies_exploring_holds() {
    let mut bench = scene(vec![explores(&["where?"]), text("so")]);
    bench.agent.policy_mut().add_rule(Decision::Deny, Rule::parse("explore").unwrap(), Source::User).unwrap();
    assert_eq!(bench.turn("go", &mut Recorder::default()), TurnEnd::Done);
    assert_eq!(topics(&bench), ["go", "go"]);
    assert_eq!(outcomes(bench.agent.conversation())[0].1, Outcome::Denied);
}

#[test]
fn one_that_does_not_come_to_an_end_says_what_it_found() {
    let mut script = vec![explores(&["where?"])];
    script.extend((0..12).map(|step| calls([call(0, "read", &json!({ "step": step }))])));
    script.extend([text("half of it"), text("so")]);
    let mut bench = scene(script);
    assert_eq!(bench.turn("go", &mut Recorder::default()), TurnEnd::Done);
    assert_eq!(results(&bench), ["half of it"]);
    assert!(bench.provider.offered.lock().unwrap()[13].is_empty());
}

#[test]
fn cut_at_every_event_the_conversation_stays_valid() {
    let read = || calls([call(0, "read", &json!({}))]);
    let script =
        || vec![explores(&["where?", "why?"]), read(), read(), text("here"), text("because"), text("all is said")];
    let mut whole = Recorder::default();
    scene(script()).turn("go", &mut whole);
    for cut in 1..whole.events.len() - 1 {
        let mut bench = scene(script());
        let mut recorder = Recorder { cancel_at: Some(cut), ..Recorder::default() };
        assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Interrupted, "cut {cut}");
        assert_eq!(bench.agent.conversation().check(), Ok(()), "cut {cut}");
        assert_eq!(bench.saved().messages(), bench.agent.conversation().messages(), "cut {cut}");
        *bench.provider.answers.lock().unwrap() = VecDeque::from([text("again")]);
        assert_eq!(bench.turn("next", &mut Recorder::default()), TurnEnd::Done, "cut {cut}");
    }
}

#[test]
fn a_question_that_is_none_is_said_and_one_asked_again_and_again_is_stopped() {
    let script = vec![
        calls([call(0, "explore", &json!({}))]),
        explores(&["where?"]),
        text("here"),
        explores(&["where?"]),
        text("here"),
        explores(&["where?"]),
        text("so"),
    ];
    let mut bench = scene(script);
    assert_eq!(bench.turn("go", &mut Recorder::default()), TurnEnd::Done);
    let results = results(&bench);
    assert!(results[0].contains("missing argument `question`"), "{results:?}");
    assert!(results[3].starts_with("Not run: you asked exactly this before"), "{results:?}");
}
