use std::collections::VecDeque;

use super::super::bench::{Bench, Recorder, bench, calls, outcomes, text};
use super::super::{Activity, AgentEvent, Approval, Failure, Notice, TurnEnd, take_up, tell_later};
use crate::conversation::{
    ContentBlock, Conversation, Message, MessageBuilder, Outcome, StopReason, StreamEvent, Subject, Usage,
};
use crate::provider::ProviderError;
use crate::session::{LeftOver, Redactor, Session, load};

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
    let mut bench = bench(vec![calls(&["a", "b"], StopReason::ToolUse)], 9, false);
    let mut recorder = Recorder { approvals: VecDeque::from([Approval::Unavailable]), ..Recorder::default() };
    let expected =
        TurnEnd::ApprovalNeeded { name: "echo".into(), subject: Subject::Whole, never_auto: false, unkept: false };
    assert_eq!(bench.turn("go", &mut recorder), expected);
    assert_eq!(bench.agent.conversation().check(), Ok(()));
    let told = format!("{:?}", bench.agent.conversation().messages());
    assert!(!told.contains("user denied"), "{told}");
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
fn a_break_after_thought_alone_is_retried() {
    let thought = || Ok(StreamEvent::ReasoningDelta("hm".into()));
    let mut bench = bench(vec![vec![thought(), Err(broken())], text("ok")], 9, false);
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
    assert!(recorder.events.iter().any(|event| matches!(event, AgentEvent::Retrying { attempt: 1, .. })));
    assert_eq!(bench.saved().messages(), [Message::user("go"), Message::assistant("ok")]);
}

#[test]
fn tokens_of_a_broken_and_of_an_interrupted_answer_are_counted() {
    let usage = Usage { input: 7, output: 2, ..Usage::default() };
    let cut = || vec![Ok(StreamEvent::TextDelta("half".into())), Ok(StreamEvent::Usage(usage)), Err(broken())];
    let mut bench = bench(vec![cut()], 9, false);
    bench.turn("go", &mut Recorder::default());
    assert_eq!(bench.agent.ledger().total().usage, usage);
    *bench.provider.answers.lock().unwrap() = VecDeque::from([cut()]);
    // Turn started, connecting, answering, the text: ESC comes behind the tokens.
    let mut recorder = Recorder { cancel_at: Some(4), ..Recorder::default() };
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Interrupted);
    *bench.provider.answers.lock().unwrap() =
        VecDeque::from([vec![Ok(StreamEvent::Usage(usage)), Err(broken())], text("ok")]);
    bench.turn("go", &mut Recorder::default());
    assert_eq!(bench.agent.ledger().total().usage.input, 14, "a request that is repeated has cost, too");
}

#[test]
fn a_paused_answer_is_sent_back_and_goes_on_but_not_for_ever() {
    let pause = || {
        let search = serde_json::json!({"type": "server_tool_use", "id": "s"});
        vec![Ok(StreamEvent::WireItem(search)), Ok(StreamEvent::Done(StopReason::Pause))]
    };
    let mut bench = bench(vec![pause(), text("found")], 99, false);
    assert_eq!(bench.turn("go", &mut Recorder::default()), TurnEnd::Done);
    let asked_again = bench.provider.requests.lock().unwrap()[1].clone();
    assert!(matches!(asked_again[1].content[..], [ContentBlock::WireItem(_)]), "{asked_again:?}");
    *bench.provider.answers.lock().unwrap() = (0..20).map(|_| pause()).collect();
    assert_eq!(bench.turn("go", &mut Recorder::default()), TurnEnd::StepLimit { limit: 8 });
    assert_eq!(bench.provider.answers.lock().unwrap().len(), 11);
}

#[test]
fn an_answer_that_fills_the_context_ends_with_that_reason() {
    let answer = vec![Ok(StreamEvent::TextDelta("half".into())), Ok(StreamEvent::Done(StopReason::ContextFull))];
    let mut bench = bench(vec![answer], 9, false);
    let end = bench.turn("go", &mut Recorder::default());
    assert!(matches!(end, TurnEnd::Failed { error: Failure::ContextOverflow { .. } }), "{end:?}");
    assert_eq!(bench.saved().messages().last(), Some(&Message::assistant("half")));
}

