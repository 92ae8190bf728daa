//! Tells by a name whether its value is a secret.

use super::looks::RANDOM_WORDS;
use super::table::{ABOUT, ASKED, HINTS, LEADS, PARTS, WEAK_WORDS, WORDS};

/// How certain that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// Its value is a secret.
    Secret,
    /// Its value is a secret if it looks like one.
    Maybe,
    /// Its value is a secret if a machine drew it.
    Drawn,
}

/// Judges a name of letters, digits, `_` and `-`.
pub(super) fn naming(name: &str) -> Option<Naming> {
    if name.len() < 2 {
        return None;
    }
    strong(name).or_else(|| is_of_drawn(name).then_some(Naming::Drawn))
}

/// Tells whether a name says little, but may be one of a key.
fn is_of_drawn(name: &str) -> bool {
    let bytes = name.as_bytes();
    let is = |word: &&str| {
        let Some(at) = bytes.len().checked_sub(word.len()) else { return false };
        let begins = at == 0
            || !bytes[at - 1].is_ascii_alphanumeric()
            || bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase();
        begins && bytes[at..].eq_ignore_ascii_case(word.as_bytes())
    };
    // Nearly all names end in a letter that none of the words ends in.
    let Some(last) = bytes.last().filter(|last| ENDS_OF_DRAWN[usize::from(**last)]) else { return false };
    // `secret_id` is no name of a secret: it is the secret of a role (Vault's AppRole).
    let is_role = || {
        let from = bytes.len().checked_sub(SECRET_ID.len());
        from.is_some_and(|from| bytes[from..].eq_ignore_ascii_case(SECRET_ID.as_bytes()))
    };
    RANDOM_WORDS.iter().filter(|word| word.as_bytes().last() == Some(&last.to_ascii_lowercase())).any(is)
        || is_role()
}

/// How a role's secret is called.
const SECRET_ID: &str = "secret_id";

/// Of each byte, whether a name that ends in it may be one of [`RANDOM_WORDS`] or of [`SECRET_ID`].
const ENDS_OF_DRAWN: [bool; 256] = {
    let mut ends = [false; 256];
    let mut at = 0;
    while at <= RANDOM_WORDS.len() {
        let word = if at < RANDOM_WORDS.len() { RANDOM_WORDS[at] } else { SECRET_ID };
        let last = word.as_bytes()[word.len() - 1];
        ends[last as usize] = true;
        ends[last.to_ascii_uppercase() as usize] = true;
        at += 1;
    }
    ends
};

/// For each first letter the letters that make a hint with it, one bit each; none for what is no letter.
const SECOND_OF: [u32; 256] = {
    let mut seconds = [0; 256];
    let mut at = 0;
    while at < HINTS.len() {
        let [first, second] = *HINTS[at];
        let bit = 1 << (second - b'a');
        seconds[first as usize] |= bit;
        seconds[first.to_ascii_uppercase() as usize] |= bit;
        at += 1;
    }
    seconds
};

/// The bit of each letter, small or capital; none for what is no letter.
const BIT_OF: [u32; 256] = {
    let mut bits = [0; 256];
    let mut letter = 0;
    while letter < 26 {
        bits[(b'a' + letter) as usize] = 1 << letter;
        bits[(b'A' + letter) as usize] = 1 << letter;
        letter += 1;
    }
    bits
};

fn has_hint(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.windows(2).any(|pair| SECOND_OF[usize::from(pair[0])] & BIT_OF[usize::from(pair[1])] != 0)
}

