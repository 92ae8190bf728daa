use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::super::bench::{Bench, Recorder, bench_with, calls, outcomes, text};
use super::super::{Approval, TurnEnd};
use crate::approval::Reason;
use crate::conversation::{Answer, Effect, Outcome, Preview, Question, StopReason, Subject, ToolSpec};
use crate::tool::{Before, Request, Roots, Settled, Tool, ToolContext, ToolFacts, ToolMemory, ToolOutput};

/// A tool that asks and says what was answered.
struct Curious;

impl Tool for Curious {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "echo".into(),
            description: String::new(),
            input_schema: json!({"type": "object"}),
            ..ToolSpec::default()
        }
    }
    fn read(&self, _: &Value, _: &Roots) -> Arc<dyn Request> {
        Arc::new(Self)
    }
}
impl Request for Curious {
    fn effect(&self) -> Effect {
        Effect::Read
    }
    fn check(&self, _: &Before<'_>) -> Result<Preview, String> {
        Ok(Preview::Text { text: String::new() })
    }
    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let question = Question { text: "which?".into(), ..Question::default() };
            match context.person.ask(question).await {
                Answer::Given { text, .. } => ToolOutput::ok(text, ToolFacts::default()),
                Answer::Aborted => ToolOutput { outcome: Outcome::Interrupted, ..ToolOutput::failed("stopped") },
                Answer::Unavailable => ToolOutput::failed("nobody to ask"),
            }
        })
    }
}

fn curious(replies: Vec<Answer>) -> (TurnEnd, Bench, Recorder) {
    let script = vec![calls(&["a"], StopReason::ToolUse), text("done")];
    let mut bench = bench_with(script, 9, false, vec![Arc::new(Curious)]);
    let mut recorder = Recorder { replies: VecDeque::from(replies), ..Recorder::default() };
    let end = bench.turn("go", &mut recorder);
    assert_eq!(recorder.questions.len(), 1);
    (end, bench, recorder)
}

fn told(bench: &Bench) -> String {
    format!("{:?}", bench.provider.requests.lock().unwrap()[1])
}

#[test]
fn a_running_tool_gets_the_persons_answer_and_the_turn_goes_on() {
    let (end, bench, _) = curious(vec![Answer::Given { chosen: Vec::new(), text: "the blue one".into() }]);
    assert_eq!(end, TurnEnd::Done);
    assert!(told(&bench).contains("the blue one"), "{}", told(&bench));
}

#[test]
fn nobody_to_ask_is_the_tools_result() {
    let (end, bench, _) = curious(Vec::new());
    assert_eq!(end, TurnEnd::Done);
    assert!(told(&bench).contains("nobody to ask"), "{}", told(&bench));
}

#[test]
fn escape_at_a_question_ends_the_turn() {
    let (end, bench, _) = curious(vec![Answer::Aborted]);
    assert_eq!(end, TurnEnd::Interrupted);
    assert_eq!(outcomes(bench.agent.conversation()), vec![("a".to_owned(), Outcome::Interrupted)]);
    assert_eq!(bench.agent.conversation().check(), Ok(()));
}

/// A tool on a file system that does not answer.
struct Stuck {
    /// Held for as long as the disk is dead.
    dead: Arc<std::sync::Mutex<()>>,
}

impl Tool for Stuck {
    fn spec(&self) -> ToolSpec {
        Curious.spec()
    }
    fn read(&self, _: &Value, roots: &Roots) -> Arc<dyn Request> {
        Arc::new(Hanging { dead: Arc::clone(&self.dead), path: roots.resolve("a") })
    }
}
/// A call of it.
struct Hanging {
    dead: Arc<std::sync::Mutex<()>>,
    path: std::path::PathBuf,
}

impl Request for Hanging {
    fn effect(&self) -> Effect {
        Effect::Write
    }
    fn subject(&self) -> Subject {
        Subject::Paths { paths: vec![self.path.clone()] }
    }
    fn settle(&self, _: &Roots, _: &ToolMemory) -> Settled {
        drop(self.dead.lock());
        Settled::AsIs
    }
    fn check(&self, _: &Before<'_>) -> Result<Preview, String> {
        drop(self.dead.lock());
        Ok(Preview::Text { text: "what the disk says".to_owned() })
    }
    fn run(self: Arc<Self>, _: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async { ToolOutput::ok("ran", ToolFacts::default()) })
    }
}

fn stuck(cancel_at: Option<usize>) -> (TurnEnd, Recorder, Bench) {
    let dead = Arc::new(std::sync::Mutex::new(()));
    let held = dead.lock().unwrap();
    let script = vec![calls(&["a"], StopReason::ToolUse), text("done")];
    let mut bench = bench_with(script, 9, false, vec![Arc::new(Stuck { dead: Arc::clone(&dead) })]);
    let mut recorder = Recorder { cancel_at, ..Recorder::default() };
    recorder.approvals.push_back(Approval::Deny(String::new()));
    let end = bench.turn("go", &mut recorder);
    drop(held);
    (end, recorder, bench)
}

#[test]
fn a_disk_that_does_not_answer_holds_up_no_question() {
    let (end, recorder, bench) = stuck(None);
    assert_eq!(end, TurnEnd::Done);
    assert_eq!(outcomes(bench.agent.conversation()), [("a".to_owned(), Outcome::Denied)]);
    let request = &recorder.requests[0];
    assert_eq!(request.reasons.iter().filter(|reason| **reason == Reason::Unanswered).count(), 1);
    // What the call names is all that is known.
    let named = bench.home.path().join("a").display().to_string();
    assert_eq!((&request.preview, &request.always_rule), (&Preview::Text { text: named }, &None));
}

#[test]
fn a_disk_that_does_not_answer_holds_up_no_interrupt() {
    let (_, asked, _) = stuck(None);
    for event in 1..=asked.events.len() {
        let (end, recorder, bench) = stuck(Some(event));
        assert_eq!(bench.agent.conversation().check(), Ok(()), "at event {event}");
        // Past the answer the turn may have ended.
        assert!(end == TurnEnd::Interrupted || recorder.requests.len() == 1, "at event {event}: {end:?}");
    }
}
