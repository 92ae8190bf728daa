//! A secret that stands alone in one of the lines below its name: `<password>` and the text of the tag, `1) "requirepass"`
//! and what the server answers, `["password"]=>`, `password = """`, `<auth-user-pass>`, codes for a day without a phone.

use std::ops::Range;

use super::name::{Naming, naming};
use super::together::Together;

/// So many lines below its name it may stand.
const FARTHEST: usize = 3;
/// The shortest line with a phrase and its name, in bytes.
const SHORTEST_PHRASE: usize = 24;
/// The longest list of numbers that is a key, in bytes.
const LONGEST_LIST: usize = 512;
/// So many codes are given at a time.
const MOST_CODES: usize = 16;

/// What the lines before said.
#[derive(Default)]
pub(super) struct Opened {
    /// In how many lines more the value may stand, and how many stand before it.
    left: usize,
    skipped: usize,
    /// In how many lines more there may be codes.
    codes: usize,
    /// Whether the lines are those of a vault, or of a dump of a key.
    packed: Option<Packed>,
    /// Whether the line before told how long the next is, as Subversion does.
    counted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packed {
    Vault,
    Key,
}

impl Opened {
    /// Finds it in the next line.
    pub(super) fn find(&mut self, line: &str, found: &mut Vec<Range<usize>>) {
        let text = line.trim();
        let place = |inside: &str| {
            let at = inside.as_ptr() as usize - line.as_ptr() as usize;
            at..at + inside.len()
        };
        self.codes = self.codes.saturating_sub(1);
        if self.codes > 0 {
            match code(text) {
                Some(code) => found.push(place(code)),
                None if text.is_empty() => {}
                None => self.codes = 0,
            }
        }
        if let Some(packed) = self.packed.filter(|packed| is_packed(*packed, text)) {
            found.push(place(text));
            self.packed = Some(packed);
        } else {
            self.packed = None;
        }
        if self.left > 0 {
            self.left -= 1;
            if let Some(value) = alone(text) {
                if self.skipped > 0 {
                    self.skipped -= 1;
                } else {
                    found.push(place(value));
                    self.left = 0;
                }
            }
        }
        self.begin(text);
    }

    fn begin(&mut self, text: &str) {
        static TELLS: Together = Together::of_any_case(&[
            "scratch code",
            "backup code",
            "recovery code",
            "emergency code",
            "rescue code",
        ]);
        static DUMPS: Together = Together::of_any_case(&["mk dump", "master key", "volume key", "key dump"]);
        let counted = std::mem::replace(&mut self.counted, is_count(text, 'K'));
        if text == "<auth-user-pass>" {
            (self.left, self.skipped) = (FARTHEST, 1);
        } else if opens(text) || counted && naming(text) == Some(Naming::Secret) {
            (self.left, self.skipped) = (FARTHEST, 0);
        }
        if text.ends_with([':', '：']) && TELLS.any(text) {
            self.codes = MOST_CODES;
        }
        if text.starts_with("$ANSIBLE_VAULT;") {
            self.packed = Some(Packed::Vault);
        } else if DUMPS.any(text) {
            self.packed = Some(Packed::Key);
        }
    }
}

/// Tells whether a line is nothing but the name of a secret, opened.
fn opens(text: &str) -> bool {
    let is_secret = |name: &str| naming(name.trim_matches(['"', '\''])) == Some(Naming::Secret);
    // `<password>`, `<wsse:Password Type="x">`
    let tag =
        text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).filter(|tag| !tag.contains(['<', '>', '/']));
    if let Some(tag) = tag {
        let name = tag.split_whitespace().next().unwrap_or_default();
        return is_secret(name.rsplit(':').next().unwrap_or(name));
    }
    // `1) "requirepass"`
    let answer = text.split_once(") ").filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
    if let Some((_, name)) = answer {
        return name.starts_with('"') && is_secret(name);
    }
    let name = ["]=>", "= \"\"\"", "= '''", "=\"\"\""].iter().find_map(|end| text.strip_suffix(end));
    name.is_some_and(|name| is_secret(name.trim().trim_start_matches('[')))
}

/// The one word of a line, without the tags, quotes and counts around it.
fn alone(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("<Value>").or_else(|| text.strip_prefix("<string>")).unwrap_or(text);
    let inside = inside.split_once("</").map_or(inside, |(value, _)| value);
    let inside = match inside.split_once(") ") {
        Some((count, value)) if count.starts_with("string(") || count.bytes().all(|byte| byte.is_ascii_digit()) => {
            value
        }
        _ => inside,
    };
    let value = inside.trim().trim_matches('"').trim_end_matches("\"\"\"");
    let is_word =
        value.len() >= 3 && !value.contains(char::is_whitespace) && !value.starts_with(['<', '{', '$', '[', '(']);
    (is_word && !is_count(text, 'V') && !value.ends_with([':', '{', '(', ';'])).then_some(value)
}

