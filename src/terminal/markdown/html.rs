//! HTML in markdown: what is a tag, and which lines begin a block of HTML. HTML is shown as text, never
//! interpreted.

/// What begins at a `<`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A tag, comment, instruction, declaration or CDATA of this many bytes.
    Tag(usize),
    /// It may still become one.
    Incomplete,
    Nothing,
}

/// Looks for inline HTML at the start of `text`, which begins with `<`.
pub(crate) fn inline(text: &str) -> Found {
    let rest = &text[1..];
    for (open, close) in [("!--", "-->"), ("?", "?>"), ("![CDATA[", "]]>")] {
        if let Some(inner) = rest.strip_prefix(open) {
            if open == "!--" && (inner.starts_with('>') || inner.starts_with("->")) {
                return Found::Tag(text.len() - inner.len() + inner.find('>').map_or(0, |end| end + 1));
            }
            return match inner.find(close) {
                Some(end) => Found::Tag(text.len() - inner.len() + end + close.len()),
                None => Found::Incomplete,
            };
        }
        if open.starts_with(rest) && !rest.is_empty() {
            return Found::Incomplete;
        }
    }
    let bytes = text.as_bytes();
    if let Some(b'!') = bytes.get(1) {
        return match (bytes.get(2), text.find('>')) {
            (Some(byte), Some(end)) if byte.is_ascii_alphabetic() => Found::Tag(end + 1),
            (Some(byte), None) if byte.is_ascii_alphabetic() => Found::Incomplete,
            _ => Found::Nothing,
        };
    }
    tag(bytes)
}

/// Reads an open or closing tag.
fn tag(bytes: &[u8]) -> Found {
    let closing = bytes.get(1) == Some(&b'/');
    let mut position = if closing { 2 } else { 1 };
    match bytes.get(position) {
        Some(byte) if byte.is_ascii_alphabetic() => {}
        Some(_) => return Found::Nothing,
        None => return Found::Incomplete,
    }
    position = skip(bytes, position, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if closing {
        position = skip(bytes, position, |byte| byte.is_ascii_whitespace());
        return match bytes.get(position) {
            Some(b'>') => Found::Tag(position + 1),
            Some(_) => Found::Nothing,
            None => Found::Incomplete,
        };
    }
    loop {
        let after_space = skip(bytes, position, |byte| byte.is_ascii_whitespace());
        let spaced = after_space > position;
        position = after_space;
        match bytes.get(position) {
            None => return Found::Incomplete,
            Some(b'>') => return Found::Tag(position + 1),
            Some(b'/') => {
                return match bytes.get(position + 1) {
                    Some(b'>') => Found::Tag(position + 2),
                    Some(_) => Found::Nothing,
                    None => Found::Incomplete,
                };
            }
            Some(byte) if spaced && (byte.is_ascii_alphabetic() || *byte == b'_' || *byte == b':') => {}
            Some(_) => return Found::Nothing,
        }
        position = skip(bytes, position, |byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte));
        let equals = skip(bytes, position, |byte| byte.is_ascii_whitespace());
        if bytes.get(equals) != Some(&b'=') {
            continue;
        }
        position = skip(bytes, equals + 1, |byte| byte.is_ascii_whitespace());
        match bytes.get(position) {
            None => return Found::Incomplete,
            Some(quote @ (b'"' | b'\'')) => {
                position = skip(bytes, position + 1, |byte| byte != *quote);
                if position >= bytes.len() {
                    return Found::Incomplete;
                }
                position += 1;
            }
            Some(_) => {
                let end = skip(bytes, position, |byte| !byte.is_ascii_whitespace() && !b"\"'=<>`".contains(&byte));
                if end == position {
                    return Found::Nothing;
                }
                position = end;
            }
        }
    }
}

fn skip(bytes: &[u8], start: usize, good: impl Fn(u8) -> bool) -> usize {
    bytes.get(start..).map_or(start, |rest| start + rest.iter().take_while(|byte| good(**byte)).count())
}

