//! Keys that nobody has listed, known by how they look: letters and digits as a machine draws them, and not as people
//! write words. A number in base 16 looks like the sum of a file; it is a key only where its name or its address says so.

use std::ops::Range;

use super::looks::{CAPABILITIES, IDENTIFIERS, KEY_WORDS, SUMS};

/// The shortest run of letters and digits that is judged alone, and the one behind a prefix (`word_…`).
const SHORTEST: usize = 24;
const SHORTEST_BEHIND: usize = 20;
/// The shortest of one kind of letters, which has less in it to tell it from a word.
const SHORTEST_OF_ONE: usize = 28;
/// A longer run is data: a picture, a certificate.
const LONGEST: usize = 120;
/// The shortest number in base 16 that may be a key: 128 bits.
const SHORTEST_HEXADECIMAL: usize = 32;

/// Letters and digits of a text, counted by kind.
#[derive(Default)]
struct Look {
    upper: usize,
    lower: usize,
    digits: usize,
    /// How often the kind changes from one letter to the next.
    changes: usize,
    /// How many letters belong to what could be words.
    in_words: usize,
    /// Beyond base 16.
    beyond: usize,
}

impl Look {
    fn at(text: &[u8]) -> Self {
        let mut look = Self::default();
        let kind = |byte: u8| match byte {
            b'A'..=b'Z' => 0,
            b'a'..=b'z' => 1,
            _ => 2,
        };
        let mut before = None;
        for byte in text {
            let now = kind(*byte);
            *[&mut look.upper, &mut look.lower, &mut look.digits][now] += 1;
            look.changes += usize::from(before.is_some_and(|before| before != now));
            look.beyond += usize::from(!byte.is_ascii_hexdigit());
            before = Some(now);
        }
        let mut at = 0;
        while at < text.len() {
            let capital = usize::from(text[at].is_ascii_uppercase());
            let rest = text[at + capital..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
            let capitals = text[at..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
            let word = if rest >= 2 { capital + rest } else { 0 };
            let word = if word == 0 && capitals >= 3 { capitals } else { word };
            look.in_words += word;
            at += word.max(1);
        }
        look
    }
}

/// Tells whether letters and digits are drawn by a machine; never a number in base 16.
fn is_drawn(text: &[u8], shortest: usize) -> bool {
    if text.len() < shortest || text.len() > LONGEST {
        return false;
    }
    let look = Look::at(text);
    let changes = |percent: usize| look.changes * 100 >= percent * (text.len() - 1);
    if look.upper > 0 && look.lower > 0 {
        let digits = if text.len() >= 32 { 1 } else { 2 };
        return look.digits >= digits && look.beyond >= 3 && changes(38) && look.in_words * 100 < 62 * text.len();
    }
    text.len() >= shortest.max(SHORTEST_OF_ONE) && look.digits >= 4 && look.beyond >= 5 && changes(20)
}

pub(super) fn is_hexadecimal(text: &[u8]) -> bool {
    let look = Look::at(text);
    text.len() >= SHORTEST_HEXADECIMAL && look.beyond == 0 && look.digits >= 4 && look.digits < text.len()
}

/// Tells whether a value behind a name that says little is a key: drawn by a machine, in base 16 or not.
pub(super) fn is_likely(value: &str) -> bool {
    let plain: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let apart = value.len() - plain.len();
    let look = Look::at(&plain);
    let mixed = look.digits >= 2 && look.upper + look.lower >= 4 && look.changes * 4 >= plain.len();
    plain.len() >= 16
        && apart * 5 <= value.len()
        && !is_uuid(value)
        && !value.contains([' ', '(', ')', '[', ']', '{', '}', ':', ','])
        && (is_hexadecimal(&plain) || mixed && look.in_words * 100 < 62 * plain.len() && look.beyond > 0)
}

/// `8-4-4-4-12` digits in base 16: what names something and opens nothing.
fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    text.len() == 36 && lengths.eq([8, 4, 4, 4, 12])
}

/// Finds them in a line.
pub(super) fn find(line: &str, found: &mut Vec<Range<usize>>) {
    let bytes = line.as_bytes();
    // A line of a certificate, or of another block of data.
    let bare = line.trim();
    if (60..=80).contains(&bare.len())
        && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
    {
        return;
    }
    let mut at = 0;
    while at < bytes.len() {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-.~".contains(byte);
        let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
        if length >= SHORTEST_BEHIND {
            in_run(line, at..at + length, found);
        }
        at += length.max(1);
    }
}

/// Looks at a run of all that stands in keys, addresses and data.
fn in_run(line: &str, run: Range<usize>, found: &mut Vec<Range<usize>>) {
    let text = &line[run.clone()];
    let before = &line[..run.start];
    // A name and its value, parts of an address, or data in base 64.
    let mut from = 0;
    let mut parts = Vec::new();
    for (at, sign) in text.match_indices(['/', '=', '+', '~', '.']) {
        parts.push((from, at));
        from = at + sign.len();
    }
    parts.push((from, text.len()));
    let is_address = before.ends_with("://") || before.ends_with(':') && text.starts_with("//");
    let is_capability = is_address && CAPABILITIES.iter().any(|word| text.to_ascii_lowercase().contains(word));
    let is_data = !is_address && is_block(text);
    for (from, to) in parts {
        let part = &text[from..to];
        if part.len() < SHORTEST_BEHIND || is_data {
            continue;
        }
        let assigned = text[..from].ends_with('=').then(|| text[..from - 1].rsplit(['/', '.', '~']).next());
        let name = assigned.flatten().unwrap_or_default();
        let is_variable = !name.is_empty()
            && !name.starts_with('-')
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
            && !is_sum(name);
        let hexadecimal = (is_capability || is_variable) && is_hexadecimal(part.as_bytes());
        if hexadecimal || !is_sum(name) && is_key(part, before) {
            found.push(run.start + from..run.start + to);
        }
    }
}

/// Data in base 64: what is padded, mixes its signs, or is long.
fn is_block(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let has = |sign: char| body.contains(sign);
    let name = body.split('=').next().unwrap_or_default();
    let is_name =
        name.len() < body.len() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte));
    if is_name {
        let value = body.split_once('=').map_or("", |(_, value)| value);
        return value.contains('+') || value.len() > LONGEST;
    }
    has('+')
        || text.len() - body.len() > 0 && has('/')
        || body.len() > LONGEST && !has('.')
        || body.starts_with("AAAA")
}

