use serde_json::json;

use super::super::bench::{Answer, Bench, Echo, Recorder, bench_with, bench_within, standby, text};
use super::super::{AgentEvent, Notice, Shortened, TurnEnd};
use super::*;
use crate::conversation::{Money, StopReason, StreamEvent, ToolSpec};
use crate::provider::ProviderError;
use crate::session::{Redactor, Session, load};
use crate::tool::{Request, Roots, Tool};

/// Two calls whose results come back as long as their arguments, then a word.
fn task(name: &str) -> Vec<Answer> {
    let long = format!("{name} ").repeat(300);
    let call = |id: &str| {
        vec![
            Ok(StreamEvent::ToolCallStart {
                slot: 0,
                id: id.into(),
                name: "echo".into(),
                extra: serde_json::Map::new(),
            }),
            Ok(StreamEvent::ToolCallDelta { slot: 0, arguments: json!({ "n": long }).to_string() }),
            Ok(StreamEvent::Done(StopReason::ToolUse)),
        ]
    };
    vec![call("a"), call("b"), text(&format!("{name} is done"))]
}

fn requests(bench: &Bench) -> Vec<Vec<Message>> {
    bench.provider.requests.lock().unwrap().clone()
}

fn told(recorder: &Recorder) -> Vec<Shortened> {
    let of = |event: &AgentEvent| match event {
        AgentEvent::Notice { notice: Notice::Shortened { shortened } } => Some(*shortened),
        _ => None,
    };
    recorder.events.iter().filter_map(of).collect()
}

fn add(bench: &Bench, answers: Vec<Answer>) {
    bench.provider.answers.lock().unwrap().extend(answers);
}

/// Talks until it was cut at least once with a frame; the model sums nothing up.
fn long_talk(bench: &mut Bench) -> Vec<Shortened> {
    bench.agent.talk.window.failed = MOST_FAILED;
    let mut all = Vec::new();
    for number in 0..20 {
        add(bench, task(&format!("task{number}")));
        let mut recorder = Recorder::default();
        let end = bench.turn(&format!("do task {number}, ticket OPS-{number}{number}77"), &mut recorder);
        assert_eq!(end, TurnEnd::Done, "{number}");
        all.extend(told(&recorder));
    }
    all
}

#[test]
fn a_conversation_that_fills_its_window_goes_on_without_a_model_that_sums_up() {
    let mut bench = bench_within(Vec::new(), Some(6_000));
    let cuts = long_talk(&mut bench);
    assert!(cuts.iter().any(|cut| cut.dropped > 0 && !cut.summed_up), "{cuts:?}");
    for request in requests(&bench) {
        let size: u64 = request.iter().map(tokens::estimate_message).sum();
        assert!(size < 6_000, "{size}");
    }
    // Nothing was lost.
    assert_eq!(bench.agent.conversation().messages().len(), 20 * 6);
    let last = format!("{:?}", requests(&bench).last().unwrap());
    assert!(last.contains("do task 0, ticket OPS-0077"), "the first wish is still sent");
    // The same is sent after the session was loaded again.
    let loaded = load(bench.agent.session().path().unwrap()).unwrap();
    assert_eq!(loaded.conversation, *bench.agent.conversation());
}

#[test]
fn once_cut_the_model_may_search_what_was_said() {
    let mut bench = bench_within(Vec::new(), Some(6_000));
    long_talk(&mut bench);
    let offered = bench.provider.offered.lock().unwrap().clone();
    assert!(!offered[0].contains(&"recall".to_owned()) && offered.last().unwrap().contains(&"recall".to_owned()));
    let call = vec![
        Ok(StreamEvent::ToolCallStart {
            slot: 0,
            id: "r".into(),
            name: "recall".into(),
            extra: serde_json::Map::new(),
        }),
        Ok(StreamEvent::ToolCallDelta { slot: 0, arguments: json!({"query": "ticket of task 3"}).to_string() }),
        Ok(StreamEvent::Done(StopReason::ToolUse)),
    ];
    add(&bench, vec![call, text("OPS-3377")]);
    bench.turn("which ticket was it?", &mut Recorder::default());
    let messages = bench.agent.conversation().messages();
    let ContentBlock::ToolResult(result) = &messages[messages.len() - 2].content[0] else { panic!("{messages:?}") };
    assert!(result.content.contains("[turn 4, user, line 1]\ndo task 3, ticket OPS-3377"), "{}", result.content);
}

