//! What every command works with, read once: the process, the paths, the language, the project and the settings.

use std::cell::{Cell, OnceCell, RefCell};
use std::fs::Permissions;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::answers::{Asked, Said};
use super::display::Display;
use super::keys::Keys;
use super::logs;
use super::process::Process;
use super::project::{Project, gone_problem, working_directory};
use super::settings::settings_problem;
use super::shell_session::ShellSession;
use crate::cli::CommonOptions;
use crate::command::Problem;
use crate::config::{self, CommandSecrets, Config, ConfigError, Finding, Loaded, OnOff, Paths};
use crate::frontend::dialog::Terminal;
use crate::frontend::exit::Exit;
use crate::frontend::signals::Signals;
use crate::locale::{self, Locale};
use crate::mcp::Definition;
use crate::sandbox::{Sandbox, Variables, Wanted};
use crate::secret::{Dotenv, Known};
use crate::session::{Redactor, SessionStore};
use crate::terminal::Depth;
use crate::trial::TurnCopies;

/// What every command works with; each takes of it what it needs.
pub(super) struct App {
    pub(super) process: Process,
    pub(super) paths: Paths,
    pub(super) locale: Locale,
    pub(super) project: Project,
    /// The settings as they were read last.
    settings: RefCell<Rc<Loaded>>,
    /// Settings that this axi itself wrote into the file, and works by.
    written: RefCell<Vec<String>>,
    /// What `--lang` says.
    pub(super) language_flag: Option<String>,
    /// Why the person's settings do not hold; only where a command can do without them.
    pub(super) broken: Option<ConfigError>,
    pub(super) options: CommonOptions,
    pub(super) keys: Keys,
    /// The project's files with variables.
    dotenv: Dotenv,
    /// What servers say of their models.
    pub(super) said: Said,
    /// What was asked for keys.
    pub(super) asked: Asked,
    pub(super) shell: ShellSession,
    /// MCP servers that an editor handed over.
    pub(super) handed: Vec<Definition>,
    /// The copy in which turns work, until the agent has it.
    pub(super) turn_copies: Cell<Option<TurnCopies>>,
    /// How fast this machine multiplies, once that was measured.
    #[cfg(feature = "local")]
    pub(super) speed: OnceCell<u64>,
    /// Where whole outputs go that are not to outlive this process.
    pub(super) throwaway: Option<PathBuf>,
}

