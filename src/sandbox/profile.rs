//! Writes the profile for macOS's `sandbox-exec`, in its own language (SBPL), from a confinement.
//!
//! A later rule wins over an earlier one. Written after Apple's own profiles in /System/Library/Sandbox/Profiles;
//! the machines on which axi is built cannot run it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::platform::RealPath as _;

use super::{Confinement, hidden};

/// The program that applies a profile.
#[cfg_attr(not(target_os = "macos"), expect(dead_code, reason = "only there is it started"))]
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Devices that store nothing.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/dtracehelper"];

/// Writes the profile.
pub(super) fn text(confinement: &Confinement) -> String {
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    let mut rule = |action: &str, filter: &str, path: &Path| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "({action} ({filter} {}))", quoted(path));
    };
    for path in confinement.writable.iter().map(|path| real(path)) {
        rule("allow file-write*", "subpath", &path);
    }
    for device in DEVICES {
        rule("allow file-write-data", "literal", Path::new(device));
    }
    if confinement.read_only {
        for path in hidden::all(confinement.home.as_deref(), &confinement.hidden, false) {
            rule("deny file-read*", "subpath", &path);
        }
        for path in confinement.readable.iter().map(|path| real(path)) {
            rule("allow file-read*", "subpath", &path);
        }
        text.push_str("(deny process-info-codesignature)\n(deny signal (target others))\n(deny mach-priv*)\n");
        text.push_str("(deny mach-lookup (global-name-regex #\"^com\\.apple\\.(SecurityServer|securityd)\"))\n");
        text.push_str("(deny appleevent-send)\n(deny ipc-posix-shm-write*)\n");
    }
    if confinement.read_only {
        text.push_str("(deny network*)\n");
    } else if !confinement.network {
        text.push_str("(deny network*)\n(allow network* (local unix))\n(allow network* (remote unix))\n");
    }
    text
}

/// The kernel compares real paths: /tmp is /private/tmp there.
fn real(path: &Path) -> PathBuf {
    path.real_path().unwrap_or_else(|_| path.to_path_buf())
}

fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_denies_first_and_quotes_what_it_allows() {
        let confinement = Confinement {
            read_only: true,
            writable: vec![PathBuf::from("/nowhere/a\"b")],
            ..Confinement::default()
        };
        let text = text(&confinement);
        assert!(text.starts_with("(version 1)\n(allow default)\n(deny file-write*)\n"));
        assert!(text.contains("(allow file-write* (subpath \"/nowhere/a\\\"b\"))\n"));
        assert!(text.ends_with("(deny network*)\n"));
        assert_eq!(text.matches('(').count(), text.matches(')').count());
    }

    #[test]
    fn an_approved_command_is_told_apart_by_its_network() {
        let offline = Confinement { network: false, ..Confinement::default() };
        assert!(text(&offline).contains("(deny network*)"));
        let online = Confinement { network: true, ..Confinement::default() };
        assert!(!text(&online).contains("network*"));
    }
}
