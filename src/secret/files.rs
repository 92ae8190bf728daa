//! Which files are secret: by what they are called and where they lie.

use std::path::{Path, PathBuf};

use crate::platform::RealPath as _;

use super::derived::Derived;
use super::places::{
    BEGINNINGS, COPIES, DIRECTORIES, ENDINGS, HISTORY_ENDS, OWN_TREES, PACKED, PATHS, PUBLIC_NAMES, PUBLIC_TREES,
    RAW, SAMPLES,
};
pub use super::places::{IN_HOME, IN_SYSTEM, NAMES};

/// Which files are secret to one person: those of the table, and axi's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecretFiles {
    /// The person's home.
    pub home: Option<PathBuf>,
    /// axi's own directories: settings, history, sessions.
    pub own: Vec<PathBuf>,
    /// What lies in them and may be read all the same.
    pub readable: Vec<PathBuf>,
    /// What was made of secret files since axi started.
    pub derived: Derived,
}

impl SecretFiles {
    /// Tells whether a file is not read unasked; a path without links, absolute.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        self.holds_own(path) || is_secret(path, self.home.as_deref()) || self.derived.holds(path)
    }

    /// Tells whether a file is axi's own and not to be read.
    #[must_use]
    pub fn holds_own(&self, path: &Path) -> bool {
        let below = |places: &[PathBuf]| places.iter().any(|place| path.starts_with(place));
        below(&self.own) && !below(&self.readable)
    }

    /// The same by the real paths of home and of axi's directories.
    #[must_use]
    pub fn real(mut self) -> Self {
        let places = self.home.iter_mut().chain(&mut self.own).chain(&mut self.readable);
        for place in places {
            if let Ok(real) = place.real_path() {
                *place = real;
            }
        }
        self
    }
}

/// Tells whether reading the file is reading a secret. `path` is absolute and may end in a glob. By name alone.
#[must_use]
pub fn is_secret(path: &Path, home: Option<&Path>) -> bool {
    let path = path.to_string_lossy();
    let any_below = |places: &[&str]| places.iter().any(|place| below(&path, place).is_some());
    if any_below(IN_SYSTEM) {
        return true;
    }
    // A copy of a secret, or a packed one, is one.
    let path = original(&path);
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let is_public = below(path, "/usr").is_some() && !any_below(OWN_TREES) || any_below(PUBLIC_TREES);
    if is_public || SAMPLES.iter().any(|end| name.ends_with(end)) || PUBLIC_NAMES.contains(&name.as_str()) {
        return false;
    }
    NAMES.contains(&name.as_str())
        || BEGINNINGS.iter().any(|start| name.starts_with(start))
        || ENDINGS.iter().any(|end| name.ends_with(end))
        || PATHS.iter().any(|end| path.strip_suffix(end).is_some_and(|before| before.ends_with('/')))
        || RAW.iter().any(|start| path.starts_with(start))
        || below_home(path, home).is_some_and(|rest| IN_HOME.iter().any(|place| below(rest, place).is_some()))
        || path.split('/').any(|part| DIRECTORIES.contains(&part))
        || is_history(path, &name, home)
}

/// Tells whether a file keeps what was typed or visited: a hidden one that says so, or one that is called so below a
/// hidden directory of a home and does not end as source code does.
fn is_history(path: &str, name: &str, home: Option<&Path>) -> bool {
    if !name.contains("history") {
        return false;
    }
    let (stem, end) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).unwrap_or((name, ""));
    let before = stem.strip_suffix("history");
    let is_called = before.is_some_and(|before| before.is_empty() || before.ends_with(['_', '-', '.']));
    let is_data = HISTORY_ENDS.contains(&end);
    let is_hidden = |rest: &str| rest.split('/').rev().skip(1).any(|part| part.starts_with('.'));
    name.starts_with('.') || is_called && is_data && below_home(path, home).is_some_and(is_hidden)
}

