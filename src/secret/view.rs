//! A text as those who wrote it meant it: without what a log, a container or a quotation puts before each line, and what
//! stands in a string of JSON without its escapes. What is found there is told by where it stands in the text itself.

use std::ops::Range;

/// The longest beginning of a line that is taken for that of a log, in bytes.
const LONGEST: usize = 160;
/// The shortest string that is looked into, in bytes.
const SHORTEST_STRING: usize = 8;

/// A text made of parts of another.
#[derive(Default)]
pub(super) struct View {
    pub(super) text: String,
    /// Where each byte comes from.
    from: Vec<Range<usize>>,
}

impl View {
    fn push(&mut self, letter: char, from: &Range<usize>) {
        self.text.push(letter);
        self.from.resize(self.text.len(), from.clone());
    }

    fn copy(&mut self, text: &str, at: usize) {
        self.text.push_str(text);
        self.from.extend((at..at + text.len()).map(|at| at..at + 1));
    }

    /// Where a range of it stands in the other text.
    pub(super) fn origin(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let (first, last) = (self.from.get(range.start)?, self.from.get(range.end.checked_sub(1)?)?);
        (first.start < last.end).then_some(first.start..last.end)
    }
}

/// The text without what stands before its lines; `None` where nothing does.
pub(super) fn bare(text: &str) -> Option<View> {
    if !text.split_inclusive('\n').any(|line| before(line) > 0) {
        return None;
    }
    let mut view = View::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let from = before(line);
        view.copy(&line[from..], at + from);
        at += line.len();
    }
    Some(view)
}

/// How much of a line a log, a container or a comment has put before it.
fn before(line: &str) -> usize {
    let window = &line[..line.floor_char_boundary(LONGEST.min(line.len()))];
    let mut from = 0;
    for _ in 0..4 {
        let rest = &window[from..];
        let Some(more) =
            [container(rest), pod(rest), time(rest), level(rest), comment(rest)].into_iter().flatten().next()
        else {
            break;
        };
        from += more;
    }
    from
}

/// `web-1  | `, as compose names what its services print.
fn container(line: &str) -> Option<usize> {
    let (name, rest) = line.split_once(" | ")?;
    let name = name.trim_end();
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let numbered = digits > 0 && name[..name.len() - digits].ends_with(['-', '_']);
    (is_name && numbered).then_some(line.len() - rest.len())
}

/// `[pod/web-6d4/app] `, `[main] `, `[12345]: `.
fn pod(line: &str) -> Option<usize> {
    let (inside, rest) = line.strip_prefix('[')?.split_once(']')?;
    let is_name = !inside.is_empty()
        && inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-: #,".contains(&byte));
    let rest = rest.strip_prefix(':').unwrap_or(rest).strip_prefix(' ')?;
    is_name.then_some(line.len() - rest.len())
}

/// `2024-11-02T10:22:33.123Z `, `Nov  2 10:22:33 host sshd[12]: `, `10:22:33 `.
fn time(line: &str) -> Option<usize> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let bytes = line.as_bytes();
    let shape = |at: usize, shape: &[u8]| {
        bytes.get(at..at + shape.len()).is_some_and(|part| {
            part.iter()
                .zip(shape)
                .all(|(byte, sign)| if *sign == b'0' { byte.is_ascii_digit() } else { byte == sign })
        })
    };
    let until_blank = |at: usize| line[at..].find(' ').map(|blank| at + blank + 1);
    let is_date = shape(0, b"0000-00-00") || shape(0, b"0000/00/00");
    if is_date && matches!(bytes.get(10), Some(b'T' | b' ')) && shape(11, b"00:00:00") {
        return until_blank(11);
    }
    if shape(0, b"00:00:00") {
        return until_blank(0);
    }
    let month = line.get(..3).filter(|month| MONTHS.contains(month))?;
    let clock = (4..=7).find(|at| shape(*at, b"00:00:00")).filter(|_| month.len() == 3)?;
    let host = until_blank(clock)?;
    let program = until_blank(host)?;
    let sender = until_blank(program)?;
    line[..sender].ends_with(": ").then_some(sender)
}

/// `INFO  `, `warn: `, `E `.
fn level(line: &str) -> Option<usize> {
    const LEVELS: &[&str] = &[
        "trace", "debug", "info", "notice", "warn", "warning", "error", "err", "fatal", "critical", "log",
        "verbose",
    ];
    let word = line.bytes().take_while(u8::is_ascii_alphabetic).count();
    let is_level = LEVELS.iter().any(|level| level.eq_ignore_ascii_case(&line[..word]));
    let rest = line[word..].trim_start_matches([':', ']', '|', '-', ' ', '\t']);
    (is_level && rest.len() < line.len() - word).then_some(line.len() - rest.len())
}

