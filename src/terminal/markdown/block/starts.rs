//! Recognises how the lines of blocks begin, and when the start of a line is enough for that. Pure.

use crate::terminal::markdown::inline::{LABEL, unescape};

/// A line that heads a table must have a `|` within this many characters. Only this much of a line's start is held
/// back; models write the leading `|` anyway.
pub(super) const TABLE_WINDOW: usize = 40;
/// The longest line that heads a table without beginning with `|`, in characters: a paragraph with a bar in it is
/// not held back to its end.
const TABLE_LINE: usize = 160;
/// How many backticks or tildes a fence has at least.
const FENCE: usize = 3;

/// Tells whether a line is a rule: three or more of `*`, `-` or `_`.
pub(super) fn is_rule(line: &str) -> bool {
    let mut marks = line.bytes().filter(|byte| !matches!(byte, b' ' | b'\t'));
    let Some(mark) = marks.next().filter(|mark| b"*-_".contains(mark)) else { return false };
    let mut count = 1;
    marks.all(|other| {
        count += 1;
        other == mark
    }) && count >= 3
}

/// Reads `## ` at the start of a line: returns the level, and how many bytes stand before the text.
pub(super) fn heading(line: &str) -> Option<(u8, usize)> {
    let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
    let level = u8::try_from(hashes).ok().filter(|level| (1..=6).contains(level))?;
    let rest = &line[hashes..];
    let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    (rest.is_empty() || spaces > 0).then_some((level, hashes + spaces))
}

/// Removes the closing `##` from a heading's text.
pub(super) fn heading_text(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '\t']);
    let bare = text.trim_end_matches('#');
    if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end_matches([' ', '\t']) } else { text }
}

/// A fence's opening line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FenceStart {
    pub(super) mark: u8,
    pub(super) length: usize,
    pub(super) info: String,
}

pub(super) fn fence(line: &str) -> Option<FenceStart> {
    let mark = line.bytes().next().filter(|mark| b"`~".contains(mark))?;
    let length = line.bytes().take_while(|byte| *byte == mark).count();
    let info = line[length..].trim();
    (length >= FENCE && !(mark == b'`' && info.contains('`'))).then(|| FenceStart {
        mark,
        length,
        info: unescape(info),
    })
}

/// Tells whether a line closes a fence of this mark and length.
pub(super) fn closes_fence(line: &str, mark: u8, length: usize) -> bool {
    let count = line.bytes().take_while(|byte| *byte == mark).count();
    count >= length && line[count..].trim().is_empty()
}

/// Reads `===` or `---` under a text; returns the heading's level.
pub(super) fn setext(line: &str) -> Option<u8> {
    let line = line.trim_end_matches([' ', '\t']);
    let mark = line.bytes().next()?;
    let level = match mark {
        b'=' => 1,
        b'-' => 2,
        _ => return None,
    };
    line.bytes().all(|byte| byte == mark).then_some(level)
}

/// A list item's marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// `-`, `+` or `*`.
    Bullet(u8),
    /// A number and `.` or `)`.
    Ordered(u64, u8),
}

impl Marker {
    /// Tells whether an item with this marker continues a list with the other marker.
    pub(super) fn continues(self, other: Self) -> bool {
        match (self, other) {
            (Self::Bullet(mark), Self::Bullet(other)) | (Self::Ordered(_, mark), Self::Ordered(_, other)) => {
                mark == other
            }
            (Self::Bullet(_), Self::Ordered(_, _)) | (Self::Ordered(_, _), Self::Bullet(_)) => false,
        }
    }
}

/// Reads a marker at the start of a line; returns it with its length. White space or the line's end must follow it.
pub(super) fn list_marker(line: &str) -> Option<(Marker, usize)> {
    let bytes = line.as_bytes();
    let (marker, length) = match bytes.first()? {
        mark @ (b'-' | b'+' | b'*') => (Marker::Bullet(*mark), 1),
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let mark = bytes.get(digits).copied().filter(|mark| b".)".contains(mark) && digits <= 9)?;
            (Marker::Ordered(line[..digits].parse().ok()?, mark), digits + 1)
        }
        _ => return None,
    };
    matches!(bytes.get(length), None | Some(b' ' | b'\t')).then_some((marker, length))
}

/// How many bytes a task's mark takes.
pub(super) const TASK: usize = 3;

/// Reads a task's mark at the start of an item's text; returns the sign to print.
pub(super) fn task(content: &str) -> Option<&'static str> {
    let (mark, rest) = content.split_at_checked(TASK)?;
    let sign = match mark {
        "[ ]" => "☐ ",
        "[x]" | "[X]" => "☑ ",
        _ => return None,
    };
    (rest.starts_with([' ', '\t']) && !rest.trim().is_empty()).then_some(sign)
}

