//! What every command works with, read once: the process, the paths, the language, the project and the settings.

use std::path::PathBuf;

use super::console::{Console, indented};
use super::display::Display;
use super::keys::Keys;
use super::logs;
use super::process::Process;
use super::project::{Project, gone_problem, working_directory};
use super::settings::settings_problem;
use super::shell_session::ShellSession;
use crate::cli::CommonOptions;
use crate::command::Problem;
use crate::config::{self, Config, ConfigError, Paths, Warning};
use crate::frontend::exit::Exit;
use crate::locale::{self, Locale, word};
use crate::sandbox::{Sandbox, Wanted};
use crate::session::{Redactor, SessionStore};

/// What every command works with; each takes of it what it needs.
pub(super) struct App {
    pub(super) process: Process,
    pub(super) paths: Paths,
    pub(super) locale: Locale,
    pub(super) project: Project,
    pub(super) config: Config,
    /// Why the person's settings do not hold; only where a command can do without them.
    pub(super) broken: Option<ConfigError>,
    pub(super) options: CommonOptions,
    pub(super) keys: Keys,
    pub(super) shell: ShellSession,
    /// Where whole outputs go that are not to outlive this process.
    pub(super) throwaway: Option<PathBuf>,
}

/// Why nothing could be begun, and in which language to say so.
type Unstarted = Box<(Locale, Problem, Exit)>;

/// What a command cannot begin without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// A working directory, and settings that were understood: what they ask and deny must hold.
    Everything,
    /// Settings that were understood: else a key would go to a server that they replace.
    Settings,
    /// Neither; the settings change what is shown, so that it is told when they do not hold.
    Taste,
    /// Neither: they are mended by it, or told of by itself, or change nothing.
    Nothing,
}

impl App {
    /// Reads where axi is and what it is told to do.
    ///
    /// # Errors
    /// What keeps it from beginning.
    pub(super) fn read(
        process: Process,
        paths: Paths,
        locale: Locale,
        flag: Option<String>,
        options: CommonOptions,
        need: Need,
    ) -> Result<(Self, Vec<Warning>), Unstarted> {
        let cwd = match working_directory(options.cwd.as_deref()) {
            Ok(cwd) => cwd,
            // It was deleted: what is done elsewhere is done from the root, where no project is.
            Err(_) if options.cwd.is_none() && need != Need::Everything => PathBuf::from("/"),
            Err((path, cause)) => {
                let problem = gone_problem(&locale, process.variables, path.as_deref(), &cause);
                return Err(Box::new((locale, problem, Exit::Failed)));
            }
        };
        let project = Project::at(cwd, &paths);
        let loaded = config::load(paths.settings().as_deref(), &project.files, project.trusted());
        let (loaded, broken) = match loaded {
            Ok(loaded) => (loaded, None),
            Err(error) if matches!(need, Need::Taste | Need::Nothing) => (config::Loaded::default(), Some(error)),
            Err(error) => {
                let problem = settings_problem(&locale, &error);
                return Err(Box::new((locale, problem, Exit::NotConfigured)));
            }
        };
        let config = loaded.config;
        let wanted = flag.or_else(|| config.language.clone().filter(|language| language != "auto"));
        let locale = match wanted.as_deref().and_then(locale::matching) {
            Some(tag) if tag != locale.tag() => Locale::new(tag),
            Some(_) | None => locale,
        };
        let (keys, shell, throwaway) = (Keys::default(), ShellSession::default(), None);
        let app = Self { process, paths, locale, project, config, broken, options, keys, shell, throwaway };
        app.start_logs();
        Ok((app, loaded.warnings))
    }

    /// Tells what is wrong with the settings, but no reason not to begin.
    pub(super) fn warn(&self, warning: &Warning) {
        let shown = |path| self.paths.shown(path);
        let text = match warning {
            Warning::UnknownKey { path, key } => {
                self.locale.with(word::error::ConfigUnknownKey { path: &shown(path), key })
            }
            Warning::ProjectMayNot { path, key } => {
                self.locale.with(word::error::ConfigProjectMayNot { path: &shown(path), key })
            }
            Warning::ProjectUnreadable { path, cause } => {
                let cause = &indented(cause);
                self.locale.with(word::error::ConfigProjectUnreadable { path: &shown(path), cause })
            }
        };
        Console::new(&self.locale).warn(&text);
    }

    fn start_logs(&self) {
        let Some(directory) = self.paths.logs() else { return };
        let redactor = self.redactor();
        let clean = std::sync::Arc::new(move |line: &str| redactor.text(line));
        let filter = self.process.variable("AXI_LOG");
        logs::start(directory, self.options.verbose, filter.as_deref(), clean);
    }

    pub(super) fn display(&self) -> Display<'_> {
        let Self { options, config, process, paths, locale, project, .. } = self;
        Display::new(options, config, process, paths, locale, &project.cwd)
    }

    /// Takes every key there is out of a text.
    pub(super) fn redactor(&self) -> Redactor {
        self.keys.redactor(&self.config, self.process.variables)
    }

    pub(super) fn sessions(&self) -> Option<SessionStore> {
        let store = self.paths.sessions().map(SessionStore::new)?;
        Some(store.with_journals(self.paths.journal()))
    }

    /// What confines commands: axi's own directories are hidden from what runs unasked, but for kept outputs.
    pub(super) fn sandbox(&self) -> Sandbox {
        let wanted = match self.config.sandbox.as_deref() {
            Some("off") => Wanted::Off,
            Some(_) | None => Wanted::On,
        };
        let own = [&self.paths.config, &self.paths.state, &self.paths.cache];
        let hidden = own.into_iter().flatten().cloned().collect();
        let readable = self.paths.outputs().into_iter().collect();
        Sandbox::new(wanted, self.paths.home.clone(), hidden, readable, std::env::temp_dir())
    }
}
