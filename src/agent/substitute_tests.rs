use std::time::Duration;

use super::super::bench::{Bench, Recorder, bench, calls, standby, text};
use super::super::fallback::Fallbacks;
use super::super::{AgentEvent, Failure, FallbackPrice, Notice, TurnEnd};
use crate::conversation::{Money, StopReason};
use crate::provider::ProviderError;

fn refusal(status: u16, retry_after: Option<u64>) -> ProviderError {
    let (provider, message) = ("lab".to_owned(), "Overloaded".to_owned());
    ProviderError::Status { provider, status, message, retry_after: retry_after.map(Duration::from_secs) }
}

fn fell(recorder: &Recorder) -> Vec<(String, String, FallbackPrice)> {
    let notices = recorder.events.iter().filter_map(|event| match event {
        AgentEvent::Notice { notice: Notice::FellBack { from, to, price, .. } } => {
            Some((from.clone(), to.clone(), *price))
        }
        _ => None,
    });
    notices.collect()
}

fn asked(bench: &Bench) -> usize {
    bench.provider.requests.lock().unwrap().len()
}

#[test]
fn an_overloaded_provider_is_told_and_the_next_turn_goes_back_to_it() {
    let overloaded = || vec![Err(refusal(529, None))];
    let script = vec![calls(&["a"], StopReason::ToolUse), overloaded(), overloaded(), overloaded(), text("back")];
    let mut bench = bench(script, 9, true);
    let other = standby("other", None, vec![calls(&["b"], StopReason::ToolUse), text("done")]);
    bench.agent.talk.fallbacks = Fallbacks::new(vec![other.clone()]);
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
    assert_eq!(fell(&recorder), [("lab/m".into(), "lab/other".into(), FallbackPrice::Unknown)]);
    // It was asked three times, and no more in this turn.
    assert_eq!((asked(&bench), other.requests.lock().unwrap().len()), (4, 2));
    assert_eq!(bench.agent.conversation().check(), Ok(()));
    assert_eq!(bench.saved().messages(), bench.agent.conversation().messages());
    let mut recorder = Recorder::default();
    assert_eq!(bench.turn("more", &mut recorder), TurnEnd::Done);
    assert_eq!((fell(&recorder), asked(&bench)), (vec![], 5));
    assert_eq!(bench.agent.conversation().messages().last().unwrap().text(), "back");
}

#[test]
fn those_that_stand_by_are_asked_in_their_order_and_when_none_is_left_the_turn_fails() {
    // A server that wants longer to be waited for than anybody would is left at once.
    let mut bench = bench(vec![vec![Err(refusal(429, Some(9_999)))]], 9, true);
    let same = standby("m", None, vec![]);
    let first = standby("first", None, vec![vec![Err(refusal(503, Some(9_999)))]]);
    let second = standby("second", None, (0..9).map(|_| vec![Err(refusal(500, None))]).collect());
    bench.agent.talk.fallbacks = Fallbacks::new(vec![same.clone(), first, second]);
    let mut recorder = Recorder::default();
    let end = bench.turn("go", &mut recorder);
    assert!(matches!(end, TurnEnd::Failed { error: Failure::Status { status: 500, .. } }), "{end:?}");
    let told: Vec<String> = fell(&recorder).into_iter().map(|(_, to, _)| to).collect();
    assert_eq!(told, ["lab/first", "lab/second"]);
    assert_eq!((asked(&bench), same.requests.lock().unwrap().len()), (1, 0));
    assert_eq!(bench.agent.model().model, "m");
}

#[test]
fn what_is_no_overload_is_told_as_it_is() {
    let empty_account = ProviderError::Status {
        provider: "lab".into(),
        status: 429,
        message: "You exceeded your current quota".into(),
        retry_after: None,
    };
    let no_key =
        ProviderError::Unauthorized { provider: "lab".into(), status: 401, message: String::new(), place: None };
    for error in [refusal(400, None), refusal(501, None), empty_account, no_key] {
        let mut bench = bench(vec![vec![Err(error.clone())]], 9, true);
        bench.agent.talk.fallbacks = Fallbacks::new(vec![standby("other", None, vec![])]);
        let mut recorder = Recorder::default();
        assert!(matches!(bench.turn("go", &mut recorder), TurnEnd::Failed { .. }), "{error:?}");
        assert_eq!(fell(&recorder), [], "{error:?}");
    }
}

#[test]
fn what_the_other_costs_is_told_and_the_budget_holds_for_it() {
    let cases = [
        (Some("3/15"), Some("1/5"), FallbackPrice::NotMore),
        (
            Some("3/15"),
            Some("1/16"),
            FallbackPrice::More { input: Money::dollars(1.0), output: Money::dollars(16.0) },
        ),
        (None, Some("1/5"), FallbackPrice::More { input: Money::dollars(1.0), output: Money::dollars(5.0) }),
        (Some("3/15"), None, FallbackPrice::Unknown),
        (None, Some("0/0"), FallbackPrice::NotMore),
    ];
    for (chosen, other, expected) in cases {
        let mut bench = bench(vec![], 9, true);
        let own = standby("own", chosen, vec![vec![Err(refusal(429, Some(9_999)))]]);
        bench.agent.set_provider(own);
        bench.agent.talk.fallbacks = Fallbacks::new(vec![standby("other", other, vec![text("done")])]);
        let mut recorder = Recorder::default();
        assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Done);
        assert_eq!(fell(&recorder)[0].2, expected, "{chosen:?} {other:?}");
    }
    let mut bench = bench(vec![vec![Err(refusal(429, Some(9_999)))]], 9, true);
    let dear = standby("dear", Some("1000000/1000000"), vec![]);
    bench.agent.talk.fallbacks = Fallbacks::new(vec![dear.clone()]);
    bench.agent.wishes().budget = Some(Money::dollars(1.0));
    let end = bench.turn("go", &mut Recorder::default());
    assert!(matches!(end, TurnEnd::BudgetLimit { .. }), "{end:?}");
    assert!(dear.requests.lock().unwrap().is_empty());
}

#[test]
fn who_stands_in_can_be_stopped_and_a_model_chosen_afterwards_stays() {
    let mut bench = bench(vec![vec![Err(refusal(429, Some(9_999)))]], 9, true);
    bench.agent.talk.fallbacks = Fallbacks::new(vec![standby("other", None, vec![text("words")])]);
    let at = 4;
    let mut recorder = Recorder { cancel_at: Some(at), ..Recorder::default() };
    assert_eq!(bench.turn("go", &mut recorder), TurnEnd::Interrupted, "{:?}", recorder.events);
    assert_eq!(bench.agent.model().model, "m");
    bench.agent.set_provider(standby("third", None, vec![text("fine")]));
    assert_eq!(bench.turn("next", &mut Recorder::default()), TurnEnd::Done);
    assert_eq!(bench.agent.model().model, "third");
}