/// `K 8`, `V 11`: how long the next line is.
fn is_count(text: &str, letter: char) -> bool {
    text.strip_prefix(letter)
        .and_then(|rest| rest.strip_prefix(' '))
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A code that is written down for later: `1. abcde-12345`, `12345678`.
fn code(text: &str) -> Option<&str> {
    let bare = text.trim_start_matches(['-', '*', '•']).trim_start();
    let bare = match bare.split_once([' ', '\t']) {
        Some((number, rest)) if number.ends_with(['.', ')']) || number.len() <= 2 => rest.trim(),
        _ => bare,
    };
    let parts = || bare.split(['-', ' ']);
    let is_part =
        |part: &str| (4..=12).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (bare.bytes().any(|byte| byte.is_ascii_digit()) && parts().count() <= 4 && parts().all(is_part)).then_some(bare)
}

fn is_packed(packed: Packed, text: &str) -> bool {
    match packed {
        Packed::Vault => text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
        Packed::Key => {
            let bytes = || text.split([' ', '\t']).filter(|part| !part.is_empty());
            bytes().count() >= 8 && bytes().all(|byte| byte.len() == 2 && is_hexadecimal_pair(byte))
        }
    }
}

fn is_hexadecimal_pair(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What a line tells alone: hashes as password files and dumps have them, keys as lists of numbers and in JSON Web Keys,
/// codes for one time, phrases of words.
pub(super) fn in_line(line: &str, found: &mut Vec<Range<usize>>) {
    /// Each of these is rare, and one look at a line tells that it has none.
    static RARE: Together = Together::new(&["Digest ", "::server:", "::node:", "\"kty\"", "Fernet(", "ump:", "\t"]);
    dumped(line, found);
    listed(line, found);
    if RARE.any(line) {
        digest_and_services(line, found);
        web_key(line, found);
        tunnel(line, found);
        dump_of_key(line, found);
    }
    once(line, found);
    phrase(line, found);
}

fn is_sum(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `me:500:HEX:HEX:::`, as Samba and tools that audit Windows write it.
fn dumped(line: &str, found: &mut Vec<Range<usize>>) {
    if memchr::memchr_iter(b':', line.as_bytes()).nth(4).is_none() {
        return;
    }
    let fields: Vec<&str> = line.trim().split(':').take(12).collect();
    if fields.len() >= 6 && fields.get(1).is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_digit())) {
        for field in fields.iter().filter(|field| is_sum(field)) {
            let at = field.as_ptr() as usize - line.as_ptr() as usize;
            found.push(at..at + field.len());
        }
    }
}

/// `response="HEX"` (RFC 7616), and tokens with the word for a service before them.
fn digest_and_services(line: &str, found: &mut Vec<Range<usize>>) {
    if line.contains("Digest ") {
        for (at, mark) in line.match_indices("response=\"") {
            let from = at + mark.len();
            if line.get(from..from + 32).is_some_and(is_sum) {
                found.push(from..from + 32);
            }
        }
    }
    for mark in ["::server:", "::node:"] {
        for (at, _) in line.match_indices(mark) {
            let from = at + mark.len();
            let length = line[from..].bytes().take_while(u8::is_ascii_alphanumeric).count();
            if length >= 16 {
                found.push(from..from + length);
            }
        }
    }
}

/// `[12, 240, …]`: 64 bytes are a pair of keys; 16 and more are one behind a name that says so.
fn listed(line: &str, found: &mut Vec<Range<usize>>) {
    for (open, _) in line.match_indices('[') {
        let window = &line[open..line.floor_char_boundary((open + LONGEST_LIST).min(line.len()))];
        let Some(close) = window.find(']').map(|close| open + close) else { continue };
        let inside = &line[open + 1..close];
        let count = inside.split(',').count();
        if count < 16 || !inside.split(',').all(|number| number.trim().parse::<u8>().is_ok()) {
            continue;
        }
        let before = line[..open].trim_end_matches([' ', '"', ':', '=', '\'']);
        let ends = |letter: char| !letter.is_ascii_alphanumeric() && !"_-".contains(letter);
        let name = before.rsplit(ends).next().unwrap_or_default().to_ascii_lowercase();
        if count == 64 || name.ends_with("key") || name.ends_with("secret") || name.ends_with("seed") {
            found.push(open + 1..close);
        }
    }
}

/// The private members of a JSON Web Key (RFC 7517 and 7518).
fn web_key(line: &str, found: &mut Vec<Range<usize>>) {
    if !line.contains("\"kty\"") {
        return;
    }
    for name in ["\"d\"", "\"k\"", "\"p\"", "\"q\"", "\"dp\"", "\"dq\"", "\"qi\""] {
        for (at, _) in line.match_indices(name) {
            let rest = line[at + name.len()..].trim_start_matches([' ', ':']);
            let Some(value) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) else { continue };
            if value.len() >= 16 {
                let from = value.as_ptr() as usize - line.as_ptr() as usize;
                found.push(from..from + value.len());
            }
        }
    }
}

