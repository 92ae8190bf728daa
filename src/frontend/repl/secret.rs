//! Tells lines that look as if they held a secret: they are neither stored nor sent to a suggesting model.
//!
//! It errs on the side of secrecy: a false alarm costs one line of history.

/// Prefixes of tokens, with the least number of token characters that follow them. From the providers' own
/// descriptions and GitHub's list of secret scanning patterns.
const TOKENS: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("hf_", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("gsk_", 20),
    ("eyJ", 40),
];

/// Names after which a value is a secret, in lower case.
const NAMES: &[&str] =
    &["password", "passwd", "passphrase", "token", "secret", "api_key", "apikey", "api-key", "access_key"];

/// The shortest value that is looked for: shorter ones are in ordinary lines too.
const SHORTEST: usize = 8;

/// Values that are secrets for certain: the keys in the environment.
#[derive(Clone, Default)]
pub(super) struct KnownSecrets(Vec<String>);

impl KnownSecrets {
    pub(super) fn new(values: impl IntoIterator<Item = String>) -> Self {
        Self(values.into_iter().filter(|value| value.len() >= SHORTEST).collect())
    }

    /// Tells whether one of them is in the line.
    pub(super) fn is_in(&self, line: &str) -> bool {
        self.0.iter().any(|secret| line.contains(secret))
    }
}

impl std::fmt::Debug for KnownSecrets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "KnownSecrets({})", self.0.len())
    }
}

/// Tells whether a line looks as if it held a password, key or token.
pub(super) fn looks_secret(line: &str) -> bool {
    has_token(line) || has_private_key(line) || has_assignment(line) || has_bearer(line) || has_url_password(line)
}

fn is_token(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.')
}

fn has_token(line: &str) -> bool {
    TOKENS.iter().any(|&(prefix, least)| {
        line.match_indices(prefix).any(|(start, _)| {
            let alone = !line[..start].ends_with(|character: char| character.is_ascii_alphanumeric());
            alone
                && line[start + prefix.len()..].chars().take_while(|&character| is_token(character)).count()
                    >= least
        })
    })
}

fn has_private_key(line: &str) -> bool {
    line.contains("-----BEGIN") && line.contains("PRIVATE KEY")
}

fn has_assignment(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    NAMES.iter().any(|name| {
        lower.match_indices(name).any(|(start, _)| {
            let rest = &line[start + name.len()..];
            let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest).trim_start();
            let Some(value) = rest.strip_prefix('=').or_else(|| rest.strip_prefix(':')) else { return false };
            let quoted = value.trim_start().trim_start_matches(['"', '\'']);
            // A variable, a placeholder or a question is no secret.
            let plain = !quoted.starts_with(['$', '<', '{', '(', '*']);
            let length = quoted.chars().take_while(|character| !character.is_whitespace()).count();
            let least = if rest.starts_with('=') { 3 } else { 8 };
            plain && length >= least
        })
    })
}

fn has_bearer(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    ["bearer ", "basic "].iter().any(|word| {
        lower.match_indices(word).any(|(start, _)| {
            let value = line[start + word.len()..].trim_start();
            value
                .chars()
                .take_while(|&character| is_token(character) || matches!(character, '+' | '/' | '='))
                .count()
                >= 16
        })
    })
}

fn has_url_password(line: &str) -> bool {
    line.match_indices("://").any(|(start, mark)| {
        let rest = &line[start + mark.len()..];
        let authority = rest.split(|character: char| character == '/' || character.is_whitespace()).next();
        let Some((user_info, _)) = authority.and_then(|authority| authority.rsplit_once('@')) else { return false };
        user_info.split_once(':').is_some_and(|(_, password)| !password.is_empty() && !password.starts_with('$'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_seen() {
        for line in [
            "use sk-proj-abcdefghijklmnop1234 please",
            "export OPENAI_API_KEY=sk-abcdefghijklmnopqrstuvwx",
            "ghp_0123456789abcdefghij0123456789abcdef",
            "key AKIAIOSFODNN7EXAMPLE here",
            "password=hunter2",
            "mysql --password=hunter2 -u root",
            "PASSWORD = \"hunter2\"",
            "{\"password\": \"correct-horse\"}",
            "curl -H 'Authorization: Bearer abcdefghijklmnop0123'",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
            "git clone https://me:s3cret@example.com/x.git",
            "token=abc",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
        ] {
            assert!(looks_secret(line), "{line}");
        }
    }

    #[test]
    fn ordinary_lines_are_not_secret() {
        for line in [
            "",
            "why does my password reset not work?",
            "password: how do I reset it",
            "what is a bearer token",
            "rename task-list to risk-register in the docs",
            "psql \"$DATABASE_URL\" --password=$PGPASSWORD",
            "set token=<your token>",
            "see https://example.com/a@b:c",
            "git clone git@github.com:me/x.git",
            "设置密码的页面在哪里",
            "AKIA",
        ] {
            assert!(!looks_secret(line), "{line}");
        }
    }
}
