//! Which model a conversation is with.

use std::sync::Arc;
use std::time::SystemTime;

use tokio::runtime::Runtime;

use super::super::answers::Listed;
use super::super::context::App;
use super::super::failed::Failed;
use super::discover::discover;
#[cfg(feature = "local")]
use super::fetch::find_or_offer;
use super::keyfile::{account, path as key_file};
use super::missing::Missing;
use super::own;
#[cfg(not(feature = "local"))]
use super::own::find_or_offer;
use super::profiles;
use super::resolve::{correct, list, resolve, without_key};
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::locale::{Locale, word};
use crate::provider::{self, Client, KeyPlace, Provider, ProviderSettings};

/// Looks for a model where none is named; the error is that of a server somebody named, or of a fetch they agreed to.
fn found(
    app: &App,
    client: &Client,
    runtime: &Runtime,
    missing: Missing<'_>,
) -> Result<Option<(String, String)>, Failed> {
    match discover(app, client, runtime)? {
        Some(found) => Ok(Some(found)),
        None => find_or_offer(app, client, runtime, missing),
    }
}

/// Chooses the model: flag, `AXI_MODEL`, settings, else what is found. The second value says what was found.
pub(in crate::app) fn choose(
    app: &App,
    wanted: Option<&str>,
    client: &Client,
    runtime: &Runtime,
    missing: Missing<'_>,
) -> Result<(Arc<dyn Provider>, Option<String>), Failed> {
    let named = wanted.map(str::to_owned).or_else(|| app.config().model.clone());
    let (name, found) = if let Some(name) = named {
        (name, None)
    } else if let Some((name, why)) = found(app, client, runtime, missing)? {
        let said = app.locale.with(word::repl::Found { model: &name, why: &why });
        (name, Some(said))
    } else {
        return Err(Failed::new(no_model(&app.locale), Exit::NotConfigured));
    };
    let provider = connect(app, &name, client, &app.locale);
    provider.map(|provider| (provider, found)).map_err(|problem| Failed::new(problem, Exit::NotConfigured))
}

/// Says that no model was found.
pub(in crate::app) fn no_model(locale: &Locale) -> Problem {
    Problem {
        what: locale.text(word::error::NO_MODEL).to_owned(),
        hint: locale.text(word::error::NO_MODEL_HINT).to_owned(),
    }
}

/// Names the model that would be asked: the `wanted` one, else the one of the settings, else one that is found here.
///
/// # Errors
/// A server that somebody named and that does not answer.
pub(in crate::app) fn name(
    app: &App,
    wanted: Option<&str>,
    client: &Client,
    runtime: &Runtime,
) -> Result<Option<String>, Failed> {
    match wanted.map(str::to_owned).or_else(|| app.config().model.clone()) {
        Some(named) => Ok(Some(named)),
        None => Ok(discover(app, client, runtime)?.map(|(name, _)| name)),
    }
}

/// Names the model that a conversation would be with if it began now; `None` if the person would be asked first.
///
/// # Errors
/// As [`name`].
pub(in crate::app) fn would_be(app: &App, client: &Client, runtime: &Runtime) -> Result<Option<String>, Failed> {
    match app.config().model.clone() {
        Some(named) => Ok(Some(named)),
        None => Ok(found(app, client, runtime, Missing::Tell)?.map(|(name, why)| format!("{name} ({why})"))),
    }
}

/// Connects to a model named `PROVIDER/MODEL`.
///
/// # Errors
/// What is missing, in the user's words.
pub(in crate::app) fn connect(
    app: &App,
    name: &str,
    client: &Client,
    locale: &Locale,
) -> Result<Arc<dyn Provider>, Problem> {
    if let Some(connected) = own::connect(app, name, locale) {
        return connected;
    }
    let resolved = resolve(name, &app.config(), &app.process.variables, locale, &app.asked).or_else(|problem| {
        let settings = without_key(name, &app.config(), &app.process.variables, locale)?;
        let key = app.keys.given(&account(&settings)).ok_or(problem)?;
        Ok(ProviderSettings { key: Some(key), ..settings })
    });
    let mut settings = resolved?;
    let said = app.said.of(&settings, SystemTime::now());
    correct(&mut settings, said, &app.config());
    app.keys.remember(&settings);
    let provider = provider::connect(settings.clone(), client);
    Ok(profiles::keeping(provider, &settings, &app.process.variables))
}

/// Names the place of a key.
pub(in crate::app) fn key_place(app: &App, place: &KeyPlace, locale: &Locale) -> String {
    match place {
        KeyPlace::Variable(variable) => variable.to_string(),
        KeyPlace::Command => "api_key_cmd".to_owned(),
        KeyPlace::Keychain => locale.text(word::doctor::KEYCHAIN).to_owned(),
        KeyPlace::File => key_file(&app.process.variables).map(|path| app.paths.shown(&path)).unwrap_or_default(),
        KeyPlace::Given => locale.text(word::doctor::KEY_GIVEN).to_owned(),
    }
}

/// Lists the models of every provider that has a key or runs here; those that do not answer are left out.
pub(in crate::app) fn all(app: &App, client: &Client, runtime: &Runtime) -> Vec<Listed> {
    let mut all: Vec<Listed> = own::models(app).into_iter().map(Listed::own).collect();
    all.extend(list(&app.config(), &app.process.variables, &app.locale, &app.asked, client, runtime));
    app.said.keep(&all, SystemTime::now());
    all
}
