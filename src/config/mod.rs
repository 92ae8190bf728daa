//! Settings: declared once in `table.rs`, read in layers (default < user < project < environment < flag), written
//! without losing comments.
//!
//! A project's file can tighten approvals, never loosen them, and can send no key anywhere: what it may not say
//! is left out and told. So is what is wrong with a file; only one that is no TOML stops what needs it.

mod choices;
mod entry;
mod error;
mod finding;
mod held;
mod paths;
mod read;
mod rescue;
mod schema;
mod setting;
mod table;
mod trust;
mod values;
mod write;

pub use choices::{
    AgentCommands, Approvals, CommandSecrets, EditMode, EffortChoice, InlineImages, Notify, OnOff, PromptCache,
    ReasoningView, ThemeChoice, TryApply, WrapChoice,
};
pub use entry::Given;
pub use error::ConfigError;
pub use finding::{Fault, Finding, Spot, nearest};
pub use held::{Held, Origin};
pub use paths::Paths;
pub use schema::{Known, schema};
pub use setting::{Applies, Form, Project, Setting, Shape};
pub use table::{Config, Handoff, ModelFacts, Notifications, Permissions, Provider, Server, Tried, all, is_named};
pub use trust::{PlaceFile, PlaceFiles, Trust, TrustStore};
pub use values::{Dollars, Named, Rules};
pub use write::{add_to_list, choose, remove_from_list, set, set_all, unset};

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use entry::{Gathered, Layer, Section as _};

/// The settings of a run and what was left out of them.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// All layers, merged.
    pub config: Arc<Config>,
    /// What was left out.
    pub findings: Vec<Finding>,
    /// Texts whose form is for others to look at.
    pub given: Vec<Given>,
    /// What was set, by its dotted key.
    pub held: BTreeMap<String, Held>,
}

/// Finds a section of a file, of which nothing that is set says the place, because it is empty.
#[must_use]
pub fn section(file: &Path, name: &[&str]) -> Option<Spot> {
    let source = std::fs::read_to_string(file).ok()?;
    let document = toml_edit::Document::parse(source.as_str()).ok()?;
    let (last, above) = name.split_last()?;
    let mut table: &dyn toml_edit::TableLike = document.as_table();
    for name in above {
        table = table.get(name)?.as_table_like()?;
    }
    let (key, item) = table.get_key_value(last)?;
    Some(Spot::new(file, &source, Some(item.span().or_else(|| key.span())?)))
}

impl Loaded {
    fn of(config: Config, gathered: Gathered) -> Self {
        let Gathered { findings, given, held } = gathered;
        Self { config: Arc::new(config), findings, given, held }
    }

    /// Lists every setting that has no name in its key, and behind them what was set under names; `flags` is what this
    /// run's flags say.
    #[must_use]
    pub fn effective(&self, flags: &dyn Fn(&str) -> Option<String>) -> Vec<Held> {
        let plain = all().into_iter().filter(|(key, _)| !key.contains('*')).map(|(key, setting)| {
            let by_flag = setting.flag.and_then(|flag| Some((flag, flags(flag)?)));
            let held = self.held.get(&key).cloned();
            let none =
                || Held { key: key.clone(), setting, value: (setting.default)(), origins: vec![Origin::Default] };
            match by_flag {
                Some((flag, value)) => Held { value, origins: vec![Origin::Flag(flag)], ..none() },
                None => held.unwrap_or_else(none),
            }
        });
        let mut effective: Vec<Held> = plain.collect();
        let named = self.held.values().filter(|held| effective.iter().all(|known| known.key != held.key));
        let named: Vec<Held> = named.cloned().collect();
        effective.extend(named);
        effective
    }

    /// Names the settings whose values differ in another reading.
    pub fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Held> {
        let gone = self.held.values().filter(|held| !other.held.contains_key(&held.key));
        let new = other.held.values();
        let differs = |held: &&Held| self.held.get(&held.key).is_none_or(|before| before.value != held.value);
        gone.chain(new.filter(differs))
    }
}