/// Tells whether a tag (for keys or folds) is left out, because a person who reads the text inside learns nothing
/// from it.
pub(crate) fn is_unseen(tag: &str) -> bool {
    let name = tag.trim_start_matches(['<', '/']);
    let name = &name[..name.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(name.len())];
    ["kbd", "details", "summary"].iter().any(|unseen| name.eq_ignore_ascii_case(unseen))
}

/// Removes such tags from a line of HTML; the heading of a fold gets its mark. `None` if nothing else was on the
/// line.
pub(crate) fn readable(line: &str) -> Option<String> {
    let mut readable = String::new();
    let mut rest = line;
    let mut hidden = false;
    while let Some(start) = rest.find('<') {
        readable.push_str(&rest[..start]);
        rest = &rest[start..];
        match inline(rest) {
            Found::Tag(length) if is_unseen(&rest[..length]) => {
                hidden = true;
                if rest[..length].to_ascii_lowercase().starts_with("<summary") {
                    readable.push_str("▸ ");
                }
                rest = &rest[length..];
            }
            Found::Tag(length) => {
                readable.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            Found::Incomplete | Found::Nothing => {
                readable.push('<');
                rest = &rest[1..];
            }
        }
    }
    readable.push_str(rest);
    (!hidden || !readable.trim().is_empty()).then_some(readable)
}

/// Tells whether a tag is `<br>`, which models write for a line break.
pub(crate) fn is_line_break(tag: &str) -> bool {
    let name = tag.trim_start_matches('<').trim_end_matches(['>', '/', ' ']);
    name.eq_ignore_ascii_case("br")
}

/// How a block of HTML ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockEnd {
    /// At the line that contains one of these.
    Marker(&'static [&'static str]),
    /// Before the next blank line.
    Blank,
}

impl BlockEnd {
    pub(crate) fn is_in(self, line: &str) -> bool {
        match self {
            Self::Marker(markers) => {
                let line = line.to_ascii_lowercase();
                markers.iter().any(|marker| line.contains(marker))
            }
            Self::Blank => false,
        }
    }
}

/// Names of elements whose tags begin a block (CommonMark, kind 6).
const BLOCK_ELEMENTS: &[&str] = &[
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// Tells whether a line, which begins with `<`, begins a block of HTML, and how it ends.
pub(crate) fn block_start(line: &str, in_paragraph: bool) -> Option<BlockEnd> {
    let rest = &line[1..];
    let name_length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
    let name = rest[..name_length].to_ascii_lowercase();
    let after = rest.as_bytes().get(name_length).copied();
    let raw = ["pre", "script", "style", "textarea"].contains(&name.as_str());
    if raw && matches!(after, None | Some(b' ' | b'\t' | b'>')) {
        return Some(BlockEnd::Marker(&["</pre>", "</script>", "</style>", "</textarea>"]));
    }
    if rest.starts_with("!--") {
        return Some(BlockEnd::Marker(&["-->"]));
    }
    if rest.starts_with('?') {
        return Some(BlockEnd::Marker(&["?>"]));
    }
    if rest.starts_with("![CDATA[") {
        return Some(BlockEnd::Marker(&["]]>"]));
    }
    if rest.starts_with('!') && rest[1..].bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic()) {
        return Some(BlockEnd::Marker(&[">"]));
    }
    let tag_rest = rest.strip_prefix('/').unwrap_or(rest);
    let length = tag_rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let element = tag_rest[..length].to_ascii_lowercase();
    let follows = &tag_rest[length..];
    let ends_well = follows.is_empty() || follows.starts_with([' ', '\t', '>']) || follows.starts_with("/>");
    if ends_well && BLOCK_ELEMENTS.binary_search(&element.as_str()).is_ok() {
        return Some(BlockEnd::Blank);
    }
    match tag(line.as_bytes()) {
        Found::Tag(length) if !in_paragraph && !raw && line[length..].trim().is_empty() => Some(BlockEnd::Blank),
        Found::Tag(_) | Found::Incomplete | Found::Nothing => None,
    }
}
