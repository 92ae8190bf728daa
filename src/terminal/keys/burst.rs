//! A paste on a terminal that does not mark pastes: rows that arrive together, which nobody types.

use std::time::{Duration, Instant};

use super::parser::Key;

/// So many rows with something in them in one read are a paste: a held Enter is none.
const ROWS: usize = 4;
/// A paste goes on as long as its pieces are no further apart.
const APART: Duration = Duration::from_millis(25);

/// Whether a paste is under way.
#[derive(Debug, Default)]
pub(super) struct Burst {
    last: Option<Instant>,
}

impl Burst {
    /// Makes one paste of the keys of one read if they are one, so that its rows are not sent one by one.
    pub(super) fn join(&mut self, keys: &mut Vec<Key>, now: Instant) {
        let goes_on = self.last.is_some_and(|last| now.saturating_duration_since(last) <= APART);
        let rows = keys.windows(2).filter(|pair| pair[0] != Key::Enter && pair[1] == Key::Enter).count();
        self.last = None;
        if !goes_on && rows < ROWS {
            return;
        }
        let text: Option<String> = keys.iter().map(character).collect();
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            *keys = vec![Key::Paste(text)];
            self.last = Some(now);
        }
    }
}

const fn character(key: &Key) -> Option<char> {
    match key {
        Key::Character(character) => Some(*character),
        Key::Enter | Key::Newline => Some('\n'),
        Key::Paste(_)
        | Key::Backspace
        | Key::DeleteWord
        | Key::DeleteLine
        | Key::Up
        | Key::Down
        | Key::PageUp
        | Key::PageDown
        | Key::Escape
        | Key::Interrupt
        | Key::Suspend
        | Key::End
        | Key::Focus(_)
        | Key::Background(_)
        | Key::Attributes => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        let key = |character| if character == '\r' { Key::Enter } else { Key::Character(character) };
        text.chars().map(key).collect()
    }

    #[test]
    fn rows_that_arrive_together_are_one_text() {
        let (mut burst, now) = (Burst::default(), Instant::now());
        let mut join = |text: &str, after: u64| {
            let mut keys = keys(text);
            burst.join(&mut keys, now + Duration::from_millis(after));
            keys
        };
        assert_eq!(join("one\rtwo\rthree\r", 0), keys("one\rtwo\rthree\r"), "typed on a slow line");
        assert_eq!(join("a\rb\rc\rd\re", 10), [Key::Paste("a\nb\nc\nd\ne".to_owned())]);
        assert_eq!(join("f\r", 30), [Key::Paste("f\n".to_owned())], "its last piece");
        assert_eq!(join("\r", 500), [Key::Enter]);
        assert_eq!(join("\r\rnext\r\r\r", 1000), keys("\r\rnext\r\r\r"), "Enter held down");
        let mut stopped = [keys("a\rb\rc\rd\r"), vec![Key::Interrupt]].concat();
        let before = stopped.clone();
        Burst::default().join(&mut stopped, now);
        assert_eq!(stopped, before, "a key that is no text is obeyed");
    }
}
