//! What servers say of themselves, as far as it can be seen. Pure.

use crate::character::is_unseen;

/// The most characters of what a server says of a tool: the model reads all of it at each request.
const MOST: usize = 2_000;

/// A text for the model: nothing that cannot be seen, nothing endless.
pub(super) fn plain(text: &str) -> String {
    let mut plain: String = visible(text).chars().take(MOST + 1).collect();
    if let Some((at, _)) = plain.char_indices().nth(MOST) {
        plain.truncate(at);
        plain.push('…');
    }
    plain
}

/// Takes out whole terminal sequences, control characters, and what shows nothing.
pub(super) fn visible(text: &str) -> String {
    let seen = |letter: &char| matches!(letter, '\n' | '\t') || !letter.is_control() && !is_unseen(*letter);
    // The one-byte forms of `ESC [` and `ESC ]`.
    let long = text.replace('\u{9b}', "\u{1b}[").replace('\u{9d}', "\u{1b}]");
    // The crate takes tabs out, too.
    let stripped: Vec<String> = long.split('\t').map(strip_ansi_escapes::strip_str).collect();
    stripped.join("\t").chars().filter(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_terminal_sequence_and_nothing_is_hidden() {
        assert_eq!(visible("sums\u{1b}[31m 1\u{1b}]0;title\u{7}\n\tx\u{9b}2Jé\u{e0041}\u{202e}"), "sums 1\n\txé");
        assert_eq!(visible("open \u{1b}[31"), "open ");
    }

    #[test]
    fn a_text_has_an_end() {
        let read = plain(&("Reads.\u{1b}[2J".to_owned() + &"x".repeat(5_000)));
        assert!(read.starts_with("Reads.xx"), "{read}");
        assert_eq!(read.chars().count(), MOST + 1);
    }
}
