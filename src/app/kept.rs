//! Files of JSON in which axi keeps something between runs: replaced as a whole, and changed by one axi at a time.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use crate::command::Problem;
use crate::file::{self, Outlives};
use crate::locale::{Locale, word};
use crate::platform::os::fs::PermissionsExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What such a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Keys: a file that others can access is not read, because somebody else may have written it.
    Secrets,
    /// Anything else.
    Facts,
}

/// Why a file could not be read or changed. It is then as it was.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeptError {
    /// What the system says.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is not what axi writes. serde's own words would quote the file, and with it keys.
    #[error("it is not what axi wrote, from line {line} on")]
    Broken {
        /// Counted from one.
        line: usize,
    },
    /// Others can access it.
    #[error("others can access it")]
    Open,
}

impl KeptError {
    /// Says it to the person; `path` is as they read it.
    pub(super) fn into_problem(self, path: &str, locale: &Locale) -> Problem {
        let (what, hint) = match self {
            Self::Io(cause) => (locale.with(word::error::Io { path, cause: &cause.to_string() }), String::new()),
            Self::Broken { line } => (
                locale.with(word::error::KeptBroken { path, line: &line.to_string() }),
                locale.with(word::error::KeptBrokenHint { path }),
            ),
            Self::Open => {
                (locale.with(word::error::KeptOpen { path }), locale.with(word::error::KeptOpenHint { path }))
            }
        };
        Problem { what, hint }
    }
}

/// Reads such a file; one that is missing or empty holds nothing.
///
/// # Errors
/// [`KeptError`].
pub(super) fn read<T: Default + DeserializeOwned>(path: &Path, holds: Holds) -> Result<T, KeptError> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(error.into()),
    };
    if holds == Holds::Secrets && is_open(&file.metadata()?) {
        return Err(KeptError::Open);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    if bytes.trim_ascii().is_empty() {
        return Ok(T::default());
    }
    serde_json::from_slice(&bytes).map_err(|error| KeptError::Broken { line: error.line() })
}

fn is_open(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o077 != 0
}

/// Changes what such a file holds and returns what `change` does; writes only what differs.
///
/// # Errors
/// [`KeptError`].
pub(super) fn change<T, R>(path: &Path, holds: Holds, change: impl FnOnce(&mut T) -> R) -> Result<R, KeptError>
where
    T: Clone + Default + PartialEq + Serialize + DeserializeOwned,
{
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let held = File::open(folder)?;
    // Where nothing can be locked, the file is still replaced as a whole.
    if let Err(error) = held.lock() {
        tracing::debug!(%error, "a directory could not be locked");
    }
    let before: T = read(path, holds)?;
    let mut after = before.clone();
    let result = change(&mut after);
    if after != before {
        file::replace(path, &serde_json::to_vec(&after).map_err(io::Error::from)?, Outlives::PowerCut)?;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::{self, Permissions};

    use super::*;

    type Map = BTreeMap<String, u32>;

    fn insert(path: &Path, holds: Holds, name: &str) -> Result<(), KeptError> {
        change(path, holds, |map: &mut Map| {
            map.insert(name.to_owned(), 1);
        })
    }

    #[test]
    fn what_cannot_be_read_is_never_written_over() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("kept.json");
        fs::write(&path, "{\"a\": 1,\n\"b\": sk-secret").unwrap();
        let error = insert(&path, Holds::Facts, "c").unwrap_err();
        assert!(matches!(error, KeptError::Broken { line: 2 }), "{error:?}");
        assert!(!error.to_string().contains("sk-"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\": 1,\n\"b\": sk-secret");
        fs::write(&path, "{\"a\": 1}").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(insert(&path, Holds::Secrets, "c"), Err(KeptError::Open)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\": 1}");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        assert!(insert(&path, Holds::Facts, "c").is_ok());
    }

    #[test]
    fn what_many_keep_at_once_is_all_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state/kept.json");
        std::thread::scope(|scope| {
            for one in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for other in 0..8 {
                        insert(path, Holds::Secrets, &format!("{one} {other}")).unwrap();
                    }
                });
            }
        });
        assert_eq!(read::<Map>(&path, Holds::Secrets).unwrap().len(), 64);
        assert_eq!(fs::read_dir(home.path().join("state")).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn nothing_is_written_where_nothing_changes() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("kept.json");
        assert_eq!(change(&path, Holds::Secrets, |map: &mut Map| map.remove("a")).unwrap(), None);
        assert!(!path.exists());
    }
}
