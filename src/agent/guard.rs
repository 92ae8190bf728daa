//! Notices when a model repeats itself. Pure.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::conversation::{Outcome, ToolCall};

/// After how many stopped calls the turn ends.
const LAST_STOP: u32 = 3;

/// After how many answers in a row with unreadable calls the turn ends.
const LAST_MALFORMED: u32 = 3;

/// After how many steps without anything new the model is asked to take stock; asked again after as many more.
const IDLE_STEPS: u32 = 8;

/// How many earlier calls are compared: two rounds of two.
const LOOK_BACK: usize = 4;

/// Remembers the last calls of a turn and their results.
#[derive(Debug, Clone, Default)]
pub(super) struct LoopGuard {
    recent: VecDeque<(u64, u64)>,
    stops: u32,
    /// How many answers in a row had no call that could be read.
    malformed: u32,
    /// Whether a call of this step could, or could not, be read.
    read: bool,
    unread: bool,
    /// Every call that succeeded, with its result.
    known: HashSet<(u64, u64)>,
    idle: u32,
    /// Whether this step brought something new.
    progress: bool,
}

/// Whether a call repeats earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It does not.
    Go,
    /// It does, and is not run; `last` says that the turn ends with it.
    Stop { last: bool },
}

/// How the turn goes on after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepVerdict {
    /// As usual.
    Go,
    /// The model should take stock: several steps brought nothing new.
    TakeStock,
    /// The turn ends: the model does not manage to write a readable call.
    Stop,
}

impl LoopGuard {
    /// Checks a call before it is run. Stops the third of three equal calls with equal results, and the second B of
    /// A, B, A, B with equal results.
    pub(super) fn check(&mut self, call: &ToolCall) -> Verdict {
        self.read = true;
        let now = fingerprint(call);
        let back: Vec<(u64, u64)> = self.recent.iter().rev().copied().collect();
        let same = matches!(back.as_slice(), [one, two, ..] if one == two && one.0 == now);
        let circle = matches!(
            back.as_slice(),
            [a2, b, a1, ..] if a2 == a1 && b.0 == now && a2.0 != now
        );
        if !same && !circle {
            return Verdict::Go;
        }
        self.stops += 1;
        Verdict::Stop { last: self.stops >= LAST_STOP }
    }

    /// Counts a call that cannot be read, or that names no tool.
    pub(super) const fn malformed(&mut self) {
        self.unread = true;
    }

    /// Remembers the result of a call. `None` stands for a stopped call: it keeps its earlier result, so that it is
    /// stopped again.
    pub(super) fn record(&mut self, call: &ToolCall, result: Option<(Outcome, &str)>) {
        let now = fingerprint(call);
        let result = result.map(|(outcome, result)| (outcome, without_times(result)));
        if let Some((Outcome::Ok, result)) = &result {
            self.progress |= self.known.insert((now, hash(result)));
        }
        let result = result.map(|(_, result)| result);
        let known = || self.recent.iter().rev().find(|(name, _)| *name == now).map_or(0, |(_, result)| *result);
        let result = result.map_or_else(known, |result| hash(&result));
        self.recent.push_back((now, result));
        while self.recent.len() > LOOK_BACK {
            self.recent.pop_front();
        }
    }

    /// Ends a step, which is all calls of one answer.
    pub(super) fn ends_step(&mut self) -> StepVerdict {
        let (read, unread) = (std::mem::take(&mut self.read), std::mem::take(&mut self.unread));
        self.malformed = if unread && !read { self.malformed + 1 } else { 0 };
        self.idle = if std::mem::take(&mut self.progress) { 0 } else { self.idle + 1 };
        if self.malformed >= LAST_MALFORMED {
            StepVerdict::Stop
        } else if self.idle > 0 && self.idle.is_multiple_of(IDLE_STEPS) {
            StepVerdict::TakeStock
        } else {
            StepVerdict::Go
        }
    }
}

