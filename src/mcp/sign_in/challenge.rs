//! What a server says with 401 or 403 (RFC 9110, 11.6.1; RFC 6750, 3; RFC 9728, 5.1). Pure.

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// The challenge of the scheme Bearer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::mcp) struct Challenge {
    /// Where the server says of itself where one signs in.
    pub(in crate::mcp) metadata: Option<String>,
    /// What a token must be good for.
    pub(in crate::mcp) scope: Option<String>,
    /// What was wrong with the token that was sent.
    pub(in crate::mcp) error: Option<String>,
}

impl Challenge {
    /// Reads it out of the headers of an answer; an empty one where there is none.
    pub(in crate::mcp) fn read(headers: &HeaderMap) -> Self {
        let mut all = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        all.find_map(read).unwrap_or_default()
    }

    /// Tells whether a token is good, but not for this.
    pub(in crate::mcp) fn wants_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// Reads one header, in which several challenges may stand.
fn read(text: &str) -> Option<Challenge> {
    let (mut found, mut is_bearer) = (None, false);
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if name.is_empty() {
            return found;
        }
        rest = match after.strip_prefix('=') {
            None => {
                is_bearer = name.eq_ignore_ascii_case("bearer");
                if is_bearer {
                    found.get_or_insert_with(Challenge::default);
                }
                after
            }
            Some(after) => {
                let (value, after) = value(after);
                if let Some(challenge) = found.as_mut().filter(|_| is_bearer && !value.is_empty()) {
                    match name.to_ascii_lowercase().as_str() {
                        "resource_metadata" => challenge.metadata = Some(value),
                        "scope" => challenge.scope = Some(value),
                        "error" => challenge.error = Some(value),
                        _ => {}
                    }
                }
                after
            }
        };
    }
}

/// Takes a value, in quotes or bare; with what follows it.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let (mut value, mut letters) = (String::new(), quoted.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            letter => value.push(letter),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_found_among_others() {
        let of = |metadata: &str, scope: &str| Challenge {
            metadata: Some(metadata.to_owned()).filter(|text| !text.is_empty()),
            scope: Some(scope.to_owned()).filter(|text| !text.is_empty()),
            error: None,
        };
        for (text, expected) in [
            (r#"Bearer resource_metadata="https://a/b?c=d,e", scope="x y""#, Some(of("https://a/b?c=d,e", "x y"))),
            ("bearer  SCOPE=x", Some(of("", "x"))),
            ("Bearer", Some(Challenge::default())),
            (r#"Basic realm="a \" b, scope=z", Bearer scope="x""#, Some(of("", "x"))),
            (r#"Bearer scope="x", Basic realm="r", scope="not ours""#, Some(of("", "x"))),
            (r#"Bearer scope="open"#, Some(of("", "open"))),
            ("Basic realm=x", None),
            ("=", None),
            ("", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert!(read(r#"Bearer error="insufficient_scope""#).unwrap().wants_more());
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_server_writes_is_read_to_its_end(text in "[ -~]{0,80}") {
            let _ = read(&text);
        }
    }
}
