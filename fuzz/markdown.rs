//! Arbitrary bytes in arbitrary pieces: no panic, no control character in a row, and the same rows as in one piece.
//!
//! `bash fuzz/run 600 markdown`, or with a nightly compiler `cargo fuzz run markdown`.
#![no_main]

use axi::terminal::{Layout, Line, MarkdownStream, Theme};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&first, data)) = data.split_first() else { return };
    let width = 20 + usize::from(first);
    let text = String::from_utf8_lossy(data);
    let whole = rows(&[&text], width);
    // The first byte also says how long the pieces are; a piece ends between characters.
    let step = 1 + usize::from(first % 7);
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = characters.chunks(step).map(|piece| piece.iter().collect()).collect();
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    assert_eq!(rows(&pieces, width), whole, "cut into pieces of {step} at {width} columns");
    for row in &whole {
        assert!(!row.text().chars().any(|character| character.is_control() && character != '\t'), "{row:?}");
    }
});

fn rows(pieces: &[&str], width: usize) -> Vec<Line> {
    let mut stream = MarkdownStream::new(Layout::new(width, Theme::ansi()));
    let mut rows = Vec::new();
    for piece in pieces {
        stream.push_into(piece, &mut rows);
        let _ = stream.live();
    }
    rows.extend(stream.finish());
    rows
}