/// Removes from a result what differs between equal runs: times of day and durations (`0.12s`, `3 ms`).
fn without_times(result: &str) -> String {
    let mut kept = String::with_capacity(result.len());
    for word in result.split_inclusive(char::is_whitespace) {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let number = bare.trim_end_matches(|letter: char| letter.is_alphabetic());
        let is_number = number.starts_with(|digit: char| digit.is_ascii_digit());
        let of_digits =
            |marks: &[char]| number.chars().all(|letter| letter.is_ascii_digit() || marks.contains(&letter));
        let duration =
            ["s", "ms", "µs", "us", "ns", "m"].contains(&&bare[number.len()..]) && of_digits(&['.', ',', 'm']);
        let clock = number.matches(':').count() == 2 && of_digits(&[':', '.', ',']);
        if !(is_number && (duration || clock)) {
            kept.push_str(word);
        }
    }
    kept
}

fn fingerprint(call: &ToolCall) -> u64 {
    hash(&(&call.name, call.input.to_string()))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
#[path = "loops_tests.rs"]
mod loops_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn call(command: &str) -> ToolCall {
        ToolCall {
            id: "x".into(),
            name: "shell".into(),
            input: serde_json::json!({ "command": command }),
            invalid_input: None,
            extra: serde_json::Map::new(),
            model: String::new(),
            arguments: String::new(),
        }
    }

    /// Runs calls with their results; a stopped call gets the guard's own text.
    fn run(steps: &[(&str, &str)]) -> Vec<Verdict> {
        let mut guard = LoopGuard::default();
        let step = |(command, result): &(&str, &str)| {
            let verdict = guard.check(&call(command));
            guard.record(&call(command), (verdict == Verdict::Go).then_some((Outcome::Ok, *result)));
            verdict
        };
        steps.iter().map(step).collect()
    }

    const STOP: Verdict = Verdict::Stop { last: false };

    #[test]
    fn the_third_same_call_with_the_same_result_is_stopped_and_the_third_stop_is_the_last() {
        let verdicts = run(&[("ls", "a"); 5]);
        assert_eq!(verdicts, vec![Verdict::Go, Verdict::Go, STOP, STOP, Verdict::Stop { last: true }]);
    }

    #[test]
    fn a_call_whose_result_changes_may_be_repeated() {
        let verdicts = run(&[("make", "1 error"), ("make", "0 errors"), ("make", "0 errors ")]);
        assert_eq!(verdicts, vec![Verdict::Go; 3]);
    }

    #[test]
    fn a_result_that_differs_in_its_times_only_is_the_same() {
        let said =
            |number: u32| format!("ok. 3 passed; finished in 0.{number}s at 12:00:{number}, took {number}ms");
        let verdicts = run(&[("test", &said(12)), ("test", &said(34)), ("test", &said(56))]);
        assert_eq!(verdicts, vec![Verdict::Go, Verdict::Go, STOP]);
        for (text, kept) in [
            ("1 error in 3 files", "1 error in 3 files"),
            ("finished in 0.12s", "finished in "),
            ("[1m2s] é 7µs 5 m 12:30 12:30:01 v1.2.3 s 3sum", "é 5 m 12:30 v1.2.3 s 3sum"),
        ] {
            assert_eq!(without_times(text), kept);
        }
    }

    #[test]
    fn eight_steps_that_bring_nothing_new_are_told_and_eight_more_again() {
        let mut guard = LoopGuard::default();
        let mut step = |number: u32, outcome| {
            let call = call(&number.to_string());
            guard.check(&call);
            guard.record(&call, Some((outcome, "no such file")));
            guard.ends_step() == StepVerdict::TakeStock
        };
        // A new result is progress; the same again, or any failure, is not.
        assert!(!step(0, Outcome::Ok));
        let told: Vec<u32> = (1..20).filter(|number| step(*number, Outcome::Failed)).collect();
        assert_eq!(told, vec![8, 16]);
        assert!(!step(20, Outcome::Ok));
        let told: Vec<u32> = (21..30).filter(|number| step(*number, Outcome::Denied)).collect();
        assert_eq!(told, vec![28]);
    }

    #[test]
    fn going_back_and_forth_is_stopped_at_the_second_round() {
        let verdicts = run(&[("a", "1"), ("b", "2"), ("a", "1"), ("b", "2")]);
        assert_eq!(verdicts, vec![Verdict::Go, Verdict::Go, Verdict::Go, STOP]);
    }
}