fn strong(name: &str) -> Option<Naming> {
    // Nearly all names end here.
    if !has_hint(name) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let lower = lower.trim_matches(['-', '_']);
    let naming = if PARTS.iter().any(|part| lower.contains(part)) {
        // `access_key_id` names the key, and is one half of it.
        let identifies = lower.ends_with("_id") || lower.ends_with("-id");
        (!identifies || lower.contains("access_key")).then_some(Naming::Secret)?
    } else if words(name).any(|word| WORDS.contains(&word.as_str())) || is_short_variable(name) {
        Naming::Secret
    } else {
        let last = words(name).last()?;
        WEAK_WORDS.contains(&last.as_str()).then_some(Naming::Maybe)?
    };
    let is_about = ABOUT.iter().any(|end| {
        lower.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with(['_', '-']))
            || name.ends_with(&capitalised(end))
    });
    (!is_about).then_some(naming)
}

/// `DBPW`, `ROOTPASS`: the variable of a shell, in one word.
fn is_short_variable(name: &str) -> bool {
    const NONE: &[&str] = &["OLDPWD", "BYPASS", "COMPASS", "SURPASS", "TRESPASS", "SSH_ASKPASS", "ASKPASS", "CWD"];
    let is_shell = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let ends = ["PW", "PWD", "PASS"].iter().any(|end| name.ends_with(end) && name.len() > end.len());
    is_shell && ends && !NONE.iter().any(|none| name.ends_with(none)) && !name.ends_with("CMPASS")
}

/// Tells whether the value of a variable of this name is a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    match naming(name) {
        // `PWD` is a directory, and so is `OLDPWD`.
        Some(Naming::Secret) => !matches!(name, "PWD" | "pwd"),
        Some(Naming::Maybe) => name.len() > 4 && name.to_ascii_lowercase().ends_with("_key"),
        Some(Naming::Drawn) | None => false,
    }
}

/// Tells whether words that somebody is asked with speak of a secret: a part of a secret's name, or as people say it.
#[must_use]
pub fn asks_for_secret(words: &str) -> bool {
    let words = words.to_lowercase();
    PARTS.iter().chain(ASKED).any(|part| words.contains(part))
}

/// Tells whether a variable with this name is secret, or leads to a process that has secrets.
#[must_use]
pub fn is_kept_from_readers(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    is_secret_name(name) || LEADS.iter().any(|part| upper.contains(part))
}

/// Splits a name into words in lower case: `dbPass_x` has three.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_ascii_uppercase() && before.is_ascii_lowercase();
        if matches!(letter, '_' | '-') || begins {
            words.push(String::new());
        }
        if !matches!(letter, '_' | '-')
            && let Some(word) = words.last_mut()
        {
            word.push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    words.into_iter()
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_ascii_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_missed_for_want_of_a_hint() {
        for name in PARTS.iter().chain(WORDS).chain(WEAK_WORDS) {
            let is_hint = |at: &[u8]| HINTS.iter().any(|hint| at == &hint[..]);
            assert!(name.as_bytes().windows(2).any(is_hint), "{name}");
        }
    }

    #[test]
    fn variables_are_known_by_their_names() {
        for name in [
            "GITHUB_TOKEN",
            "DB_PASSWORD",
            "AWS_SECRET_ACCESS_KEY",
            "SIGNING_KEY",
            "DB_PASS",
            "MYSQL_PWD",
            "PW",
            "dbPass",
            "PASS",
            "gh_token",
            "OPENAI_API_KEY",
            "SSHPASS",
            "PGPASSWORD",
            "REDISCLI_AUTH",
            "PGPASS",
            "AWS_ACCESS_KEY_ID",
            "NPM_TOKEN",
            "apiKey",
            "WIFI_PSK",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "KEYBOARD",
            "PWD",
            "OLDPWD",
            "SSH_ASKPASS",
            "TOKEN_FILE",
            "max_tokens",
            "BYPASS",
            "PASSWORD_STORE_DIR",
            "LANG",
            "secretName",
            "COMPASS",
            "SSH_AUTH_SOCK",
            "key",
            "",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert!(
            ["SSH_AUTH_SOCK", "DATABASE_URL", "DOCKER_HOST", "X_TOKEN"].iter().all(|it| is_kept_from_readers(it))
        );
    }
}
