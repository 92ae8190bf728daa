//! What a person types while a turn runs: the text under way and the lines sent before it.

use std::time::Instant;

use unicode_segmentation::UnicodeSegmentation as _;

use super::parser::Key;

/// Most bytes kept of what is typed ahead: more is a paste gone wrong.
const LONGEST: usize = 1 << 20;

/// Text typed ahead.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeAhead {
    /// The text under way; may hold newlines.
    pub text: String,
    /// Lines sent with Enter, oldest first.
    pub queue: Vec<String>,
    /// The person wants to leave: a second Ctrl+C within a second, or the terminal has gone.
    pub leave: bool,
    /// The terminal has gone: nobody has left, but nobody is there.
    pub gone: bool,
    /// How many of `queue` had been sent when the turn was stopped; `None` if it was not. Lines sent after that are
    /// meant for what comes next.
    pub queued_when_stopped: Option<usize>,
    /// When Ctrl+C was last pressed: one more within a second leaves, also when the prompt is back by then.
    pub interrupted: Option<Instant>,
    /// When ESC was last believed: what looks like the rest of an arrow key right after it is that.
    pub escaped: Option<Instant>,
}

impl TypeAhead {
    /// Applies an editing key. Returns whether anything changed; keys that edit nothing change nothing.
    pub(crate) fn edit(&mut self, key: &Key) -> bool {
        match key {
            Key::Character(character) => self.append(character.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.append(text),
            Key::Newline => self.append("\n"),
            Key::Enter => self.enter(),
            Key::Backspace => {
                let last = self.text.grapheme_indices(true).next_back().map(|(index, _)| index);
                self.cut_at(last)
            }
            Key::DeleteWord => {
                let words = self.text.trim_end();
                let start = words.rfind(char::is_whitespace).and_then(|space| {
                    let width = words[space..].chars().next()?.len_utf8();
                    Some(space + width)
                });
                let cut = (!self.text.is_empty()).then_some(start.unwrap_or(0));
                self.cut_at(cut)
            }
            Key::DeleteLine => {
                let start = self.text.rfind('\n').map_or(0, |newline| newline + 1);
                // On an empty row its newline goes.
                let cut = if start == self.text.len() { start.saturating_sub(1) } else { start };
                let cut = (!self.text.is_empty()).then_some(cut);
                self.cut_at(cut)
            }
            Key::Up if self.text.is_empty() => match self.queue.pop() {
                Some(line) => {
                    self.text = line;
                    true
                }
                None => false,
            },
            Key::Up
            | Key::Down
            | Key::Escape
            | Key::Interrupt
            | Key::Suspend
            | Key::End
            | Key::Focus(_)
            | Key::Background(_)
            | Key::Attributes => false,
        }
    }

    /// Enter queues the text; after a backslash it is a newline, as in the editor.
    fn enter(&mut self) -> bool {
        if self.text.trim().is_empty() {
            return false;
        }
        if self.text.ends_with('\\') {
            self.text.pop();
            return self.append("\n");
        }
        self.queue.push(std::mem::take(&mut self.text));
        true
    }

    /// Appends what there is room for.
    fn append(&mut self, text: &str) -> bool {
        let used = self.text.len() + self.queue.iter().map(String::len).sum::<usize>();
        let fitting = text.floor_char_boundary(LONGEST.saturating_sub(used).min(text.len()));
        self.text.push_str(&text[..fitting]);
        fitting > 0
    }

    fn cut_at(&mut self, start: Option<usize>) -> bool {
        start.is_some_and(|start| {
            self.text.truncate(start);
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[Key]) -> TypeAhead {
        let mut typed = TypeAhead::default();
        for key in keys {
            typed.edit(key);
        }
        typed
    }

    fn text(text: &str) -> Key {
        Key::Paste(text.to_owned())
    }

    #[test]
    fn enter_queues_and_up_takes_back() {
        let mut ahead = typed(&[text("one"), Key::Enter, text("two"), Key::Enter, Key::Enter, text("th")]);
        assert_eq!(
            (ahead.queue.as_slice(), ahead.text.as_str()),
            (&["one".to_owned(), "two".to_owned()][..], "th")
        );
        assert!(!ahead.edit(&Key::Up), "a text under way is not replaced");
        ahead.edit(&Key::DeleteLine);
        ahead.edit(&Key::Up);
        assert_eq!((ahead.queue.as_slice(), ahead.text.as_str()), (&["one".to_owned()][..], "two"));
    }

    #[test]
    fn a_paste_with_newlines_is_one_text() {
        let ahead = typed(&[text("a\nb\n"), Key::Newline, Key::Character('c')]);
        assert_eq!((ahead.text.as_str(), ahead.queue.len()), ("a\nb\n\nc", 0));
    }

    #[test]
    fn a_backslash_before_enter_is_a_newline() {
        assert_eq!(typed(&[text("a\\"), Key::Enter, text("b")]).text, "a\nb");
    }

    #[test]
    fn deleting_takes_whole_clusters_words_and_rows() {
        assert_eq!(typed(&[text("a👩\u{200d}👧"), Key::Backspace]).text, "a");
        assert_eq!(typed(&[text("one two  "), Key::DeleteWord]).text, "one ");
        assert_eq!(typed(&[text("one"), Key::DeleteWord, Key::DeleteWord, Key::Backspace]).text, "");
        assert_eq!(typed(&[text("a\nbc"), Key::DeleteLine]).text, "a\n");
        assert_eq!(typed(&[text("a\nbc"), Key::DeleteLine, Key::DeleteLine]).text, "a");
    }

    #[test]
    fn there_is_a_limit() {
        let half = "中".repeat(LONGEST / 6);
        let ahead = typed(&[text(&half), Key::Enter, text(&half), text(&half)]);
        assert!(ahead.text.len() + ahead.queue[0].len() <= LONGEST);
        assert_eq!(ahead.text.chars().last(), Some('中'));
    }
}
