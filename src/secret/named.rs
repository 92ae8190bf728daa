//! Values behind names that say what they are: `API_TOKEN=…`, `"password": "…"`, `--password …`, `密码是…`.

use std::ops::Range;

use super::level::Level;
use super::name::{Naming, naming};
use super::prose::lowered;
use super::table::{SAYS, SPOKEN};
use super::together::Together;
use super::value::{Value, value};

static ALL_SPOKEN: Together = Together::new(SPOKEN);

/// What stands between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    /// `=`, with nothing around it.
    Assigned,
    /// `=`, `:`, `=>`, `:=` with room around them.
    Said,
    /// `:`.
    Colon,
    /// Room behind an option.
    Option,
    /// `>` of a tag.
    Tag,
    /// Room, where the value is in quotes or all that follows in the line.
    Room,
    /// `is`, `was`.
    Is,
    /// `("`, `', '`: the name is a function or an argument of one, and the value stands in quotes.
    Argument,
}

/// How XML begins text that is taken as it stands.
const CDATA: &str = "<![CDATA[";

/// The longest tag that is looked through, in bytes.
const LONGEST_TAG: usize = 200;

/// How much of a line before a name is looked at, in bytes.
const BEFORE: usize = 120;

/// Names whose value is the rest of the line, or up to the quote around both.
const HEADERS: &[&str] = &["authorization", "cookie"];

/// Finds them in a line. Each part of it is looked at a few times at most: output is as long as a program likes, and
/// all of it may look like names.
pub(super) fn find(line: &str, level: Level, found: &mut Vec<Range<usize>>) {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_name(&bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|byte| is_name(byte)).count();
        let naming = naming(&line[at..end]).or_else(|| two_words(line, at, end));
        at = match naming.and_then(|naming| behind(line, at..end, naming, level)) {
            Some(value) => {
                let next = value.end;
                found.push(value);
                next.max(end)
            }
            None => end,
        };
    }
    spoken(line, found);
}

/// `API key`, `secret key`: the name is two words.
fn two_words(line: &str, start: usize, end: usize) -> Option<Naming> {
    // SQL: `CREATE USER me IDENTIFIED BY 'X'`.
    const BY: &[&str] = &["identified "];
    const FIRST: &[&str] =
        &["api ", "access ", "secret ", "account ", "signing ", "encryption ", "license ", "unseal "];
    let word = &line[start..end];
    // People, too, are identified by something.
    let is_statement = || {
        let before = line[..start - BY[0].len()].to_ascii_lowercase();
        let verbs = ["create ", "alter ", "grant ", "set "];
        before.trim().is_empty() || verbs.iter().any(|verb| before.contains(verb)) || word == "BY"
    };
    let first = if word.eq_ignore_ascii_case("key") {
        FIRST
    } else if word.eq_ignore_ascii_case("id") {
        // Consul's and Nomad's: who has it may do what its policies say.
        &["secret "]
    } else if word.eq_ignore_ascii_case("by") {
        BY
    } else {
        &[]
    };
    let ends = |first: &&str| {
        let from = start.checked_sub(first.len());
        from.and_then(|from| line.get(from..start)).is_some_and(|before| before.eq_ignore_ascii_case(first))
    };
    (first.iter().any(ends) && (first != BY || is_statement())).then_some(Naming::Secret)
}

