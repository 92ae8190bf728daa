//! Tests of the words around the line; what the editor does is tested in a pseudo-terminal.

use super::*;

#[test]
fn pastes_are_named_by_their_size() {
    let words = EditorWords {
        pasted_lines: "[pasted {lines} lines]".to_owned(),
        pasted_bytes: "[{bytes} Byte]".to_owned(),
    };
    assert_eq!(label(&words, &"line\n".repeat(10_000)), "[pasted 10,000 lines]");
    assert_eq!(label(&words, &"x".repeat(5_000)), "[5,000 Byte]");
}
