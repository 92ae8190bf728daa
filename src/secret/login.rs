//! Names and passwords in addresses, and in files of one login a line.

use std::ops::Range;

use super::level::Level;
use super::prose::is_chosen;
use super::together::Together;

/// The longest login that is looked at, in bytes, and the longest name of a variable.
const LONGEST: usize = 1024;
const LONGEST_NAME: usize = 128;

/// Each of these is rare, and one look at a line tells that it has none.
static MARKS: Together = Together::new(MARK_TEXTS);
const MARK_TEXTS: &[&str] = &[
    ": EAP \"",
    ": XAUTH \"",
    ": NTLM \"",
    ": PSK \"",
    "sdk-",
    "mob-",
    "BUNDLE_",
    ":thin:",
    "@tcp(",
    "@unix(",
    "@tcp6(",
    "secret,",
];

/// Finds them in a line.
pub(super) fn find(line: &str, level: Level, found: &mut Vec<Range<usize>>) {
    for (mark, _) in line.match_indices("://") {
        let from = mark + 3;
        let window = &line[from..line.floor_char_boundary((from + LONGEST).min(line.len()))];
        let end = window
            .find(|character: char| character.is_whitespace() || "/?#'\"`<>".contains(character))
            .unwrap_or(window.len());
        let Some((login, _)) = window[..end].rsplit_once('@') else { continue };
        let is_variable = |text: &str| text.starts_with(['$', '<', '{', '[', '%']) && !text.starts_with("%2");
        match login.split_once(':') {
            Some((user, password)) => {
                if !password.is_empty() && !is_variable(password) {
                    found.push(from + user.len() + 1..from + login.len());
                }
                // Where the password says nothing, the name is the token.
                if matches!(password, "" | "x-oauth-basic" | "x" | "X") && user.len() >= 8 {
                    found.push(from..from + user.len());
                }
            }
            None if line[..mark].ends_with("http") || line[..mark].ends_with("https") => {
                let is_token = match level {
                    Level::Sent => login.len() >= 8,
                    Level::Kept | Level::Repeated => {
                        login.len() >= 16 && login.bytes().any(|byte| byte.is_ascii_digit())
                    }
                };
                if is_token && !is_variable(login) {
                    found.push(from..from + login.len());
                }
            }
            None => {}
        }
    }
    pgpass(line, found);
    if MARKS.any(line) {
        exchanged(line, found);
        flagged(line, found);
        thin(line, found);
        named_network(line, found);
        object(line, found);
    }
    digest(line, found);
    alone(line, found);
}

/// `carol : EAP "X"`, as strongSwan's file of secrets has it.
fn exchanged(line: &str, found: &mut Vec<Range<usize>>) {
    for kind in [": EAP \"", ": XAUTH \"", ": NTLM \"", ": PSK \""] {
        for (at, _) in line.match_indices(kind) {
            let from = at + kind.len();
            let length = line[from..].find('"').unwrap_or(line.len() - from);
            if length >= 3 {
                found.push(from..from + length);
            }
        }
    }
}

/// `sdk-UUID`, as LaunchDarkly has its keys; `BUNDLE_HOST: "me:X"`, Bundler's logins.
fn flagged(line: &str, found: &mut Vec<Range<usize>>) {
    const UUID: usize = 36;
    for start in ["sdk-", "mob-"] {
        for (at, _) in line.match_indices(start) {
            let from = at + start.len();
            let is_uuid =
                line.get(from..from + UUID).is_some_and(|text| text.split('-').map(str::len).eq([8, 4, 4, 4, 12]));
            if is_uuid {
                found.push(from..from + UUID);
            }
        }
    }
    for (at, start) in line.match_indices("BUNDLE_") {
        let name = line[at..]
            .bytes()
            .take(LONGEST_NAME)
            .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
            .count();
        let value = line[at + name..].trim_start_matches([':', '=', ' ', '"', '\'']);
        let window = &value[..value.floor_char_boundary(LONGEST.min(value.len()))];
        let length = window.find(['"', '\'', ' ', '\t']).unwrap_or(window.len());
        if let Some((_, password)) = value[..length].split_once(':')
            && name > start.len()
            && password.len() >= 8
            && !password.starts_with('/')
        {
            let from = password.as_ptr() as usize - line.as_ptr() as usize;
            found.push(from..from + password.len());
        }
    }
}