/// The value behind a name, if it is one.
fn behind(line: &str, name: Range<usize>, naming: Naming, level: Level) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    let word = &line[name.clone()];
    let mut at = name.end;
    // The quote, bracket or tag that ends the name.
    while matches!(bytes.get(at), Some(b'\\' | b'"' | b'\'' | b'`' | b']' | b'?' | b'!')) && at < name.end + 4 {
        at += 1;
    }
    let quoted_name = at > name.end;
    // `Unseal Key 1: X`, `**Password:** X`.
    if word.eq_ignore_ascii_case("key") && bytes.get(at) == Some(&b' ') {
        let digits = bytes[at + 1..].iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
        at += if digits > 0 && bytes.get(at + 1 + digits) == Some(&b':') { 1 + digits } else { 0 };
    }
    let room = room(bytes, at);
    let (between, mut start) = separator(line, name.start, word, at, room)?;
    let is_header = HEADERS.iter().any(|header| word.to_ascii_lowercase().ends_with(header));
    if is_header && matches!(between, Between::Colon | Between::Said | Between::Assigned) {
        return header(line, word, start, level);
    }
    // A shell's variable is set without room: what follows room is another word.
    if between == Between::Assigned && bytes.get(start).is_some_and(u8::is_ascii_whitespace) {
        start += self::room(bytes, start);
    }
    let (between, naming) = match (between, quoted_name) {
        // JSON has no code in it.
        (Between::Colon | Between::Said, true) => (Between::Colon, naming),
        (between, _) => (between, naming),
    };
    let value = value(line, start)?;
    if !is_secret(line, word, naming, between, &value, level) {
        return None;
    }
    // Of a very long one, all.
    let rest = &line[value.range.end..];
    let more = if value.range.len() >= 4000 { rest.find(char::is_whitespace).unwrap_or(rest.len()) } else { 0 };
    Some(value.range.start..value.range.end + more)
}