/// Tells whether one of the names of secret files fits a pattern.
pub fn names_matching(fits: impl Fn(&str) -> bool) -> bool {
    NAMES.iter().any(|name| fits(name))
        || BEGINNINGS.iter().any(|start| fits(start) || fits(&format!("{start}a")))
        || ENDINGS.iter().any(|end| fits(&format!("a{end}")))
        || DIRECTORIES.iter().any(|name| fits(name))
}

/// The path of the file that this one is a copy of, or its own.
fn original(path: &str) -> &str {
    let without = |path: &str, end: &str| {
        let at = path.len().checked_sub(end.len())?;
        path.get(at..)?.eq_ignore_ascii_case(end).then_some(at)
    };
    let mut original = path;
    while let Some(at) = COPIES.iter().chain(PACKED).find_map(|end| without(original, end)) {
        original = &original[..at];
    }
    original
}

/// The files of the table as gitattributes(5), which has git take them for binary: it tells of a commit's secret
/// files that they changed, and not how. As far as names say it: git knows a path from its repository's root on.
#[must_use]
pub fn git_attributes() -> String {
    let places = IN_HOME.iter().map(|place| format!("/{place}\n/{place}/**"));
    let names = NAMES.iter().map(|name| either_case(name));
    let beginnings = BEGINNINGS.iter().map(|start| format!("{}*", either_case(start)));
    let endings = ENDINGS.iter().map(|end| format!("*{}", either_case(end)));
    let paths = PATHS.iter().map(|end| format!("**/{end}"));
    let directories = DIRECTORIES.iter().map(|name| format!("**/{name}/**"));
    let samples = SAMPLES.iter().map(|end| format!("*{}", either_case(end)));
    let public = PUBLIC_NAMES.iter().map(|name| either_case(name)).chain(samples);
    // `COPIES` but for `~`; a packed file is binary to git anyway.
    let by_name = names.chain(endings).flat_map(|name| [format!("{name}.[bost][alrm]*"), name]);
    let secret = places.chain(by_name).chain(beginnings).chain(paths).chain(directories);
    let secret =
        secret.flat_map(|patterns| patterns.lines().map(|one| (one.to_owned(), "-diff")).collect::<Vec<_>>());
    secret.chain(public.map(|pattern| (pattern, "!diff"))).fold(String::new(), |text, (pattern, attribute)| {
        // A pattern with a blank in it stands in quotes.
        let quote = if pattern.contains(' ') { "\"" } else { "" };
        text + quote + &pattern + quote + " " + attribute + "\n"
    })
}

/// A pattern that a name fits in capitals, too.
fn either_case(name: &str) -> String {
    name.chars().fold(String::new(), |pattern, letter| {
        let upper = letter.to_ascii_uppercase();
        if letter.is_ascii_lowercase() {
            format!("{pattern}[{letter}{upper}]")
        } else {
            format!("{pattern}{letter}")
        }
    })
}

