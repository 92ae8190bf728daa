//! Taking secrets out of what a terminal shows, before it is sent anywhere: known values first, then what looks like
//! one. Rather too much than too little. Pure.

/// What stands where a secret was.
const MARK: &str = "[redacted]";

/// Parts of names whose value is a secret, in lower case.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "access-key",
    "private_key",
    "authorization",
    "cookie",
    "credential",
];

/// The shortest value after a name that is taken for a secret, in bytes: `token = 3` is none.
const SHORTEST: usize = 6;

/// The shortest part of a JSON web token, in bytes.
const SHORTEST_PART: usize = 8;

/// Takes secrets out; `known` takes out the values that are known. Returns how many there were.
pub(super) fn scrub(text: &str, known: &dyn Fn(&str) -> String) -> (String, usize) {
    let mut lines = Vec::new();
    let mut in_key = false;
    for line in known(text).lines() {
        if in_key {
            in_key = !line.contains("-----END");
            continue;
        }
        if line.contains("-----BEGIN") && line.contains("PRIVATE KEY") {
            in_key = !line.contains("-----END");
            lines.push(MARK.to_owned());
            continue;
        }
        lines.push(without_named(&without_web_tokens(&without_logins(line))));
    }
    let clean = lines.join("\n");
    let count = clean.matches(MARK).count();
    (clean, count.saturating_sub(text.matches(MARK).count()))
}

/// `https://user:password@host`.
fn without_logins(line: &str) -> String {
    let mut clean = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("://") {
        clean.push_str(before);
        clean.push_str("://");
        let end = after.find(|character: char| character.is_whitespace() || "/?#'\"".contains(character));
        let (authority, _) = after.split_at(end.unwrap_or(after.len()));
        rest = after;
        if let Some((login, _)) = authority.rsplit_once('@')
            && let Some((user, password)) = login.split_once(':')
            && !password.is_empty()
        {
            clean.push_str(user);
            clean.push(':');
            clean.push_str(MARK);
            rest = &after[login.len()..];
        }
    }
    clean.push_str(rest);
    clean
}

/// `eyJ….eyJ….…`: three parts in base64 whose first two begin a JSON object.
fn without_web_tokens(line: &str) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    let mut clean = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("eyJ") {
        let length = rest[at..].find(|character: char| !is_part(character) && character != '.');
        let (token, after) = rest[at..].split_at(length.unwrap_or(rest.len() - at));
        let parts: Vec<&str> = token.split('.').collect();
        let is_token = parts.len() == 3 && parts[..2].iter().all(|part| part.len() >= SHORTEST_PART);
        clean.push_str(&rest[..at]);
        clean.push_str(if is_token { MARK } else { token });
        rest = after;
    }
    clean.push_str(rest);
    clean
}

/// `API_TOKEN=…`, `"password": "…"`, `Authorization: Bearer …`, `--password …`. Each part of the line is looked at a
/// few times at most: output is as long as a program likes, and all of it may look like names.
fn without_named(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    let is_gap = |character: char| character.is_whitespace() || "=:\"'".contains(character);
    let next = |name: &str, from: usize| lower[from..].find(name).map(|at| from + at + name.len());
    let mut ends: Vec<(&str, Option<usize>)> = NAMES.iter().map(|name| (*name, next(name, 0))).collect();
    let mut clean = String::with_capacity(line.len());
    // Up to where the line is done with, written, and known to be one name with what separates it from its value.
    let (mut at, mut written, mut named, mut value_at) = (0, 0, 0, 0);
    loop {
        for (name, end) in &mut ends {
            if end.is_some_and(|end| end < at + name.len()) {
                *end = next(name, at);
            }
        }
        let Some(end) = ends.iter().filter_map(|(_, end)| *end).min() else { break };
        let is_option = line[at..end].rsplit(char::is_whitespace).next().is_some_and(|word| word.starts_with("--"));
        at = end;
        if end > named || value_at == 0 {
            // The rest of the name, then what separates it from its value.
            let not = |from: usize, is: &dyn Fn(char) -> bool| {
                line[from..].find(|character| !is(character)).map_or(line.len(), |at| from + at)
            };
            named = not(end, &is_name);
            value_at = not(named, &is_gap);
        }
        let between = &line[named..value_at];
        let value = &line[value_at..];
        let is_value = between.contains(['=', ':']) || is_option && !between.is_empty();
        if !is_value || value.starts_with(MARK) {
            continue;
        }
        let is_whole = lower[..end].ends_with("authorization") || lower[..end].ends_with("cookie");
        let length = if is_whole {
            value.find(['"', '\''])
        } else {
            value.find(|character: char| character.is_whitespace() || "\"',;".contains(character))
        };
        let length = length.unwrap_or(value.len());
        if length >= SHORTEST {
            clean.push_str(&line[written..value_at]);
            clean.push_str(MARK);
            at = value_at + length;
            written = at;
        }
    }
    clean.push_str(&line[written..]);
    clean
}

