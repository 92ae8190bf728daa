//! Which files are secret: by what they are called and where they lie.

use std::path::{Path, PathBuf};

/// Files and directories below a home that hold credentials, keys, cookies or what was typed.
pub const IN_HOME: &[&str] = &[
    ".ssh",
    ".aws",
    ".gnupg",
    ".azure",
    ".kube",
    ".docker",
    ".oci",
    ".password-store",
    ".pki",
    ".mozilla",
    ".thunderbird",
    ".electrum",
    ".bitcoin",
    ".ethereum",
    ".terraform.d",
    ".huggingface",
    ".kaggle",
    ".netlify",
    ".vercel",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".fly",
    ".gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".codex/auth.json",
    ".claude/.credentials.json",
    ".claude.json",
    ".gemini/oauth_creds.json",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/BraveSoftware",
    ".config/age",
    ".config/chromium",
    ".config/configstore",
    ".config/containers",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/github-copilot",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/heroku",
    ".config/hub",
    ".config/microsoft-edge",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".config/vivaldi",
    ".local/share/fish/fish_history",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/zsh/history",
    ".var/app",
    "snap/chromium",
    "snap/firefox",
    "Library/Application Support/1Password",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Firefox",
    "Library/Application Support/Google",
    "Library/Application Support/Microsoft Edge",
    "Library/Application Support/com.apple.TCC",
    "Library/Cookies",
    "Library/Keychains",
    "Library/Mail",
    "Library/Messages",
    "Library/Safari",
];

/// Beside homes: where running services keep secrets and sockets, and what only root could read anyway.
pub const IN_SYSTEM: &[&str] = &[
    "/run/user",
    "/run/secrets",
    "/run/credentials",
    "/run/keys",
    "/var/lib/private",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/NetworkManager/system-connections",
    "/etc/wireguard",
    "/etc/letsencrypt",
    "/etc/krb5.keytab",
];

/// Names of files that are secret wherever they lie, in lower case.
pub const NAMES: &[&str] = &[
    ".vault-token",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".s3cfg",
    ".boto",
    ".dockercfg",
    ".htpasswd",
    ".env",
    ".envrc",
    ".bash_history",
    ".zsh_history",
    ".psql_history",
    ".mysql_history",
    ".python_history",
    ".node_repl_history",
    "pgpass.conf",
    ".pg_service.conf",
    ".terraformrc",
    ".vault_pass",
    ".vault_pass.txt",
    "rclone.conf",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "credentials.csv",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "secret.yml",
    "secret.yaml",
    "secret.json",
    "kaggle.json",
    "token.json",
    "auth.json",
    "kubeconfig",
    "terraform.tfvars",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "authorized_keys",
    "fish_history",
    "logins.json",
    "key4.db",
    "cookies",
    "login data",
    "wallet.dat",
    "environ",
    "shadow",
    "gshadow",
    "sudoers",
];

/// How the names of such files begin, in lower case.
const BEGINNINGS: &[&str] =
    &[".env.", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "client_secret", "service-account", "service_account"];

/// How the names of such files end, in lower case.
const ENDINGS: &[&str] = &[
    ".env",
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".keychain",
    ".keychain-db",
    ".ppk",
    ".gpg",
    ".asc",
    ".keytab",
    ".ovpn",
    ".auto.tfvars",
];

/// Ends of paths of such files.
const PATHS: &[&str] = &[".docker/config.json", "gh/hosts.yml", "glab-cli/config.yml", ".kube/config"];

/// Directories in which every file is one, wherever they lie.
const DIRECTORIES: &[&str] = &[".ssh", ".gnupg", ".aws", ".azure", "keyrings", ".password-store"];

/// Names like `.env.example`, which are made to be read.
const SAMPLES: &[&str] = &[".example", ".sample", ".template", ".dist", ".pub"];

/// The same, whole: samples, and the certificates everybody has.
const PUBLIC_NAMES: &[&str] = &["example.env", "sample.env", "template.env", "cacert.pem", "ca-bundle.pem"];

/// What the system ships is read by everybody, whatever it is called.
const PUBLIC_TREES: &[&str] =
    &["/bin", "/lib", "/lib32", "/lib64", "/sbin", "/sys", "/nix/store", "/etc/ssl/certs", "/etc/pki", "/snap"];

/// The parts of `/usr` that are people's own.
const OWN_TREES: &[&str] = &["/usr/local", "/usr/src", "/usr/home"];

/// Whole disks and the memory.
const RAW: &[&str] = &[
    "/dev/sd",
    "/dev/nvme",
    "/dev/vd",
    "/dev/hd",
    "/dev/disk",
    "/dev/mem",
    "/dev/kmem",
    "/dev/dm-",
    "/dev/mapper",
    "/proc/kcore",
];

/// Which files are secret to one person: those of the table, and axi's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecretFiles {
    /// The person's home.
    pub home: Option<PathBuf>,
    /// axi's own directories: settings, history, sessions.
    pub own: Vec<PathBuf>,
    /// What lies in them and may be read all the same.
    pub readable: Vec<PathBuf>,
}

impl SecretFiles {
    /// Tells whether a file is not read unasked; a path without links, absolute.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        let below = |places: &[PathBuf]| places.iter().any(|place| path.starts_with(place));
        below(&self.own) && !below(&self.readable) || is_secret(path, self.home.as_deref())
    }

    /// The same by the real paths of home and of axi's directories.
    #[must_use]
    pub fn real(mut self) -> Self {
        let places = self.home.iter_mut().chain(&mut self.own).chain(&mut self.readable);
        for place in places {
            if let Ok(real) = place.canonicalize() {
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
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let is_public = below(&path, "/usr").is_some() && !any_below(OWN_TREES) || any_below(PUBLIC_TREES);
    if is_public || SAMPLES.iter().any(|end| name.ends_with(end)) || PUBLIC_NAMES.contains(&name.as_str()) {
        return false;
    }
    NAMES.contains(&name.as_str())
        || BEGINNINGS.iter().any(|start| name.starts_with(start))
        || ENDINGS.iter().any(|end| name.ends_with(end))
        || PATHS.iter().any(|end| path.strip_suffix(end).is_some_and(|before| before.ends_with('/')))
        || RAW.iter().any(|start| path.starts_with(start))
        || below_home(&path, home).is_some_and(|rest| IN_HOME.iter().any(|place| below(rest, place).is_some()))
        || path.split('/').any(|part| DIRECTORIES.contains(&part))
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
        };
        assert!(files.holds(Path::new("/s/axi/sessions/a.jsonl")));
        assert!(!files.holds(Path::new("/c/axi/outputs/1.txt")) && !files.holds(Path::new("/c/other")));
    }
}
