//! What a person has typed and not yet sent: the one place of it. The line editor, the keyboard of a running turn, the
//! loop and the file of drafts all see the same.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use unicode_segmentation::UnicodeSegmentation as _;

use super::parser::Key;

/// Most bytes kept of what is typed while a turn runs: more is a paste gone wrong.
const LONGEST: usize = 1 << 20;

/// What is typed and not sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unsent {
    /// Lines that were ended with Enter and wait for their turn, the oldest first.
    pub queue: VecDeque<String>,
    /// The line under way; may hold newlines, and in the editor the blocks that stand for pastes.
    pub line: String,
    /// What comes onto the line when it is empty again.
    pub later: VecDeque<String>,
}

type Listener = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Shared {
    unsent: Mutex<Unsent>,
    /// Counts changes.
    version: AtomicU64,
    /// The version that was told to the listener.
    told: AtomicU64,
    listener: OnceLock<Listener>,
}

/// See the module. Clones are the same.
#[derive(Clone, Default)]
pub struct Pending(Arc<Shared>);

impl std::fmt::Debug for Pending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.snapshot().fmt(formatter)
    }
}

impl Pending {
    /// A panic elsewhere must not lose what was typed.
    fn lock(&self) -> MutexGuard<'_, Unsent> {
        self.0.unsent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes it. Whoever listens hears of it at the next [`Pending::tell`].
    pub fn change<T>(&self, change: impl FnOnce(&mut Unsent) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changed();
        changed
    }

