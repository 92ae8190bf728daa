//! Where axi was started: the directory, the repository around it, and what that brings along.

use std::path::{Path, PathBuf};

use super::process::Variables;
use crate::approval::Surroundings;
use crate::command::Problem;
use crate::config::{Paths, PlaceFiles, Trust, TrustStore};
use crate::locale::{Locale, word};
use crate::secret::files::SecretFiles;
use crate::tool::Place;

/// The directory axi works in.
pub(super) struct Project {
    pub(super) cwd: PathBuf,
    /// The repository's root: the nearest directory with a `.git`, else `cwd`.
    pub(super) root: PathBuf,
    home: Option<PathBuf>,
    /// The settings, commands and hooks it brings, as they were read, and whether the person trusts them.
    pub(super) files: PlaceFiles,
    pub(super) standing: Trust,
}

impl Project {
    /// Reads what a directory brings.
    pub(super) fn at(cwd: PathBuf, paths: &Paths) -> Self {
        let root = cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&cwd).to_owned();
        let files = PlaceFiles::find(&root, &cwd, paths.settings().as_deref());
        let standing = match trust_store(paths) {
            Some(store) => store.standing(&files),
            None if files.wanting().is_empty() => Trust::Nothing,
            None => Trust::Unknown,
        };
        Self { cwd, root, home: paths.home.clone(), files, standing }
    }

    /// Whether the person trusts what it brings: settings that choose, commands, servers, hooks.
    pub(super) fn trusted(&self) -> bool {
        self.standing == Trust::Trusted
    }

    /// Where tools work.
    pub(super) fn place(&self) -> Place {
        Place { cwd: self.cwd.clone(), workspace: self.root.clone(), home: self.home.clone() }
    }

    /// Where a shell line would run, for judging it.
    pub(super) fn surroundings(&self, secrets: SecretFiles) -> Surroundings {
        Surroundings {
            cwd: self.cwd.clone(),
            workspace: self.root.clone(),
            home: self.home.clone(),
            secrets,
            environment: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        }
    }
}

/// Where it is kept which projects the person trusts.
pub(super) fn trust_store(paths: &Paths) -> Option<TrustStore> {
    paths.state.as_ref().map(|state| TrustStore::new(state.join("trust.json")))
}

/// The directory to work in, with symlinks as the shell shows them where `PWD` is right.
pub(super) fn working_directory(wanted: Option<&Path>) -> Result<PathBuf, (Option<PathBuf>, std::io::Error)> {
    if let Some(wanted) = wanted {
        std::env::set_current_dir(wanted).map_err(|cause| (Some(wanted.to_owned()), cause))?;
    }
    std::env::current_dir().map_err(|cause| (None, cause))
}

/// Says why there is no directory to work in: the one that was asked for, else the one axi was started in, which the
/// shell may still know by its name.
pub(super) fn gone_problem(
    locale: &Locale,
    variables: Variables,
    wanted: Option<&Path>,
    cause: &std::io::Error,
) -> Problem {
    let path = wanted.map(|path| path.display().to_string());
    let hint = if path.is_some() { word::error::CWD_HINT } else { word::error::CWD_GONE_HINT };
    let path = path.or_else(|| variables("PWD")).unwrap_or_else(|| ".".to_owned());
    let what = locale.with(word::error::Cwd { path: &path, cause: &cause.to_string() });
    Problem { what, hint: locale.text(hint).to_owned() }
}