/// `me:realm:HEX`, a line of a file that htdigest(1) writes.
fn digest(line: &str, found: &mut Vec<Range<usize>>) {
    let text = line.trim_end();
    let is_file = text.matches(':').count() == 2 && text.len() <= LONGEST;
    if let Some((_, sum)) = text.rsplit_once(':').filter(|_| is_file)
        && sum.len() == 32
        && sum.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        found.push(text.len() - sum.len()..text.len());
    }
}

/// `me:X` alone in a line, or in quotes behind a sign: capitals, small letters and digits, as names of versions have not.
fn alone(line: &str, found: &mut Vec<Range<usize>>) {
    let text = line.trim();
    let (name, password) = text.split_once(':').unwrap_or_default();
    let has = |is: fn(&u8) -> bool| password.bytes().any(|byte| is(&byte));
    let is_name = (2..=32).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.".contains(&byte))
        && name.starts_with(|letter: char| letter.is_ascii_lowercase());
    if is_name
        && is_chosen(password)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
    {
        let at = line.len() - line.trim_start().len() + name.len() + 1;
        found.push(at..at + password.len());
    }
}

/// `secret,id=a,data=X`, as QEMU takes it.
fn object(line: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in line.match_indices("secret,") {
        let word = line[at..].split_whitespace().next().unwrap_or_default();
        let Some(from) = word.find(",data=").map(|data| at + data + ",data=".len()) else { continue };
        let length = line[from..].find(|letter: char| letter.is_whitespace() || ",'\"".contains(letter));
        let to = length.map_or(line.len(), |length| from + length);
        if to > from + 2 {
            found.push(from..to);
        }
    }
}

/// `jdbc:oracle:thin:user/password@host` (Oracle's JDBC Developer's Guide, "Database URLs").
fn thin(line: &str, found: &mut Vec<Range<usize>>) {
    for (mark, before) in line.match_indices(":thin:") {
        let from = mark + before.len();
        let window = &line[from..line.floor_char_boundary((from + LONGEST).min(line.len()))];
        if let Some((user, rest)) = window.split_once('/')
            && let Some((password, _)) = rest.rsplit_once('@')
            && !user.contains(char::is_whitespace)
            && !password.contains(char::is_whitespace)
        {
            let start = from + user.len() + 1;
            found.push(start..start + password.len());
        }
    }
}

/// `me:X@tcp(host:3306)/shop`, as drivers of Go have it.
fn named_network(line: &str, found: &mut Vec<Range<usize>>) {
    for network in ["@tcp(", "@unix(", "@tcp6("] {
        for (at, _) in line.match_indices(network) {
            let from = line.floor_char_boundary(at.saturating_sub(LONGEST));
            let ends = |letter: char| letter.is_whitespace() || "\"'`=".contains(letter);
            let login = line[from..at].rsplit(ends).next().unwrap_or_default();
            if let Some((_, password)) = login.split_once(':')
                && !password.is_empty()
                && !password.starts_with(['$', '%', '{', '<'])
            {
                found.push(at - password.len()..at);
            }
        }
    }
}

/// `host:port:database:user:password` (PostgreSQL's manual, "The Password File").
fn pgpass(line: &str, found: &mut Vec<Range<usize>>) {
    let trimmed = line.trim();
    if trimmed.len() > LONGEST || trimmed.contains(char::is_whitespace) || trimmed.contains("://") {
        return;
    }
    let fields: Vec<&str> = trimmed.splitn(5, ':').collect();
    let [host, port, database, user, password] = fields[..] else { return };
    let is_port = port == "*" || (3..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = |name: &str| !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit());
    if !host.is_empty() && is_port && is_name(database) && is_name(user) && password.len() >= 3 {
        let end = line.trim_end().len();
        found.push(end - password.len()..end);
    }
}