/// What is left of a path below a place, or at it.
fn below<'a>(path: &'a str, place: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(place)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// What is left of a path below this person's home, or anybody's.
fn below_home<'a>(path: &'a str, home: Option<&Path>) -> Option<&'a str> {
    let own = home.and_then(Path::to_str).and_then(|home| below(path, home.trim_end_matches('/')));
    own.or_else(|| below(path, "/root")).or_else(|| {
        let rest = below(path, "/home").or_else(|| below(path, "/Users"))?;
        rest.split_once('/').map(|(_, rest)| rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_name_and_place_and_samples_are_not_secret() {
        let home = Some(Path::new("/data/me"));
        for path in [
            "/w/.env",
            "/w/a/b/.env.local",
            "/w/prod.env",
            "/w/server.pem",
            "/w/tls.KEY",
            "/w/id_ed25519",
            "/w/config/secrets.yml",
            "/w/credentials.json",
            "/data/me/.ssh/config",
            "/data/me/.config/gh/hosts.yml",
            "/data/me/.cache/huggingface/token",
            "/home/you/.kaggle/kaggle.json",
            "/root/.docker/x",
            "/etc/shadow",
            "/w/deploy/.aws/credentials",
            "/w/.git-credentials",
            "/w/id_rsa_work",
            "/w/client_secret_1.json",
            "/proc/self/environ",
            "/w/.npmrc",
            "/dev/sda1",
            "/usr/local/app/.env",
            "/data/me/.config/stripe/config.toml",
            "/data/me/.m2/settings.xml",
            "/data/me/.config/fish/fish_variables",
            "/data/me/.local/share/atuin/key",
            "/data/me/.Xauthority",
            "/w/AuthKey_AB12.p8",
            "/w/prod.tfvars",
            "/w/keys/deploy_rsa",
            "/w/.dev.vars",
            "/w/gcp-credentials.json",
            "/w/.msmtprc",
            "/w/prod.env.gz",
            "/w/server.pem.BAK",
            "/w/secrets.yml~",
            "/w/.netrc.old.zst",
            "/data/me/.claude.json.backup",
            "/w/.env-prod",
            "/w/.env_local",
            "/w/.envrc.local",
            "/data/me/.ksh_history",
            "/data/me/.zhistory",
            "/data/me/.bash_history-12345.tmp",
            "/data/me/.mycli-history",
            "/data/me/.Rhistory",
            "/data/me/.config/nushell/history.sqlite3",
            "/data/me/.local/share/powershell/PSReadLine/ConsoleHost_history.txt",
            "/data/me/.julia/logs/repl_history.jl",
            "/data/me/.claude/history.jsonl",
            "/data/me/.config/google-chrome-beta/Default/History",
            "/data/me/.config/google-chrome-beta/Default/Login Data For Account",
            "/data/me/.config/google-chrome-beta/Default/Web Data",
            "/data/me/.config/google-chrome-beta/Default/Cookies-journal",
            "/data/me/.zen/x/cookies.sqlite",
            "/data/me/.waterfox/x/logins-backup.json",
            "/data/me/.waterfox/x/key3.db",
            "/data/me/.vnc/passwd",
            "/data/me/.config/Code/User/globalStorage/state.vscdb",
        ] {
            assert!(is_secret(Path::new(path), home), "{path}");
        }
        for path in [
            "/w/.env.example",
            "/w/id_rsa.pub",
            "/usr/share/keyrings/debian.gpg",
            "/etc/ssl/certs/x.pem",
            "/w/env",
            "/w/.environment",
            "/w/keyboard.rs",
            "/w/venv/certifi/cacert.pem",
            "/data/me/.cache/x",
            "/w/token.rs",
            "/w/.yarnrc.yml",
            "/w/order_history",
            "/w/history.json",
            "/w/src/history.rs",
            "/w/.env-example",
            "/data/me/.cargo/registry/src/reedline/history.rs",
            "/data/me/.cache/pip/selfcheck.json",
            "/w/rsa.rs",
            "/w/settings.xml",
            "/data/me/.config/fish/config.fish",
            "/w/notes.txt.bak",
            "/w/.env.example.gz",
            "/w/~",
            "/data/me",
            "/w",
        ] {
            assert!(!is_secret(Path::new(path), home), "{path}");
        }
    }

    #[test]
    fn what_is_axis_own_is_secret_but_for_what_it_shows() {
        let files = SecretFiles {
            home: None,
            own: vec!["/s/axi".into(), "/c/axi".into()],
            readable: vec!["/c/axi/outputs".into()],
            derived: Derived::default(),
        };
        assert!(files.holds(Path::new("/s/axi/sessions/a.jsonl")));
        assert!(!files.holds(Path::new("/c/axi/outputs/1.txt")) && !files.holds(Path::new("/c/other")));
    }
}
