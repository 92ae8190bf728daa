use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::super::TurnEnd;
use super::super::bench::{Bench, Recorder, bench_with, calls, outcomes, text};
use crate::conversation::{Answer, Effect, Outcome, Preview, Question, StopReason, Subject, ToolSpec};
use crate::tool::{Place, Tool, ToolContext, ToolFacts, ToolOutput};

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
    fn effect(&self, _: &Value, _: &Place) -> Effect {
        Effect::Read
    }
    fn subject(&self, _: &Value, _: &Place) -> Subject {
        Subject::Whole
    }
    fn preview(&self, _: &Value, _: &Place) -> Result<Preview, String> {
        Ok(Preview::Text { text: String::new() })
    }
    fn run<'a>(&'a self, _: Value, context: ToolContext<'a>) -> BoxFuture<'a, ToolOutput> {
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