    fn changed(&self) {
        self.0.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Looks at it.
    pub fn look<T>(&self, look: impl FnOnce(&Unsent) -> T) -> T {
        look(&self.lock())
    }

    /// Returns all of it as it is now.
    pub fn snapshot(&self) -> Unsent {
        self.lock().clone()
    }

    /// Counts changes: equal numbers, nothing to paint and nothing to keep.
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    /// Has `listener` called after changes, from now on; only the first one is.
    pub fn listen(&self, listener: impl Fn() + Send + Sync + 'static) {
        // A second listener would be a second keeper of the same text: there is none.
        let _ = self.0.listener.set(Box::new(listener));
    }

    /// Tells the listener if something has changed since it was told. Apart from the change, because a key is painted
    /// before anything else is done about it.
    pub fn tell(&self) {
        let version = self.version();
        if self.0.told.swap(version, Ordering::AcqRel) != version
            && let Some(listener) = self.0.listener.get()
        {
            listener();
        }
    }

    /// Makes the line this one; it is a change only if it was another.
    pub fn set_line(&self, line: &str) {
        let mut unsent = self.lock();
        if unsent.line != line {
            line.clone_into(&mut unsent.line);
            self.changed();
        }
    }

    /// Takes the line that is to be run next; the text under way stays.
    pub fn take_queued(&self) -> Option<String> {
        let queued = self.lock().queue.pop_front();
        if queued.is_some() {
            self.changed();
        }
        queued
    }

    /// Takes the text that comes onto the next line of the editor, which then owns the line.
    pub fn line_for_editor(&self) -> String {
        let mut unsent = self.lock();
        if unsent.line.is_empty()
            && let Some(later) = unsent.later.pop_front()
        {
            unsent.line = later;
            self.changed();
        }
        unsent.line.clone()
    }

    /// Takes over what was typed while something else had the terminal: whole lines are queued, the rest is edited.
    pub fn typed(&self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut lines: Vec<&str> = text.split('\n').collect();
        let rest = lines.pop().unwrap_or_default();
        self.change(|unsent| {
            unsent.queue.extend(lines.into_iter().filter(|line| !line.trim().is_empty()).map(str::to_owned));
            unsent.line.push_str(rest);
        });
    }

    /// Puts texts onto the line, the first at once and each other when the line is empty again.
    pub fn give_back(&self, texts: Vec<String>) {
        self.change(|unsent| {
            texts.into_iter().rev().for_each(|text| unsent.later.push_front(text));
            unsent.line = unsent.later.pop_front().unwrap_or_default();
        });
    }

    /// Applies a key of a running turn. Returns whether anything changed.
    pub(super) fn edit(&self, key: &Key) -> bool {
        let changed = self.lock().edit(key);
        if changed {
            self.changed();
        }
        changed
    }
}

impl Unsent {
    /// Applies an editing key. Returns whether anything changed; keys that edit nothing change nothing.
    fn edit(&mut self, key: &Key) -> bool {
        match key {
            Key::Character(character) => self.append(character.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.append(text),
            Key::Newline => self.append("\n"),
            Key::Enter => self.enter(),
            Key::Backspace => {
                let last = self.line.grapheme_indices(true).next_back().map(|(index, _)| index);
                self.cut_at(last)
            }
            Key::DeleteWord => {
                let words = self.line.trim_end();
                let start = words.rfind(char::is_whitespace).and_then(|space| {
                    let width = words[space..].chars().next()?.len_utf8();
                    Some(space + width)
                });
                let cut = (!self.line.is_empty()).then_some(start.unwrap_or(0));
                self.cut_at(cut)
            }
            Key::DeleteLine => {
                let start = self.line.rfind('\n').map_or(0, |newline| newline + 1);
                // On an empty row its newline goes.
                let cut = if start == self.line.len() { start.saturating_sub(1) } else { start };
                let cut = (!self.line.is_empty()).then_some(cut);
                self.cut_at(cut)
            }
            Key::Up if self.line.is_empty() => match self.queue.pop_back() {
                Some(line) => {
                    self.line = line;
                    true
                }
                None => false,
            },
            Key::Up
            | Key::Down
            | Key::PageUp
            | Key::PageDown
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
        if self.line.trim().is_empty() {
            return false;
        }
        if self.line.ends_with('\\') {
            self.line.pop();
            return self.append("\n");
        }
        self.queue.push_back(std::mem::take(&mut self.line));
        true
    }

    /// Appends what there is room for.
    fn append(&mut self, text: &str) -> bool {
        let used = self.line.len() + self.queue.iter().map(String::len).sum::<usize>();
        let fitting = text.floor_char_boundary(LONGEST.saturating_sub(used).min(text.len()));
        self.line.push_str(&text[..fitting]);
        fitting > 0
    }

    fn cut_at(&mut self, start: Option<usize>) -> bool {
        start.is_some_and(|start| {
            self.line.truncate(start);
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[Key]) -> Unsent {
        let mut typed = Unsent::default();
        for key in keys {
            typed.edit(key);
        }
        typed
    }

    fn text(text: &str) -> Key {
        Key::Paste(text.to_owned())
    }

    fn queue(lines: &[&str]) -> VecDeque<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn enter_queues_and_up_takes_back() {
        let mut ahead = typed(&[text("one"), Key::Enter, text("two"), Key::Enter, Key::Enter, text("th")]);
        assert_eq!((ahead.queue.clone(), ahead.line.as_str()), (queue(&["one", "two"]), "th"));
        assert!(!ahead.edit(&Key::Up), "a text under way is not replaced");
        ahead.edit(&Key::DeleteLine);
        ahead.edit(&Key::Up);
        assert_eq!((ahead.queue, ahead.line.as_str()), (queue(&["one"]), "two"));
    }

    #[test]
    fn a_paste_with_newlines_is_one_text() {
        let ahead = typed(&[text("a\nb\n"), Key::Newline, Key::Character('c')]);
        assert_eq!((ahead.line.as_str(), ahead.queue.len()), ("a\nb\n\nc", 0));
    }

    #[test]
    fn a_backslash_before_enter_is_a_newline() {
        assert_eq!(typed(&[text("a\\"), Key::Enter, text("b")]).line, "a\nb");
    }

    #[test]
    fn deleting_takes_whole_clusters_words_and_rows() {
        assert_eq!(typed(&[text("a👩\u{200d}👧"), Key::Backspace]).line, "a");
        assert_eq!(typed(&[text("one two  "), Key::DeleteWord]).line, "one ");
        assert_eq!(typed(&[text("one"), Key::DeleteWord, Key::DeleteWord, Key::Backspace]).line, "");
        assert_eq!(typed(&[text("a\nbc"), Key::DeleteLine]).line, "a\n");
        assert_eq!(typed(&[text("a\nbc"), Key::DeleteLine, Key::DeleteLine]).line, "a");
    }

    #[test]
    fn there_is_a_limit() {
        let half = "中".repeat(LONGEST / 6);
        let ahead = typed(&[text(&half), Key::Enter, text(&half), text(&half)]);
        assert!(ahead.line.len() + ahead.queue[0].len() <= LONGEST);
        assert_eq!(ahead.line.chars().last(), Some('中'));
    }

    #[test]
    fn what_comes_back_waits_for_an_empty_line() {
        let pending = Pending::default();
        pending.typed("one\r\n\ntwo\rthr");
        assert_eq!((pending.take_queued().as_deref(), pending.line_for_editor().as_str()), (Some("one"), "thr"));
        pending.give_back(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(pending.line_for_editor(), "a");
        pending.set_line("");
        assert_eq!(pending.line_for_editor(), "b");
        assert_eq!(pending.snapshot().queue, queue(&["two"]));
    }

    #[test]
    fn who_listens_hears_of_each_change_once_and_of_nothing_else() {
        let pending = Pending::default();
        let heard = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&heard);
        pending.listen(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        pending.tell();
        pending.set_line("a");
        pending.set_line("ab");
        pending.tell();
        pending.tell();
        pending.set_line("ab");
        pending.tell();
        assert_eq!(heard.load(Ordering::Relaxed), 1);
    }
}