/// Tells whether a name is one of a sum, or of something that has a number.
fn is_sum(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    !lower.is_empty() && SUMS.iter().any(|sum| lower.contains(sum))
}

/// Tells whether letters, digits, `_` and `-` are a key, with the words that stand before it in one.
fn is_key(text: &str, before: &str) -> bool {
    // What stands before its sum: `sha512-`, `h1:`; names of functions as compilers write them.
    let is_symbol = text.starts_with("_R")
        || text.starts_with("_Z")
        || before.ends_with('$')
        || text.len() > 20 && text.ends_with('E') && text[..text.len() - 17].ends_with("17h");
    if is_symbol || is_uuid(text) || text.starts_with("AAAA") || is_identifier(before) {
        return false;
    }
    if IDENTIFIERS.iter().any(|start| text.starts_with(start))
        || before.ends_with("h1:")
        || before.ends_with("SHA256:")
    {
        return false;
    }
    let body = text.rsplit(['_', '-']).next().unwrap_or(text);
    let prefix = &text[..text.len() - body.len()];
    let words = || prefix.split(['_', '-']).filter(|word| !word.is_empty());
    if is_sum(prefix) {
        return false;
    }
    let is_prefixed = !prefix.is_empty()
        && words().all(|word| word.len() <= 10 && word.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if is_prefixed {
        let named = words().any(|word| KEY_WORDS.iter().any(|key| word.eq_ignore_ascii_case(key)));
        if is_drawn(body.as_bytes(), SHORTEST_BEHIND) || named && is_hexadecimal(body.as_bytes()) {
            return true;
        }
    }
    if prefix.is_empty() {
        return is_drawn(body.as_bytes(), SHORTEST);
    }
    let plain: Vec<u8> = text.bytes().filter(u8::is_ascii_alphanumeric).collect();
    text.split(['_', '-']).any(|part| is_drawn(part.as_bytes(), SHORTEST))
        || text.len() - plain.len() <= 4 && !has_word(text) && !looks_written(text) && is_drawn(&plain, 32)
}

/// Tells whether a text ends in what says that an identifier follows: `"id":"`, `request_id=`. Who has one may not
/// do anything by it; who has that of a session or of a role may.
fn is_identifier(before: &str) -> bool {
    let name = before.trim_end_matches(['"', '\'', '\\', ' ', ':', '=']);
    if name.len() == before.len() {
        return false;
    }
    let name = name.rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '-');
    let name = name.into_iter().next().unwrap_or_default().to_ascii_lowercase();
    let is = |end: &str| name == end || name.ends_with(&format!("_{end}")) || name.ends_with(&format!("-{end}"));
    (is("id") || name.ends_with("uid")) && !name.contains("secret") && !name.contains("ses")
}

