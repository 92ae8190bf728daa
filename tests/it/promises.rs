//! What people are told and decide by, and the test that tries to make it false. A promise with no row fails, and so does
//! a row whose words or whose test are gone.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::path::Path;

use axi::sandbox::Reach;
use serde_json::Value;

use crate::sandbox_escapes::Cage;
use crate::undo_random::{Random, number, picture};

/// Parts of English sentences that promise something, in lower case.
const PROMISING: &[&str] = &[
    "only reads",
    "unasked only read",
    "would delete",
    "as they were",
    "as it was",
    "is not sent",
    "are not sent",
    "not sent:",
    "does not send a request",
    "comes back",
    "nothing was",
    "nothing is lost",
    "nothing is deleted",
    "model is not told",
    "never applied",
    "kept nowhere",
    "session is kept",
    "what arrived is kept",
    "stay as they are",
];

/// The key of the words, and the test.
const HELD: &[(&str, &str)] = &[
    ("cli.option.budget", "a_budget_ends_a_turn_between_its_steps"),
    ("setting.budget", "a_budget_ends_a_turn_between_its_steps"),
    ("error.panic_hint", "a_kill_at_any_point_loses_nothing_that_was_shown"),
    ("notice.broken_midway_hint", "cut_at_every_event_the_conversation_stays_valid_and_the_next_message_works"),
    ("notice.broken_midway_hint_flag", "what_is_said_to_be_kept_of_a_broken_answer_is_there_to_go_on_with"),
    ("notice.shortened", "what_no_summary_may_lose_is_found"),
    ("notice.shortened_noted", "what_is_dropped_is_stood_for_by_the_persons_words_deeds_and_anchors"),
    ("notice.shortened_hint", "a_cut_taken_back_sends_what_was_sent_before"),
    ("command.compact", "a_cut_taken_back_sends_what_was_sent_before"),
    ("loan.begins", "a_password_is_asked_for_on_the_terminal_and_kept_nowhere"),
    ("acp.mode.plan_says", "what_runs_unasked_changes_nothing_whatever_the_line"),
    ("agent.only_reads", "what_runs_unasked_changes_nothing_whatever_the_line"),
    ("agent.plan", "what_runs_unasked_changes_nothing_whatever_the_line"),
    ("agent.explore", "what_would_ask_or_change_is_denied_to_a_sub_agent"),
    ("help.key.mode", "what_runs_unasked_changes_nothing_whatever_the_line"),
    ("sandbox.landlock", "what_runs_unasked_changes_nothing_whatever_the_line"),
    ("handoff.unsent_stopped", "what_was_typed_before_a_stop_is_told_and_the_line_comes_back"),
    ("repl.shell_secret", "what_a_person_sees_or_names_by_another_name_is_not_sent"),
    ("command.stop", "escape_gives_the_queue_back_to_the_editor"),
    ("said.session_kept", "the_session_in_use_is_not_deleted"),
    ("local.not_agreed", "saying_no_fetches_nothing_and_says_what_else_there_is"),
    ("cli.command.try", "nothing_changes_before_random_lines_are_applied_and_then_it_is_as_if_they_had_run_there"),
    ("cli.option.apply", "a_turn_in_a_trial_prints_what_it_would_change_and_only_apply_applies_it"),
    ("trial.untouched", "nothing_changes_before_random_lines_are_applied_and_then_it_is_as_if_they_had_run_there"),
    ("explain.class.read_only", "what_runs_unasked_changes_nothing_whatever_the_line"),
    ("trial.ask.drop", "nothing_changes_before_random_lines_are_applied_and_then_it_is_as_if_they_had_run_there"),
    ("trial.deletes_files.one", "what_a_command_would_change_is_told_deletions_first_and_nothing_is_touched"),
    ("trial.deletes_files.other", "what_a_command_would_change_is_told_deletions_first_and_nothing_is_touched"),
    ("trial.deletes.one", "what_a_command_would_change_is_told_deletions_first_and_nothing_is_touched"),
    ("trial.deletes.other", "what_a_command_would_change_is_told_deletions_first_and_nothing_is_touched"),
    ("trial.lent", "what_lies_inside_comes_later_and_what_is_applied_is_never_only_lent"),
    ("undo.would.one", "what_random_turns_did_is_taken_back_exactly_by_a_rewind_to_any_of_them"),
    ("undo.would.other", "what_random_turns_did_is_taken_back_exactly_by_a_rewind_to_any_of_them"),
    ("undo.comes", "what_random_turns_did_is_taken_back_exactly_by_a_rewind_to_any_of_them"),
    ("undo.as_before", "what_random_turns_did_is_taken_back_exactly_by_a_rewind_to_any_of_them"),
    ("undo.done.one", "what_random_turns_did_is_taken_back_exactly_by_a_rewind_to_any_of_them"),
    ("undo.done.other", "what_random_turns_did_is_taken_back_exactly_by_a_rewind_to_any_of_them"),
    ("undo.aside", "what_somebody_else_changed_since_stays_unless_it_is_said"),
    ("undo.nothing_done", "nothing_is_changed_by_a_no"),
];

