//! A position in a line, in bytes and in columns: tabs reach the next multiple of four, as markdown requires.

const TAB: usize = 4;

#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    line: &'a str,
    offset: usize,
    column: usize,
    /// How many columns of a partly skipped tab are left; they count as spaces.
    pending: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, offset: 0, column: 0, pending: 0 }
    }

    /// Returns how many columns of white space follow.
    pub(super) fn indent(&self) -> usize {
        let mut column = self.column + self.pending;
        for byte in self.line[self.offset..].bytes() {
            match byte {
                b' ' => column += 1,
                b'\t' => column = (column / TAB + 1) * TAB,
                _ => break,
            }
        }
        column - self.column
    }

    pub(super) fn is_blank(&self) -> bool {
        self.line[self.offset..].bytes().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    /// Skips up to this many columns of white space, but no text.
    pub(super) fn advance(&mut self, columns: usize) {
        let mut left = columns;
        let taken = left.min(self.pending);
        self.pending -= taken;
        self.column += taken;
        left -= taken;
        while left > 0 {
            match self.line.as_bytes().get(self.offset) {
                Some(b' ') => {
                    self.column += 1;
                    left -= 1;
                }
                Some(b'\t') => {
                    let width = TAB - self.column % TAB;
                    let taken = left.min(width);
                    self.pending = width - taken;
                    self.column += taken;
                    left -= taken;
                }
                Some(_) | None => return,
            }
            self.offset += 1;
        }
    }

    /// Skips bytes that are no white space.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.offset += bytes;
        self.column += bytes;
    }

    /// Skips the white space before the text.
    pub(super) fn skip_indent(&mut self) {
        self.advance(self.indent());
    }

    /// Returns the rest of the line, from the text on.
    pub(super) fn content(&self) -> &'a str {
        self.line[self.offset..].trim_start_matches([' ', '\t'])
    }

    /// Returns the rest of the line as it is; a partly skipped tab becomes spaces.
    pub(super) fn rest(&self) -> std::borrow::Cow<'a, str> {
        if self.pending == 0 {
            self.line[self.offset..].into()
        } else {
            format!("{}{}", " ".repeat(self.pending), &self.line[self.offset..]).into()
        }
    }
}