/// Tells whether a part between `_` and `-` is a word of small letters.
fn has_word(text: &str) -> bool {
    text.split(['_', '-']).any(|part| part.len() >= 5 && part.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Tells whether the parts between `_` and `-` are words or numbers.
pub(super) fn looks_written(text: &str) -> bool {
    let parts = text.split(['_', '-']).filter(|part| !part.is_empty());
    let is_word = |part: &&str| {
        part.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
            || part.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    };
    let (words, all) = parts.fold((0, 0), |(words, all), part| (words + usize::from(is_word(&part)), all + 1));
    words * 2 > all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What machines drew: of 62 letters, of 36, behind prefixes that nobody listed.
    const DRAWN: &[&str] = &[
        "a9Kx2LmQ7rT4vW8yZ1bC3dE5fG6h",
        "Q4k8ZpT1wYx7Nc3Vb9Lm2RsJ6HdF0gAe",
        "k3j9x2m7q4w8z1v6t5r0p9n8b7c6d5f4",
        "acme_Q4k8ZpT1wYx7Nc3Vb9Lm2RsJ6HdF",
        "acme-live-Q4k8ZpT1wYx7Nc3Vb9Lm",
        "acme_key_3f9a1c0de7b24586a1f0c9d8e7b6a594",
        "tok_9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d",
    ];
    const PLACES: &[fn(&str) -> String] = &[
        |value| value.to_owned(),
        |value| format!("export MAILER={value}"),
        |value| format!("config.toml:12:mailer = \"{value}\""),
        |value| format!("+  mailer: {value}"),
        |value| format!("https://api.example.com/v1/{value}/send?page=2"),
        |value| format!("GET /v1?page=2&t={value} 200"),
        |value| format!("{{\"mailer\":\"{value}\"}}"),
    ];

    fn found(line: &str) -> Vec<&str> {
        let mut found = Vec::new();
        find(line, &mut found);
        found.into_iter().map(|range| &line[range]).collect()
    }

    #[test]
    fn what_a_machine_drew_is_found_wherever_it_stands() {
        for value in DRAWN {
            for put in PLACES {
                assert_eq!(found(&put(value)), [*value], "{}", put(value));
            }
        }
        let sum = "3f9a1c0de7b24586a1f0c9d8e7b6a594";
        for line in [
            &format!("MAILGUN={sum}"),
            &format!("https://hooks.example.com/services/{sum}"),
            &format!("https://example.com/reset/{sum}"),
        ] {
            assert_eq!(found(line), [sum], "{line}");
        }
    }

    #[test]
    fn words_sums_identifiers_and_data_stay() {
        for line in [
            "commit 9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d1f2e3c4a",
            "GIT_COMMIT=9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d1f2e3c4a",
            "checksum = \"3f9a1c0de7b24586a1f0c9d8e7b6a5943f9a1c0de7b24586a1f0c9d8e7b6a594\"",
            "\"integrity\": \"sha512-K4p8ZpT1wYx7Nc3Vb9Lm2RsJ6HdF0gAeQ4k8ZpT1wYx7Nc3Vb9Lm2RsJ6HdF0gAeQ4k8ZpT1wYx7Nc3Vb==\"",
            "github.com/me/x v1.2.3 h1:Q4k8ZpT1wYx7Nc3Vb9Lm2RsJ6HdF0gAeQ4k8ZpT1wYx=",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIQ4k8ZpT1wYx7Nc3Vb9Lm2RsJ6HdF0gAeQ4k8 me@host",
            "256 SHA256:Q4k8ZpT1wYx7Nc3Vb9Lm2RsJ6HdF0gAeQ4k8ZpT1wYx me@host (ED25519)",
            "target/debug/deps/libenumflags2_derive-ee0b7a6dc22cc4e4.so",
            "_ZN4core4iter6traits8iterator8Iterator4fold17h1468c0ad7d6c7e43E",
            "_RNvXs5_NtCs1Q4k8ZpT1wYx7Nc3Vb_4core3fmt",
            "fn testHttp2ServerHandlesX509CertificatesOfClients() {",
            "id: 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d",
            "\"id\":\"pOBUyORxll3soll0EoYFh7F0Y2VinkIL\"",
            "call_Q4k8ZpT1wYx7Nc3Vb9Lm2RsJ chatcmpl-Q4k8ZpT1wYx7Nc3Vb9Lm2RsJ6HdF0",
            "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ",
            "/nix/store is where x86_64-unknown-linux-gnu-2026-11-23-nightly lies → ok",
            "日本語のテキスト → id=é",
        ] {
            assert_eq!(found(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn a_value_behind_a_name_that_says_little_is_likely_only_where_it_is_drawn() {
        for text in ["3f9a1c0de7b24586a1f0c9d8e7b6a594", "Q4k8ZpT1wYx7Nc3V", "Q4k8-ZpT1_wYx7Nc3V"] {
            assert!(is_likely(text), "{text}");
        }
        for text in [
            "",
            "en-US",
            "2026-11-23T20:11:02Z",
            "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d",
            "ApacheLicenseVersion2",
            "é",
        ] {
            assert!(!is_likely(text), "{text}");
        }
    }
}
