//! Tests of the blocks that stand for pastes.

use unicode_segmentation::UnicodeSegmentation as _;

use super::*;

#[test]
fn block_is_one_grapheme_of_the_labels_length() {
    let store = PasteStore::default();
    for length in 0..80 {
        let label = "x".repeat(length);
        let block = store.keep(format!("paste {length}"), &label).unwrap();
        assert_eq!(block.graphemes(true).count(), 1, "label of {length} bytes");
        assert_eq!(store.label(&block).len(), block.len());
        assert!(store.label(&block).starts_with(&label));
        let line = format!("a{block}b\u{301}");
        assert_eq!(line.graphemes(true).collect::<Vec<_>>(), ["a", block.as_str(), "b\u{301}"]);
        assert_eq!(line.split_word_bounds().count(), 3);
    }
}

#[test]
fn blocks_are_expanded_where_they_stand() {
    let store = PasteStore::default();
    let first = store.keep("one\ntwo".to_owned(), "[pasted 2 lines]").unwrap();
    let second = store.keep("three".to_owned(), "[貼り付け 1行]").unwrap();
    let line = format!("see {first}{second} and {first}.");
    assert_eq!(store.expand(&line), "see one\ntwothree and one\ntwo.");
    assert_eq!(store.labelled(&line), "see [pasted 2 lines][貼り付け 1行] and [pasted 2 lines].");
    assert_eq!(store.keep("three".to_owned(), "again").as_deref(), Some(second.as_str()));
}

#[test]
fn unknown_blocks_do_no_harm() {
    let store = PasteStore::default();
    assert_eq!(store.expand("a\u{FDD0}b\u{FDD0}\u{300}\u{300}c"), "abc");
    assert_eq!(store.label("\u{FDD0}\u{300}").len(), "\u{FDD0}\u{300}".len());
}

#[test]
fn pasted_text_cannot_forge_a_block() {
    assert_eq!(sanitise_paste("a\u{FDD0}\u{300}\u{1b}[31mb\r\nc\rd\te\u{9b}"), "a\u{300}[31mb\nc\nd\te");
    assert!(matches!(sanitise_paste("plain\ntext\t"), Cow::Borrowed(_)));
}

#[test]
fn store_refuses_when_full() {
    let store = PasteStore::default();
    for index in 0..BASE * BASE {
        assert!(store.keep(index.to_string(), "label of a paste").is_some());
    }
    assert_eq!(store.keep("one more".to_owned(), "label of a paste"), None);
}

#[test]
fn only_long_pastes_are_collapsed() {
    assert!(!is_long_paste(&"line\n".repeat(50)));
    assert!(is_long_paste(&"line\n".repeat(51)));
    assert!(!is_long_paste(&"x".repeat(BYTES_SHOWN)));
    assert!(is_long_paste(&"x".repeat(BYTES_SHOWN + 1)));
}
