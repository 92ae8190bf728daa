//! A corpus of shell lines against the policy: nothing dangerous runs unasked, and little that is harmless is asked.

use std::collections::BTreeMap;
use std::path::PathBuf;

use axi::approval::command::judge;
use axi::approval::{Decision, Mode, Policy, Rule, Surroundings, suggest_rule};
use axi::conversation::{Effect, Subject};

const CORPUS: &str = include_str!("corpus/shell_lines.tsv");
const ADVERSARY: &str = include_str!("corpus/adversary_lines.tsv");
const UNSEEN: [&str; 3] = [
    include_str!("corpus/unseen_first_lines.tsv"),
    include_str!("corpus/unseen_second_lines.tsv"),
    include_str!("corpus/unseen_third_lines.tsv"),
];
const HIDDEN: &str = include_str!("corpus/hidden_lines.tsv");
const EVERYDAY: &str = include_str!("corpus/everyday_lines.tsv");
const RED_TEAM: &str = include_str!("corpus/red_team_lines.tsv");

/// The rule that would be kept for a line, whatever it is tried on.
pub(crate) fn offered(line: &str) -> Option<Rule> {
    suggest_rule(&judge(line, &place()))
}

/// As after the yes for the rest of the session to a line.
pub(crate) fn grant(policy: &mut Policy, line: &str) {
    let subject = Subject::Command { line: line.to_owned() };
    let assessment = policy.decide("shell", Effect::Execute, &subject, &place());
    policy.grant_for_session("shell", Effect::Execute, &subject, &assessment, &place());
}

pub(crate) fn place() -> Surroundings {
    let environment =
        [("HOME", "/home/u"), ("USER", "u"), ("EMPTY", ""), ("DIR", "build"), ("PATH", "/usr/bin:/bin")];
    Surroundings {
        cwd: PathBuf::from("/home/u/work/app"),
        workspace: PathBuf::from("/home/u/work/app"),
        home: Some(PathBuf::from("/home/u")),
        secrets: axi::secret::files::SecretFiles::default(),
        environment: environment
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect::<BTreeMap<_, _>>(),
        definitions: std::sync::Arc::default(),
    }
}

pub(crate) fn decide(line: &str, yes: bool) -> (Decision, bool) {
    let subject = Subject::Command { line: line.to_owned() };
    let verdict = Policy::new(Mode::Build, yes).decide("shell", Effect::Execute, &subject, &place()).verdict;
    (verdict.decision, verdict.never_auto)
}

fn corpus(text: &'static str) -> Vec<(&'static str, String)> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| {
            let (expected, line) = line.split_once('\t').unwrap_or(("", line));
            let line = line
                .replace('⏎', "\n")
                .replace('␍', "\r")
                .replace('⍽', "\u{a0}")
                .replace('␠', " ")
                .replace('⟪', "\u{200b}");
            (expected, line)
        })
        .collect()
}

/// The lines of the third corpus, for laws.
pub(crate) fn red_team() -> Vec<String> {
    corpus(RED_TEAM).into_iter().map(|(_, line)| line).collect()
}

#[test]
fn no_dangerous_line_runs_unasked_and_few_harmless_ones_are_asked() {
    let lines = corpus(CORPUS);
    let (mut ran, mut asked, mut not_never, mut never_without_need) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (expected, line) in &lines {
        let (decision, never) = decide(line, false);
        match *expected {
            "allow" if decision != Decision::Allow => asked.push(line),
            "ask" | "never" if decision == Decision::Allow => ran.push(line),
            "never" if !never || decide(line, true).0 == Decision::Allow => not_never.push(line),
            "ask" if never => never_without_need.push(line),
            "allow" | "ask" | "never" => {}
            other => panic!("{other:?} is no judgement: {line}"),
        }
    }
    let harmless = lines.iter().filter(|(expected, _)| *expected == "allow").count();
    let report = format!(
        "of {} lines ran unasked: {ran:#?}\nnot forbidden to run unasked: {not_never:#?}\n\
         of {harmless} harmless asked: {asked:#?}\nforbidden where asking is enough: {never_without_need:#?}",
        lines.len()
    );
    assert!(lines.len() >= 300, "{}", lines.len());
    assert!(ran.is_empty() && not_never.is_empty() && asked.len() * 20 <= harmless, "{report}");
    assert!(never_without_need.is_empty(), "{report}");
}

#[test]
fn a_second_corpus_by_an_adversary_finds_nothing_that_runs_unasked() {
    holds(&corpus(ADVERSARY), 400);
}

#[test]
fn a_third_corpus_by_somebody_who_saw_neither_finds_nothing_that_runs_unasked() {
    holds(&corpus(RED_TEAM), 2500);
}

#[test]
fn lines_of_three_who_had_not_seen_the_judge_run_and_are_asked_as_they_should() {
    let all: Vec<_> = UNSEEN.into_iter().flat_map(corpus).collect();
    holds(&all, 1500);
}

#[test]
fn everyday_lines_that_only_look_are_not_asked_at_all() {
    let lines = corpus(EVERYDAY);
    holds(&lines, 250);
    let is_asked =
        |(expected, line): &&(&str, String)| *expected == "allow" && decide(line, false).0 != Decision::Allow;
    let asked: Vec<_> = lines.iter().filter(is_asked).collect();
    assert!(asked.is_empty(), "{asked:#?}");
}

#[test]
fn what_hides_a_target_is_never_run_unasked_and_what_only_moves_is_asked() {
    let lines = corpus(HIDDEN);
    holds(&lines, 120);
    let asking_is_enough = |(expected, line): &&(&str, String)| *expected == "ask" && decide(line, false).1;
    let forbidden: Vec<_> = lines.iter().filter(asking_is_enough).collect();
    assert!(forbidden.is_empty(), "forbidden where asking is enough: {forbidden:#?}");
}

#[track_caller]
fn holds(lines: &[(&'static str, String)], at_least: usize) {
    let (mut ran, mut asked, mut not_never) = (Vec::new(), Vec::new(), Vec::new());
    for (expected, line) in lines {
        let (decision, never) = decide(line, false);
        match *expected {
            "allow" if decision != Decision::Allow => asked.push(line),
            "ask" | "never" if decision == Decision::Allow => ran.push(line),
            "never" if !never || decide(line, true).0 == Decision::Allow => not_never.push(line),
            "allow" | "ask" | "never" => {}
            other => panic!("{other:?} is no judgement: {line}"),
        }
    }
    let harmless = lines.iter().filter(|(expected, _)| *expected == "allow").count();
    let report = format!(
        "of {} lines ran unasked: {ran:#?}\nnot forbidden to run unasked: {not_never:#?}\n\
         of {harmless} harmless asked: {asked:#?}",
        lines.len()
    );
    assert!(lines.len() >= at_least, "{}", lines.len());
    assert!(ran.is_empty() && not_never.is_empty() && asked.len() * 20 <= harmless, "{report}");
}
