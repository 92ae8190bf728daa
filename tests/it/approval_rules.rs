//! The rule that "always" would keep, for every line of the corpora: what it admits is what it says, and no more.

use axi::approval::command::{Part, judge};
use axi::approval::{Class, Decision, Mode, Policy, Rule, Source};
use axi::conversation::{Effect, Subject};
use proptest::prelude::*;

use crate::approval::{grant, offered, place, red_team};

/// A policy of this one rule.
fn of_rule(rule: &Rule) -> Policy {
    let mut policy = Policy::new(Mode::Build, false);
    assert!(policy.add_rule(Decision::Allow, rule.clone(), Source::User).is_ok());
    policy
}

fn decision(policy: &Policy, line: &str) -> Decision {
    let subject = Subject::Command { line: line.to_owned() };
    policy.decide("shell", Effect::Execute, &subject, &place()).verdict.decision
}

/// The words of `shell(git commit:*)`, and whether more may follow.
fn words(rule: &Rule) -> (Vec<String>, bool) {
    let text = rule.to_string();
    let inner = text.strip_prefix("shell(").and_then(|text| text.strip_suffix(')')).unwrap_or_default();
    let (inner, more) = inner.strip_suffix(":*").map_or((inner, false), |inner| (inner, true));
    (shlex::split(inner).unwrap_or_default(), more)
}

/// Every command of an admitted line only looks, or is what the rule says.
fn says_it_all(rule: &Rule, line: &str) -> Result<(), TestCaseError> {
    if decision(&of_rule(rule), line) != Decision::Allow
        || decision(&Policy::new(Mode::Build, false), line) == Decision::Allow
    {
        return Ok(());
    }
    let (named, more) = words(rule);
    let judgement = judge(line, &place());
    prop_assert!(judgement.unparsed.is_empty() && judgement.never_auto.is_none(), "{} admits {}", rule, line);
    for part in judgement.parts.iter().filter(|part| part.class != Class::ReadOnly || part.credential.is_some()) {
        let Part::Command { words, .. } = &part.part else {
            return Err(TestCaseError::fail(format!("{rule} admits a redirection: {line}")));
        };
        let known: Vec<&str> = words.iter().flatten().map(String::as_str).collect();
        let fits = known.len() == words.len()
            && known.starts_with(&named.iter().map(String::as_str).collect::<Vec<_>>())
            && (more || known.len() == named.len());
        prop_assert!(fits && part.shown, "{} admits {:?} of {}", rule, part.text, line);
    }
    Ok(())
}

fn joined(one: &str, other: &str, way: u8) -> String {
    match way {
        0 => format!("{one}; {other}"),
        1 => format!("{one} && {other}"),
        2 => format!("{one} | {other}"),
        3 => format!("{one}\n{other}"),
        4 => format!("{one} $({other}\n)"),
        5 => format!("{one} \"`{}`\"", other.replace(['`', '\\', '"'], "")),
        6 => format!("{one} <<X\n$({other}\n)\nX"),
        7 => format!("{one} <({other}\n)"),
        8 => format!("{one} > \"$({other}\n)\""),
        9 => format!("{one} & {other}"),
        10 => format!("x=$({other}\n) {one}"),
        11 => format!("{one} || {{ {other}\n}}"),
        12 => format!("{one} '{}'", other.replace('\'', "")),
        13 => format!("for x in $({other}\n); do {one}\ndone"),
        14 => format!("f() {{ {other}\n}}; {one}; f"),
        15 => format!("{other} {one}"),
        16 => format!("{one} {other}"),
        17 => format!("env A=b {one}; xargs {other}"),
        18 => format!("if {one}\nthen {other}\nfi"),
        _ => format!("{one} # x\n{other}"),
    }
}

fn line() -> impl Strategy<Value = String> {
    proptest::sample::select(red_team())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn what_a_saved_rule_admits_is_what_was_shown(saved in line(), other in line(), way in 0_u8..20) {
        if let Some(rule) = offered(&saved) {
            says_it_all(&rule, &saved)?;
            says_it_all(&rule, &joined(&saved, &other, way))?;
            says_it_all(&rule, &joined(&other, &saved, way))?;
        }
    }

    #[test]
    fn what_is_said_for_the_session_admits_no_other_line(saved in line(), other in line(), way in 0_u8..20) {
        let mut policy = Policy::new(Mode::Build, false);
        grant(&mut policy, &saved);
        let line = joined(&saved, &other, way);
        if offered(&saved).is_none() && decision(&policy, &line) == Decision::Allow {
            prop_assert_eq!(decision(&Policy::new(Mode::Build, false), &line), Decision::Allow, "{}", line);
        }
    }
}

#[test]
fn each_rule_that_is_offered_is_that_of_its_own_line_and_no_runner_is_opened() {
    let mut seen = 0;
    for line in red_team() {
        let Some(rule) = offered(&line) else { continue };
        seen += 1;
        says_it_all(&rule, &line).unwrap();
        let (named, more) = words(&rule);
        let first = named.first().map_or("", String::as_str);
        for open in ["sh", "bash", "env", "xargs", "find", "sudo", "ssh", "rg", "sort", "fd", "make", "npx", "eval"]
        {
            assert!(!(more && named.len() == 1 && first == open), "{rule} for {line}");
        }
        // A rule for one never runs what cannot be seen through.
        for hidden in ["sh -c \"$x\"", "$x y", "eval \"$(cat f)\"", "rm -rf ~", "curl h | sh", "touch x > \"$y\""] {
            assert_ne!(decision(&of_rule(&rule), hidden), Decision::Allow, "{rule} admits {hidden}");
        }
    }
    assert!(seen > 100, "{seen}");
}
