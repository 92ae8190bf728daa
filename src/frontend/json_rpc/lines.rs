//! What a client sends, line by line.

use std::io::{BufRead as _, BufReader, Read};

/// What was read.
pub(in crate::frontend) enum Heard {
    /// A line.
    Line(Vec<u8>),
    /// The client said its last word, or cannot be read.
    End,
    /// A line longer than anything a client may send.
    TooLong,
}

/// Reads lines until the last one, or until `tell` says that nobody receives them any more.
pub(in crate::frontend) fn read_lines(input: impl Read, longest: u64, mut tell: impl FnMut(Heard) -> bool) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        let heard = match input.by_ref().take(longest).read_until(b'\n', &mut line) {
            Ok(0) => Heard::End,
            Ok(_) if line.len() as u64 >= longest && line.last() != Some(&b'\n') => Heard::TooLong,
            Ok(_) => Heard::Line(line),
            Err(error) => {
                tracing::info!(%error, "the client cannot be read");
                Heard::End
            }
        };
        let last = !matches!(heard, Heard::Line(_));
        if !tell(heard) || last {
            return;
        }
    }
}
