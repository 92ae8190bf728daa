//! Setting axi up with a person at the terminal: what was found, a provider, its key, a test, a model. Nothing is
//! written before the last answer, and then the settings in one step.

mod address;
mod imports;
mod offers;
mod provider_key;
mod scene;
mod start;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use super::console::Console;
use super::settings::begin;
use crate::command::Problem;
use crate::config::{self, Config, Loaded};
use crate::frontend::dialog::{NoChoice, Terminal};
use crate::locale::{Locale, word};
use crate::provider::{self, ProviderSettings};
use offers::{Offer, offers};
use provider_key::{KeyStep, keep_key, settle_key};
use scene::Plan;
pub(super) use scene::Scene;

/// How long a server may take to list its models.
const PATIENCE: Duration = Duration::from_secs(10);

/// How setting up ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SetUp {
    /// This model was chosen.
    Model(String),
    /// This model of axi's own was chosen, which may have to be fetched.
    Own(String),
    /// The person does not want to now.
    NotNow,
    /// They want to leave.
    Leave,
}

/// Tells whether a person can be asked.
pub(super) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}

/// Goes through it all.
pub(super) fn set_up(scene: &Scene<'_>) -> SetUp {
    let Scene { app, asker, locale, .. } = scene;
    loop {
        let offers = offers(scene);
        let items: Vec<String> = offers.iter().map(|offer| offer.words(app, locale)).collect();
        let picked = match asker.pick_one(locale.text(word::setup::QUESTION), &items) {
            Ok(picked) => picked,
            Err(NoChoice::Escaped) => return SetUp::NotNow,
            Err(NoChoice::Interrupted) => return SetUp::Leave,
        };
        let plan = match &offers[picked] {
            Offer::NotNow => return SetUp::NotNow,
            Offer::Own { name, .. } => return SetUp::Own(name.clone()),
            Offer::Server(server) => Plan { provider: server.row.name.to_owned(), ..Plan::default() },
            Offer::Start(row) => match start::start(scene, row) {
                Ok(true) => Plan { provider: row.name.to_owned(), ..Plan::default() },
                Ok(false) | Err(NoChoice::Escaped) => continue,
                Err(NoChoice::Interrupted) => return SetUp::Leave,
            },
            Offer::Key { provider, .. } => Plan { provider: provider.clone(), ..Plan::default() },
            Offer::Import(import) => match offers::plan_of(import) {
                Some(plan) => plan,
                None => continue,
            },
            Offer::Other => {
                let names = offers::with_keys();
                let Some(picked) = asker.pick(locale.text(word::setup::PROVIDER), &names) else { continue };
                Plan { provider: names[picked].clone(), ..Plan::default() }
            }
            Offer::Elsewhere => match address::ask_address(scene) {
                Ok(Some(plan)) => plan,
                Ok(None) | Err(NoChoice::Escaped) => continue,
                Err(NoChoice::Interrupted) => return SetUp::Leave,
            },
        };
        let import = if let Offer::Import(import) = &offers[picked] { Some(import) } else { None };
        let (plan, settings, given) = match settle_key(scene, plan, import) {
            KeyStep::Settled(plan, settings, given) => (plan, settings, given),
            KeyStep::Back => continue,
            KeyStep::Leave => return SetUp::Leave,
        };
        let model = match settle_model(scene, &plan, &settings) {
            Ok(model) => model,
            Err(NoChoice::Escaped) => continue,
            Err(NoChoice::Interrupted) => return SetUp::Leave,
        };
        if let Some(key) = given
            && !keep_key(scene, &plan, &settings, &key)
        {
            return SetUp::Leave;
        }
        let name = format!("{}/{model}", plan.provider);
        let console = Console::new(locale);
        // It holds for this run whether it can be written or not.
        let config = Arc::new(Config { model: Some(name.clone()), ..plan.config(app) });
        app.set_settings(Loaded { config, ..(*app.settings()).clone() });
        match keep(scene, &plan, &name) {
            Ok(path) => console.note(&locale.with(word::setup::Done { model: &name, path: &path })),
            // It is asked all the same: only the next start will not know it.
            Err(Problem { what, .. }) => console.warn(&what),
        }
        return SetUp::Model(name);
    }
}