#[test]
fn the_models_summary_stands_in_the_frame() {
    let mut bench = bench_within(Vec::new(), Some(6_000));
    bench.agent.talk.wishes.shortening = Shortening::Off;
    for number in 0..5 {
        add(&bench, task(&format!("task{number}")));
        bench.turn("go", &mut Recorder::default());
    }
    bench.agent.talk.wishes.shortening = Shortening::On;
    add(&bench, vec![text("Goal: mend it. Constraints: never push.")]);
    add(&bench, task("more"));
    // What the last turn's end asks for.
    add(&bench, vec![text("Goal: go on.")]);
    let mut recorder = Recorder::default();
    bench.turn("go on", &mut recorder);
    let cut = bench.agent.conversation().cut().unwrap();
    assert!(cut.frame.contains("never push") || cut.frame.contains("Goal: go on."), "{}", cut.frame);
    assert!(told(&recorder).iter().any(|cut| cut.summed_up), "{:?}", told(&recorder));
}

#[test]
fn a_cut_taken_back_sends_what_was_sent_before() {
    let mut bench = bench_within(Vec::new(), None);
    for number in 0..4 {
        add(&bench, task(&format!("task{number}")));
        bench.turn("go", &mut Recorder::default());
    }
    let before = bench.agent.talk.sent().into_owned();
    add(&bench, vec![text("Goal: all.")]);
    let mut recorder = Recorder::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let cancel = CancellationToken::new();
    let shortened = runtime.block_on(bench.agent.shorten("the tickets", &mut recorder, &cancel)).unwrap();
    assert!(shortened.after < shortened.before && shortened.summed_up, "{shortened:?}");
    let asked = format!("{:?}", requests(&bench).last().unwrap());
    assert!(asked.contains("The user cares most for: the tickets"), "{asked}");
    assert_ne!(bench.agent.talk.sent().as_ref(), before);
    assert!(bench.agent.undo_shortening().unwrap());
    assert_eq!(bench.agent.talk.sent().as_ref(), before);
    assert!(!bench.agent.undo_shortening().unwrap());
    assert_eq!(load(bench.agent.session().path().unwrap()).unwrap().conversation, *bench.agent.conversation());
}

#[test]
fn a_refusal_for_length_is_believed_once_and_the_request_is_sent_again_shorter() {
    let mut bench = bench_within(Vec::new(), None);
    for number in 0..4 {
        add(&bench, task(&format!("task{number}")));
        bench.turn("go", &mut Recorder::default());
    }
    let refusal = || {
        let message =
            "This model's maximum context length is 4096 tokens. However, your messages resulted in 5120 tokens";
        vec![Err(ProviderError::ContextOverflow { message: message.into() })]
    };
    let before = requests(&bench).len();
    add(&bench, vec![refusal(), text("fine")]);
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("once more", &mut recorder), TurnEnd::Done);
    assert_eq!(told(&recorder).len(), 1);
    let sizes: Vec<u64> = requests(&bench)[before..]
        .iter()
        .map(|request| request.iter().map(tokens::estimate_message).sum())
        .collect();
    assert!(sizes.len() == 2 && sizes[1] < sizes[0] && sizes[1] < 4_096, "{sizes:?}");
    // A server that refuses whatever it is sent is not asked for ever.
    add(&bench, vec![refusal(), refusal(), refusal()]);
    assert!(matches!(bench.turn("again", &mut Recorder::default()), TurnEnd::Failed { .. }));
}

#[test]
fn what_is_no_summary_is_not_taken_and_not_asked_for_for_ever() {
    let mut bench = bench_within(Vec::new(), None);
    for number in 0..4 {
        add(&bench, task(&format!("task{number}")));
        bench.turn("go", &mut Recorder::default());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let cancel = CancellationToken::new();
    for _ in 0..MOST_FAILED {
        add(&bench, vec![text(&"longer than what it stands for ".repeat(2_000))]);
        let shortened = runtime.block_on(bench.agent.shorten("", &mut Recorder::default(), &cancel));
        assert!(shortened.is_none_or(|shortened| !shortened.summed_up));
        bench.agent.undo_shortening().unwrap();
    }
    // No answer is scripted: asking would fail the test.
    let _ = runtime.block_on(bench.agent.shorten("", &mut Recorder::default(), &cancel));
}

/// A tool of many words.
struct Wordy;

impl Tool for Wordy {
    fn spec(&self) -> ToolSpec {
        ToolSpec { description: "many words ".repeat(1_000), ..Echo.spec() }
    }
    fn read(&self, input: &serde_json::Value, roots: &Roots) -> Arc<dyn Request> {
        Echo.read(input, roots)
    }
}

#[test]
fn the_person_is_told_where_a_small_window_leaves_fewer_tools() {
    let message =
        "This model's maximum context length is 4096 tokens. However, your messages resulted in 5120 tokens";
    let refused = vec![Err(ProviderError::ContextOverflow { message: message.into() })];
    let mut bench = bench_with(vec![refused, text("fine")], 9, true, vec![Arc::new(Wordy)]);
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
    assert_eq!(*bench.provider.offered.lock().unwrap(), [vec!["echo".to_owned()], Vec::new()]);
    let told = AgentEvent::Notice { notice: Notice::FewerTools { left: 0, of: 1 } };
    assert_eq!(recorder.events.iter().filter(|event| **event == told).count(), 1, "{:?}", recorder.events);
}

fn shorten(bench: &mut Bench) -> Option<Shortened> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (mut recorder, cancel) = (Recorder::default(), CancellationToken::new());
    runtime.block_on(bench.agent.shorten("", &mut recorder, &cancel))
}