#[test]
fn silence_is_told_and_ends_with_the_next_word() {
    let events = vec![
        Ok(StreamEvent::Silent { seconds: 15 }),
        Ok(StreamEvent::TextDelta("at last".into())),
        Ok(StreamEvent::Done(StopReason::EndTurn)),
    ];
    let mut recorder = Recorder::default();
    assert_eq!(bench(vec![events], 9, false).turn("go", &mut recorder), TurnEnd::Done);
    let busy: Vec<Activity> = recorder
        .events
        .into_iter()
        .filter_map(|event| match event {
            AgentEvent::Waiting { activity } => Some(activity),
            _ => None,
        })
        .collect();
    assert_eq!(busy, [Activity::Connecting, Activity::Silent { seconds: 15 }, Activity::Answering]);
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
fn a_message_that_failed_is_not_sent_with_the_next_and_can_be_sent_again() {
    let refused = || vec![Err(ProviderError::ContextOverflow { message: "too long".into() })];
    let mut bench = bench(vec![text("hello"), refused(), text("fine"), text("and that")], 9, false);
    assert_eq!(bench.turn("hi", &mut Recorder::default()), TurnEnd::Done);
    assert!(matches!(bench.turn("a whole book", &mut Recorder::default()), TurnEnd::Failed { .. }));
    assert_eq!(bench.agent.said().last().as_deref(), Some("a whole book"));
    assert_eq!(bench.saved().messages(), bench.agent.conversation().messages());
    assert_eq!(bench.turn("a page", &mut Recorder::default()), TurnEnd::Done);
    let expected = [Message::user("hi"), Message::assistant("hello"), Message::user("a page")];
    assert_eq!(bench.provider.requests.lock().unwrap()[2], expected);
    assert_eq!(bench.agent.said().last().as_deref(), Some("a page"));
    assert_eq!(bench.saved().messages(), bench.agent.conversation().messages());
}

#[test]
fn what_failed_after_a_tool_ran_stays() {
    let refused = vec![Err(ProviderError::ContextOverflow { message: "too long".into() })];
    let mut bench = bench(vec![calls(&["a"], StopReason::ToolUse), refused], 9, true);
    assert!(matches!(bench.turn("go", &mut Recorder::default()), TurnEnd::Failed { .. }));
    assert_eq!(bench.agent.conversation().messages().len(), 3);
    assert_eq!(bench.saved().messages(), bench.agent.conversation().messages());
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
fn what_could_not_be_written_is_in_the_file_once_that_can_be_and_a_rewind_counts_right() {
    let mut bench = bench(vec![text("one"), text("two"), text("three")], 9, true);
    let path = bench.home.path().join(format!("{}.jsonl", bench.agent.session().id()));
    std::fs::create_dir(&path).unwrap();
    assert_eq!(bench.turn("first", &mut Recorder::default()), TurnEnd::Done);
    assert_eq!(bench.turn("second", &mut Recorder::default()), TurnEnd::Done);
    assert!(bench.agent.rewind(2).is_err());
    std::fs::remove_dir(&path).unwrap();
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("third", &mut recorder), TurnEnd::Done);
    let again = AgentEvent::Notice { notice: Notice::SavedAgain { path: path.clone() } };
    assert_eq!(recorder.events.iter().filter(|event| **event == again).count(), 1);
    let said =
        [Message::user("first"), Message::assistant("one"), Message::user("third"), Message::assistant("three")];
    assert_eq!(bench.saved().messages(), said);
    std::fs::remove_file(&path).unwrap();
    bench.provider.answers.lock().unwrap().push_back(text("four"));
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("fourth", &mut recorder), TurnEnd::Done);
    let anew = AgentEvent::Notice { notice: Notice::SavedAnew { path } };
    assert_eq!(recorder.events.iter().filter(|event| **event == anew).count(), 1);
    assert_eq!(bench.saved().messages(), bench.agent.conversation().messages());
}

#[test]
fn a_conversation_that_is_broken_is_healed_before_it_is_sent() {
    let mut bench = bench(vec![text("fine")], 9, false);
    let broken = calls(&["a"], StopReason::ToolUse);
    let mut builder = MessageBuilder::new("lab/m");
    broken.iter().flatten().for_each(|event| builder.push(event));
    let asked = builder.finish().message.unwrap();
    let messages = vec![Message::user("go"), asked, Message::user("go on")];
    let id = bench.agent.session().id().clone();
    let session = Session::new(id, "/".into(), Some(bench.home.path()), Redactor::default());
    bench.agent.set_session(session, Conversation::unchecked(messages), crate::conversation::Ledger::default());
    // The model's double refuses what is not whole, as servers do.
    assert_eq!(bench.turn("and?", &mut Recorder::default()), TurnEnd::Done);
    assert_eq!(bench.agent.conversation().check(), Ok(()));
    assert_eq!(outcomes(bench.agent.conversation()), [("a".to_owned(), Outcome::Interrupted)]);
}

#[test]
fn a_retry_wait_ends_at_once_when_it_is_interrupted() {
    let mut bench = bench(vec![vec![Err(broken())]], 9, false);
    let mut recorder = Recorder { cancel_at: Some(3), ..Recorder::default() };
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Interrupted);
    assert!(recorder.events.iter().any(|event| matches!(event, AgentEvent::Retrying { .. })));
    assert_eq!(bench.agent.conversation().messages(), [Message::user("go")]);
}

#[test]
fn what_failed_and_what_was_to_be_told_is_known_after_a_resume() {
    let refused = || vec![Err(ProviderError::ContextOverflow { message: "too long".into() })];
    let mut bench = bench(vec![text("hello"), refused(), text("fine"), text("and")], 9, false);
    assert_eq!(bench.turn("hi", &mut Recorder::default()), TurnEnd::Done);
    tell_later(&mut bench.agent, "[The user took back a change]".to_owned());
    let left = |bench: &Bench| load(bench.agent.session().path().unwrap()).unwrap().left;
    let noted = LeftOver { unanswered: None, notes: vec!["[The user took back a change]".to_owned()] };
    assert_eq!(left(&bench), noted);
    assert!(matches!(bench.turn("a whole book", &mut Recorder::default()), TurnEnd::Failed { .. }));
    assert_eq!(left(&bench), LeftOver { unanswered: Some("a whole book".to_owned()), ..noted });
    // As after an exit and a resume.
    let loaded = load(bench.agent.session().path().unwrap()).unwrap();
    let path = bench.agent.session().path().unwrap().to_owned();
    let session = Session::resume(loaded.id, "/".into(), path, Redactor::default());
    bench.agent.set_session(session, loaded.conversation, loaded.ledger);
    take_up(&mut bench.agent, loaded.left);
    assert_eq!(
        (bench.agent.said().unanswered(), bench.agent.said().last().as_deref()),
        (Some("a whole book"), Some("a whole book"))
    );
    assert_eq!(bench.turn("a page", &mut Recorder::default()), TurnEnd::Done);
    let sent = bench.provider.requests.lock().unwrap()[2].last().unwrap().text();
    assert!(sent.starts_with("a page") && sent.contains("[The user took back a change]"), "{sent}");
    assert_eq!(left(&bench), LeftOver::default());
    assert_eq!(bench.agent.said().unanswered(), None);
}
