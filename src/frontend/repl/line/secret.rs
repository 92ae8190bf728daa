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
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "token",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "_pass",
    "_pwd",
];

/// Programs that take a password as an argument: the option, and whether the password may be the next word. From
/// their manuals.
const ARGUMENTS: &[(&[&str], &str, bool)] = &[
    (&["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin"], "-p", false),
    (&["sshpass"], "-p", true),
    (&["curl"], "-u", true),
    (&["curl"], "--user", true),
    (&["redis-cli"], "-a", true),
    (&["docker", "podman", "helm"], "-p", true),
    (&["7z", "7za"], "-p", false),
    (&["unzip", "zip"], "-P", true),
];

/// The shortest value that is looked for: shorter ones are in ordinary lines too.
const SHORTEST: usize = 8;

/// Values that are secrets for certain: the keys in the environment.
#[derive(Clone, Default)]
pub(crate) struct KnownSecrets(Vec<String>);

impl KnownSecrets {
    pub(crate) fn new(values: impl IntoIterator<Item = String>) -> Self {
        Self(values.into_iter().filter(|value| value.len() >= SHORTEST).collect())
    }

    /// Tells whether one of them is in the line.
    pub(crate) fn is_in(&self, line: &str) -> bool {
        self.0.iter().any(|secret| line.contains(secret))
    }
}

impl std::fmt::Debug for KnownSecrets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "KnownSecrets({})", self.0.len())
    }
}

/// Tells whether a line looks as if it held a password, key or token.
pub(crate) fn looks_secret(line: &str) -> bool {
    has_token(line)
        || has_private_key(line)
        || has_assignment(line)
        || has_bearer(line)
        || has_url_password(line)
        || has_argument(line)
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
            let rest = rest.strip_prefix("is").unwrap_or(rest).trim_start();
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

/// Tells whether a program is given a password as an argument. `-p 8080:80` of docker, which is a port, and `-u name`
/// of curl, which asks for the password, hold none.
fn has_argument(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let program = word.rsplit('/').next().unwrap_or(word);
        ARGUMENTS.iter().filter(|(programs, _, _)| programs.contains(&program)).any(|(_, option, apart)| {
            let rest = &words[at + 1..];
            // Another command begins there.
            let end = rest.iter().position(|word| matches!(*word, "|" | "||" | "&&" | ";")).unwrap_or(rest.len());
            rest[..end].iter().enumerate().any(|(index, word)| {
                let value = match word.strip_prefix(option) {
                    Some("") if *apart => rest[..end].get(index + 1).copied().unwrap_or(""),
                    Some(value) if !option.starts_with("--") => value,
                    _ => "",
                };
                let value = value.trim_start_matches(['=', '"', '\'']);
                let is_pair = matches!(*option, "-u" | "--user");
                let secret =
                    if is_pair { value.split_once(':').map_or("", |(_, password)| password) } else { value };
                let is_login = !matches!(program, "docker" | "podman" | "helm") || rest[..end].contains(&"login");
                is_login && secret.chars().count() >= 3 && !secret.starts_with('$')
            })
        })
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
            "mysql -u root -pS3cretPass99 shop",
            "sshpass -p hunter2 ssh x",
            "/usr/bin/sshpass -phunter2 ssh x",
            "the password is: correct-horse-99",
            "DB_PASS=abc ./run",
            "export MYSQL_PWD=hunter2",
            "curl -u me:hunter2 https://example.com",
            "curl --user me:hunter2 https://example.com",
            "redis-cli -h cache -a hunter2 ping",
            "docker login -u me -p hunter2",
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
            "mysql -u root -p shop",
            "mysql -P 3307 -u root",
            "docker run -p 8080:80 nginx",
            "curl -u me https://example.com",
            "curl -u \"$USER:$PASS\" https://example.com",
            "cd $PWD && OLDPWD=/tmp env",
            "mkdir -p src/deep && mysql --version",
            "the password is wrong, why?",
            "bypass=true make",
        ] {
            assert!(!looks_secret(line), "{line}");
        }
    }
}