/// Reads `[!NOTE]` alone on a line, as GitHub marks alerts; returns the word.
pub(super) fn alert(content: &str) -> Option<&str> {
    let word = content.trim_end().strip_prefix("[!")?.strip_suffix(']')?;
    let good = (1..=TABLE_WINDOW / 2).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    good.then_some(word)
}

/// Reads `[^label]:`; returns the label and the length.
pub(super) fn footnote(line: &str) -> Option<(&str, usize)> {
    let rest = line.strip_prefix("[^")?;
    let end = rest.bytes().take(LABEL - 2).position(|byte| byte == b']')?;
    let label = &rest[..end];
    let good = !label.is_empty() && !label.contains([' ', '\t', '[']) && rest[end + 1..].starts_with(':');
    good.then_some((label, end + 4))
}

/// Reads the opening of displayed maths; returns the text that closes it.
pub(super) fn maths(line: &str) -> Option<&'static str> {
    if line.starts_with("$$") {
        Some("$$")
    } else if line.starts_with("\\[") && (line[2..].trim().is_empty() || line.trim_end().ends_with("\\]")) {
        Some("\\]")
    } else {
        None
    }
}

/// Tells whether a line may head a table: it begins with `|`, or it has one near its start and is not long prose.
pub(super) fn may_head_table(line: &str) -> bool {
    line.starts_with('|') || has_early_bar(line) && line.chars().nth(TABLE_LINE).is_none()
}

fn has_early_bar(line: &str) -> bool {
    line.chars().take(TABLE_WINDOW).any(|character| character == '|')
}

/// What the start of a line says about it while the rest has not arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// More text is needed.
    Unsure,
    /// It is text, whatever follows.
    Text,
    Heading,
    Quote,
    Item,
}

/// Tells what a line is if its content, without indentation, begins with `start`.
pub(super) fn certainty(start: &str, in_paragraph: bool) -> Certainty {
    let bytes = start.as_bytes();
    let Some(first) = bytes.first().copied() else { return Certainty::Unsure };
    let run = bytes.iter().take_while(|byte| **byte == first).count();
    let ended = run == bytes.len();
    let next = bytes.get(run).copied();
    let spaced = matches!(next, Some(b' ' | b'\t'));
    match first {
        b'>' => Certainty::Quote,
        b'#' if ended => Certainty::Unsure,
        b'#' if run <= 6 && spaced => {
            if start[run..].trim().is_empty() {
                Certainty::Unsure
            } else {
                Certainty::Heading
            }
        }
        b'`' | b'~' if run >= FENCE || ended => Certainty::Unsure,
        b'=' if in_paragraph && (ended || spaced) => Certainty::Unsure,
        b'-' | b'*' | b'_' | b'+' => {
            let only_marks = start.bytes().all(|byte| byte == first || byte == b' ' || byte == b'\t');
            // Marks alone may still become a rule, an underline or an item.
            if only_marks {
                Certainty::Unsure
            } else if run == 1 && spaced && first != b'_' {
                Certainty::Item
            } else {
                text_certainty(start)
            }
        }
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match (bytes.get(digits), bytes.get(digits + 1)) {
                (None, _) | (Some(b'.' | b')'), None) => Certainty::Unsure,
                (Some(b'.' | b')'), Some(b' ' | b'\t')) if digits <= 9 => {
                    if start[digits + 1..].trim().is_empty() {
                        Certainty::Unsure
                    } else {
                        Certainty::Item
                    }
                }
                _ => text_certainty(start),
            }
        }
        b'<' | b'|' | b':' => Certainty::Unsure,
        b'[' => match bytes.iter().take(LABEL + 2).position(|byte| *byte == b']') {
            Some(end) if bytes.len() > end + 1 && bytes[end + 1] != b':' => text_certainty(start),
            None if bytes.len() > LABEL + 2 => text_certainty(start),
            Some(_) | None => Certainty::Unsure,
        },
        b'$' if bytes.len() < 2 || bytes[1] == b'$' => Certainty::Unsure,
        b'\\' if bytes.len() < 2 || bytes[1] == b'[' => Certainty::Unsure,
        _ => text_certainty(start),
    }
}

/// Tells whether a line of text can no longer head a table, whatever follows.
pub(super) fn text_certainty(start: &str) -> Certainty {
    let enough = if has_early_bar(start) { TABLE_LINE } else { TABLE_WINDOW - 1 };
    if !start.starts_with('|') && start.chars().nth(enough).is_some() { Certainty::Text } else { Certainty::Unsure }
}

#[cfg(test)]
#[path = "starts_tests.rs"]
mod tests;
