//! Tests of ↑ without an answer.

use reedline::EditCommand;

use super::*;

fn up() -> ReedlineEvent {
    ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::Up])
}

fn typed() -> ReedlineEvent {
    ReedlineEvent::Edit(vec![EditCommand::InsertChar('x')])
}

#[test]
fn each_up_without_an_answer_is_pressed_again_once() {
    let mut late = LateUp::default();
    assert!(!late.answer_has_come(), "nobody waits");
    for _ in 0..2 {
        late.pressed(&up());
        late.has_no_answer();
    }
    assert_eq!(late.take_due(), 0, "there is no answer");
    assert!(late.answer_has_come());
    assert!(!late.answer_has_come(), "the reader is woken once");
    assert_eq!((late.take_due(), late.take_due()), (2, 0));
    // The second of them may have none once more.
    late.has_no_answer();
    assert!(late.answer_has_come());
    assert_eq!(late.take_due(), 1);
}

#[test]
fn another_key_gives_it_up() {
    let mut late = LateUp::default();
    late.pressed(&up());
    late.has_no_answer();
    late.pressed(&typed());
    assert!(!late.answer_has_come());
    late.pressed(&ReedlineEvent::PreviousHistory);
    late.has_no_answer();
    assert!(late.answer_has_come());
    late.pressed(&ReedlineEvent::Down);
    assert_eq!(late.take_due(), 0);
    // Of one batch: the line was another when it was looked for.
    late.pressed(&up());
    late.pressed(&typed());
    late.has_no_answer();
    assert!(!late.answer_has_come());
}

#[test]
fn a_key_that_is_held_down_does_not_come_back_for_ever() {
    let mut late = LateUp::default();
    for _ in 0..1000 {
        late.pressed(&up());
        late.has_no_answer();
    }
    assert!(late.answer_has_come());
    assert_eq!(late.take_due(), MOST);
}
