//! Remembers a terminal's background for the next start: asking the terminal takes until the first turn.

use std::path::{Path, PathBuf};

use crate::terminal::Background;

/// One small file for each kind of terminal. If it cannot be read or written, the terminal is only asked again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BackgroundCache {
    path: Option<PathBuf>,
}

impl BackgroundCache {
    /// Keeps it below `cache`, the cache directory; `program` and `term` are TERM_PROGRAM and TERM.
    pub(super) fn new(cache: Option<&Path>, program: &str, term: &str) -> Self {
        let kind: String = format!("{program} {term}")
            .chars()
            .map(|character| if character.is_ascii_alphanumeric() { character } else { '-' })
            .take(64)
            .collect();
        Self { path: cache.map(|cache| cache.join(format!("background-{kind}"))) }
    }

    pub(super) fn read(&self) -> Option<Background> {
        match std::fs::read_to_string(self.path.as_deref()?).ok()?.trim() {
            "dark" => Some(Background::Dark),
            "light" => Some(Background::Light),
            _ => None,
        }
    }

    pub(super) fn write(&self, background: Background) {
        let word = match background {
            Background::Dark => "dark\n",
            Background::Light => "light\n",
        };
        let Some(path) = self.path.as_deref() else { return };
        if self.read() == Some(background) {
            return;
        }
        let folder = path.parent().unwrap_or_else(|| Path::new("/"));
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, word));
        if let Err(error) = written {
            tracing::debug!(%error, "the background could not be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_known_the_next_time_in_a_terminal_of_this_kind() {
        let folder = tempfile::tempdir().unwrap();
        let cache = |term| BackgroundCache::new(Some(&folder.path().join("axi")), "../foot;x", term);
        assert_eq!(cache("foot").read(), None);
        cache("foot").write(Background::Light);
        assert_eq!((cache("foot").read(), cache("xterm").read()), (Some(Background::Light), None));
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
        assert_eq!(BackgroundCache::new(None, "", "").read(), None);
    }
}
