//! Passwords in lines that speak of one without a sign between: `Setting password to X`, `| password | X |`,
//! `login("me", "X")`, `PASS X`. What stands there is taken for one only where it looks chosen: letters with a digit,
//! and neither a word, a number, a path nor an address.

use std::ops::Range;

use super::looks::{
    ALGORITHMS, CALLS, LOGIN_WORDS, PASSWORD_WORDS, PROTOCOL_WORDS, SAYS_WORDS, SUMS, VALUED_WORDS,
};
use super::random::{is_hexadecimal, is_likely, looks_written};
use super::together::Together;

static OF_PASSWORDS: Together = Together::new(PASSWORD_WORDS);
static OF_LOGINS: Together = Together::new(LOGIN_WORDS);
static OF_CALLS: Together = Together::new(CALLS);

/// The shortest that is taken for a password, in letters, and the longest.
const SHORTEST: usize = 8;
const LONGEST: usize = 64;
/// So much of a line behind the word is looked at, in bytes.
const FARTHEST: usize = 240;

/// Finds them in a line.
pub(super) fn find(line: &str, found: &mut Vec<Range<usize>>) {
    // Nothing is chosen without a digit.
    if !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return;
    }
    let lower = lowered(line);
    if let Some(at) = OF_PASSWORDS.first_end(&lower) {
        quoted(line, at, found);
        said(line, at, found);
    }
    if let Some(at) = OF_LOGINS.first_end(&lower) {
        said(line, at, found);
        paired(line, at, found);
    }
    valued(line, &lower, found);
    if OF_CALLS.any(&lower) {
        called(line, &lower, found);
    }
    typed_in(line, &lower, found);
    protocol(line, found);
    mapped(line, found);
    wireless(line, found);
    allowed(line, found);
}

/// `WIFI:S:home;T:WPA;P:X;;`, as it stands in a picture of points.
fn wireless(line: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in line.match_indices("WIFI:") {
        let Some(from) = line[at..].find(";P:").map(|password| at + password + 3) else { continue };
        let length = line[from..].find(';').unwrap_or(line.len() - from);
        if length >= 3 {
            found.push(from..from + length);
        }
    }
}

/// `user app on >X ~* +@all`, `… on #HASH`: who may do what in Redis.
fn allowed(line: &str, found: &mut Vec<Range<usize>>) {
    if !line.contains(" on ") && !line.contains(" off ") {
        return;
    }
    for word in words(line, 0) {
        let text = &line[word.clone()];
        if text.starts_with(['>', '#'])
            && text.len() > 4
            && (is_chosen(&text[1..]) || is_hexadecimal(&text.as_bytes()[1..]))
        {
            found.push(word.start + 1..word.end);
        }
    }
}

/// A line in small letters, each byte where it was: some letters are longer in small.
pub(super) fn lowered(line: &str) -> String {
    if line.is_ascii() {
        return line.to_ascii_lowercase();
    }
    let lower = line.to_lowercase();
    let same = |(one, other): (char, char)| one.len_utf8() == other.len_utf8();
    let stays = lower.len() == line.len() && line.chars().zip(lower.chars()).all(same);
    if stays { lower } else { line.to_ascii_lowercase() }
}

/// Tells whether a word looks like a password that somebody chose.
pub(super) fn is_chosen(text: &str) -> bool {
    let letters = text.chars().filter(char::is_ascii_alphabetic).count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let mut end = text.rsplit('.');
    let is_file = text.contains('.') && end.next().is_some_and(|end| (1..=4).contains(&end.len()));
    let lower = text.to_ascii_lowercase();
    let apart = text.contains(['_', '-']) && looks_written(text);
    (SHORTEST..=LONGEST).contains(&text.len())
        && letters >= 2
        && digits >= 1
        && !text.contains(|letter: char| letter.is_whitespace() || "/\\:()[]{}<>=,;`|\"'".contains(letter))
        && !text.starts_with(['-', '$', '%', '@', '#', '.', '+'])
        && !text.starts_with(super::form::START)
        && !lower.starts_with("0x")
        && !text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
        && !ALGORITHMS.iter().any(|name| lower.starts_with(name))
        && !is_file
        && !apart
        && !text.contains('@')
}

/// What stands in quotes behind the word.
fn quoted(line: &str, from: usize, found: &mut Vec<Range<usize>>) {
    for range in literals(line, from) {
        if is_chosen(&line[range.clone()]) {
            found.push(range);
        }
    }
}