/// Reads the user's file, then takes over the project's: what it chooses only when the place is trusted; then the
/// variables of the environment that override a setting.
///
/// # Errors
/// [`ConfigError`]: the user's file exists but cannot be read, is not TOML, or has rules that are not lists; what its rules
/// ask and deny must hold. A missing file is no error. A project's file that is not TOML is no error either: the rules in
/// it that ask or deny hold as far as they can be read, and the findings tell that the rest is left out.
pub fn load(
    user: Option<&Path>,
    place: &PlaceFiles,
    trusted: bool,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Loaded, ConfigError> {
    let mut config = Config::default();
    let mut gathered = Gathered::default();
    if let Some(path) = user
        && let Some(source) = text_of(path)?
    {
        let read = read::read(&mut config, path, &source, Layer::Person, &mut gathered);
        let lost = || gathered.findings.iter().find(|finding| is_a_rule(finding)).cloned().map(Box::new);
        if let Some(finding) = read.err().or_else(lost) {
            return Err(ConfigError::Wrong(finding));
        }
    }
    for PlaceFile { path, text } in place.settings() {
        if let Err(finding) = read::read(&mut config, path, text, Layer::Project { trusted }, &mut gathered) {
            gathered.findings.push(*finding);
            // The warnings of these parts were reported with the whole file.
            let layer = Layer::Project { trusted: false };
            for rules in rescue::rules(text) {
                let _ = read::read(&mut config, path, &rules, layer, &mut Gathered::default());
            }
        }
    }
    override_by(&mut config, environment, &mut gathered);
    Ok(Loaded::of(config, gathered))
}

/// Finds everything that is wrong with the files of a place and with the environment, as if the place were trusted.
///
/// # Errors
/// [`ConfigError::Io`]: the user's file cannot be read.
pub fn check(
    user: Option<&Path>,
    place: &PlaceFiles,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Loaded, ConfigError> {
    let mut config = Config::default();
    let mut gathered = Gathered::default();
    let own = user.and_then(|path| text_of(path).transpose().map(|text| Ok((path, text?)))).transpose()?;
    let own = own.iter().map(|(path, text)| (*path, text.as_str(), Layer::Person));
    let project = Layer::Project { trusted: true };
    let files = place.settings().iter().map(|file| (file.path.as_path(), file.text.as_str(), project));
    for (path, text, layer) in own.chain(files) {
        if let Err(finding) = read::read(&mut config, path, text, layer, &mut gathered) {
            gathered.findings.push(*finding);
        }
    }
    override_by(&mut config, environment, &mut gathered);
    Ok(Loaded::of(config, gathered))
}

/// Tells whether this fault would lose a rule that asks or denies.
fn is_a_rule(finding: &Finding) -> bool {
    finding.key.split('.').next() == Some("permissions") && matches!(finding.fault, Fault::WrongKind { .. })
}

/// Reads a file; `None` where there is none.
fn text_of(path: &Path) -> Result<Option<String>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(source) => Ok(Some(source)),
        Err(cause) if matches!(cause.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(cause) => Err(ConfigError::Io { path: path.to_owned(), cause }),
    }
}

/// Takes over the variables of the environment, which override the files.
fn override_by(config: &mut Config, environment: &dyn Fn(&str) -> Option<String>, gathered: &mut Gathered) {
    for setting in Config::SETTINGS {
        let Some(name) = setting.variable else { continue };
        let Some(value) = environment(name).filter(|value| !value.trim().is_empty()) else { continue };
        let Some(entry) = config.entry(setting.name) else { continue };
        let fault = match entry.take_text(value.trim(), setting) {
            Ok(()) if setting.form.fits(value.trim()) => {
                let (key, origins) = (setting.name.to_owned(), vec![Origin::Variable(name)]);
                gathered.held.insert(key.clone(), Held { key, setting, value: entry.shown(), origins });
                continue;
            }
            Ok(()) => Fault::WrongForm { setting },
            Err(fault) => fault,
        };
        let spot = Spot::of_variable(name, &value);
        gathered.findings.push(Finding { spot, key: setting.name.to_owned(), fault });
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