/// `// `, `-- `, `> > `, `* `.
fn comment(line: &str) -> Option<usize> {
    let text = line.trim_start();
    let rest = ["// ", "/// ", "# ", "; ", "-- ", "> ", "* ", "rem ", "REM "]
        .iter()
        .find_map(|sign| text.strip_prefix(sign))?;
    Some(line.len() - rest.len())
}

/// The strings of a text that have something escaped in them, as they were before.
pub(super) fn strings(text: &str) -> Vec<View> {
    let mut views = Vec::new();
    if !["\\n", "\\\"", "\\u", "\\\\", "\\/"].iter().any(|escape| text.contains(escape)) {
        return views;
    }
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(open) = text[at..].find('"').map(|quote| at + quote) {
        let is_escaped = open > 0 && bytes[open - 1] == b'\\';
        let behind = text[..open].trim_end().as_bytes().last();
        at = open + 1;
        if is_escaped || !matches!(behind, Some(b':' | b',' | b'[' | b'=')) {
            continue;
        }
        let (view, end) = unescaped(text, open + 1);
        let Some(end) = end else { continue };
        at = end + 1;
        if view.text.len() >= SHORTEST_STRING && view.text.len() < end - open - 1 {
            views.push(view);
        }
    }
    views
}

/// A string of JSON (RFC 8259, section 7) up to its quote, and where that is; `None` where it ends in another line.
fn unescaped(text: &str, mut start: usize) -> (View, Option<usize>) {
    let mut view = View::default();
    let mut letters = text[start..].char_indices();
    while let Some((at, letter)) = letters.next() {
        let at = start + at;
        match letter {
            '"' => return (view, Some(at)),
            '\n' => break,
            '\\' => {
                let Some((_, escape)) = letters.next() else { break };
                if escape == 'u'
                    && let Some(code) = text.get(at + 2..at + 6)
                    && let Some(plain) = u32::from_str_radix(code, 16).ok().and_then(char::from_u32)
                {
                    letters = text[at + 6..].char_indices();
                    start = at + 6;
                    view.push(plain, &(at..at + 6));
                    continue;
                }
                let plain = match escape {
                    'n' | 'r' => '\n',
                    't' => '\t',
                    other => other,
                };
                view.push(plain, &(at..at + 1 + escape.len_utf8()));
            }
            other => view.push(other, &(at..at + other.len_utf8())),
        }
    }
    (view, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_seen_without_what_a_log_puts_before_it() {
        for start in [
            "web-1  | ",
            "[pod/web-6d4/app] ",
            "2024-11-02T10:22:33.123Z INFO  [main] ",
            "2024-11-02 10:22:33,123 ",
            "Nov  2 10:22:33 host sshd[12]: ",
            "10:22:33 warn: ",
            "ERROR ",
            "// ",
            "> > ",
            "  # ",
        ] {
            let text = format!("{start}db: é x\nplain\n");
            let view = bare(&text).expect(start);
            assert_eq!(view.text, "db: é x\nplain\n", "{start}");
            let at = view.text.find("x\n").unwrap();
            assert_eq!(view.origin(&(at..at + 1)).map(|range| &text[range]), Some("x"));
        }
        for line in ["db: x", "a | b", "information: x", "2024-11-02", "[x]", "", "é", "name-1 |x"] {
            assert!(bare(line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_string_is_seen_without_its_escapes() {
        let text = r#"{"a": 1, "message": "one\ntwo \"é\" x", "b": "plain words"}"#;
        let views = strings(text);
        assert_eq!(views.iter().map(|view| view.text.as_str()).collect::<Vec<_>>(), ["one\ntwo \"é\" x"]);
        let at = views[0].text.find("\"é\"").unwrap();
        assert_eq!(views[0].origin(&(at..at + 4)).map(|range| &text[range]), Some(r#"\"é\""#));
        for text in ["", "\"", "\\\"", "x = \"a\\", "\"a\\nb\"", "[\"a\\n\nb\"]"] {
            assert!(strings(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_letter_by_its_number_is_seen_and_half_of_one_ends_nothing() {
        let text = r#"{"a":"PASSWORD\u003dx\u00e9 \"y\""}"#;
        let views = strings(text);
        assert_eq!(views[0].text, "PASSWORD=xé \"y\"");
        let at = views[0].text.find('x').unwrap();
        let origin = views[0].origin(&(at..at + 1)).unwrap();
        assert_eq!(&text[origin], "x");
        // Half of one, and half of a letter, end nothing.
        for text in [r#"a: "\u00", b: "\ud83d\ude00 longer than eight""#, r#"a: "\uéé longer than eight""#] {
            drop(strings(text));
        }
    }
}
