//! Whom a trial's commands met outside: what they asked of them is done, and no layer holds it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::platform::os::ffi::{OsStrExt as _, OsStringExt as _};

/// One that a command reached for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Met {
    /// A service of this machine, by the path of its socket, or its name behind `@`.
    Socket(PathBuf),
    /// An address and port.
    Host(String),
    /// A name whose address was asked for.
    Name(String),
    /// Nobody could see whom a command reached for.
    Unseen,
    /// Nobody looked: only commands that a person or a rule agreed to could reach for anybody.
    Agreed,
    /// As above, and what commands did that somebody agreed to they may have done outside of the copy.
    InCopy,
}

impl Met {
    /// Writes what a helper saw behind what is there.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(all: impl IntoIterator<Item = Self>, mut file: &File) -> io::Result<()> {
        let mut bytes = Vec::new();
        for met in all {
            let (kind, text) = match met {
                Self::Socket(path) => (b's', path.into_os_string()),
                Self::Host(host) => (b'h', host.into()),
                Self::Name(name) => (b'n', name.into()),
                Self::Unseen => (b'u', OsString::new()),
                Self::Agreed => (b'a', OsString::new()),
                Self::InCopy => (b'c', OsString::new()),
            };
            // No path has a zero byte in it.
            bytes.push(kind);
            bytes.extend(text.as_bytes());
            bytes.push(0);
        }
        file.write_all(&bytes)
    }

    /// Reads what the helpers wrote, each once.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has helpers that write it"))]
    pub(super) fn read(file: &Path) -> io::Result<Vec<Self>> {
        let mut found: Vec<Self> = Vec::new();
        for line in std::fs::read(file)?.split(|byte| *byte == 0) {
            let Some((kind, text)) = line.split_first() else { continue };
            let word = || String::from_utf8_lossy(text).into_owned();
            let met = match kind {
                b's' => Self::Socket(OsString::from_vec(text.to_owned()).into()),
                b'h' => Self::Host(word()),
                b'n' => Self::Name(word()),
                b'a' => Self::Agreed,
                b'c' => Self::InCopy,
                _ => Self::Unseen,
            };
            if !found.contains(&met) {
                found.push(met);
            }
        }
        Ok(found)
    }

    /// Names it for machine-readable output.
    #[must_use]
    pub fn named(&self) -> String {
        let shown = |path: &Path| OsStr::to_string_lossy(path.as_os_str()).into_owned();
        match self {
            Self::Socket(path) => format!("socket: {}", shown(path)),
            Self::Host(host) => format!("network: {host}"),
            Self::Name(name) => format!("name: {name}"),
            Self::Unseen => "network and sockets: not seen".to_owned(),
            Self::Agreed => "network and sockets: only what was agreed to".to_owned(),
            Self::InCopy => "outside of the copy, network and sockets: only what was agreed to".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_met_reads_back_each_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let all = [
            Met::Socket("/run/a b\n.sock".into()),
            Met::Host("[::1]:443".to_owned()),
            Met::Name("example.org".to_owned()),
            Met::Unseen,
        ];
        Met::write(all.clone(), file.as_file()).unwrap();
        Met::write(all.clone(), file.as_file()).unwrap();
        assert_eq!(Met::read(file.path()).unwrap(), all);
        assert_eq!(all[3].named(), "network and sockets: not seen");
    }
}
