//! What is known of a long session after it was cut; `benches/recall` prints the figures.

#[path = "../../benches/recall/story.rs"]
mod story;

#[test]
fn planted_facts_are_all_findable_and_most_are_answered_from_a_tenth_of_the_tokens() {
    let score = story::read(1);
    let facts = score.facts;
    assert!(facts > 40 && score.cuts > 5, "{facts} facts, {} cuts", score.cuts);
    assert_eq!(score.findable, facts);
    assert!(score.answered * 100 >= facts * 60, "{} of {facts}", score.answered);
    assert!(score.read * 10 <= score.whole, "{} of {}", score.read, score.whole);
}
