//! The composition root: the only file (with its own few beside it) that knows every concrete type. Takes the
//! command line, settings and environment apart and hands out pieces.

mod background;
mod console;
mod handoff;
mod hook;
pub mod keychain;
#[cfg(feature = "local")]
mod local;
#[cfg(not(feature = "local"))]
#[path = "app/no_local.rs"]
mod local;
#[cfg(feature = "local")]
mod local_memory;
mod logs;
mod menu_lists;
mod models;
mod piped;
mod report;
mod rewrite;
mod rules;
mod run;
mod settings;
mod setup;
mod shell_session;
mod stage;
mod suggest;
mod trust;
mod world;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cli::{self, CommonOptions, HandoffKind, Invocation, UsageError, UsageFault};
use crate::command::Problem;
use crate::config::{self, ConfigError, Paths, PlaceFiles, Standing, Warning};
use crate::frontend::exit::Exit;
use crate::locale::{self, Locale, word};
use crate::session::ShellTie;
use console::Console;

/// Looks a variable of the environment up.
pub type Variables = fn(&str) -> Option<String>;

/// The same, whatever its bytes are.
pub type RawVariables = fn(&str) -> Option<OsString>;

/// What the process was started with.
pub struct Start {
    /// The command line, program name first.
    pub arguments: Vec<OsString>,
    /// The environment.
    pub variables: Variables,
    /// The same, for what need not be UTF-8.
    pub raw_variables: RawVariables,
    /// The home directory, from the environment or the system's user table.
    pub home: Option<PathBuf>,
    /// This program, for helpers that run as children.
    pub program: Option<PathBuf>,
}

/// What every command works with.
pub struct Base {
    variables: Variables,
    raw_variables: RawVariables,
    program: Option<PathBuf>,
    paths: Paths,
    locale: Locale,
    cwd: PathBuf,
    workspace: PathBuf,
    config: config::Config,
    /// Why the person's settings do not hold; only where a command can do without them.
    broken: Option<ConfigError>,
    /// What this place brings, as it was read, and whether it is trusted.
    place_files: PlaceFiles,
    standing: Standing,
    common: CommonOptions,
    /// Held while the conversation of the shell is ours.
    tie: RefCell<Option<ShellTie>>,
    /// Keys that were found elsewhere than in the environment: none is written anywhere either.
    found_keys: RefCell<Vec<String>>,
    /// Where whole outputs go that are not to outlive this process.
    once: Option<PathBuf>,
}

/// Why nothing could be begun, and in which language to say so.
type Unstarted = Box<(Locale, Problem, Exit)>;

/// Runs axi and says how the process ends.
#[must_use]
pub fn run(start: Start) -> Exit {
    let variables = start.variables;
    let flag = cli::language_flag(&start.arguments);
    let paths = Paths::new(&variables, start.home);
    let tag = flag.as_deref().and_then(locale::matching).unwrap_or_else(|| locale::detect(&variables));
    let locale = Locale::new(tag);
    let invocation = match cli::parse(start.arguments, &|word| locale.text(word)) {
        Ok(invocation) => invocation,
        Err(error) => {
            let mut problem =
                Problem { what: usage_fault(&locale, &error), hint: locale.text(word::usage::HELP).to_owned() };
            if let Some(suggestion) = &error.suggestion {
                problem.hint = locale.with(word::usage::Suggestion { suggestion });
            }
            Console::new(&locale).fail(&problem);
            return Exit::Usage;
        }
    };
    if let Some(unknown) = flag.as_deref().filter(|flag| !is_language(flag)) {
        let what = locale.with(word::usage::Language { language: unknown });
        let hint = locale.with(word::usage::LanguageHint { known: &languages() });
        Console::new(&locale).fail(&Problem { what, hint });
        return Exit::Usage;
    }
    // A start-up file runs it: settings that cannot be read must not cost a person the shell's hook.
    if let Invocation::Init(options) = &invocation {
        return hook::init(&locale, variables, start.program.as_deref(), options);
    }
    if let Invocation::Print(text) = &invocation {
        return Console::new(&locale).print(text);
    }
    let common = common(&invocation);
    let environment = (variables, start.raw_variables);
    let need = Need::of(&invocation);
    match Base::new(environment, start.program, paths, locale, flag, common, need) {
        Ok((base, warnings)) => {
            if let Some(error) = base.broken.as_ref().filter(|_| need == Need::Taste) {
                let Problem { what, hint } = settings::problem(&base.locale, error);
                Console::new(&base.locale).warn(&format!("{}\n{hint}", indented(&what)));
            }
            // A line editor may take everything a rewrite says for its answer.
            let is_told = invocation != Invocation::Handoff(HandoffKind::Rewrite);
            for warning in warnings.iter().filter(|_| is_told) {
                base.warn(warning);
            }
            if let Some(unknown) = base.config.language.as_deref().filter(|tag| is_told && !is_language(tag)) {
                Console::new(&base.locale)
                    .warn(&base.locale.with(word::error::Language { language: unknown, known: &languages() }));
            }
            base.dispatch(invocation)
        }
        Err(failed) => {
            let (locale, problem, exit) = *failed;
            Console::new(&locale).fail(&problem);
            exit
        }
    }
}

