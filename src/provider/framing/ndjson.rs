//! One JSON value a line, cut anywhere: bytes in, whole lines out. Pure; knows no provider.

use crate::sse::{MAX_EVENT_BYTES, TooLong};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Cuts bytes into lines. Blank lines are dropped, line ends may be LF, CRLF or CR, invalid UTF-8 is replaced.
#[derive(Debug)]
pub struct NdjsonParser {
    limit: usize,
    line: Vec<u8>,
    at_start: bool,
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
        Self { limit, line: Vec::new(), at_start: true }
    }

    /// Takes the next bytes and returns the lines they complete.
    ///
    /// # Errors
    /// [`TooLong`] when one line outgrows the limit.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(piece);
            if self.line.len() > self.limit {
                return Err(TooLong { limit: self.limit });
            }
            if matches!(piece.last(), Some(b'\n' | b'\r')) {
                lines.extend(self.finish());
            }
        }
        Ok(lines)
    }

    /// Ends the stream and returns the line that was still open, unless it is blank.
    #[must_use]
    pub fn finish(&mut self) -> Option<String> {
        let mut line = self.line.as_slice();
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        let line = line.trim_ascii();
        let text = (!line.is_empty()).then(|| String::from_utf8_lossy(line).into_owned());
        self.line.clear();
        text
    }
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
