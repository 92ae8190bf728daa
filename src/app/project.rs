//! Where axi was started: the directory, the repository around it, and the files for axi in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::process::Variables;
use crate::approval::{Definitions, Surroundings};
use crate::command::Problem;
use crate::config::{Paths, PlaceFiles, Trust, TrustStore};
use crate::locale::{Locale, word};
use crate::secret::files::SecretFiles;
use crate::tool::Roots;

/// The directory axi works in.
pub(super) struct Project {
    pub(super) cwd: PathBuf,
    /// The repository's root: the nearest directory with a `.git`, else `cwd`.
    pub(super) root: PathBuf,
    home: Option<PathBuf>,
    /// Where turns work, if that is a copy.
    pub(super) copy: Option<InCopy>,
    /// The settings, commands and hooks in it, as they were read.
    pub(super) files: PlaceFiles,
    pub(super) standing: Trust,
}

/// Where turns work in a copy of the project.
pub(super) struct InCopy {
    pub(super) cwd: PathBuf,
    pub(super) root: PathBuf,
    /// For temporary files.
    pub(super) temporary: PathBuf,
}

impl Project {
    /// Reads the files for axi in a directory.
    pub(super) fn at(cwd: PathBuf, paths: &Paths) -> Self {
        let root = cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&cwd).to_owned();
        let files = PlaceFiles::find(&root, &cwd, paths.settings().as_deref());
        let standing = match trust_store(paths) {
            Some(store) => store.standing(&files),
            None if files.wanting().is_empty() => Trust::Nothing,
            None => Trust::Unknown,
        };
        Self { cwd, root, home: paths.home.clone(), copy: None, files, standing }
    }

    /// Tells whether the person trusts those files: settings that loosen, commands, servers, hooks.
    pub(super) fn trusted(&self) -> bool {
        self.standing == Trust::Trusted
    }

    /// Where tools work.
    pub(super) fn roots(&self) -> Roots {
        let real = || (self.cwd.clone(), self.root.clone());
        let (cwd, workspace) = self.copy.as_ref().map_or_else(real, |copy| (copy.cwd.clone(), copy.root.clone()));
        Roots { cwd, workspace, home: self.home.clone() }
    }

    /// Where a shell line would run, for judging it.
    pub(super) fn surroundings(&self, secrets: SecretFiles, definitions: Arc<Definitions>) -> Surroundings {
        let Roots { cwd, workspace, home } = self.roots();
        Surroundings {
            cwd,
            workspace,
            home,
            secrets,
            environment: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            definitions,
        }
    }
}

/// Returns the store of the projects that the person trusts.
pub(super) fn trust_store(paths: &Paths) -> Option<TrustStore> {
    paths.state.as_ref().map(|state| TrustStore::new(state.join("trust.json")))
}

/// Returns the directory to work in; with symbolic links as the shell shows them if `PWD` is right.
pub(super) fn working_directory(wanted: Option<&Path>) -> Result<PathBuf, (Option<PathBuf>, std::io::Error)> {
    if let Some(wanted) = wanted {
        std::env::set_current_dir(wanted).map_err(|cause| (Some(wanted.to_owned()), cause))?;
    }
    std::env::current_dir().map_err(|cause| (None, cause))
}

/// Explains that there is no directory to work in: the one that was asked for is missing, or the one in which axi
/// was started, whose name the shell may still know.
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
