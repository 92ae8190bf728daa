//! One JSON value a line, cut anywhere: bytes in, whole lines out. Pure; knows no provider.

use crate::sse::{Ends, Line, Lines, MAX_EVENT_BYTES, TooLong};

/// Cuts bytes into lines. Blank lines are dropped, line ends may be LF, CRLF or CR, invalid UTF-8 is replaced.
#[derive(Debug)]
pub struct NdjsonParser {
    limit: usize,
    lines: Lines,
}

impl Default for NdjsonParser {
    fn default() -> Self {
        Self::new()
    }
}

impl NdjsonParser {
    /// Makes a parser with the limit of [`MAX_EVENT_BYTES`] a line.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }

    /// Makes a parser that refuses lines of more than `limit` bytes.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self { limit, lines: Lines::new(Ends::Any, limit) }
    }

    /// Takes the next bytes and returns the lines they complete.
    ///
    /// # Errors
    /// [`TooLong`] when one line outgrows the limit.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut lines = Vec::new();
        while let Some(line) = self.lines.next(&mut bytes) {
            let Line::Whole(line) = line else { return Err(TooLong { limit: self.limit }) };
            lines.extend(text(&line));
        }
        if self.lines.is_skipping() { Err(TooLong { limit: self.limit }) } else { Ok(lines) }
    }

    /// Ends the stream and returns the line that was still open, unless it is blank.
    #[must_use]
    pub fn finish(&mut self) -> Option<String> {
        text(&self.lines.rest()?)
    }
}

fn text(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii();
    (!line.is_empty()).then(|| String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sse::pieces::cut;

    fn parse_pieces(pieces: &[&[u8]]) -> Vec<String> {
        let mut parser = NdjsonParser::new();
        let mut lines = Vec::new();
        for piece in pieces {
            lines.extend(parser.push(piece).unwrap());
        }
        lines.extend(parser.finish());
        lines
    }

    #[test]
    fn lines_of_every_kind_of_end_and_the_last_without_one() {
        let bytes = b"\xEF\xBB\xBF{\"a\":1}\r\n\n{\"b\":2}\r{\"c\":\"\xff\"}\n  {\"d\":4}";
        assert_eq!(parse_pieces(&[bytes]), vec!["{\"a\":1}", "{\"b\":2}", "{\"c\":\"\u{fffd}\"}", "{\"d\":4}"]);
    }

    #[test]
    fn a_line_without_end_is_refused_at_the_limit() {
        assert_eq!(NdjsonParser::with_limit(8).push(b"123456789"), Err(TooLong { limit: 8 }));
        assert_eq!(NdjsonParser::with_limit(8).push(b"1234567\n1234567\n").map(|lines| lines.len()), Ok(2));
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_lines(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'{'), any::<u8>()], 0..60),
            places in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            prop_assert_eq!(parse_pieces(&cut(&bytes, &places)), parse_pieces(&[&bytes]));
        }
    }
}