#[test]
fn a_summary_that_the_budget_does_not_allow_is_not_asked_for() {
    let mut bench = bench_within(Vec::new(), None);
    for number in 0..4 {
        add(&bench, task(&format!("task{number}")));
        bench.turn("go", &mut Recorder::default());
    }
    // No answer is scripted: asking would fail the test.
    bench.agent.set_provider(standby("dear", Some("3/15"), Vec::new()));
    bench.agent.talk.wishes.budget = Some(Money::default());
    let shortened = shorten(&mut bench).unwrap();
    assert!(!shortened.summed_up && shortened.dropped > 0, "{shortened:?}");
}

#[test]
fn what_would_save_nothing_is_not_paid_for() {
    let mut bench = bench_within(vec![text("hello"), text("and that")], None);
    bench.turn("hi", &mut Recorder::default());
    bench.turn("and this?", &mut Recorder::default());
    // No answer is scripted: asking would fail the test.
    assert_eq!(shorten(&mut bench), None);
}

#[test]
fn no_summary_is_paid_for_at_the_end_of_a_turn_that_nothing_follows() {
    let asked = |goes_on: bool| {
        let mut bench = bench_within(Vec::new(), Some(6_000));
        bench.agent.talk.wishes.goes_on = goes_on;
        let ends = (0..20).filter(|number| {
            bench.agent.talk.window.failed = 0;
            add(&bench, task(&format!("task{number}")));
            // For each summary that may be asked for.
            add(&bench, (0..3).map(|_| text("Goal: go on.")).collect());
            let mut recorder = Recorder::default();
            bench.turn("go", &mut recorder);
            bench.provider.answers.lock().unwrap().clear();
            let answered = recorder.events.iter().rposition(|event| *event == AgentEvent::MessageEnded);
            let summing_up = AgentEvent::Waiting { activity: Activity::SummingUp };
            recorder.events[answered.unwrap()..].contains(&summing_up)
        });
        ends.count()
    };
    assert_eq!(asked(false), 0);
    assert!(asked(true) > 0);
}

#[test]
fn what_is_pinned_is_in_every_request_also_after_a_rewind_and_a_resume() {
    let mut bench = bench_within((0..4).map(|number| text(&format!("answer {number}"))).collect(), None);
    let pinned = |bench: &Bench| format!("{:?}", requests(bench).last().unwrap()).matches("never push").count();
    bench.turn("hi", &mut Recorder::default());
    bench.agent.pin("never push to main".to_owned()).unwrap();
    bench.turn("and this?", &mut Recorder::default());
    assert_eq!(pinned(&bench), 1);
    bench.agent.rewind(2).unwrap();
    bench.turn("another", &mut Recorder::default());
    assert_eq!(pinned(&bench), 1);
    let first = requests(&bench).last().unwrap().clone();
    bench.turn("and more", &mut Recorder::default());
    assert_eq!(requests(&bench).last().unwrap()[..first.len()], first, "each begins with the one before");
    // Pinned, left, and gone on with before anything was said.
    bench.agent.pin("use tabs".to_owned()).unwrap();
    let loaded = load(bench.agent.session().path().unwrap()).unwrap();
    let session = Session::new(loaded.id, "/".into(), None, Redactor::default());
    bench.agent.set_session(session, loaded.conversation, loaded.ledger);
    add(&bench, vec![text("fine")]);
    bench.turn("go on", &mut Recorder::default());
    let sent = format!("{:?}", requests(&bench).last().unwrap());
    assert!(sent.contains("never push") && sent.contains("use tabs"), "{sent}");
}
