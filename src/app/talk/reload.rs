//! Has a running REPL work by settings that have changed on the disk.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use super::super::context::App;
use super::super::findings::Diagnostic;
use super::super::models;
use super::super::project::trust_store;
use super::super::settings::settings_problem;
use super::agent::{lists, wishes};
use super::menu_lists;
use crate::agent::Agent;
use crate::approval::{Decision, Rule, Source};
use crate::cli::RunOptions;
use crate::command::Problem;
use crate::config::{self, Applies, Config, Form, Loaded, PlaceFiles, Trust};
use crate::frontend::repl::Reloaded;
use crate::locale::{self, Locale, word};
use crate::platform::os::fs::MetadataExt as _;
use crate::provider::Client;
use crate::tool::table;

/// What tells that a file is another one than before.
type Stamp = Option<(SystemTime, u64, u64)>;

/// Watches the files of settings.
pub(super) struct Reload {
    app: Rc<App>,
    options: RunOptions,
    client: Client,
    files: Vec<(PathBuf, Stamp)>,
}

impl Reload {
    pub(super) fn new(app: Rc<App>, options: RunOptions, client: Client) -> Self {
        let folders = app.project.cwd.ancestors().take_while(|folder| folder.starts_with(&app.project.root));
        let projects = folders.map(|folder| folder.join(".axi/config.toml"));
        let files = app.paths.settings().into_iter().chain(projects);
        let files = files.map(|path| (path.clone(), stamp(&path))).collect();
        Self { app, options, client, files }
    }

    /// Reads the settings again where a file has changed, and has the agent work by them. What is wrong with them is told,
    /// and those from before hold.
    pub(super) fn look(&mut self, agent: &mut Agent, locale: &Locale) -> Option<Reloaded> {
        let mut has_changed = false;
        for (path, known) in &mut self.files {
            let now = stamp(path);
            has_changed |= *known != now;
            *known = now;
        }
        if !has_changed {
            return None;
        }
        let app = &self.app;
        let own = app.paths.settings();
        let place = PlaceFiles::find(&app.project.root, &app.project.cwd, own.as_deref());
        let standing = match trust_store(&app.paths) {
            _ if place == app.project.files => app.project.standing,
            Some(store) => store.standing(&place),
            None => Trust::Unknown,
        };
        let trusted = standing == Trust::Trusted;
        let new = match config::load(own.as_deref(), &place, trusted, &app.process.variables) {
            Ok(new) => new,
            Err(error) => return Some(self.still(settings_problem(locale, &app.paths, &error), locale)),
        };
        if let Some(problem) = self.wrong_rule(&new, locale) {
            return Some(self.still(problem, locale));
        }
        let warnings = new.findings.iter().map(|finding| Diagnostic::new(locale, &app.paths, finding));
        let texts = new.given.iter().filter_map(|given| Diagnostic::of_text(locale, given));
        let warnings = warnings.chain(texts).map(|told| format!("{}\n{}", told.whole(&app.paths), told.hint));
        let mut reloaded = Reloaded { warnings: warnings.collect(), ..Reloaded::default() };
        if matches!(standing, Trust::Unknown | Trust::Changed) && place != app.project.files {
            reloaded.warnings.push(locale.text(word::settings::PROJECT_CHANGED).to_owned());
        }
        let old = app.settings();
        app.set_settings(new);
        self.apply(&old, agent, locale, &mut reloaded);
        Some(reloaded)
    }

