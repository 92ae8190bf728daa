//! Where axi's files are, by the XDG base directory specification (0.8).

use std::path::{Path, PathBuf};

/// The directories of one user. `None` where neither the XDG variable nor a home is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paths {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME/axi`.
    pub config: Option<PathBuf>,
    /// `$XDG_STATE_HOME/axi`.
    pub state: Option<PathBuf>,
    /// `$XDG_CACHE_HOME/axi`.
    pub cache: Option<PathBuf>,
}

impl Paths {
    /// Works them out. A relative XDG path is ignored, as the specification demands.
    #[must_use]
    pub fn new(environment: &dyn Fn(&str) -> Option<String>, home: Option<PathBuf>) -> Self {
        let home = home.filter(|path| path.is_absolute());
        let place = |variable: &str, below_home: &str| {
            let own = environment(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            own.or_else(|| home.as_ref().map(|home| home.join(below_home))).map(|base| base.join("axi"))
        };
        let config = place("XDG_CONFIG_HOME", ".config");
        let state = place("XDG_STATE_HOME", ".local/state");
        let cache = place("XDG_CACHE_HOME", ".cache");
        Self { home, config, state, cache }
    }

    /// The user's settings file.
    #[must_use]
    pub fn settings(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|config| config.join("config.toml"))
    }

    /// The directory of sessions.
    #[must_use]
    pub fn sessions(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("sessions"))
    }

    /// Which session belongs to which shell.
    #[must_use]
    pub fn shells(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("shells"))
    }

    /// Where the output of the last command is sent without asking.
    #[must_use]
    pub fn output_consent(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("output-consent.json"))
    }

    /// The directory of log files.
    #[must_use]
    pub fn logs(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("logs"))
    }

    /// The input history.
    #[must_use]
    pub fn history(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("history.jsonl"))
    }

    /// What was typed and not sent when axi did not come to its end.
    #[must_use]
    pub fn drafts(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("drafts"))
    }

    /// The directory of journals, for undo.
    #[must_use]
    pub fn journal(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("journal"))
    }

    /// Where whole outputs of tools are kept.
    #[must_use]
    pub fn outputs(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("outputs"))
    }

    /// Writes a path the way people read it: `~` for the home.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        match self.home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }
}