/// `wg0<TAB>PRIVATE<TAB>PUBLIC<TAB>51820<TAB>off`, as `wg show all dump` prints it; `Fernet(b"X")`.
fn tunnel(line: &str, found: &mut Vec<Range<usize>>) {
    const KEY: usize = 44;
    let is_key = |text: &&str| {
        text.len() == KEY
            && text.ends_with('=')
            && text[..KEY - 1].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/_-".contains(&byte))
    };
    let fields: Vec<&str> = line.split('\t').collect();
    let first = fields.iter().take(3).position(is_key);
    if let Some(at) = first
        && fields.get(at + 1).is_some_and(|next| is_key(next) || *next == "(none)")
    {
        let from = fields[at].as_ptr() as usize - line.as_ptr() as usize;
        found.push(from..from + KEY);
    }
    for (at, mark) in line.match_indices("Fernet(") {
        let rest = line[at + mark.len()..].trim_start_matches(['b', '"', '\'']);
        let from = rest.as_ptr() as usize - line.as_ptr() as usize;
        if rest.get(..KEY).as_ref().is_some_and(is_key) {
            found.push(from..from + KEY);
        }
    }
}

/// `Your one-time code is 123456`, `PIN: 1234`, `"pin": "1234"`.
fn once(line: &str, found: &mut Vec<Range<usize>>) {
    static HINTS: Together = Together::of_any_case(&["code", "otp", "pin", "password"]);
    const SAID: &[&str] = &[
        "one-time code",
        "one time code",
        "one-time password",
        "one time password",
        "verification code",
        "security code",
        "login code",
        "sign-in code",
        "access code",
        "confirmation code",
        "authentication code",
        "2fa code",
        "otp",
        "pin",
        "pin code",
        "验证码",
        "驗證碼",
        "認証コード",
        "код подтверждения",
        "bestätigungscode",
    ];
    if !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return;
    }
    if line.is_ascii() && !HINTS.any(line) {
        return;
    }
    let lower = super::prose::lowered(line);
    for said in SAID {
        for (at, _) in lower.match_indices(said) {
            let end = at + said.len();
            let is_word = !lower[..at].ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
            let rest = line[end..].trim_start_matches(['"', '\'', '*', '`']).trim_start();
            let signs = ["is ", "is: ", ": ", ":", "=", "：", "是", "は", "ist ", "- "];
            let Some(value) = signs.iter().find_map(|sign| rest.strip_prefix(sign)) else { continue };
            let value = value.trim_start().trim_start_matches(['"', '\'', '*', '`', '（']);
            let length =
                value.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').unwrap_or(value.len());
            let code = &value[..length];
            let digits = code.bytes().filter(u8::is_ascii_digit).count();
            let is_number =
                (4..=8).contains(&digits) && code.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            let is_chosen = said.ends_with("code") && super::prose::is_chosen(code);
            if is_word && (is_number || is_chosen) {
                let from = value.as_ptr() as usize - line.as_ptr() as usize;
                found.push(from..from + code.len());
            }
        }
    }
}

