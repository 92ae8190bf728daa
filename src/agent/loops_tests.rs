use std::collections::VecDeque;

use super::super::bench::{Answer, Recorder, bench, calls, outcomes, text};
use super::super::{AgentEvent, Approval, Notice, TurnEnd};
use crate::approval::Mode;
use crate::conversation::{Outcome, StopReason, StreamEvent};

fn repeat(times: usize, answer: impl Fn() -> Answer) -> Vec<Answer> {
    (0..times).map(|_| answer()).collect()
}

fn stops(recorder: &Recorder) -> usize {
    let repeating = |event: &&AgentEvent| matches!(event, AgentEvent::Notice { notice: Notice::Repeating { .. } });
    recorder.events.iter().filter(repeating).count()
}

#[test]
fn the_same_call_is_stopped_and_the_third_stop_ends_the_turn_with_what_was_learnt() {
    let mut script = repeat(5, || calls(&["a"], StopReason::ToolUse));
    script.push(text("The file is not there."));
    let mut bench = bench(script, 99, true);
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Looping);
    assert_eq!(stops(&recorder), 3);
    let last = bench.agent.conversation().messages().last().unwrap().clone();
    assert_eq!(last.text(), "The file is not there.");
    assert_eq!(bench.saved().messages().last(), Some(&last));
    let offered = bench.provider.offered.lock().unwrap().clone();
    assert_eq!((offered.len(), offered[4].len(), offered[5].len()), (6, 1, 0));
    assert!(bench.provider.systems.lock().unwrap()[5].contains("no tools any more"));
    // The next turn is as ever.
    bench.provider.answers.lock().unwrap().push_back(text("again"));
    assert_eq!(bench.turn("next", &mut Recorder::default()), TurnEnd::Done);
    assert_eq!(bench.provider.systems.lock().unwrap()[6], "be brief");
}

#[test]
fn back_and_forth_is_stopped_too() {
    let mut script: Vec<Answer> = Vec::new();
    for _ in 0..3 {
        script.push(calls(&["a"], StopReason::ToolUse));
        script.push(calls(&["b"], StopReason::ToolUse));
    }
    script.push(text("I am stuck."));
    let mut bench = bench(script, 99, true);
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Looping);
    assert_eq!(stops(&recorder), 3);
}

#[test]
fn a_model_that_calls_all_the_same_is_not_run_and_nothing_stays_open() {
    let mut bench = bench(repeat(6, || calls(&["a"], StopReason::ToolUse)), 99, true);
    assert_eq!(bench.turn("go", &mut Recorder::default()), TurnEnd::Looping);
    let last = bench.agent.conversation().messages().last().unwrap();
    assert_eq!((last.text().as_str(), last.calls().count()), ("so ", 0));
    assert_eq!(bench.agent.conversation().check(), Ok(()));
}

#[test]
fn three_answers_in_a_row_that_cannot_be_read_end_in_plain_text() {
    let malformed = || {
        let extra = serde_json::Map::new();
        vec![
            Ok(StreamEvent::ToolCallStart { slot: 0, id: "x".into(), name: "echo".into(), extra }),
            Ok(StreamEvent::ToolCallDelta { slot: 0, arguments: "{\"n\": ".into() }),
            Ok(StreamEvent::Done(StopReason::ToolUse)),
        ]
    };
    let mut script = repeat(3, malformed);
    script.push(text("I cannot call it."));
    let mut bench = bench(script, 99, true);
    assert_eq!(bench.turn("go", &mut Recorder::default()), TurnEnd::Looping);
    assert_eq!(bench.agent.conversation().messages().last().unwrap().text(), "I cannot call it.");
    assert!(bench.provider.offered.lock().unwrap()[3].is_empty());
}

/// An answer with calls of these names, the arguments as they stand.
fn answer(calls: &[(&str, &str)]) -> Answer {
    let mut events: Answer = Vec::new();
    for (slot, (name, arguments)) in calls.iter().enumerate() {
        let (id, extra) = (format!("call{slot}"), serde_json::Map::new());
        events.push(Ok(StreamEvent::ToolCallStart { slot, id, name: (*name).into(), extra }));
        events.push(Ok(StreamEvent::ToolCallDelta { slot, arguments: (*arguments).into() }));
    }
    events.push(Ok(StreamEvent::Done(StopReason::ToolUse)));
    events
}

#[test]
fn what_cannot_be_read_in_one_answer_stops_neither_the_turn_nor_the_call_beside_it() {
    let bad = [("echo", "{\"n\": "), ("dance", "{}"), ("echo", "[1]"), ("sing", "{}")];
    let first = answer(&[bad.as_slice(), &[("echo", "{\"n\": 1}")]].concat());
    // Two answers of which nothing can be read are not three, with a good one between them.
    let script =
        vec![first, answer(&bad), answer(&bad), calls(&["a"], StopReason::ToolUse), answer(&bad), text("ok")];
    let mut bench = bench(script, 99, true);
    assert_eq!(bench.turn("go", &mut Recorder::default()), TurnEnd::Done);
    let outcomes: Vec<Outcome> = outcomes(bench.agent.conversation()).into_iter().map(|row| row.1).collect();
    assert_eq!(outcomes[..5], [Outcome::Failed, Outcome::Failed, Outcome::Failed, Outcome::Failed, Outcome::Ok]);
    let told = format!("{:?}", bench.agent.conversation().messages());
    assert!(!told.contains("denied"), "{told}");
}