fn room(bytes: &[u8], at: usize) -> usize {
    bytes[at.min(bytes.len())..].iter().take(64).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Finds what stands between a name and its value, and where that begins.
fn separator(line: &str, start: usize, word: &str, at: usize, gap: usize) -> Option<(Between, usize)> {
    let bytes = line.as_bytes();
    let next = at + gap;
    let from = |at: usize| at + room(bytes, at);
    let rest = line.get(next..)?;
    if rest.starts_with("==") || rest.starts_with("=~") {
        return None;
    }
    if let Some(after) = rest.strip_prefix("::") {
        // In LDIF the value is in base64 (RFC 2849); without room behind it, it is a path of a program.
        return after.starts_with(' ').then(|| (Between::Colon, from(next + 2)));
    }
    for sign in [":=", "=>", "->", "?=", "+="] {
        if rest.starts_with(sign) {
            return Some((Between::Said, from(next + sign.len())));
        }
    }
    if let Some(after) = rest.strip_prefix('=') {
        let is_tight = gap == 0 && !after.starts_with([' ', '\t']);
        return Some((if is_tight { Between::Assigned } else { Between::Said }, from(next + 1)));
    }
    if let Some(after) = rest.strip_prefix(':') {
        let strong = after.bytes().take_while(|byte| *byte == b'*').count();
        return Some((Between::Colon, from(next + 1 + strong)));
    }
    if rest.starts_with('：') {
        return Some((Between::Colon, from(next + '：'.len_utf8())));
    }
    if let Some(inside) = rest.strip_prefix("</key>") {
        let skipped = inside.len() - inside.trim_start().len();
        let begins = inside.trim_start().starts_with("<string>");
        return begins.then_some((Between::Tag, next + "</key>".len() + skipped + "<string>".len()));
    }
    if rest.starts_with('>') && line[..start].ends_with(['<', ':']) {
        let data = if rest[1..].starts_with(CDATA) { CDATA.len() } else { 0 };
        return Some((Between::Tag, next + 1 + data));
    }
    if let Some(unusual) = unusual(line, start, next, gap) {
        return Some(unusual);
    }
    let sign = rest
        .chars()
        .next()
        .filter(|sign| *sign == '(' && at == start + word.len() || *sign == ',' && at > start + word.len());
    if sign.is_some() {
        let value = from(next + 1);
        return line[value..].starts_with(['"', '\'']).then_some((Between::Argument, value));
    }
    // SQL: `SET PASSWORD FOR me = 'X'`; a question: `Password for me: X`.
    if gap > 0
        && word.eq_ignore_ascii_case("password")
        && rest.get(..4).is_some_and(|it| it.eq_ignore_ascii_case("for "))
    {
        let sign = rest.find(['=', ':'])?;
        let between = if rest[sign..].starts_with(':') { Between::Colon } else { Between::Said };
        return Some((between, from(next + sign + 1)));
    }
    if gap == 0 {
        return None;
    }
    if word.starts_with('-') {
        return Some((Between::Option, next));
    }
    let lower = word.to_ascii_lowercase();
    if (is_password(&lower) || ["token", "secret", "key"].iter().any(|end| lower.ends_with(end)))
        && let Some(is) = ["is ", "is: ", "was ", "ist "].iter().find(|is| rest.starts_with(**is))
    {
        return Some((Between::Is, from(next + is.len())));
    }
    // `login me password x`, `IDENTIFIED WITH PASSWORD 'x'`, or a line of a file with nothing else on it.
    let before = &line[line.floor_char_boundary(start.saturating_sub(BEFORE))..start];
    let word_end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let alone = before.trim().is_empty() && rest[word_end..].trim().is_empty() && !rest.ends_with([':', '.', '?']);
    let is_login = before.contains("login ") || before.contains("machine ") || before.contains("wifi ");
    let is_quoted = rest.starts_with(['\'', '"']);
    // A key that a machine drew needs no sign before it.
    let is_drawn = super::random::is_likely(&rest[..word_end]);
    // `IDENTIFIED BY X;`
    let is_by = word.eq_ignore_ascii_case("by");
    (alone || is_login || is_quoted || is_drawn || is_by).then_some((Between::Room, next))
}

/// Signs that few languages have: attributes of a tag, what stands in where a value is missing, an escaped `=`.
fn unusual(line: &str, start: usize, next: usize, gap: usize) -> Option<(Between, usize)> {
    let rest = line.get(next..)?;
    // `<wsse:Password Type="x">X<`
    let window = &rest[..rest.floor_char_boundary(LONGEST_TAG.min(rest.len()))];
    let close = window.find('>').filter(|_| gap > 0 && line[..start].ends_with(['<', ':']));
    if let Some(tag) = close.map(|close| &window[..close])
        && tag.contains("=\"")
        && !tag.contains('<')
        && !tag.ends_with('/')
    {
        return Some((Between::Tag, next + tag.len() + 1));
    }
    // `process.env.SECRET || 'X'`, `password%3DX`, Erlang's `{password, <<"X">>}`.
    for sign in ["||", "??"] {
        let after = rest.strip_prefix(sign).map(str::trim_start);
        if let Some(after) = after.filter(|after| after.starts_with(['"', '\''])) {
            return Some((Between::Said, line.len() - after.len()));
        }
    }
    for sign in ["%3D", "%3d", "%3A", "%3a"] {
        if rest.starts_with(sign) {
            return Some((Between::Assigned, next + sign.len()));
        }
    }
    let after = rest.strip_prefix(',').and_then(|after| after.trim_start().strip_prefix("<<"));
    after.filter(|after| after.starts_with('"')).map(|after| (Between::Said, line.len() - after.len()))
}

/// Tells whether a name in lower case is one of a password, of which people say what it is.
fn is_password(lower: &str) -> bool {
    lower.starts_with("pass") || lower.ends_with("password") || lower.ends_with("pass") || lower == "kennwort"
}

/// The rest of the line, or up to the quote around it.
fn header(line: &str, word: &str, start: usize, level: Level) -> Option<Range<usize>> {
    let rest = &line[start..];
    let begin = start + usize::from(rest.starts_with(['"', '\'']));
    let rest = &line[begin..];
    if rest.starts_with(super::level::MARK) || rest.starts_with(['$', '<', '{']) {
        return None;
    }
    let length = rest.find(['"', '\'']).unwrap_or(rest.len());
    let text = rest[..length].trim_end();
    let is_value = text.len() >= 6;
    // Erlang's.
    if word == "Cookie"
        && text.len() == 20
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    {
        return Some(begin..begin + text.len());
    }
    // In a program it is an expression.
    let is_cookie = word.to_ascii_lowercase().ends_with("cookie");
    let bare = |text: &str| text.contains('=') && !text.contains(" = ");
    let says_nothing = if is_cookie { !bare(text) } else { !text.bytes().any(|byte| byte.is_ascii_digit()) };
    let is_call = text.find('(').is_some_and(|at| at > 0 && !text[..at].contains(' '));
    let called = text.contains(['(', ')', ';']) && !text.contains(' ') || text.contains("::") || is_call;
    let is_code = level == Level::Kept && (called || says_nothing);
    (is_value && !is_code).then_some(begin..begin + text.len())
}

/// Tells whether a value is a secret, with what it is called.
fn is_secret(line: &str, word: &str, naming: Naming, between: Between, value: &Value, level: Level) -> bool {
    let text = &line[value.range.clone()];
    if value.is_placeholder(text) {
        return false;
    }
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    if naming == Naming::Drawn {
        return super::random::is_likely(text);
    }
    if naming == Naming::Maybe {
        let named_key = word.to_ascii_lowercase().ends_with("_key") || word.to_ascii_lowercase().ends_with("-key");
        let least = if named_key { 8 } else { 12 };
        let is_auth =
            word.trim_matches('-').eq_ignore_ascii_case("auth") && value.quote.is_some() && text.len() >= 8;
        if !is_auth && (text.len() < least || !has_digit || text.bytes().all(|byte| byte.is_ascii_digit())) {
            return false;
        }
    }
    // What prints it.
    if ["_cmd", "_command"].iter().any(|end| word.to_ascii_lowercase().ends_with(end)) {
        return false;
    }
    // `PWD` is where the shell is.
    if word.eq_ignore_ascii_case("pwd") && text.starts_with(['/', '~', '.']) {
        return false;
    }
    let least = match (between, value.quote.is_some()) {
        (Between::Assigned | Between::Option | Between::Tag, _) | (_, true) => 3,
        (Between::Room | Between::Argument, false) => 4,
        (Between::Said | Between::Colon | Between::Is, false) => 6,
    };
    if text.len() < least {
        return false;
    }
    let has_sign = text.contains(|letter: char| !letter.is_ascii_alphanumeric() && !"_.".contains(letter));
    match (between, level) {
        // Of a token people say much else: that it is old, that it is invalid.
        (Between::Is, _) if !is_password(&word.to_ascii_lowercase()) => has_digit && text.len() >= 8,
        (Between::Is, _) => value.quote.is_some() || has_digit || has_sign && !text.ends_with([',', '.']),
        (Between::Option, _) => !text.starts_with('-'),
        // Lists of names look the same.
        (Between::Argument, _) => text.len() >= 6 && has_digit && text.split(' ').count() < 4,
        (_, Level::Sent) => true,
        (_, Level::Kept | Level::Repeated) => is_data(line, word, between, value, (has_digit, has_sign)),
    }
}

/// Tells whether a value is data rather than code: what is kept is read again, code with holes in it is of no use.
fn is_data(line: &str, word: &str, between: Between, value: &Value, (digit, sign): (bool, bool)) -> bool {
    let text = &line[value.range.clone()];
    if names_one(word, text) || is_short_number(text) {
        return false;
    }
    if value.quote.is_some() {
        // A sentence about it is none; of a phrase, words are what it is made of.
        let lower = word.to_ascii_lowercase();
        let is_phrase = (lower.contains("phrase") || lower.contains("mnemonic")) && text.split(' ').count() >= 12;
        let is_words = text.contains(' ')
            && between == Between::Assigned
            && !word.bytes().any(|byte| byte.is_ascii_lowercase())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ')
            && !super::opened::is_sentence(text);
        return is_phrase
            || is_words && text.len() >= 8
            || text.len() >= 4 && (digit || sign || !text.contains(' ')) && text.split(' ').count() < 4;
    }
    // A variable of a shell has no path of a program behind its sign.
    let is_variable = between == Between::Assigned && !word.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_path = text.contains("::") && !(is_variable && digit);
    let text = if between == Between::Tag { text.trim_end_matches("]]>") } else { text };
    let is_own = text.starts_with("self.") || text.starts_with("this.");
    let is_code = text.contains(['(', ')', '[', ']', '{', '}']) || is_path || is_own || text.contains("->");
    if is_code || text.ends_with([';']) && between != Between::Assigned {
        return false;
    }
    let same = |one: &str, other: &str| {
        let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
        plain(one).contains(&plain(other)) || plain(other).contains(&plain(one))
    };
    match between {
        Between::Assigned | Between::Tag | Between::Room => !same(text, word),
        Between::Said | Between::Colon if text.starts_with(['&', '*']) => false,
        Between::Said | Between::Colon => digit || is_said_alone(line, word, value) && !same(text, word),
        Between::Option | Between::Is | Between::Argument => true,
    }
}

/// Tells whether the value of a token or key is the name of one: `"output_token": "NextToken"`.
fn names_one(word: &str, text: &str) -> bool {
    const NAMES: &[&str] = &["token", "marker", "key", "header", "secret"];
    let (word, lower) = (word.to_ascii_lowercase(), text.to_ascii_lowercase());
    let is_name = text.len() <= 40 && text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    is_name
        && (word.ends_with("token") || word.ends_with("key") || word.ends_with("key_id"))
        && NAMES.iter().any(|name| lower.ends_with(name))
}

/// Tells whether a value is a number of a program: `0x0029`.
fn is_short_number(text: &str) -> bool {
    let digits = text.trim_end_matches([',', ';']).strip_prefix("0x");
    digits.is_some_and(|digits| digits.len() <= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Tells whether a line is the name of a password and a word that says nothing of it: `password: walnutharbor`.
fn is_said_alone(line: &str, word: &str, value: &Value) -> bool {
    const ENDS: &[&str] =
        &["password", "passwd", "pass", "pwd", "pw", "psk", "passphrase", "kennwort", "passwort", "authtok"];
    const SAID_OF: &[&str] =
        &["forgot", "change", "confirm", "show", "hide", "enter", "wrong", "new", "old", "repeat", "no"];
    let text = &line[value.range.clone()];
    let lower = word.to_ascii_lowercase();
    let ends = line[value.range.end..].trim_matches(['"', '\'', '`', '*', ' ', '\r']).is_empty();
    let is_name = ENDS.iter().any(|end| lower.ends_with(end))
        || matches!(
            lower.as_str(),
            "clave"
                | "senha"
                | "heslo"
                | "parola"
                | "salasana"
                | "adgangskode"
                | "passord"
                | "wachtwoord"
                | "secret"
        );
    let is_word = text.bytes().all(|byte| byte.is_ascii_graphic())
        && !text.contains(['.', ',', ';', '"', '/', '$', '@', '<', '>', '=']);
    ends && is_name
        && is_word
        && text.len() >= 8
        && !SAID_OF.iter().any(|said| lower.starts_with(said))
        && !super::value::is_ordinary(text)
}

/// What people call it in other languages.
fn spoken(line: &str, found: &mut Vec<Range<usize>>) {
    // Most lines have none of the others' letters.
    let is_ascii = line.is_ascii();
    let line = lowered(line);
    let line = line.as_str();
    if !ALL_SPOKEN.any(line) {
        return;
    }
    for name in SPOKEN.iter().filter(|name| !is_ascii || name.is_ascii()) {
        for (at, _) in line.match_indices(name) {
            let from = at + name.len();
            let rest = line[from..].trim_start_matches(['"', '\'', ' ']);
            let Some(after) = SAYS.iter().find_map(|says| rest.strip_prefix(says)) else { continue };
            let start = line.len() - after.trim_start_matches([' ', '：', ':']).len();
            let Some(value) = value(line, start) else { continue };
            let text = &line[value.range.clone()];
            let text = text.trim_end_matches(['。', '，', '；', '！', '）', '」']);
            let ascii = text.find(|letter: char| !letter.is_ascii()).unwrap_or(text.len());
            let length = if ascii >= 3 { ascii } else { 0 };
            if length >= 3 && !value.is_placeholder(text) {
                found.push(value.range.start..value.range.start + length);
            }
        }
    }
}