/// Words that make a key, behind or below what they are called; words of a passphrase.
fn phrase(line: &str, found: &mut Vec<Range<usize>>) {
    static SEEDS: Together =
        Together::of_any_case(&["mnemonic", "seed", "recovery", "secret phrase", "backup phrase", "wallet"]);
    static PASSPHRASE: Together = Together::of_any_case(&["passphrase"]);
    if line.len() < SHORTEST_PHRASE {
        return;
    }
    let is_word = |word: &str| (3..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let told = SEEDS.first_end(line);
    // A line of nothing but words, so many as keys are made of (BIP 39).
    let all = line.split_whitespace().count();
    let alone = matches!(all, 12 | 15 | 18 | 21 | 24) && line.split_whitespace().all(is_word) && !is_sentence(line);
    let from = if alone { Some(0) } else { told };
    if let Some(from) = from {
        let mut run: Option<Range<usize>> = None;
        let mut count = 0;
        for word in line[from..].split_whitespace() {
            let bare = word.trim_matches(['"', '\'', ',', '.', ':', '`', '*']);
            let at = bare.as_ptr() as usize - line.as_ptr() as usize;
            if is_word(bare) {
                count += 1;
                run = Some(run.map_or(at, |run| run.start)..at + bare.len());
            } else if count < 12 {
                (run, count) = (None, 0);
            } else {
                break;
            }
        }
        found.extend(run.filter(|run| count >= 12 && !is_sentence(&line[run.clone()])));
    }
    if !PASSPHRASE.any(line) {
        return;
    }
    for (at, name) in line.to_ascii_lowercase().match_indices("passphrase") {
        let rest = line[at + name.len()..].trim_start_matches(['"', '\'']).trim_start();
        let Some(value) = rest.strip_prefix([':', '=']) else { continue };
        let value = value.trim().trim_matches(['"', '\'', ',']);
        let words = value.split(' ').count();
        if (3..=10).contains(&words)
            && value.split(' ').all(|word| {
                (2..=12).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            })
            && !is_sentence(value)
        {
            let from = value.as_ptr() as usize - line.as_ptr() as usize;
            found.push(from..from + value.len());
        }
    }
}

/// Tells whether words are a sentence: those that hold one together are in it.
pub(super) fn is_sentence(text: &str) -> bool {
    const HOLDING: &[&str] = &[
        "the", "and", "are", "for", "with", "you", "your", "this", "that", "not", "is", "of", "to", "be", "or",
        "from",
    ];
    text.split_whitespace().filter(|word| HOLDING.contains(word)).count() >= 1
}

/// `MK dump: 0f 1e …` in the line itself.
fn dump_of_key(line: &str, found: &mut Vec<Range<usize>>) {
    if !line.contains("ump:") {
        return;
    }
    let lower = line.to_ascii_lowercase();
    if let Some(at) = lower.find("mk dump:").map(|at| at + "mk dump:".len()) {
        let text = line[at..].trim();
        if is_packed(Packed::Key, text) {
            let from = text.as_ptr() as usize - line.as_ptr() as usize;
            found.push(from..from + text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut opened = Opened::default();
        let mut values = Vec::new();
        for line in text.lines() {
            let mut found = Vec::new();
            opened.find(line, &mut found);
            in_line(line, &mut found);
            values.extend(found.into_iter().map(|range| line[range].to_owned()));
        }
        values
    }

    #[test]
    fn what_stands_below_its_name_is_found() {
        for text in [
            "<password>\n  walnutharbor\n</password>",
            "<AdministratorPassword>\n  <Value>walnutharbor</Value>",
            "1) \"requirepass\"\n2) \"walnutharbor\"",
            "  [\"password\"]=>\n  string(12) \"walnutharbor\"",
            "password = \"\"\"\nwalnutharbor\"\"\"",
            "K 8\npassword\nV 12\nwalnutharbor",
            "<auth-user-pass>\nalice\nwalnutharbor\n</auth-user-pass>",
        ] {
            assert_eq!(found(text), ["walnutharbor"], "{text}");
        }
        for text in [
            "<name>\nwalnutharbor",
            "1) \"maxmemory\"\n2) \"walnutharbor\"",
            "<password>\n<b>x y</b>\n</password>",
            "password\nwalnutharbor",
            "Notes:\nwalnut12",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn codes_phrases_numbers_and_hashes_are_found() {
        let phrase = "walnut kettle saffron harbor drizzle winter marzipan pepper falcon summer copper violet";
        for (text, secret) in [
            ("Your one-time code is 493021.", "493021"),
            ("PIN: 4930", "4930"),
            ("{\"pin\": \"493021\"}", "493021"),
            ("Recovery codes:\n  1. abcde-12345", "abcde-12345"),
            ("MK dump:\t2e bd 0e 77 06 55 5c 73", "2e bd 0e 77 06 55 5c 73"),
            ("passphrase: violet tundra thistle tiger", "violet tundra thistle tiger"),
            (
                "response=\"x\" Digest response=\"ee7387f553638fc5ee9657296445967b\"",
                "ee7387f553638fc5ee9657296445967b",
            ),
            ("{\"kty\":\"oct\",\"k\":\"h48NP1DnjZk1DKTbSKOtOO\"}", "h48NP1DnjZk1DKTbSKOtOO"),
        ] {
            assert_eq!(found(text), [secret], "{text}");
        }
        assert_eq!(found(&format!("mnemonic: {phrase}")), [phrase]);
        assert_eq!(found(&format!("Your seed phrase:\n{phrase}")), [phrase]);
        for text in [
            "the code is 200",
            "exit code: 127",
            "pin 17",
            "pinned: 12345",
            "passphrase: the one that you were given for it",
            "seed: 42",
            "[1, 2, 3]",
            "code: E0277",
            "a:1:b:c",
            "recovery takes the time that it needs and you have to be patient",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