    /// Has everything work by the settings that were just read.
    fn apply(&self, old: &Loaded, agent: &mut Agent, locale: &Locale, reloaded: &mut Reloaded) {
        let (app, options) = (&self.app, &self.options);
        let new = app.settings();
        let (before, now) = (&*old.config, &*new.config);
        let changed: Vec<(&str, Applies)> =
            old.differences(&new).map(|held| (held.key.as_str(), held.setting.applies)).collect();
        apply_rules(before, now, agent);
        apply_wishes(before, now, options, agent);
        if options.max_steps.is_none() && before.max_steps != now.max_steps {
            agent.wishes().max_steps = Some(u32::try_from(now.max_steps).unwrap_or(u32::MAX));
        }
        let chosen =
            now.model.as_ref().filter(|model| options.model.is_none() && before.model.as_ref() != Some(model));
        let asked = agent.model().id();
        let anew = old.differences(&new).any(|held| held.setting.decides_requests).then_some(&asked);
        if let Some(name) = chosen.filter(|name| **name != asked).or(anew) {
            match models::connect(app, name, &self.client, locale) {
                Ok(provider) => agent.set_provider(provider),
                Err(problem) => reloaded.problem = Some(problem),
            }
        }
        reloaded.looks = Some(app.display().looks());
        reloaded.lists = Some(menu_lists::menu_lists(app));
        if app.language_flag.is_none() && before.language != now.language {
            let detected = || locale::detect(&app.process.variables);
            reloaded.language = Some(locale::matching(&now.language).unwrap_or_else(detected));
        }
        let own = app.take_written();
        let of = |when: Applies| {
            let keys =
                changed.iter().filter(|(key, applies)| *applies == when && !own.iter().any(|own| own == key));
            keys.map(|(key, _)| *key).collect::<Vec<_>>().join(", ")
        };
        let (soon, later) = (of(Applies::Soon), of(Applies::AtStart));
        if !soon.is_empty() {
            reloaded.said.push(locale.with(word::settings::ReadAgain { keys: &soon }));
        }
        if !later.is_empty() {
            reloaded.said.push(locale.with(word::settings::NextStart { keys: &later }));
        }
    }

    fn still(&self, problem: Problem, locale: &Locale) -> Reloaded {
        drop(self.app.take_written());
        let still = locale.text(word::settings::STILL);
        let hint = [problem.hint.as_str(), still].join("\n");
        let problem = Problem { what: problem.what, hint: hint.trim().to_owned() };
        Reloaded { problem: Some(problem), ..Reloaded::default() }
    }

    /// What is wrong with a rule of the person's file: what it would ask or deny must not be lost.
    fn wrong_rule(&self, new: &Loaded, locale: &Locale) -> Option<Problem> {
        let own = self.app.paths.settings();
        let mut rules = new
            .given
            .iter()
            .filter(|given| given.setting.form == Form::Rule && own.as_deref() == Some(given.spot.file.as_path()));
        let told = rules.find_map(|given| Diagnostic::of_text(locale, given))?;
        Some(Problem { what: told.whole(&self.app.paths), hint: told.hint })
    }
}

/// Takes away the rules that are in no file any more, and adds those that are new. What the session allowed stays.
fn apply_rules(before: &Config, now: &Config, agent: &mut Agent) {
    let rules = |config: &Config| -> Vec<(Decision, Rule, Source)> {
        let all = lists(&config.permissions).into_iter();
        all.flat_map(|(texts, decision, source)| {
            let parsed = texts.iter().filter_map(|text| Rule::parse_for(text, table::kind_of).ok());
            parsed.map(move |rule| (decision, rule, source)).collect::<Vec<_>>()
        })
        .collect()
    };
    let (before, now) = (rules(before), rules(now));
    for (decision, rule, source) in before.iter().filter(|rule| !now.contains(rule)) {
        agent.policy_mut().remove_rule(*decision, rule, *source);
    }
    for (decision, rule, source) in now.into_iter().filter(|rule| !before.contains(rule)) {
        if let Err(error) = agent.policy_mut().add_rule(decision, rule, source) {
            tracing::warn!(%error, "a rule of a project is left out");
        }
    }
}

/// Changes what the file changed; what only the session said stays.
fn apply_wishes(before: &Config, now: &Config, options: &RunOptions, agent: &mut Agent) {
    let (before, now, held) = (wishes(before, options), wishes(now, options), agent.wishes());
    if before.shortening != now.shortening {
        held.shortening = now.shortening;
    }
    if before.effort != now.effort {
        held.effort = now.effort;
    }
    if before.budget != now.budget {
        held.budget = now.budget;
    }
    if before.tell_price != now.tell_price {
        held.tell_price = now.tell_price;
    }
}

fn stamp(path: &Path) -> Stamp {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
}
