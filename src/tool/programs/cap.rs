//! Holds back numbers of terminal sequences that the emulator would count through one by one. Pure.
//!
//! vt100 inserts cells and lines and scrolls down as often as it is told, far past its screen (`grid.rs` of 0.16.2:
//! `insert_cells`, `insert_lines`, `scroll_down`), and whoever looks at the screen waits for it.

/// Bytes of one sequence that are kept until its end is there; a longer one is cancelled. vte takes 32 numbers.
const LONGEST: usize = 512;

/// Where a stream is within a sequence, as vte sees it; in doubt within, for that changes no text.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Position {
    #[default]
    Text,
    Escape,
    /// `ESC [ … final`.
    Control,
    /// The same, cancelled.
    Cancelled,
}

/// Rewrites a stream that may be cut anywhere.
#[derive(Debug, Default)]
pub(super) struct Cap {
    place: Position,
    /// The bytes behind `ESC [` so far.
    held: Vec<u8>,
}

impl Cap {
    /// Takes bytes; gives what the emulator is to have, with counts of at most `most`.
    pub(super) fn push(&mut self, bytes: &[u8], most: u16) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + self.held.len());
        for &byte in bytes {
            match (self.place, byte) {
                (Position::Control | Position::Cancelled, 0x18 | 0x1a | 0x1b) => {
                    out.append(&mut self.held);
                    out.push(byte);
                    self.place = if byte == 0x1b { Position::Escape } else { Position::Text };
                }
                // Carried out at once, within the sequence.
                (Position::Control | Position::Cancelled, 0x00..=0x1f) => out.push(byte),
                (Position::Control, 0x40..=0x7e) => {
                    self.place = Position::Text;
                    if matches!(byte, b'@' | b'L' | b'M' | b'P' | b'S' | b'T' | b'X') {
                        capped(&self.held, most, &mut out);
                        self.held.clear();
                    } else {
                        out.append(&mut self.held);
                    }
                    out.push(byte);
                }
                (Position::Control, _) if self.held.len() >= LONGEST => {
                    self.held.clear();
                    // CAN: the sequence is none.
                    out.push(0x18);
                    self.place = Position::Cancelled;
                }
                (Position::Control, _) => self.held.push(byte),
                (Position::Cancelled, 0x40..=0x7e) => self.place = Position::Text,
                (Position::Cancelled, _) => {}
                (Position::Text | Position::Escape, 0x1b) => {
                    self.place = Position::Escape;
                    out.push(byte);
                }
                (Position::Escape, b'[') => {
                    self.place = Position::Control;
                    out.push(byte);
                }
                (Position::Escape, 0x18 | 0x1a | 0x20..=0x7e) => {
                    self.place = Position::Text;
                    out.push(byte);
                }
                (Position::Text | Position::Escape, _) => out.push(byte),
            }
        }
        out
    }
}

/// Writes the same with no number above `most`.
fn capped(held: &[u8], most: u16, out: &mut Vec<u8>) {
    let mut value: Option<u16> = None;
    for &byte in held {
        if byte.is_ascii_digit() {
            let digit = u16::from(byte - b'0');
            value = Some(value.unwrap_or(0).saturating_mul(10).saturating_add(digit).min(most));
        } else if (0x20..0x7f).contains(&byte) {
            out.extend(value.take().into_iter().flat_map(|value| value.to_string().into_bytes()));
            out.push(byte);
        }
        // Other bytes end no number and mean nothing here.
    }
    out.extend(value.into_iter().flat_map(|value| value.to_string().into_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &[u8]) -> Vec<u8> {
        Cap::default().push(text, 30)
    }

    #[test]
    fn counts_are_held_back_and_all_else_stays() {
        for (given, expected) in [
            (&b"a\x1b[65535@b"[..], &b"a\x1b[30@b"[..]),
            (b"\x1b[99999999999999999999L", b"\x1b[30L"),
            (b"\x1b[1;999T", b"\x1b[1;30T"),
            (b"\x1b[7\n7@", b"\x1b[\n30@"),
            (b"\x1b\x1b\n[500@", b"\x1b\x1b\n[30@"),
            (b"\x1b[5\x1b[500@", b"\x1b[5\x1b[30@"),
            (b"\x1b]0;title\x1b[500@", b"\x1b]0;title\x1b[30@"),
            (b"\x1b[5\x18500@", b"\x1b[5\x18500@"),
            (b"\x1b[@\x1b[3P", b"\x1b[@\x1b[3P"),
            // Not counted: colours, places, modes, and a `[` that begins nothing.
            (
                b"\x1b[38;2;200;100;255m\x1b[500;400H\x1b[?1049h\x1b([500@",
                b"\x1b[38;2;200;100;255m\x1b[500;400H\x1b[?1049h\x1b([500@",
            ),
            ("a é 中 [500@".as_bytes(), "a é 中 [500@".as_bytes()),
        ] {
            assert_eq!(whole(given).escape_ascii().to_string(), expected.escape_ascii().to_string());
            for cut in 0..given.len() {
                let mut cap = Cap::default();
                let mut parts = cap.push(&given[..cut], 30);
                parts.extend(cap.push(&given[cut..], 30));
                assert_eq!(parts, expected, "{} cut at {cut}", given.escape_ascii());
            }
        }
    }

    #[test]
    fn a_sequence_without_an_end_is_cancelled_and_holds_no_memory() {
        let mut cap = Cap::default();
        let given = [&b"\x1b["[..], &b"1;".repeat(4096), b"@text"].concat();
        assert_eq!(cap.push(&given, 30), b"\x1b[\x18text");
        assert!(cap.held.is_empty());
    }

    /// The screen a stream leaves; none where the emulator does not take it.
    fn screen(stream: &[u8]) -> Option<String> {
        let shown = || {
            let mut parser = vt100::Parser::new(4, 10, 0);
            parser.process(stream);
            parser.screen().contents_formatted().escape_ascii().to_string()
        };
        std::panic::catch_unwind(shown).ok()
    }

    proptest::proptest! {
        /// Whatever is sent, and however cut, the screen is what it would have been.
        #[test]
        fn no_screen_looks_different_for_it(
            parts in proptest::collection::vec(
                "\\x1b|\\[|(\\x1b\\[[0-9]{1,3})|[0-9]{1,3}|;|:|\\?|[@LMPSTX]|m|H|\\x18|\\n|ab|\\x1b\\]|\\x07",
                0..24,
            ),
            cut in 0..64_usize,
        ) {
            let text = parts.concat();
            let (head, tail) = text.as_bytes().split_at(cut.min(text.len()));
            let mut cap = Cap::default();
            let capped = [cap.push(head, 10), cap.push(tail, 10)].concat();
            if let Some(expected) = screen(text.as_bytes()) {
                proptest::prop_assert_eq!(screen(&capped), Some(expected), "{}", text.escape_debug());
            }
        }
    }
}