/// Why nothing could be begun, and in which language to say so.
pub(super) type Unstarted = Box<(Locale, Problem, Exit)>;

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
    /// What asks a person at the terminal, outside of a conversation.
    pub(super) fn asker(&self) -> Terminal {
        let (color, plain) = (self.display().depth() >= Depth::Ansi, self.display().linear());
        Terminal { color, plain, tty: None, signals: Signals::default() }
    }

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
    ) -> Result<(Self, Vec<Finding>), Unstarted> {
        let cwd = match working_directory(options.cwd.as_deref()) {
            Ok(cwd) => cwd,
            // It was deleted: what is done elsewhere is done from the root, where no project is.
            Err(_) if options.cwd.is_none() && need != Need::Everything => PathBuf::from("/"),
            Err((path, cause)) => {
                let problem = gone_problem(&locale, process.variables, path.as_deref(), &cause);
                return Err(Box::new((locale, problem, Exit::Failed)));
            }
        };
        Self::at(cwd, process, paths, locale, flag, options, need)
    }

    /// The same in a directory that is known, whichever one the process is in.
    ///
    /// # Errors
    /// As [`App::read`].
    pub(super) fn at(
        cwd: PathBuf,
        process: Process,
        paths: Paths,
        locale: Locale,
        flag: Option<String>,
        options: CommonOptions,
        need: Need,
    ) -> Result<(Self, Vec<Finding>), Unstarted> {
        let project = Project::at(cwd, &paths);
        let loaded =
            config::load(paths.settings().as_deref(), &project.files, project.trusted(), &process.variables);
        let (loaded, broken) = match loaded {
            Ok(loaded) => (loaded, None),
            Err(error) if matches!(need, Need::Taste | Need::Nothing) => (config::Loaded::default(), Some(error)),
            Err(error) => {
                let problem = settings_problem(&locale, &paths, &error);
                return Err(Box::new((locale, problem, Exit::NotConfigured)));
            }
        };
        let wanted = flag.clone().unwrap_or_else(|| loaded.config.language.clone());
        let locale = match locale::matching(&wanted) {
            Some(tag) if tag != locale.tag() => Locale::new(tag),
            Some(_) | None => locale,
        };
        let findings = loaded.findings.clone();
        let (keys, shell, throwaway) = (Keys::default(), ShellSession::default(), None);
        let dotenv = Dotenv::of(&[&project.cwd, &project.root]);
        let handed = Vec::new();
        let said = Said::kept_in(paths.cache.as_deref());
        let app = Self {
            process,
            paths,
            locale,
            project,
            settings: RefCell::new(Rc::new(loaded)),
            written: RefCell::default(),
            language_flag: flag,
            broken,
            options,
            keys,
            dotenv,
            said,
            asked: Asked::default(),
            shell,
            handed,
            turn_copies: Cell::default(),
            #[cfg(feature = "local")]
            speed: OnceCell::new(),
            throwaway,
        };
        if let Some(state) = &app.paths.state {
            keep_private(state);
        }
        Ok((app, findings))
    }

    /// The settings, with where each came from.
    pub(super) fn settings(&self) -> Rc<Loaded> {
        Rc::clone(&self.settings.borrow())
    }

    /// The values of the settings.
    pub(super) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.settings.borrow().config)
    }

    /// Works by these settings from now on.
    pub(super) fn set_settings(&self, loaded: Loaded) {
        self.settings.replace(Rc::new(loaded));
    }

    /// Notes that this axi wrote a setting into the file, and told the person.
    pub(super) fn wrote(&self, key: &str) {
        self.written.borrow_mut().push(key.to_owned());
    }

    /// Returns what it wrote since it was asked last.
    pub(super) fn take_written(&self) -> Vec<String> {
        self.written.take()
    }

    /// Logs from now on; of what is to leave nothing behind, only where that is asked for.
    pub(super) fn start_logs(&self, leaves_nothing: bool) {
        let Some(directory) = self.paths.logs() else { return };
        let redactor = self.redactor();
        let clean = std::sync::Arc::new(move |line: &str| redactor.text(line));
        let filter = self.process.variable("AXI_LOG");
        if leaves_nothing && self.options.verbose == 0 && filter.is_none() {
            return;
        }
        logs::start(directory, self.options.verbose, filter.as_deref(), clean);
    }

    pub(super) fn display(&self) -> Display<'_> {
        let Self { options, process, paths, project, .. } = self;
        Display::new(options, self.config(), process, paths, &project.cwd)
    }

    /// The values that are secrets for certain, for all who keep them back: those of files are as they are then.
    pub(super) fn known_secrets(&self) -> Known {
        let known = self.keys.known(&self.config(), self.process.variables);
        match self.config().secrets.values {
            OnOff::On => known.with(self.dotenv.clone()),
            OnOff::Off => known,
        }
    }

    /// Takes them, and what looks like a secret, out of a text.
    pub(super) fn redactor(&self) -> Redactor {
        Redactor::new(self.known_secrets())
    }

    pub(super) fn sessions(&self) -> Option<SessionStore> {
        let store = self.paths.sessions().map(SessionStore::new)?;
        Some(store.with_journals(self.paths.journal()).with_outputs(self.paths.outputs()))
    }

    /// What confines commands: axi's own directories are hidden from what runs unasked, but for kept outputs.
    pub(super) fn sandbox(&self) -> Sandbox {
        let wanted = match self.config().sandbox {
            OnOff::On => Wanted::On,
            OnOff::Off => Wanted::Off,
        };
        let own = [&self.paths.config, &self.paths.state, &self.paths.cache];
        let hidden = own.into_iter().flatten().cloned().collect();
        let readable = self.paths.outputs().into_iter().collect();
        let variables = match self.config().command_secrets {
            CommandSecrets::Named => Variables::keeping(Keys::names(&self.config()).collect()),
            CommandSecrets::All => Variables::default(),
        };
        let sandbox = Sandbox::new(wanted, self.paths.home.clone(), hidden, readable, std::env::temp_dir())
            .with_variables(variables);
        match &self.project.copy {
            Some(copy) => sandbox.with_own_temporary(copy.temporary.clone()),
            None => sandbox,
        }
    }
}

/// Closes the directory of state to others: earlier versions left it open. One that is not ours stays as it is.
fn keep_private(state: &Path) {
    use crate::platform::os::fs::PermissionsExt as _;
    let Ok(metadata) = state.metadata() else { return };
    if metadata.permissions().mode() & 0o077 != 0
        && let Err(error) = std::fs::set_permissions(state, Permissions::from_mode(0o700))
    {
        tracing::warn!(%error, "the directory of state is open to others");
    }
}
