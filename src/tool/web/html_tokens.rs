//! Cutting HTML into tags and text, forgiving as browsers are; never recursive, never slower than linear. Pure.

/// A piece of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Text, entities as they are.
    Text(&'a str),
    /// A tag that opens, or stands alone.
    Open {
        /// Lower case.
        name: String,
        /// What stands between the name and the `>`.
        attributes: &'a str,
    },
    /// A tag that closes.
    Close {
        /// Lower case.
        name: String,
    },
}

/// Elements whose content is no markup (HTML Living Standard, 13.1.2); a page's title is text, though.
const RAW: &[&str] = &["script", "style", "textarea", "xmp", "iframe", "noembed", "noframes"];

/// The pieces of a page, in order. Comments, doctypes and raw elements are left out.
pub(crate) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    /// Starts at the beginning of a page.
    pub(crate) fn new(page: &'a str) -> Self {
        Self { rest: page }
    }

    /// Skips the text before the needle, and the needle; skips everything if it is missing.
    fn skip_past(&mut self, needle: &str) {
        self.rest = self.rest.find(needle).map_or("", |at| &self.rest[at + needle.len()..]);
    }

    fn skip_raw(&mut self, name: &str) {
        while let Some(at) = self.rest.find("</") {
            self.rest = &self.rest[at + 2..];
            if self.rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
                return self.skip_past(">");
            }
        }
        self.rest = "";
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let at = match self.rest.find('<') {
                None if self.rest.is_empty() => return None,
                None => self.rest.len(),
                Some(at) => at,
            };
            if at > 0 {
                let (text, rest) = self.rest.split_at(at);
                self.rest = rest;
                return Some(Token::Text(text));
            }
            let inner = &self.rest[1..];
            if inner.starts_with("!--") {
                self.skip_past("-->");
            } else if inner.starts_with(['!', '?']) {
                self.skip_past(">");
            } else if let Some(closing) = inner.strip_prefix('/') {
                let name = name(closing);
                self.skip_past(">");
                if !name.is_empty() {
                    return Some(Token::Close { name });
                }
            } else {
                let name = name(inner);
                if name.is_empty() {
                    // A lonely `<` is text.
                    self.rest = inner;
                    return Some(Token::Text("<"));
                }
                let after = &inner[name.len()..];
                let end = end_of_tag(after);
                self.rest = after.get(end + 1..).unwrap_or("");
                if RAW.contains(&name.as_str()) {
                    self.skip_raw(&name);
                    continue;
                }
                return Some(Token::Open { name, attributes: &after[..end] });
            }
        }
    }
}

fn name(text: &str) -> String {
    if !text.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return String::new();
    }
    let end =
        text.find(|letter: char| letter.is_whitespace() || matches!(letter, '>' | '/' | '<')).unwrap_or(text.len());
    text[..end].to_ascii_lowercase()
}

/// Finds the `>` of a tag, past those in quotes.
fn end_of_tag(text: &str) -> usize {
    let mut quote: Option<u8> = None;
    let mut before = b' ';
    for (index, byte) in text.bytes().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            // A quote begins a value only behind `=`.
            None if matches!(byte, b'"' | b'\'') && before == b'=' => quote = Some(byte),
            None if byte == b'>' => return index,
            Some(_) | None => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    // Never closed: the quote was none.
    if quote.is_some() { text.find('>').unwrap_or(text.len()) } else { text.len() }
}

/// Finds an attribute's value, entities as they are.
pub(crate) fn attribute<'a>(attributes: &'a str, wanted: &str) -> Option<&'a str> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|letter: char| letter.is_whitespace() || letter == '=').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end.max(rest.chars().next().map_or(1, char::len_utf8)).min(rest.len()));
        let Some(value) = after.trim_start().strip_prefix('=').map(str::trim_start) else {
            rest = after;
            continue;
        };
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            Some(_) | None => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after;
    }
}

/// Puts characters in the place of entities.
pub(crate) fn decoded(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        // The longest name has 32 letters.
        let end = rest.bytes().take(40).position(|byte| byte == b';');
        if let Some(end) = end
            && let Some(letters) = entity(&rest[..=end])
        {
            decoded.push_str(&letters);
            rest = &rest[end + 1..];
        } else {
            decoded.push('&');
            rest = &rest[1..];
        }
    }
    decoded.push_str(rest);
    decoded
}

/// Looks an entity up where markdown's parser has the whole list of them.
fn entity(entity: &str) -> Option<String> {
    match entity {
        "&amp;" => return Some("&".to_owned()),
        "&lt;" => return Some("<".to_owned()),
        "&gt;" => return Some(">".to_owned()),
        "&quot;" => return Some("\"".to_owned()),
        // Nobody wants to find these in a text.
        "&nbsp;" | "&#160;" => return Some(" ".to_owned()),
        "&shy;" | "&ZeroWidthSpace;" => return Some(String::new()),
        _ => {}
    }
    if !entity[1..entity.len() - 1].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#') {
        return None;
    }
    let letters: String = pulldown_cmark::Parser::new(entity)
        .filter_map(
            |event| if let pulldown_cmark::Event::Text(text) = event { Some(text.into_string()) } else { None },
        )
        .collect();
    (letters != entity && !letters.is_empty()).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_text_and_attributes_are_found_in_tag_soup() {
        let page = "<!doctype html><!-- <b> --><A href='x>y' CLASS=big disabled>1 < 2</a ><script>if (a<b) '</p>'</SCRIPT >&amp;<br/>";
        let tokens: Vec<Token<'_>> = Tokens::new(page).collect();
        assert_eq!(
            tokens,
            [
                Token::Open { name: "a".to_owned(), attributes: " href='x>y' CLASS=big disabled" },
                Token::Text("1 "),
                Token::Text("<"),
                Token::Text(" 2"),
                Token::Close { name: "a".to_owned() },
                Token::Text("&amp;"),
                Token::Open { name: "br".to_owned(), attributes: "/" },
            ]
        );
        assert_eq!(attribute(" href='x>y' CLASS=big disabled", "class"), Some("big"));
        assert_eq!(attribute(" href='x>y' CLASS=big disabled", "href"), Some("x>y"));
        assert_eq!(attribute(" disabled a = \"b\"", "a"), Some("b"));
        assert_eq!(attribute("= =\"", "a"), None);
    }

    #[test]
    fn entities_become_characters_and_others_stay() {
        assert_eq!(
            decoded("caf&eacute; &lt;&#x4e2d;&#20013;&gt; &nosuch; AT&T & co &"),
            "café <中中> &nosuch; AT&T & co &"
        );
    }

    #[test]
    fn a_page_that_never_ends_a_tag_ends() {
        for page in ["<a", "<a href=\"", "</", "<", "<!--", "<script>", "<a b='c>d</a>", "&", "<é>"] {
            let _: Vec<Token<'_>> = Tokens::new(page).collect();
        }
    }
}