fn is_language(tag: &str) -> bool {
    tag == "auto" || locale::matching(tag).is_some()
}

/// What a language may be, as a list.
fn languages() -> String {
    std::iter::once("auto").chain(locale::tags()).collect::<Vec<_>>().join(", ")
}

/// What a command cannot begin without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// A working directory, and settings that were understood: what they ask and deny must hold.
    Everything,
    /// Settings that were understood: else a key would go to a server that they replace.
    Settings,
    /// Neither; the settings change what is shown, so that it is told when they do not hold.
    Taste,
    /// Neither: they are mended by it, or told of by itself, or change nothing.
    Nothing,
}

impl Need {
    const fn of(invocation: &Invocation) -> Self {
        match invocation {
            Invocation::Run(_) | Invocation::Handoff(_) => Self::Everything,
            Invocation::Models(_) => Self::Settings,
            Invocation::Render(_)
            | Invocation::Login(_)
            | Invocation::Logout(_)
            | Invocation::Tools
            | Invocation::Sessions(_)
            | Invocation::Local(_) => Self::Taste,
            Invocation::Config(_)
            | Invocation::Doctor
            | Invocation::ResetTerminal
            | Invocation::Completions(_)
            | Invocation::Manual
            | Invocation::Init(_)
            | Invocation::Print(_) => Self::Nothing,
        }
    }
}

fn common(invocation: &Invocation) -> CommonOptions {
    match invocation {
        Invocation::Run(options) => options.common.clone(),
        Invocation::Render(options) => options.common.clone(),
        Invocation::Handoff(_)
        | Invocation::Init(_)
        | Invocation::Login(_)
        | Invocation::Logout(_)
        | Invocation::Models(_)
        | Invocation::Tools
        | Invocation::Sessions(_)
        | Invocation::Config(_)
        | Invocation::Local(_)
        | Invocation::Doctor
        | Invocation::ResetTerminal
        | Invocation::Completions(_)
        | Invocation::Manual
        | Invocation::Print(_) => CommonOptions::default(),
    }
}

impl Base {
    fn new(
        (variables, raw_variables): (Variables, RawVariables),
        program: Option<PathBuf>,
        paths: Paths,
        locale: Locale,
        flag: Option<String>,
        common: CommonOptions,
        need: Need,
    ) -> Result<(Self, Vec<Warning>), Unstarted> {
        let cwd = match working_directory(common.cwd.as_deref()) {
            Ok(cwd) => cwd,
            // It was deleted: what is done elsewhere is done from the root, where no project is.
            Err(_) if common.cwd.is_none() && need != Need::Everything => PathBuf::from("/"),
            Err((path, cause)) => {
                let problem = place_problem(&locale, variables, path.as_deref(), &cause);
                return Err(Box::new((locale, problem, Exit::Failed)));
            }
        };
        let workspace = workspace(&cwd);
        let place_files = PlaceFiles::find(&workspace, &cwd, paths.settings().as_deref());
        let standing = trust::standing(&paths, &place_files);
        let trusted = standing == Standing::Trusted;
        let (loaded, broken) = match config::load(paths.settings().as_deref(), &place_files, trusted) {
            Ok(loaded) => (loaded, None),
            Err(error) if matches!(need, Need::Taste | Need::Nothing) => (config::Loaded::default(), Some(error)),
            Err(error) => {
                let problem = settings::problem(&locale, &error);
                return Err(Box::new((locale, problem, Exit::NotConfigured)));
            }
        };
        let config = loaded.config;
        let wanted = flag.or_else(|| config.language.clone().filter(|language| language != "auto"));
        let locale = match wanted.as_deref().and_then(locale::matching) {
            Some(tag) if tag != locale.tag() => Locale::new(tag),
            Some(_) | None => locale,
        };
        let (tie, found_keys) = (RefCell::new(None), RefCell::new(Vec::new()));
        let base = Self {
            variables,
            raw_variables,
            program,
            paths,
            locale,
            cwd,
            workspace,
            config,
            broken,
            place_files,
            standing,
            common,
            tie,
            found_keys,
            once: None,
        };
        base.start_logs();
        Ok((base, loaded.warnings))
    }