/// All that stands between a quote and the next one of its kind: which of them opens is not known in the middle of a line.
fn literals(line: &str, from: usize) -> Vec<Range<usize>> {
    let end = line.floor_char_boundary((from + FARTHEST).min(line.len()));
    let mut literals = Vec::new();
    for quote in ["\"", "'"] {
        let mut before = None;
        for (at, _) in line[from..end].match_indices(quote) {
            if let Some(open) = before.replace(from + at + 1) {
                let text = line[open..from + at].trim_end_matches("\\r").trim_end_matches("\\n");
                literals.push(open..open + text.len());
            }
        }
    }
    literals
}

/// The words of a line from a place on, without the signs of a sentence behind them.
fn words(line: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let end = line.floor_char_boundary((from + FARTHEST).min(line.len()));
    let text = &line[from..end];
    text.split_whitespace().map(move |word| {
        let at = word.as_ptr() as usize - line.as_ptr() as usize;
        let bare = word.trim_end_matches(['.', ',', ';']);
        at..at + bare.len()
    })
}

/// A word without the signs that people put around what they mean: `(X)`, `**X**`, `` `X` ``.
fn unwrapped(line: &str, word: Range<usize>) -> Range<usize> {
    let signs = ['(', ')', '*', '`', '"', '\'', '[', ']', '“', '”', '「', '」', '。', '，', ':', '#'];
    let text = &line[word.clone()];
    let inside = text.trim_matches(signs);
    let start = word.start + (text.len() - text.trim_start_matches(signs).len());
    start..start + inside.len()
}

/// What is said behind `to`, `with`, `:`, a line of a table.
fn said(line: &str, from: usize, found: &mut Vec<Range<usize>>) {
    let mut before = "";
    for word in words(line, from) {
        let whole = &line[word.clone()];
        let is_wrapped = whole.starts_with(['(', '*', '`']);
        let word = unwrapped(line, word);
        let text = &line[word.clone()];
        let bare = before.trim_matches(['"', '\'']).to_lowercase();
        // Languages without blanks say it in one word with the name: `密码已重置为 X`.
        let says = SAYS_WORDS.contains(&bare.as_str())
            || before.ends_with([':', '=', '：', '为', '為', '是', 'は', 'を', '는', '은'])
            || before.ends_with("->");
        // Right behind the word a name may stand, too.
        let is_strong = text.bytes().any(|byte| byte.is_ascii_uppercase())
            && text.bytes().any(|byte| byte.is_ascii_lowercase());
        let is_sum = SUMS.iter().any(|sum| bare.contains(sum));
        let is_number = says && !is_sum && is_hexadecimal(text.as_bytes());
        if (says || before.is_empty() && (is_strong || is_wrapped)) && is_chosen(text) || is_number {
            found.push(word);
        }
        before = whole;
    }
}

/// `me:X` where somebody logs in.
fn paired(line: &str, from: usize, found: &mut Vec<Range<usize>>) {
    for word in words(line, from) {
        let Some((name, password)) = line[word.clone()].split_once(':') else { continue };
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"_-".contains(&byte));
        if is_name && is_chosen(password) {
            found.push(word.end - password.len()..word.end);
        }
    }
}

/// `rootpw X`, `password 0 X`: the word that ends the line, right behind the name.
fn valued(line: &str, lower: &str, found: &mut Vec<Range<usize>>) {
    let mut words = words(lower, 0).collect::<Vec<_>>().into_iter().rev();
    let Some(mut value) = words.next() else { return };
    let mut name = words.next();
    // How SNMP and others end such a line.
    if matches!(&lower[value.clone()], "ro" | "rw" | "default") {
        let Some(before) = name else { return };
        (value, name) = (before, words.next());
    }
    // How a device says in which form the password is.
    if name
        .as_ref()
        .is_some_and(|name| matches!(&lower[name.clone()], "0" | "5" | "7" | "8" | "9" | "--plaintext" | "default"))
    {
        name = words.next();
    }
    let Some(name) = name.map(|name| &lower[name]) else { return };
    let name = name.rsplit([':', '+', '/']).next().unwrap_or(name);
    let text = &line[value.clone()];
    let chosen = VALUED_WORDS.iter().any(|word| name.ends_with(word)) && is_chosen(text);
    if chosen || matches!(name, "token" | "secret" | "key") && is_likely(text) {
        found.push(value);
    }
}

