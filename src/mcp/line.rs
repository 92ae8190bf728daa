//! Cuts what a server prints into lines, of which none may be endless. Pure.

/// The most bytes of one message: an answer of pictures is some megabytes.
pub(super) const MOST_MEGABYTES: u64 = 16;
const MOST: usize = 16 * 1024 * 1024;

/// What came of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The whole of it.
    Whole(Vec<u8>),
    /// It was longer than is taken; nothing of it is kept.
    TooLong,
}

/// Takes bytes, gives lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    open: Vec<u8>,
    /// Whether the rest of a line that is too long goes by.
    skips: bool,
}

impl Lines {
    /// Takes bytes, cut anywhere; gives each line that is complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut emit: impl FnMut(Line)) {
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..at], &bytes[at + 1..]);
            bytes = rest;
            if std::mem::take(&mut self.skips) {
                emit(Line::TooLong);
                continue;
            }
            if self.open.len() + line.len() > MOST {
                self.open = Vec::new();
                emit(Line::TooLong);
                continue;
            }
            self.open.extend_from_slice(line);
            emit(Line::Whole(std::mem::take(&mut self.open)));
        }
        if self.skips {
            return;
        }
        if self.open.len() + bytes.len() > MOST {
            // The memory is given back at once.
            self.open = Vec::new();
            self.skips = true;
            return;
        }
        self.open.extend_from_slice(bytes);
    }
}

impl Lines {
    /// Tells whether the rest of a line that is too long goes by.
    pub(super) const fn is_skipping(&self) -> bool {
        self.skips
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&[u8]]) -> Vec<Line> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.push(piece, |line| found.push(line));
        }
        found
    }

    #[test]
    fn any_cutting_gives_the_same_lines() {
        let text = b"{\"a\":1}\n\n{\"b\":2}\r\nrest";
        let whole = cut(&[text]);
        assert_eq!(whole.len(), 3);
        for at in 0..text.len() {
            assert_eq!(cut(&[&text[..at], &text[at..]]), whole, "{at}");
        }
    }

    #[test]
    fn a_line_without_end_takes_no_memory_and_the_next_one_is_read() {
        let mut lines = Lines::default();
        let (block, mut found) = (vec![b'x'; 1 << 20], Vec::new());
        for _ in 0..50 {
            lines.push(&block, |line| found.push(line));
            assert!(lines.open.capacity() <= 2 * MOST);
        }
        lines.push(b"x\nnext\n", |line| found.push(line));
        assert_eq!(found, [Line::TooLong, Line::Whole(b"next".to_vec())]);
        assert!(lines.open.capacity() < MOST);
    }
}