    fn warn(&self, warning: &Warning) {
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
        let filter = (self.variables)("AXI_LOG").filter(|filter| !filter.is_empty());
        logs::start(directory, self.common.verbose, filter.as_deref(), clean);
    }

    fn dispatch(self, invocation: Invocation) -> Exit {
        match invocation {
            Invocation::Run(options) => run::run(self, *options),
            Invocation::Handoff(kind) => handoff::run(self, kind),
            // Answered before there are settings.
            Invocation::Init(_) => Exit::Done,
            Invocation::Render(options) => run::render(&self, &options),
            Invocation::Login(provider) => report::login(&self, &provider),
            Invocation::Logout(provider) => report::logout(&self, &provider),
            Invocation::Models(provider) => report::models(&self, provider.as_deref()),
            Invocation::Tools => report::tools(&self),
            Invocation::Sessions(action) => report::sessions(&self, &action),
            Invocation::Config(action) => settings::config(&self, action),
            Invocation::Local(action) => local::command(&self, &action),
            Invocation::Doctor => report::doctor(&self),
            Invocation::ResetTerminal => report::reset_terminal(&self),
            Invocation::Completions(shell) => report::completions(&self, shell),
            Invocation::Manual => report::manual(&self),
            Invocation::Print(text) => Console::new(&self.locale).print(&text),
        }
    }
}

/// The directory to work in, with symlinks as the shell shows them where `PWD` is right.
fn working_directory(wanted: Option<&Path>) -> Result<PathBuf, (Option<PathBuf>, std::io::Error)> {
    if let Some(wanted) = wanted {
        std::env::set_current_dir(wanted).map_err(|cause| (Some(wanted.to_owned()), cause))?;
    }
    std::env::current_dir().map_err(|cause| (None, cause))
}

/// Says what is wrong with a command line.
fn usage_fault(locale: &Locale, error: &UsageError) -> String {
    let argument = &error.argument;
    match error.fault {
        UsageFault::Unknown => locale.with(word::usage::Unknown { argument }),
        UsageFault::MissingValue => locale.with(word::usage::MissingValue { argument }),
        UsageFault::InvalidValue => locale.with(word::usage::InvalidValue { argument }),
        UsageFault::Missing => locale.with(word::usage::Missing { argument }),
        UsageFault::Conflict => locale.with(word::usage::Conflict { argument }),
        UsageFault::Reserved => locale.with(word::usage::Reserved { argument }),
        UsageFault::NoText => locale.with(word::usage::NoText { argument }),
        UsageFault::Other => locale.with(word::usage::Other { argument }),
    }
}

/// Says why there is no directory to work in: the one that was asked for, else the one axi was started in, which the
/// shell may still know by its name.
fn place_problem(locale: &Locale, variables: Variables, wanted: Option<&Path>, cause: &std::io::Error) -> Problem {
    let path = wanted.map(|path| path.display().to_string());
    let hint = if path.is_some() { word::error::CWD_HINT } else { word::error::CWD_GONE_HINT };
    let path = path.or_else(|| variables("PWD")).unwrap_or_else(|| ".".to_owned());
    let what = locale.with(word::error::Cwd { path: &path, cause: &cause.to_string() });
    Problem { what, hint: locale.text(hint).to_owned() }
}

/// The repository's root: the nearest directory with a `.git`, else the directory itself.
fn workspace(cwd: &Path) -> PathBuf {
    cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(cwd).to_owned()
}

/// A parser's words of several rows, under the first.
fn indented(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("\n  ")
}

/// Says that axi itself failed; the terminal was restored by the panic hook.
#[must_use]
pub fn panicked() -> Exit {
    let variables: Variables = |name| std::env::var(name).ok();
    let locale = Locale::new(locale::detect(&variables));
    let what = locale.text(word::error::PANIC).to_owned();
    Console::new(&locale).fail(&Problem { what, hint: locale.text(word::error::PANIC_HINT).to_owned() });
    Exit::Failed
}