/// Words that tell how things are and promise nothing.
const TELLING: &[&str] = &[
    "repl.found",
    "said.compact_stopped",
    "said.session_delete_unasked",
    "doctor.turn_works",
    "sandbox.sandbox_exec",
];

/// The keys of the English words that have a promise in them.
fn promises(value: &Value, key: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let below = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                promises(field, &below, found);
            }
        }
        Value::String(text) if PROMISING.iter().any(|part| text.to_lowercase().contains(part)) => {
            found.insert(key.to_owned());
        }
        _ => {}
    }
}

#[test]
fn each_promise_has_a_test_that_tries_to_make_it_false() {
    let words: Value = serde_json::from_str(include_str!("../../locales/en.json")).unwrap();
    let mut promised = BTreeSet::new();
    promises(&words, "", &mut promised);
    let held: BTreeSet<String> =
        HELD.iter().map(|(key, _)| *key).chain(TELLING.iter().copied()).map(str::to_owned).collect();
    assert_eq!(promised.symmetric_difference(&held).collect::<Vec<_>>(), Vec::<&String>::new());
    let sources: String = ["src", "tests/it"].into_iter().map(all_of).collect();
    let missing: Vec<_> = HELD.iter().filter(|(_, test)| !sources.contains(&format!("fn {test}("))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The text of every source file below a directory of the repository.
fn all_of(directory: &str) -> String {
    let mut text = String::new();
    let mut waiting = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(directory)];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|end| end == "rs") {
            text += &std::fs::read_to_string(path).unwrap();
        }
    }
    text
}

/// Random lines that change files in every way, as they run where nobody was asked: nothing of the workspace and of the
/// home is another afterwards. `AXI_ONLY_READS_CASES` says how many are tried, `AXI_UNDO_SEED` from which seed on.
#[test]
fn what_runs_unasked_changes_nothing_whatever_the_line() {
    let Some(cage) = Cage::new(Reach::ReadOnly) else { return };
    for (name, text) in [("top", "1"), ("d0/a", "2"), ("d0/s0/a", "3"), ("d1/a", "4"), ("d1/s1/c", "5")] {
        cage.bench.put(name, text);
    }
    std::fs::hard_link(cage.bench.path("top"), cage.bench.path("d0/b")).unwrap();
    std::os::unix::fs::symlink("a", cage.bench.path("d1/s1/a")).unwrap();
    let look = || (picture(&cage.bench.path(".")), picture(&cage.home));
    let before = look();
    let first = number("AXI_UNDO_SEED", 1);
    for seed in first..first + number("AXI_ONLY_READS_CASES", 25) {
        let mut random = Random(seed);
        let lines: Vec<String> = (0..4).map(|_| random.line()).collect();
        cage.run(&lines.join("\n"));
        assert_eq!(look(), before, "seed {seed}: {lines:#?}");
    }
}
