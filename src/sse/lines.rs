//! Lines of a stream, cut anywhere: bytes in, whole lines out, of which none may be endless. Pure.

use std::borrow::Cow;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What ends a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// LF; a CR before it is part of the line.
    Newline,
    /// LF, CRLF or CR.
    Any,
}

/// What came of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The whole of it, without its end.
    Whole(Cow<'a, [u8]>),
    /// It was longer than is taken; nothing of it is kept.
    TooLong,
}

/// Takes bytes, gives lines. A byte order mark before the first one is no part of it.
#[derive(Debug)]
pub struct Lines {
    ends: Ends,
    limit: usize,
    open: Vec<u8>,
    /// Whether the rest of a line that is too long goes by.
    skips: bool,
    /// Whether the last line ended with a CR, to which a LF may belong.
    after_return: bool,
    at_start: bool,
}

impl Lines {
    /// Makes a cutter that keeps no line of more than `limit` bytes.
    #[must_use]
    pub const fn new(ends: Ends, limit: usize) -> Self {
        Self { ends, limit, open: Vec::new(), skips: false, after_return: false, at_start: true }
    }

    /// Takes the first bytes off `bytes` up to the end of a line, and gives this line; all of them, and nothing, where
    /// none ends.
    pub fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Line<'a>> {
        // CRLF is one end even when a piece ends between the two.
        if self.after_return
            && let Some(&first) = bytes.first()
        {
            self.after_return = false;
            *bytes = &bytes[usize::from(first == b'\n')..];
        }
        let end = match self.ends {
            Ends::Newline => memchr::memchr(b'\n', bytes),
            Ends::Any => memchr::memchr2(b'\n', b'\r', bytes),
        };
        let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        let is_too_long = self.skips || self.open.len() + piece.len() > self.limit;
        if is_too_long {
            // The memory is given back at once.
            self.open = Vec::new();
        }
        let Some(&end) = rest.first() else {
            *bytes = rest;
            self.skips = is_too_long;
            if !is_too_long {
                self.open.extend_from_slice(piece);
            }
            return None;
        };
        *bytes = &rest[1..];
        self.after_return = end == b'\r';
        self.skips = false;
        let is_first = std::mem::take(&mut self.at_start);
        if is_too_long {
            return Some(Line::TooLong);
        }
        if self.open.is_empty() {
            return Some(Line::Whole(Cow::Borrowed(unmarked(piece, is_first))));
        }
        self.open.extend_from_slice(piece);
        let mut line = std::mem::take(&mut self.open);
        line.drain(..line.len() - unmarked(&line, is_first).len());
        Some(Line::Whole(line.into()))
    }

    /// Returns the line that the end of the stream left without its end, if there is one.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        let mut line = std::mem::take(&mut self.open);
        let is_first = std::mem::take(&mut self.at_start);
        line.drain(..line.len() - unmarked(&line, is_first).len());
        (!line.is_empty()).then_some(line)
    }

    /// Returns how many bytes of an unfinished line are kept.
    #[must_use]
    pub const fn kept(&self) -> usize {
        self.open.len()
    }

    /// Tells whether the rest of a line that is too long goes by.
    #[must_use]
    pub const fn is_skipping(&self) -> bool {
        self.skips
    }
}

fn unmarked(line: &[u8], is_first: bool) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sse::pieces::cut;

    fn lines(ends: Ends, pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let (mut lines, mut found) = (Lines::new(ends, 1000), Vec::new());
        for piece in pieces {
            let mut bytes = *piece;
            while let Some(Line::Whole(line)) = lines.next(&mut bytes) {
                found.push(line.into_owned());
            }
        }
        found.extend(lines.rest());
        found
    }

    #[test]
    fn a_line_ends_as_is_asked_and_the_mark_before_the_first_is_none_of_it() {
        let text: &[u8] = b"\xEF\xBB\xBFa\r\n\nb\rc\n\xEF\xBB\xBFd";
        let newline: [&[u8]; 4] = [b"a\r", b"", b"b\rc", b"\xEF\xBB\xBFd"];
        let any: [&[u8]; 5] = [b"a", b"", b"b", b"c", b"\xEF\xBB\xBFd"];
        assert_eq!(lines(Ends::Newline, &[text]), newline);
        assert_eq!(lines(Ends::Any, &[text]), any);
    }

    #[test]
    fn a_line_without_end_takes_no_memory_and_the_next_one_is_read() {
        const MOST: usize = 16 << 20;
        let mut lines = Lines::new(Ends::Newline, MOST);
        let block = vec![b'x'; 1 << 20];
        for _ in 0..50 {
            assert_eq!(lines.next(&mut block.as_slice()), None);
            assert!(lines.open.capacity() <= 2 * MOST);
        }
        assert!(lines.is_skipping());
        let mut bytes: &[u8] = b"x\nnext\n";
        assert_eq!(lines.next(&mut bytes), Some(Line::TooLong));
        assert_eq!(lines.next(&mut bytes), Some(Line::Whole(b"next".as_slice().into())));
        assert_eq!((lines.next(&mut bytes), lines.kept()), (None, 0));
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_lines(
            bytes in prop::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'{'), Just(0xEF), Just(0xBB), Just(0xBF), any::<u8>()],
                0..60,
            ),
            places in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            for ends in [Ends::Newline, Ends::Any] {
                prop_assert_eq!(lines(ends, &cut(&bytes, &places)), lines(ends, &[bytes.as_slice()]));
            }
        }
    }
}