/// Tells whether the value of a variable of this name is a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    NAMES.iter().any(|part| lower.contains(part)) || lower.ends_with("_key") || lower.ends_with("_pass")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(text: &str, clean: &str) {
        assert_eq!(scrub(text, &str::to_owned).0, clean);
    }

    #[test]
    fn what_looks_like_a_secret_is_taken_out_and_the_rest_is_kept() {
        is("DB_PASSWORD=hunter22 make", "DB_PASSWORD=[redacted] make");
        is("{\"api_key\": \"abcdef123\", \"n\": 1}", "{\"api_key\": \"[redacted]\", \"n\": 1}");
        is("Authorization: Bearer abc def", "Authorization: [redacted]");
        is("curl -H 'Authorization: Basic dXNlcjpw' http://x", "curl -H 'Authorization: [redacted]' http://x");
        is("mysql --password hunter22 -u me", "mysql --password [redacted] -u me");
        is("git clone https://me:hunter22@host/x.git", "git clone https://me:[redacted]@host/x.git");
        is("a=https://u:p1@h b=ssh://u:p2@h", "a=https://u:[redacted]@h b=ssh://u:[redacted]@h");
        is("jwt eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ end", "jwt [redacted] end");
        is("token=abcdef1 and secret: abcdef2", "token=[redacted] and secret: [redacted]");
        is(
            "x\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\nbnNz\n-----END OPENSSH PRIVATE KEY-----\ny",
            "x\n[redacted]\ny",
        );
        is("set-cookie: session=1; path=/", "set-cookie: [redacted]");
    }

    #[test]
    fn ordinary_output_stays_as_it_is() {
        for text in [
            "",
            "src/token.rs:3:5: error: unexpected token `}`",
            "error: expected one of `.` or an operator, found token",
            "password for root:",
            "tokens: 120",
            "http://localhost:8080/a:b@c",
            "eyJust a word",
            "the secret is out",
            "make: *** [Makefile:2: secret.o] Error 1",
            "中文 password 中文",
        ] {
            is(text, text);
        }
    }

    #[test]
    fn known_values_count_too() {
        let known = |text: &str| text.replace("odd-value", MARK);
        assert_eq!(scrub("a odd-value\ntoken=abcdef", &known), ("a [redacted]\ntoken=[redacted]".into(), 2));
        assert!(
            ["GITHUB_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "SIGNING_KEY"]
                .iter()
                .all(|it| is_secret_name(it))
        );
        assert!(!["PATH", "HOME", "KEYBOARD"].iter().any(|it| is_secret_name(it)));
    }

    /// Without an end for whoever looked at the rest of the line once more for each of them.
    #[test]
    fn a_long_line_of_nothing_but_names_is_looked_at_once() {
        for part in
            ["token ", "token", "token=", "token:[redacted]", "--token ", "://a:b@token", "eyJ.", "cookie: a\""]
        {
            let text = part.repeat((1 << 20) / part.len()) + " password=hunter22 end";
            let (clean, _) = scrub(&text, &str::to_owned);
            assert!(!clean.contains("hunter22") && clean.ends_with(" end"), "{part}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([a-zé:=@/ '\"\\n.]|token|password|://|eyJ|-----BEGIN PRIVATE KEY|-----END)*") {
            scrub(&text, &str::to_owned);
        }
    }
}