/// Lets the person choose a model of those the server lists; what the import named, or the provider's usual one, is the
/// first.
fn settle_model(scene: &Scene<'_>, plan: &Plan, settings: &ProviderSettings) -> Result<String, NoChoice> {
    let Scene { asker, client, locale, .. } = scene;
    let listed = scene
        .wait(async { tokio::time::timeout(PATIENCE, provider::list_models(settings, client)).await.ok()?.ok() })?;
    let mut names: Vec<String> = listed.unwrap_or_default().into_iter().map(|model| model.name).collect();
    let row = provider::find(&plan.provider);
    let usual = row.map(|row| row.default_model).filter(|model| !model.is_empty()).map(str::to_owned);
    let first = plan.model.clone().or(usual);
    if let Some(first) = first {
        names.retain(|name| *name != first);
        names.insert(0, first);
    }
    if names.is_empty() {
        let url = &settings.base_url;
        Console::new(locale).warn(&locale.with(word::setup::NoModels { provider: &plan.provider, url }));
        // A gateway need not list what it has: the person may know a name.
        let typed = asker.feedback(locale.text(word::setup::MODEL_NAME)).ok_or(NoChoice::Escaped)?;
        let typed = typed.trim();
        return if typed.is_empty() { Err(NoChoice::Escaped) } else { Ok(typed.to_owned()) };
    }
    if names.len() == 1 {
        return Ok(names.swap_remove(0));
    }
    let picked = asker.pick_one(locale.text(word::repl::PICK_MODEL), &names)?;
    Ok(names.swap_remove(picked))
}

/// Writes model and provider into the person's settings in one step, and has this axi work by them.
fn keep(scene: &Scene<'_>, plan: &Plan, model: &str) -> Result<String, Problem> {
    let Scene { app, locale, .. } = scene;
    let problem = |what: String| Problem { what, hint: String::new() };
    let path = app.paths.settings().ok_or_else(|| problem(locale.text(word::error::NO_CONFIG_DIR).to_owned()))?;
    begin(locale, &path);
    let section =
        plan.section.iter().map(|(name, value)| (format!("providers.{}.{name}", plan.provider), value.as_str()));
    let all: Vec<(String, &str)> = std::iter::once(("model".to_owned(), model)).chain(section).collect();
    for (key, _) in &all {
        app.wrote(key);
    }
    config::set_all(&path, &all)
        .map_err(|error| problem(locale.with(word::said::NotSaved { cause: &error.to_string() })))?;
    let loaded = config::load(Some(&path), &app.project.files, app.project.trusted(), &app.process.variables);
    if let Ok(loaded) = loaded {
        app.set_settings(loaded);
    }
    Ok(app.paths.shown(&path))
}

/// Says which ways there are to come back to it.
pub(super) fn tell_ways(locale: &Locale) {
    Console::new(locale).notes(locale.text(word::setup::WAYS));
}

/// What the person is asked when their settings cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mend {
    /// Open them in the editor, and read them again.
    Edit,
    /// Leave it.
    NotNow,
}

/// Asks what to do about settings that cannot be used; what they ask and deny must hold, so nothing goes on without.
pub(super) fn ask_mend(locale: &Locale, asker: &Terminal) -> Mend {
    let items =
        [('e', locale.text(word::setup::EDIT).to_owned()), ('n', locale.text(word::setup::NOT_NOW).to_owned())];
    match asker.decide(locale.text(word::setup::BROKEN), "", &items) {
        Ok(0) => Mend::Edit,
        Ok(_) | Err(NoChoice::Escaped | NoChoice::Interrupted) => Mend::NotNow,
    }
}
