//! Secrets by what they look like, whatever they are called.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::issuers::SHAPES;
use super::table::{HASHES, IDENTITIES, PLAIN_SCHEMES, SCHEMES, SHORTEST_REPEATED, WEBHOOKS};

/// The beginning of a JSON web token, and how many characters must follow.
const WEB_TOKEN: (&str, usize) = ("eyJ", 24);

/// The shortest value after `Bearer` or `Basic`, in bytes.
const SHORTEST_BEARER: usize = 8;

/// What stands before a token in a header.
const BEARER: &str = "bearer ";

/// The shortest path that makes a webhook's address secret.
const SHORTEST_PATH: usize = 12;

/// All beginnings at once: the rows of the tables, in their order.
static BEGINNINGS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let starts = SHAPES.iter().map(|shape| shape.start).chain(HASHES.iter().chain(WEBHOOKS).copied());
    AhoCorasick::new(starts).ok()
});

/// Tells of each beginning whether a text has it: few texts have any, and one look at a text tells.
fn present(text: &str) -> Vec<bool> {
    let count = SHAPES.len() + HASHES.len() + WEBHOOKS.len();
    // Each is looked for if they cannot be looked for together.
    let Some(beginnings) = BEGINNINGS.as_ref() else { return vec![true; count] };
    let mut present = vec![false; count];
    for beginning in beginnings.find_overlapping_iter(text) {
        present[beginning.pattern().as_usize()] = true;
    }
    present
}

/// Finds them in a text.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let present = present(text);
    let (shapes, others) = present.split_at(SHAPES.len());
    let (hashes, webhooks) = others.split_at(HASHES.len());
    for (shape, _) in SHAPES.iter().zip(shapes).filter(|(_, present)| **present) {
        beginning(text, shape.start, shape.least, shape.also, found);
    }
    web_tokens(text, found);
    for (start, _) in HASHES.iter().zip(hashes).filter(|(_, present)| **present) {
        beginning(text, start, 10, b"./$=,+-_:", found);
    }
    schemes(text, found);
    for (start, _) in WEBHOOKS.iter().zip(webhooks).filter(|(_, present)| **present) {
        for (at, _) in text.match_indices(*start) {
            let from = at + start.len();
            let length = run(&text.as_bytes()[from..], b"-_/:.@");
            if length >= SHORTEST_PATH {
                found.push(from..from + length);
            }
        }
    }
    bearers(text, found);
    bots(text, found);
    numbers(text, found);
    of_parts(text, found);
    beside_names(text, found);
}

/// `ASIA… X X`: beside the name of a key of AWS stand the key and its session, as `--output text` prints them.
fn beside_names(text: &str, found: &mut Vec<Range<usize>>) {
    const SHORTEST: usize = 32;
    for start in ["AKIA", "ASIA"] {
        for (at, _) in text.match_indices(start) {
            let name = run(&text.as_bytes()[at..], b"");
            let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
            for word in text[at + name..end].split(['\t', ' ', '|', ',']).filter(|_| name == 20) {
                let is_key = word.len() >= SHORTEST && run(word.as_bytes(), b"+/=") == word.len();
                if is_key {
                    let from = word.as_ptr() as usize - text.as_ptr() as usize;
                    found.push(from..from + word.len());
                }
            }
        }
    }
}

/// Numbers in base 16 that a sign before or behind them tells from others: MySQL's `*` and 40 capitals, Mailchimp's
/// `-us12`.
fn numbers(text: &str, found: &mut Vec<Range<usize>>) {
    const MYSQL: usize = 40;
    const MAILCHIMP: usize = 32;
    for (at, _) in text.match_indices('*') {
        let hexadecimal = |byte: &u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte);
        let length = text.as_bytes()[at + 1..].iter().take(MYSQL + 1).take_while(|byte| hexadecimal(byte)).count();
        if length == MYSQL {
            found.push(at..at + 1 + MYSQL);
        }
    }
    for (at, mark) in text.match_indices("-us") {
        let Some(from) = at.checked_sub(MAILCHIMP) else { continue };
        let is_key = text.as_bytes()[from..at].iter().all(u8::is_ascii_hexdigit);
        let digits = run(&text.as_bytes()[at + mark.len()..], b"");
        if is_key && (1..=2).contains(&digits) {
            found.push(from..at + mark.len() + digits);
        }
    }
}

