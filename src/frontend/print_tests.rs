use super::*;
use crate::agent::Failure;

#[test]
fn a_retry_is_told_once_however_long_it_is_waited_for() {
    let (locale, roots) = (Locale::new("en"), Roots { cwd: "/".into(), workspace: "/".into(), home: None });
    let mut told = Stderr {
        err: Vec::new(),
        locale: &locale,
        roots: &roots,
        tools: Toolbox::default(),
        about: Vec::new(),
        retry: None,
        told_broken: false,
        is_kept: true,
    };
    let retrying = |attempt, wait_ms| AgentEvent::Retrying {
        attempt,
        of: 4,
        wait_ms,
        error: Failure::Timeout { url: String::new(), seconds: 9 },
    };
    for event in
        [retrying(1, 3000), retrying(1, 2000), retrying(1, 1000), retrying(2, 900), AgentEvent::MessageEnded]
    {
        told.show(&event);
    }
    told.show(&retrying(1, 500));
    let lines = String::from_utf8(told.err).unwrap();
    let lines: Vec<&str> = lines.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    let expected = ["retry in 3 s (1 of 4)", "retry in 0.9 s (2 of 4)", "retry in 0.5 s (1 of 4)"];
    assert_eq!(lines, expected);
}
