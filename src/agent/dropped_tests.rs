use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::super::TurnEnd;
use super::super::bench::{Answer, Bench, Echo, Recorder, bench_of, calls, outcomes, text};
use crate::conversation::{Effect, Message, Outcome, Preview, StopReason, StreamEvent, ToolSpec};
use crate::journal::Foreign;
use crate::session::{Redactor, Session, open};
use crate::tool::{Before, ReadTool, Request, Roots, Tool, ToolContext, ToolOutput, WriteTool};

fn called(arguments: &[(&str, Value)]) -> Answer {
    let mut events: Answer = vec![Ok(StreamEvent::TextDelta("so ".into()))];
    for (slot, (name, input)) in arguments.iter().enumerate() {
        let (id, extra) = (format!("{name}{slot}{input}"), serde_json::Map::new());
        events.push(Ok(StreamEvent::ToolCallStart { slot, id, name: (*name).into(), extra }));
        events.push(Ok(StreamEvent::ToolCallDelta { slot, arguments: input.to_string() }));
    }
    events.push(Ok(StreamEvent::Done(StopReason::ToolUse)));
    events
}

/// A turn that writes a file, has a sub-agent explore, goes round in circles and says its last words.
fn scene() -> Bench {
    let write = |text: &str| called(&[("write", json!({"path": "a.txt", "content": text}))]);
    let same = || called(&[("read", json!({"path": "a.txt"}))]);
    let mut script = vec![write("one"), called(&[("explore", json!({"question": "where?"}))])];
    script.extend([called(&[("read", json!({"path": "a.txt"}))]), text("here")]);
    script.extend((0..6).map(|_| same()));
    script.push(text("I am stuck."));
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(WriteTool), Arc::new(ReadTool)];
    let mut bench = bench_of(script, 99, true, tools, true);
    bench.agent.allow_exploring();
    bench
}

/// Polls a future so many times at most; `None` when it was dropped before its end.
async fn polled<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future: Pin<Box<F>> = Box::pin(future);
    let mut left = times;
    std::future::poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

#[test]
fn dropped_at_any_poll_a_turn_leaves_a_whole_agent() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut times = 0;
    loop {
        let mut bench = scene();
        let mut recorder = Recorder::default();
        let cancel = recorder.cancel.clone();
        let turn = bench.agent.run_turn(Message::user("go"), &mut recorder, &cancel);
        let end = runtime.block_on(polled(turn, times));
        if end.is_some() {
            assert_eq!(end, Some(TurnEnd::Looping));
            break;
        }
        // What goes on is as ever: the prompt, the tools, the session's file, and what can be taken back.
        bench.provider.answers.lock().unwrap().clear();
        let write = called(&[("write", json!({"path": "b.txt", "content": "two"}))]);
        *bench.provider.answers.lock().unwrap() = VecDeque::from([write, text("done")]);
        let mut recorder = Recorder::default();
        let turn = bench.agent.run_turn(Message::user("next"), &mut recorder, &cancel);
        assert_eq!(runtime.block_on(turn), TurnEnd::Done, "after {times} polls");
        assert_eq!(bench.agent.conversation().check(), Ok(()), "after {times} polls");
        assert_eq!(bench.saved().messages(), bench.agent.conversation().messages(), "after {times} polls");
        assert_eq!(bench.provider.systems.lock().unwrap().last().map(String::as_str), Some("be brief"));
        assert_eq!(bench.provider.offered.lock().unwrap().last().unwrap().len(), 3, "after {times} polls");
        let (one, two) = (bench.home.path().join("a.txt"), bench.home.path().join("b.txt"));
        assert!(two.exists(), "after {times} polls");
        let first = bench.agent.changed_turns().unwrap()[0].number;
        let plan = bench.agent.plan_undo(first).unwrap();
        bench.agent.take_back(&plan, Foreign::Leave).unwrap();
        assert!(!one.exists() && !two.exists(), "after {times} polls all is taken back");
        times += 1;
    }
    assert!(times > 30, "{times}");
}

#[test]
fn a_killed_axi_loses_no_more_than_the_newest_second_of_an_answer() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let words = ["one ", "two"].map(|word| Ok(StreamEvent::TextDelta(word.into())));
    let mut bench = bench_of(vec![words.into()], 9, false, Vec::new(), false);
    bench.provider.stalls.store(true, std::sync::atomic::Ordering::Relaxed);
    let mut recorder = Recorder::default();
    let cancel = recorder.cancel.clone();
    let turn = bench.agent.run_turn(Message::user("go"), &mut recorder, &cancel);
    let passed = runtime.block_on(async { tokio::time::timeout(Duration::from_millis(1100), turn).await });
    assert!(passed.is_err(), "the model is still writing");
    // What another axi finds, this one gone.
    assert_eq!(bench.saved().messages(), [Message::user("go"), Message::assistant("one two")]);
}

/// A tool that tells when its call `b` has begun, which never ends.
struct Endless(Arc<Notify>);

impl Tool for Endless {
    fn spec(&self) -> ToolSpec {
        Echo.spec()
    }
    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        let echo = Echo.read(input, roots);
        if *input == json!({"n": "b"}) { Arc::new(Unending(Arc::clone(&self.0), echo)) } else { echo }
    }
}

struct Unending(Arc<Notify>, Arc<dyn Request>);

impl Request for Unending {
    fn effect(&self) -> Effect {
        self.1.effect()
    }
    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        self.1.check(before)
    }
    fn run(self: Arc<Self>, _: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            self.0.notify_one();
            std::future::pending().await
        })
    }
}

#[test]
fn what_finished_of_the_calls_of_a_message_is_there_though_axi_was_killed_in_the_next() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let begun = Arc::new(Notify::new());
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Endless(Arc::clone(&begun)))];
    let mut bench = bench_of(vec![calls(&["a", "b"], StopReason::ToolUse)], 9, true, tools, false);
    let mut recorder = Recorder::default();
    let cancel = recorder.cancel.clone();
    let turn = bench.agent.run_turn(Message::user("go"), &mut recorder, &cancel);
    runtime.block_on(async {
        tokio::select! {
            end = turn => panic!("{end:?}"),
            () = begun.notified() => {}
        }
    });
    let kept = [("a".to_owned(), Outcome::Ok), ("b".to_owned(), Outcome::Interrupted)];
    assert_eq!(outcomes(&bench.saved()), kept);
    // Who goes on has it in the file.
    let path = bench.agent.session().path().unwrap();
    let opened = open(path).unwrap();
    assert_eq!(outcomes(&opened.conversation), kept);
    let mut next = Session::resume(opened.id, "/".into(), path.to_owned(), Redactor::default());
    next.append_message("lab/m", &Message::user("go on"), SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(outcomes(&bench.saved()), kept);
    assert!(!path.with_extension("partial").exists());
}