/// What its parts tell: BitLocker's recovery password, eight groups of six digits; Firebase's key for messages, eleven
/// letters, a colon and the rest.
fn of_parts(text: &str, found: &mut Vec<Range<usize>>) {
    const GROUP: usize = 6;
    const GROUPS: usize = 8;
    const NAME: usize = 11;
    const SHORTEST: usize = 100;
    let whole = GROUPS * (GROUP + 1) - 1;
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'-', &bytes[from..]).map(|at| from + at) {
        from = at + 1;
        let Some(start) = at.checked_sub(GROUP).filter(|start| start + whole <= bytes.len()) else { continue };
        let is_one = |(at, byte): (usize, &u8)| {
            if at % (GROUP + 1) == GROUP { *byte == b'-' } else { byte.is_ascii_digit() }
        };
        if bytes[start..start + whole].iter().enumerate().all(is_one) {
            found.push(start..start + whole);
            from = start + whole;
        }
    }
    for (at, _) in text.match_indices("AAAA").filter(|(at, _)| bytes.get(at + NAME) == Some(&b':')) {
        let rest = run(&bytes[at + NAME + 1..], b"-_");
        if rest >= SHORTEST && run(&bytes[at..], b"-_") == NAME {
            found.push(at..at + NAME + 1 + rest);
        }
    }
}

/// Finds what a server repeats of a key, or of who asked: shorter, or masked.
pub(super) fn find_repeated(text: &str, found: &mut Vec<Range<usize>>) {
    // Those of the shapes' own starts, too.
    let is_part =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '*' | '.' | '…');
    for shape in SHAPES {
        beginning(text, shape.start, shape.least, shape.also, found);
    }
    let mut from = 0;
    while let Some(at) = text[from..].find(is_part).map(|at| from + at) {
        let length = text[at..].find(|character| !is_part(character)).unwrap_or(text.len() - at);
        let token = &text[at..at + length];
        let starts = SHAPES.iter().map(|shape| shape.start).chain(IDENTITIES.iter().copied());
        let is_secret = starts.filter_map(|start| token.strip_prefix(start)).any(|rest| {
            rest.len() >= SHORTEST_REPEATED
                && rest.chars().any(|character| character.is_ascii_digit() || matches!(character, '*' | '…'))
        });
        if is_secret {
            found.push(at..at + length);
        }
        from = at + length;
    }
    for (at, _) in text.to_ascii_lowercase().match_indices(BEARER) {
        let from = at + BEARER.len();
        let length = text[from..].find(char::is_whitespace).unwrap_or(text.len() - from);
        if length > 0 {
            found.push(from..from + length);
        }
    }
}

/// `{SSHA}…`: the form of a password, in capitals or not, and the password.
fn schemes(text: &str, found: &mut Vec<Range<usize>>) {
    const FARTHEST: usize = 16;
    for (at, _) in text.match_indices('{') {
        let window = &text.as_bytes()[at..text.len().min(at + FARTHEST)];
        let Some(end) = window.iter().position(|byte| *byte == b'}') else { continue };
        let scheme = text[at..=at + end].to_ascii_lowercase();
        let body = at + end + 1;
        if SCHEMES.contains(&scheme.as_str()) {
            let length = run(&text.as_bytes()[body..], b"./$=,+-_");
            if length >= 10 {
                found.push(at..body + length);
            }
        } else if PLAIN_SCHEMES.contains(&scheme.as_str()) {
            let ends = |letter: char| letter.is_whitespace() || ":\"'`,;".contains(letter);
            let length = text[body..].find(ends).unwrap_or(text.len() - body);
            if length >= 3 && text[body..body + length].bytes().any(|byte| byte.is_ascii_digit()) {
                found.push(body..body + length);
            }
        }
    }
}

