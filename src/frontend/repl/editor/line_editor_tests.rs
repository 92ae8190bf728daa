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

#[test]
fn numbers_are_grouped() {
    for (number, expected) in
        [(0, "0"), (999, "999"), (1_000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")]
    {
        assert_eq!(grouped(number), expected);
    }
}