/// `login("me", "X")`: an argument in quotes that is not the first.
fn called(line: &str, lower: &str, found: &mut Vec<Range<usize>>) {
    for name in CALLS {
        for (at, _) in lower.match_indices(name) {
            let from = at + name.len();
            let rest = &line[from..];
            let open =
                rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
            if open > 24 || !rest[open..].trim_start_matches(['=', ' ']).starts_with(['(', '\'']) {
                continue;
            }
            for range in literals(line, from + open) {
                let text = &line[range.clone()];
                if line[from..range.start].contains(',') && (is_chosen(text) || is_hexadecimal(text.as_bytes())) {
                    found.push(range);
                }
            }
        }
    }
}

/// What a script types in: `send "X\r"`.
fn typed_in(line: &str, lower: &str, found: &mut Vec<Range<usize>>) {
    if let Some(at) = lower.find("send ") {
        for range in literals(line, at) {
            if line[range.end..].starts_with('\\') && is_chosen(&line[range.clone()]) {
                found.push(range);
            }
        }
    }
}

/// `PASS X`, `LOGIN me X`, `AUTH PLAIN X`: what a client says to a server, also as a program logs it in quotes.
fn protocol(line: &str, found: &mut Vec<Range<usize>>) {
    let end = line.find("\\r\\n").or_else(|| line.find("\\n")).unwrap_or(line.len());
    let open = if end < line.len() { line[..end].rfind(['"', '\'']).map_or(0, |at| at + 1) } else { 0 };
    let said = &line[open..end];
    let all: Vec<Range<usize>> = words(said, 0).collect();
    let Some(last) = all.last().cloned() else { return };
    let is_said = |word: &Range<usize>| PROTOCOL_WORDS.contains(&said[word.clone()].trim_start_matches('"'));
    let near = all.len().saturating_sub(3)..all.len().saturating_sub(1);
    let text = said[last.clone()].trim_matches('"');
    // Both in base 64 (RFC 4954).
    let encoded = matches!(&all[..], [.., auth, how, _]
        if said[auth.clone()].ends_with("AUTH") && matches!(&said[how.clone()], "PLAIN" | "LOGIN"));
    let is_encoded = encoded
        && text.len() >= 8
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    if is_encoded || all[near].iter().any(is_said) && is_chosen(text) {
        let start = open + last.start + said[last.clone()].find(text).unwrap_or(0);
        found.push(start..start + text.len());
    }
}

/// `[host]:587 me@host:X`, `"me" * "X" *`: files of a login a line, as mail servers and PPP have them.
fn mapped(line: &str, found: &mut Vec<Range<usize>>) {
    let mut fields: Vec<Range<usize>> = words(line, 0).take(5).collect();
    if fields.len() == 3 && fields.iter().all(|field| field.len() < LONGEST) && line.contains('\t') {
        // A number of a line stands before it.
        fields.remove(0);
    }
    match &fields[..] {
        [host, login] if line[host.clone()].contains('.') && !line[host.clone()].ends_with(':') => {
            if let Some((name, password)) = line[login.clone()].rsplit_once(':')
                && !name.is_empty()
                && !name.contains(['/', ':'])
                && is_chosen(password)
            {
                found.push(login.end - password.len()..login.end);
            }
        }
        [name, star, password, end] if [star, end].iter().all(|it| &line[(*it).clone()] == "*") => {
            let text = line[password.clone()].trim_matches('"');
            if &line[name.clone()] != "*" && text.len() >= 6 {
                let start = password.start + line[password.clone()].find(text).unwrap_or(0);
                found.push(start..start + text.len());
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_word_is_told_from_words_numbers_paths_and_algorithms() {
        for text in ["hunter22", "Canary9tZ4", "Tr0ub4dor&3", "qX7-vR2_kL9mN4pQ8sT1"] {
            assert!(is_chosen(text), "{text}");
        }
        for text in [
            "password",
            "12345678",
            "2026-11-23",
            "src/main2.rs",
            "main2024.rs",
            "user@host1",
            "host01:8080",
            "sha256sum",
            "PBKDF2WithHmacSHA256",
            "test_login_2",
            "node-18-alpine",
            "short1",
            "0xdeadbeef12",
            "3f9a1c0de7b24586",
            "--flag123",
        ] {
            assert!(!is_chosen(text), "{text}");
        }
    }
}
