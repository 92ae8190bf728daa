//! What slash commands ask of the world outside the agent.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::runtime::Runtime;

use super::super::commands::{change_key, doctor_text, recalled, search_tools};
use super::super::context::App;
use super::super::findings::Diagnostic;
use super::super::logs::{self, Shared};
use super::super::models;
use super::super::settings::{begin, settings_problem};
use super::ghost::GhostUsage;
use super::rules;
use crate::agent::Recalled;
use crate::approval::{Decision, Rule};
use crate::cli::RunOptions;
use crate::command::{self, KeyAction, LeftInShells, Problem, SharedLog, ShellGoal, World};
use crate::config::{self, Applies, ConfigError, Finding, Held, Loaded, Paths, Spot};
use crate::conversation::Usage;
use crate::locale::{Locale, word};
use crate::provider::{Client, Provider};
use crate::session::{SessionId, SessionStore};
use crate::tool::devtool::Search;

/// The world outside the agent, for a REPL.
pub(super) struct Outside {
    app: Rc<App>,
    client: Client,
    runtime: Rc<Runtime>,
    ghost: GhostUsage,
    options: RunOptions,
    /// The settings of the start.
    begun_with: Rc<Loaded>,
}

impl Outside {
    pub(super) fn new(
        app: Rc<App>,
        client: Client,
        runtime: Rc<Runtime>,
        ghost: GhostUsage,
        options: RunOptions,
    ) -> Self {
        let begun_with = app.settings();
        Self { app, client, runtime, ghost, options, begun_with }
    }
}

impl Outside {
    /// The person's file, begun where there is none.
    fn file(&self, locale: &Locale) -> Result<PathBuf, Problem> {
        let Some(path) = self.app.paths.settings() else {
            return Err(Problem { what: locale.text(word::error::NO_CONFIG_DIR).to_owned(), hint: String::new() });
        };
        begin(locale, &path);
        Ok(path)
    }
}

/// Words what the commands of this axi left in their shells, for the person's own.
pub(super) fn left(app: &App) -> LeftInShells {
    let shell = app.process.variable("AXI_SHELL").or_else(|| {
        let path = app.process.variable("SHELL")?;
        Some(path.rsplit('/').next()?.to_owned())
    });
    let goal = ShellGoal {
        shell: shell.as_deref().unwrap_or_default(),
        directory: &app.project.cwd,
        known: &app.known_secrets(),
    };
    command::left_in_shells(&app.shell.person().ran(), goal)
}

fn not_saved(locale: &Locale, paths: &Paths, error: &ConfigError) -> Problem {
    let Problem { what, hint } = settings_problem(locale, paths, error);
    Problem { what: locale.with(word::said::NotSaved { cause: &what }), hint }
}

impl World for Outside {
    fn connect(&mut self, model: &str, locale: &Locale) -> Result<Arc<dyn Provider>, Problem> {
        self.app.asked.forget_commands();
        models::connect(&self.app, model, &self.client, locale)
    }

    fn models(&mut self, locale: &Locale) -> Vec<(String, String)> {
        let all = models::all(&self.app, &self.client, &self.runtime);
        all.into_iter().map(|listed| (listed.words(locale), listed.id)).map(|(says, id)| (id, says)).collect()
    }

    fn providers(&self) -> Vec<String> {
        models::names(&self.app.config())
    }

    fn remember(&mut self, key: &str, value: &str, locale: &Locale) -> Result<(), Problem> {
        let path = self.file(locale)?;
        self.app.wrote(key);
        config::set(&path, key, value).map_err(|error| not_saved(locale, &self.app.paths, &error))
    }

    fn settings(&self) -> Vec<Held> {
        let redactor = self.app.redactor();
        let flags = |flag: &str| match flag {
            "--lang" => self.app.language_flag.clone(),
            flag => self.options.of_flag(flag),
        };
        let mut effective = self.app.settings().effective(&flags);
        for held in &mut effective {
            held.value = redactor.text(&held.value);
        }
        effective
    }

    fn waits_for_start(&self, key: &str) -> bool {
        let now = self.app.settings();
        let mut changed = self.begun_with.differences(&now);
        changed.any(|held| held.key == key && held.setting.applies == Applies::AtStart)
    }

    fn choose(&mut self, key: &str, value: &str, locale: &Locale) -> Result<String, Problem> {
        let path = self.file(locale)?;
        match config::choose(&path, key, value) {
            Ok(Ok(())) => {
                self.app.wrote(key);
                Ok(self.app.paths.shown(&path))
            }
            Ok(Err(fault)) => {
                let finding = Finding { spot: Spot::of_variable(key, value), key: key.to_owned(), fault };
                let told = Diagnostic::new(locale, &self.app.paths, &finding);
                Err(Problem { what: told.problem, hint: told.hint })
            }
            Err(error) => Err(not_saved(locale, &self.app.paths, &error)),
        }
    }

    fn unset(&mut self, key: &str, locale: &Locale) -> Result<(String, bool), Problem> {
        let path = self.file(locale)?;
        let was = config::unset(&path, key).map_err(|error| not_saved(locale, &self.app.paths, &error))?;
        self.app.wrote(key);
        Ok((self.app.paths.shown(&path), was))
    }

    fn shown(&self, path: &Path) -> String {
        self.app.paths.shown(path)
    }

    fn ghost_usage(&self) -> Usage {
        self.ghost.get()
    }

    fn keep_rule(&mut self, decision: Decision, rule: &Rule, locale: &Locale) -> Result<String, Problem> {
        rules::keep(&self.app, decision, rule, locale)
    }

    fn forget_rule(&mut self, decision: Decision, rule: &Rule, locale: &Locale) -> Result<(), Problem> {
        rules::forget(&self.app, decision, rule, locale)
    }

    fn sessions(&self) -> Option<SessionStore> {
        self.app.sessions()
    }

    fn clean_up(&mut self, current: &SessionId) -> (u64, u64) {
        let days = self.app.config().session_days;
        let store = self.app.sessions().filter(|_| days > 0);
        let unused = Duration::from_secs(days.saturating_mul(24 * 60 * 60));
        let gone = store.map(|store| store.clean_up(unused, current, SystemTime::now())).unwrap_or_default();
        (gone.len() as u64, days)
    }

    fn recalled(&self, text: &str, without: &SessionId) -> Vec<Recalled> {
        recalled(&self.app, text, Some(without))
    }

    fn keychain(&mut self, action: KeyAction, provider: &str, locale: &Locale) -> Result<String, Problem> {
        change_key(&self.app, action, provider, locale)
    }

    fn dev_tools(&mut self, refresh: bool) -> Search {
        search_tools(&self.app, refresh)
    }

    fn log(&self, about: &str) -> Option<std::io::Result<SharedLog>> {
        let (paths, redactor) = (&self.app.paths, self.app.redactor());
        let home = paths.home.as_ref().map(|home| home.display().to_string()).filter(|home| home.len() > 1);
        let clean = |text: &str| {
            let text = redactor.text(text);
            home.as_ref().map_or_else(|| text.clone(), |home| text.replace(home, "~"))
        };
        let shared = logs::share(&paths.logs()?, &clean(about), &clean);
        Some(shared.map(|Shared { path, id, lines }| SharedLog { shown: paths.shown(&path), path, id, lines }))
    }

    fn left_in_shells(&self) -> LeftInShells {
        left(&self.app)
    }

    fn has_prompt(&self) -> bool {
        self.app.process.variable("AXI_REPLY").is_some()
    }

    fn doctor(&mut self, model: &str, locale: &Locale) -> String {
        doctor_text(&self.app, model, locale)
    }
}
