//! Keys by their names, as the bytes a terminal sends. Pure.

/// Names and bytes; xterm's, which everything understands.
const NAMED: &[(&str, &str)] = &[
    ("enter", "\r"),
    ("return", "\r"),
    ("tab", "\t"),
    ("escape", "\x1b"),
    ("esc", "\x1b"),
    ("space", " "),
    ("backspace", "\x7f"),
    ("delete", "\x1b[3~"),
    ("up", "\x1b[A"),
    ("down", "\x1b[B"),
    ("right", "\x1b[C"),
    ("left", "\x1b[D"),
    ("home", "\x1b[H"),
    ("end", "\x1b[F"),
    ("pageup", "\x1b[5~"),
    ("pagedown", "\x1b[6~"),
    ("f1", "\x1bOP"),
    ("f2", "\x1bOQ"),
    ("f3", "\x1bOR"),
    ("f4", "\x1bOS"),
    ("f5", "\x1b[15~"),
    ("f10", "\x1b[21~"),
];

/// Turns text with names in angle brackets (`ls<enter>`, `<ctrl+c>`, `<up>`) into bytes. A bracket that names no key is
/// text.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        bytes.extend_from_slice(typed(&rest[..at]).as_bytes());
        rest = &rest[at..];
        if let Some((key, end)) = rest.find('>').and_then(|end| Some((named(&rest[1..end])?, end))) {
            bytes.extend_from_slice(&key);
            rest = &rest[end + 1..];
        } else {
            bytes.push(b'<');
            rest = &rest[1..];
        }
    }
    bytes.extend_from_slice(typed(rest).as_bytes());
    bytes
}

/// A line end is what Enter sends.
fn typed(text: &str) -> String {
    text.replace("\r\n", "\r").replace('\n', "\r")
}

fn named(name: &str) -> Option<Vec<u8>> {
    let name = name.trim().to_ascii_lowercase();
    if let Some((_, bytes)) = NAMED.iter().find(|(known, _)| *known == name) {
        return Some(bytes.as_bytes().to_vec());
    }
    let control = ["ctrl+", "ctrl-", "c-", "control+"].iter().find_map(|start| name.strip_prefix(start));
    if let Some(letter) = control {
        return match letter.as_bytes() {
            [letter @ b'a'..=b'z'] => Some(vec![letter - b'a' + 1]),
            [letter @ b'['..=b'_'] => Some(vec![letter - b'@']),
            _ if letter == "space" => Some(vec![0]),
            _ => None,
        };
    }
    let alt = ["alt+", "alt-", "m-"].iter().find_map(|start| name.strip_prefix(start));
    alt.filter(|letter| letter.chars().count() == 1).map(|letter| [b"\x1b", letter.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_keys_and_other_brackets_are_text() {
        assert_eq!(bytes("ls<enter>"), b"ls\r");
        assert_eq!(bytes("<Ctrl+C><up><alt+x>\n"), b"\x03\x1b[A\x1bx\r");
        assert_eq!(bytes("a < b <p> <"), b"a < b <p> <");
        assert_eq!(bytes("<c-[><F10><é>"), "\x1b\x1b[21~<é>".as_bytes());
    }
}