fn run(bytes: &[u8], also: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || also.contains(byte)).count()
}

fn beginning(text: &str, start: &str, least: usize, also: &[u8], found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text[from..].find(start).map(|at| from + at) {
        let body = at + start.len();
        let length = run(&text.as_bytes()[body..], also);
        let before = &text[..at];
        let inside_word = before.bytes().last().is_some_and(|byte| byte.is_ascii_alphanumeric());
        // Words of a sentence have no digits and are short: `sk-learn-something-or-other`.
        let body_bytes = &text.as_bytes()[body..body + length];
        let is_key = body_bytes.iter().any(u8::is_ascii_digit)
            || body_bytes.split(|byte| !byte.is_ascii_alphanumeric()).any(|part| part.len() >= 16);
        // Kinds of keys of ssh's have names that begin as others' keys do.
        let is_kind = start == "sk-" && (text[body..].starts_with("ssh-") || text[body..].starts_with("ecdsa-"));
        if length >= least && is_key && !is_kind && (!inside_word || ends_with_escape(before)) {
            found.push(at..body + length);
        }
        from = body + length;
    }
}

/// Tells whether the letters a text ends with are no word but an escape of JSON or a program: `\n`, `\x1b`, `\u0022`.
fn ends_with_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is = |letters: usize, kinds: &[u8]| {
        bytes.len().checked_sub(letters + 1).and_then(|at| bytes.get(at..)).is_some_and(|end| {
            let hexadecimal = end.iter().skip(2).all(u8::is_ascii_hexdigit);
            end.first() == Some(&b'\\') && end.get(1).is_some_and(|kind| kinds.contains(kind)) && hexadecimal
        })
    };
    is(1, b"abefnrtv0") || is(3, b"x") || is(5, b"u")
}

/// `eyJ….eyJ….…`: parts in base64 with dots between, the first of which begins a JSON object.
fn web_tokens(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text[from..].find(WEB_TOKEN.0).map(|at| from + at) {
        let length = run(&text.as_bytes()[at..], b"-_.");
        let inside_word = text[..at].bytes().last().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let token = &text[at..at + length];
        let is_token = length > WEB_TOKEN.1 && (token.contains('.') || token.len() > 40);
        if is_token && (!inside_word || ends_with_escape(&text[..at])) {
            found.push(at..at + length);
        }
        from = at + length.max(WEB_TOKEN.0.len());
    }
}

/// `Bearer …` and `Basic …`, as they stand in headers.
fn bearers(text: &str, found: &mut Vec<Range<usize>>) {
    let lower = text.to_ascii_lowercase();
    for word in ["bearer ", "basic "] {
        for (at, _) in lower.match_indices(word) {
            let from = at + word.len();
            let value = &text.as_bytes()[from..];
            let length = run(value, b"-_.~+/=");
            let value = &value[..length];
            let mixed = value.iter().any(u8::is_ascii_digit)
                || value.ends_with(b"=")
                || value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
            // What follows "basic" in prose is no name and password (RFC 7617).
            let is_login = || decoded(value).is_some_and(|login| login.contains(&b':'));
            let is_header = || lower[..at].trim_end().ends_with(|sign: char| ":='\"".contains(sign));
            let said = word == "bearer " || is_header() || is_login();
            if length >= SHORTEST_BEARER && mixed && said {
                found.push(from..from + length);
            }
        }
    }
}

/// What stands in base64, with or without the signs that fill it.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    use base64::Engine as _;
    use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let config = config.with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&base64::alphabet::STANDARD, config).decode(text).ok()
}

/// Telegram's: the bot's number, a colon, 35 characters.
fn bots(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices(":AA") {
        let digits = bytes[..at].iter().rev().take(12).take_while(|byte| byte.is_ascii_digit()).count();
        let length = run(&bytes[at + 1..], b"-_");
        if (8..=10).contains(&digits) && (33..=40).contains(&length) {
            found.push(at - digits..at + 1 + length);
        }
    }
}
