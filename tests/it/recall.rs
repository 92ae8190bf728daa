//! What is known of a long session after it was cut; `benches/recall` prints the figures.

use std::path::Path;

#[path = "../../benches/recall/recorded.rs"]
mod recorded;
#[path = "../../benches/recall/story.rs"]
mod story;

fn is_kept(score: &story::Score) {
    let facts = score.facts;
    assert!(facts > 40 && score.cuts > 5, "{facts} facts, {} cuts", score.cuts);
    assert_eq!(score.findable, facts);
    assert!(score.answered * 100 >= facts * 60, "{} of {facts}", score.answered);
    assert!(score.read * 10 <= score.whole, "{} of {}", score.read, score.whole);
}

#[test]
fn planted_facts_are_all_findable_and_most_are_answered_from_a_tenth_of_the_tokens() {
    is_kept(&story::read(1));
}

#[test]
fn planted_facts_are_found_in_recorded_sessions_as_well() {
    let turns = recorded::turns(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(turns.len() > 190, "{} turns", turns.len());
    is_kept(&story::read_recorded(turns, 1));
}
