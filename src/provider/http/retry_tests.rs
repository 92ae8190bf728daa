use proptest::prelude::*;

use super::*;

fn status(status: u16, retry_after: Option<u64>) -> ProviderError {
    ProviderError::Status {
        provider: "lab".into(),
        status,
        message: "m".into(),
        retry_after: retry_after.map(Duration::from_secs),
    }
}

fn unreachable(cause: &str) -> ProviderError {
    ProviderError::Unreachable { url: "http://127.0.0.1:1".into(), cause: cause.into() }
}

fn waits(error: &ProviderError) -> Vec<u128> {
    let plan = RetryPlan::default();
    (1..).map_while(|repetition| plan.decide(repetition, error, 1.0)).map(|wait| wait.as_millis()).collect()
}

#[test]
fn passing_troubles_are_repeated_four_times_with_doubling_waits() {
    for code in [408, 409, 429, 500, 502, 503, 504, 520, 522, 524, 529] {
        assert_eq!(waits(&status(code, None)), vec![1000, 2000, 4000, 8000], "{code}");
    }
    let broken = ProviderError::Broken { url: "u".into(), cause: cause::CLOSED.into() };
    assert_eq!(waits(&broken), vec![1000, 2000, 4000, 8000]);
}

#[test]
fn what_cannot_pass_is_told_at_once() {
    for code in [400, 402, 404, 413, 422, 501] {
        assert_eq!(waits(&status(code, None)), Vec::<u128>::new(), "{code}");
    }
    assert_eq!(waits(&ProviderError::ContextOverflow { message: "m".into() }), Vec::<u128>::new());
    assert_eq!(waits(&unreachable(cause::UNTRUSTED)), Vec::<u128>::new());
    let mut poor = status(429, None);
    if let ProviderError::Status { message, .. } = &mut poor {
        *message = "You exceeded your current quota, please check your plan and billing details.".into();
    }
    assert_eq!(waits(&poor), Vec::<u128>::new());
}

#[test]
fn a_server_that_is_not_there_is_tried_twice_and_quickly() {
    assert_eq!(waits(&unreachable(cause::REFUSED)), vec![300, 300]);
    assert_eq!(waits(&unreachable(cause::NO_NAME)), vec![300, 300]);
}

#[test]
fn silence_and_nonsense_are_tried_once_more() {
    let silence = ProviderError::Timeout { url: "u".into(), after: Duration::from_mins(5) };
    assert_eq!(waits(&silence), vec![1000]);
    assert_eq!(waits(&ProviderError::Protocol { provider: "p".into(), cause: "c".into() }), vec![1000]);
}

#[test]
fn retry_after_is_a_floor_and_a_long_one_is_told() {
    assert_eq!(waits(&status(429, Some(0))), vec![1000, 2000, 4000, 8000]);
    assert_eq!(waits(&status(429, Some(5))), vec![5000, 5000, 5000, 8000]);
    assert_eq!(waits(&status(429, Some(120))), vec![120_000; 4]);
    assert_eq!(waits(&status(429, Some(121))), Vec::<u128>::new());
}

proptest! {
    #[test]
    fn waits_stay_between_half_and_whole_of_the_step(repetition in 1_u32..5, random in 0.0_f64..1.0) {
        let plan = RetryPlan::default();
        let step = plan.base * (1 << (repetition - 1));
        let wait = plan.decide(repetition, &status(503, None), random).unwrap();
        prop_assert!(wait >= step / 2 && wait <= step);
    }

    #[test]
    fn no_number_panics(repetition in any::<u32>(), random in any::<f64>(), requests in any::<u32>()) {
        let plan = RetryPlan { requests, ..RetryPlan::default() };
        let wait = plan.decide(repetition, &status(503, None), random);
        prop_assert!(wait.is_none_or(|wait| wait <= plan.cap));
    }
}
