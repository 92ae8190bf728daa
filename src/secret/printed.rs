//! Commands whose output is a secret, with no name beside it: `op read …`, `gh auth token`, `openssl rand …`.

use std::ops::Range;

use super::prose::is_chosen;
use super::random::{is_hexadecimal, is_likely};

/// Programs and the words behind them, in order, with which they print a secret. From their manuals.
const PRINTING: &[&str] = &[
    "op read",
    "op item get",
    "pass show",
    "pass otp",
    "pass generate",
    "gopass show",
    "gopass cat",
    "passage show",
    "bw get",
    "bw generate",
    "rbw get",
    "lpass show",
    "keepassxc-cli show",
    "keepassxc-cli clip",
    "secret-tool lookup",
    "security find-generic-password",
    "security find-internet-password",
    "gh auth token",
    "gcloud print-access-token",
    "gcloud print-identity-token",
    "gcloud secrets versions access",
    "aws get-login-password",
    "aws get-secret-value",
    "aws get-parameter",
    "aws get-parameters",
    "aws get-session-token",
    "aws assume-role",
    "aws create-access-key",
    "aws export-credentials",
    "az get-access-token",
    "az keyvault secret show",
    "az keys list",
    "doctl registry docker-config",
    "heroku auth:token",
    "fly auth token",
    "flyctl auth token",
    "fly tokens create",
    "oc whoami -t",
    "kubectl create token",
    "kubectl get secret",
    "kubectl get secrets",
    "oc get secret",
    "kubeadm token create",
    "argocd initial-password",
    "vault read",
    "vault kv get",
    "vault print token",
    "vault token create",
    "consul acl bootstrap",
    "nomad acl bootstrap",
    "terraform output",
    "tofu output",
    "pulumi config get",
    "pulumi stack output",
    "chamber read",
    "doppler secrets",
    "infisical secrets",
    "sops -d",
    "sops --decrypt",
    "sops decrypt",
    "ansible-vault view",
    "ansible-vault decrypt",
    "git credential fill",
    "npm token create",
    "gpg --export-secret-keys",
    "gpg --export-secret-subkeys",
    "gpg2 --export-secret-keys",
    "wg genkey",
    "wg genpsk",
    "wg show",
    "openssl rand",
    "pwgen",
    "apg",
    "xkcdpass",
    "diceware",
    "age-keygen",
    "mkpasswd",
    "nmcli show-password",
    "nmcli -s",
    "dotenvx get",
    "gpg -d",
    "gpg --decrypt",
    "age -d",
    "age --decrypt",
    "oathtool",
    "totp",
];
/// The shortest word that is taken for one, in bytes.
const SHORTEST: usize = 8;

/// Tells whether a line of the shell has a command that prints a secret.
fn line_prints(line: &str) -> bool {
    let apart = |letter: char| letter.is_whitespace() || "|&;()`\"'".contains(letter);
    let words: Vec<&str> = line.split(apart).filter(|word| !word.is_empty()).collect();
    prints_secret(&words)
}

/// Tells the same of the words of a command.
#[must_use]
pub fn prints_secret(words: &[&str]) -> bool {
    let is_printing = |at: usize| {
        let program = words[at].rsplit('/').next().unwrap_or_default();
        PRINTING.iter().any(|row| {
            let mut row = row.split(' ');
            let mut rest = words[at + 1..].iter().take(24);
            row.next() == Some(program) && row.all(|wanted| rest.any(|word| *word == wanted))
        })
    };
    (0..words.len()).any(is_printing)
}

/// Finds what such a command has printed: words that look like a secret, and a word that is a line of its own.
#[must_use]
pub fn find(output: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in output.split_inclusive('\n') {
        in_line(line, start, &mut found);
        start += line.len();
    }
    found
}

fn in_line(line: &str, start: usize, found: &mut Vec<Range<usize>>) {
    let alone = line.split_whitespace().count() == 1;
    for word in line.split([' ', '\t', '\n', '\r', '"', '\'', ',', '|', '│']).filter(|word| word.len() >= SHORTEST)
    {
        let at = start + (word.as_ptr() as usize - line.as_ptr() as usize);
        let is_path = word.starts_with(['/', '~', '-']) || word.contains("://") || word.contains("arn:");
        let bytes = word.as_bytes();
        let encoded =
            bytes.len() >= 20 && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-.".contains(byte));
        let mixed =
            word.bytes().any(|byte| byte.is_ascii_digit()) && word.bytes().any(|byte| byte.is_ascii_alphabetic());
        let looks = is_chosen(word) || is_likely(word) || is_hexadecimal(bytes) || encoded && mixed;
        if !is_path && (looks || alone && mixed && !word.contains(':')) {
            found.push(at..at + word.len());
        }
    }
}

/// A terminal's text in which such commands stand behind a prompt.
#[derive(Default)]
pub(super) struct Transcript {
    /// Whether the lines are what such a command printed.
    printing: bool,
}

impl Transcript {
    /// Finds the secrets of the next line; `typed` is what stands behind a prompt.
    pub(super) fn find(&mut self, line: &str, typed: Option<&str>, found: &mut Vec<Range<usize>>) {
        if let Some(typed) = typed {
            self.printing = line_prints(typed);
        } else if self.printing {
            in_line(line, 0, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_prints_a_secret_is_known_and_so_is_what_it_prints() {
        for line in [
            "op read op://vault/db/password",
            "export T=$(gh auth token)",
            "kubectl get secret db -o jsonpath='{.data.p}' | base64 -d",
            "/usr/bin/openssl rand -hex 32",
            "aws --profile x ecr get-login-password | docker login",
            "pwgen -s 20 1",
        ] {
            assert!(line_prints(line), "{line}");
        }
        for line in
            ["pass", "git log", "openssl x509 -in a", "kubectl get pods", "terraform plan", "gh auth status", ""]
        {
            assert!(!line_prints(line), "{line}");
        }
        let found = |text: &'static str| find(text).into_iter().map(|range| &text[range]).collect::<Vec<_>>();
        assert_eq!(found("hunter22\n"), ["hunter22"]);
        assert_eq!(found("pg       Canary9tZ4\nname     postgres\n"), ["Canary9tZ4"]);
        assert_eq!(found("AWS  mJ8+Qz3/kT5vWx9RbN2cYp7LdG4hFs6A\n"), ["mJ8+Qz3/kT5vWx9RbN2cYp7LdG4hFs6A"]);
        assert_eq!(found("Error: no such item\nwrote /tmp/x1y2z3\n"), [""; 0]);
    }
}
