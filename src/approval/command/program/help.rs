//! Asking a known program for its help or its version.

use super::call::Call;
use super::table::{PROGRAMS, READERS};

/// Programs whose sub-commands answer `--help` themselves and run nothing, and the words after which a second one may
/// stand. Not among them: programs that hand the flag on to what they run (npx, sudo, make, an interpreter).
const FAMILIES: &[(&[&str], &[&str])] = &[
    (
        &["docker", "podman", "nerdctl"],
        &[
            "builder",
            "buildx",
            "compose",
            "container",
            "context",
            "image",
            "manifest",
            "network",
            "plugin",
            "system",
            "volume",
        ],
    ),
    (&["kubectl", "oc"], &["auth", "certificate", "config", "create", "rollout", "set", "top"]),
    (
        &["gh", "glab"],
        &[
            "auth", "cache", "config", "gist", "issue", "label", "mr", "pr", "project", "release", "repo", "run",
            "search", "secret", "variable", "workflow",
        ],
    ),
    (&["rustup"], &["component", "override", "self", "set", "target", "toolchain"]),
    (&["uv"], &["cache", "pip", "python", "self", "tool"]),
    (&["go"], &["mod", "work"]),
    (&["helm"], &["get", "plugin", "repo", "show"]),
    (&["terraform"], &["providers", "state", "workspace"]),
    (&["poetry"], &["cache", "config", "env", "self", "source"]),
    (&["conda"], &["env"]),
    (
        &[
            "npm",
            "pip",
            "pip3",
            "brew",
            "apt",
            "apt-get",
            "apt-cache",
            "systemctl",
            "docker-compose",
            "snap",
            "flatpak",
            "dnf",
            "ollama",
        ],
        &[],
    ),
];

/// What cargo does itself: any other word may be a name of the project's own for something else.
const CARGO: &[&str] = &[
    "add",
    "bench",
    "build",
    "check",
    "clean",
    "clippy",
    "doc",
    "fetch",
    "fix",
    "fmt",
    "info",
    "init",
    "install",
    "locate-project",
    "login",
    "metadata",
    "miri",
    "new",
    "nextest",
    "owner",
    "package",
    "pkgid",
    "publish",
    "remove",
    "run",
    "rustc",
    "rustdoc",
    "search",
    "test",
    "tree",
    "uninstall",
    "update",
    "vendor",
    "version",
    "yank",
];

/// Programs that tell their version by `-v`, and read nothing of the project first (as Maven and Gradle do).
const SMALL_V: &[&str] = &[
    "bun",
    "cc",
    "clang",
    "clang++",
    "composer",
    "docker",
    "docker-compose",
    "eslint",
    "g++",
    "gcc",
    "jest",
    "lua",
    "make",
    "nginx",
    "node",
    "npm",
    "nvim",
    "perl",
    "php",
    "pnpm",
    "redis-cli",
    "ruby",
    "terraform",
    "tsc",
    "yarn",
];

/// Tells whether a call asks a known program for its help or version, and nothing else.
pub(super) fn is_asked(call: &Call<'_, '_>) -> bool {
    let known = PROGRAMS.iter().any(|(programs, _, _)| programs.contains(&call.name))
        || READERS.iter().any(|row| row.names.contains(&call.name));
    let Some((last, words)) = call.arguments.split_last() else { return false };
    let Some(last) = last.value.known() else { return false };
    if words.is_empty() {
        return known && matches!(last.as_str(), "--version" | "--help")
            || SMALL_V.contains(&call.name) && last == "-v";
    }
    let words: Option<Vec<String>> = words.iter().map(|field| field.value.known()).collect();
    let Some(words) = words else { return false };
    let plain = |word: &String| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    if !words.iter().all(plain) || !matches!(last.as_str(), "--help" | "-h" | "--version") {
        return false;
    }
    if call.name == "cargo" {
        return matches!(words.as_slice(), [word] if CARGO.contains(&word.as_str()));
    }
    // To these, `-h` is a host.
    let short = last == "-h" && matches!(call.name, "docker" | "podman" | "nerdctl");
    let family = FAMILIES.iter().find(|(programs, _)| programs.contains(&call.name));
    !short
        && family.is_some_and(|(_, groups)| match words.as_slice() {
            [_] => true,
            [group, _] => groups.contains(&group.as_str()),
            _ => false,
        })
}