#[test]
fn calls_behind_the_last_stop_were_denied_by_nobody() {
    let mut script = repeat(4, || answer(&[("echo", "{\"n\": 1}")]));
    script.push(answer(&[("echo", "{\"n\": 1}"), ("echo", "{\"n\": 2}")]));
    script.push(text("I am stuck."));
    let mut bench = bench(script, 99, true);
    assert_eq!(bench.turn("go", &mut Recorder::default()), TurnEnd::Looping);
    let told = format!("{:?}", bench.agent.conversation().messages());
    assert!(told.contains("the turn ends") && !told.contains("denied"), "{told}");
}

#[test]
fn eight_steps_without_progress_have_the_model_take_stock() {
    let ids: Vec<String> = (0..9).map(|number| format!("call{number}")).collect();
    let mut script: Vec<Answer> = ids.iter().map(|id| calls(&[id], StopReason::ToolUse)).collect();
    script.push(text("Nothing works."));
    let mut bench = bench(script, 99, false);
    let approvals = VecDeque::from(vec![Approval::Deny(String::new()); 9]);
    let mut recorder = Recorder { approvals, ..Recorder::default() };
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
    let requests = bench.provider.requests.lock().unwrap();
    let told: Vec<bool> =
        requests.iter().map(|messages| format!("{:?}", messages.last()).contains("Take stock")).collect();
    assert_eq!(told.iter().position(|told| *told), Some(8));
    assert_eq!(told.iter().filter(|told| **told).count(), 1);
}

#[test]
fn the_last_words_can_be_cut_anywhere() {
    let script = || {
        let mut script = repeat(5, || calls(&["a"], StopReason::ToolUse));
        script.push(text("what I learnt"));
        script
    };
    let mut whole = Recorder::default();
    bench(script(), 99, true).turn("go", &mut whole);
    for cut in whole.events.len() - 6..whole.events.len() {
        let mut bench = bench(script(), 99, true);
        let mut recorder = Recorder { cancel_at: Some(cut), ..Recorder::default() };
        assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Interrupted, "cut {cut}");
        assert_eq!(bench.agent.conversation().check(), Ok(()), "cut {cut}");
        bench.provider.answers.lock().unwrap().clear();
        bench.provider.answers.lock().unwrap().push_back(text("again"));
        assert_eq!(bench.turn("next", &mut Recorder::default()), TurnEnd::Done, "cut {cut}");
    }
}

#[test]
fn a_planning_agent_is_offered_no_changes_and_denied_those_it_tries() {
    let script = vec![
        calls(&["a"], StopReason::ToolUse),
        text("1. Do it."),
        calls(&["a"], StopReason::ToolUse),
        text("Done."),
    ];
    let mut bench = bench(script, 9, true);
    bench.agent.set_mode(Mode::Plan);
    assert_eq!(bench.turn("plan", &mut Recorder::default()), TurnEnd::Done);
    let told = format!("{:?}", bench.provider.requests.lock().unwrap()[1].last());
    assert!(told.contains("you can only read now"), "{told}");
    bench.agent.set_mode(Mode::Build);
    assert_eq!(bench.turn("build", &mut Recorder::default()), TurnEnd::Done);
    let offered = bench.provider.offered.lock().unwrap().clone();
    assert_eq!(offered, [vec![], vec![], vec!["echo".to_owned()], vec!["echo".to_owned()]]);
    let systems = bench.provider.systems.lock().unwrap().clone();
    assert!(systems[1].contains("You are planning") && systems[2] == "be brief", "{systems:?}");
}

#[test]
fn a_call_that_is_refused_again_and_again_is_stopped() {
    // By the mode, and by the person.
    for mode in [Mode::Plan, Mode::Build] {
        let mut script = repeat(5, || calls(&["a"], StopReason::ToolUse));
        script.push(text("I may not."));
        let mut bench = bench(script, 99, false);
        bench.agent.set_mode(mode);
        let no = || Approval::Deny(String::new());
        let mut recorder = Recorder { approvals: (0..5).map(|_| no()).collect(), ..Recorder::default() };
        assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Looping, "{mode:?}");
        assert_eq!(stops(&recorder), 3, "{mode:?}");
        // Whoever said no twice to the same is not asked a third time.
        assert_eq!(recorder.requests.len(), if mode == Mode::Build { 2 } else { 0 });
    }
}
