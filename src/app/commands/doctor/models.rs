//! The model in use, the keys that were found (never their values), and whether providers answer.

use std::time::{Duration, Instant};

use super::super::super::answers::{self, keychain_cause};
use super::super::super::context::App;
use super::super::super::failed::{Failed, runtime};
use super::super::super::models;
use super::super::check::Check;
#[cfg(feature = "local")]
use super::own::own;
use super::page::Means;
use crate::agent::Failure;
use crate::frontend::words::{self, Speaking};
use crate::locale::{Locale, word};
use crate::provider::{self, KeyPlace, ProviderSettings};
use tokio_util::sync::CancellationToken;

/// How long a provider may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn checks(app: &App, model: Option<&str>, locale: &Locale, means: Means) -> Vec<Check> {
    let name = |key| locale.text(key);
    let mut checks = vec![in_use(app, model, locale, means)];
    let keys = models::keys(&app.config(), &app.process.variables, locale, &app.asked);
    for (provider, found) in &keys {
        let place = models::key_place(app, found, locale);
        checks.push(Check::good(&locale.with(word::doctor::KeyOf { provider }), place));
    }
    if keys.is_empty() {
        checks.push(Check::good(name(word::doctor::KEYS), name(word::doctor::KEYS_NONE)));
    }
    checks.push(Check::good(
        name(word::doctor::KEYCHAIN),
        match answers::find("axi-doctor") {
            Ok(_) => name(word::doctor::WORKS).to_owned(),
            Err(error) => locale.with(word::doctor::KeychainRefused { cause: &keychain_cause(locale, &error) }),
        },
    ));
    checks.extend(servers(app, locale));
    checks.extend(own(app, model, locale));
    if means == Means::Call {
        checks.extend(answers(app, &keys, locale));
    }
    checks
}

/// The model that is asked, or would be.
fn in_use(app: &App, model: Option<&str>, locale: &Locale, means: Means) -> Check {
    let name = locale.text(word::doctor::MODEL);
    if let Some(model) = model {
        return Check::good(name, model);
    }
    // A server that somebody named is asked for its models, and that is a call.
    let address = |row: &&provider::Row| !row.is_local() && row.base_url(&app.process.variables) != row.base_url;
    if let Some(row) = provider::TABLE.iter().find(address).filter(|_| means != Means::Call)
        && app.config().model.is_none()
    {
        let url = row.base_url(&app.process.variables);
        return Check::good(name, locale.with(word::doctor::ModelOfServer { url: &url }));
    }
    let client = models::client(&app.config(), &app.process.variables);
    let found = runtime(locale).and_then(|runtime| models::would_be(app, &client, &runtime));
    match found {
        Ok(Some(found)) => Check::good(name, found),
        Ok(None) => Check::bad(name, locale.text(word::doctor::MISSING), locale.text(word::doctor::NO_MODEL_HINT)),
        Err(Failed { problem, .. }) => Check::bad(name, problem.what, problem.hint),
    }
}

/// Servers on this machine.
fn servers(app: &App, locale: &Locale) -> Vec<Check> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return Vec::new() };
    let client = models::client(&app.config(), &app.process.variables);
    let cancel = CancellationToken::new();
    let search = provider::discover(&app.process.variables, &client, provider::DISCOVERY_LIMIT, &cancel);
    let found = runtime.block_on(search).servers;
    let row = |server: provider::FoundServer| {
        let count = locale.with(word::doctor::ModelsOf { count: &server.models.len().to_string() });
        Check::good(server.row.name, format!("{} · {count}", server.base_url))
    };
    found.into_iter().map(row).collect()
}

#[cfg(not(feature = "local"))]
fn own(_: &App, _: Option<&str>, locale: &Locale) -> Vec<Check> {
    vec![Check::good(locale.text(word::doctor::OWN_MODEL), locale.text(word::local::LEFT_OUT))]
}

/// Calls each provider that has a key, all at once.
fn answers(app: &App, keys: &[(String, KeyPlace)], locale: &Locale) -> Vec<Check> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return Vec::new() };
    let (config, client) = (app.config(), models::client(&app.config(), &app.process.variables));
    let resolved: Vec<(String, Result<ProviderSettings, _>)> = keys
        .iter()
        .map(|(name, _)| {
            (
                name.clone(),
                models::resolve(&format!("{name}/any"), &config, &app.process.variables, locale, &app.asked),
            )
        })
        .collect();
    let calls = resolved.into_iter().map(|(name, settings)| {
        let client = &client;
        async move {
            let label = locale.with(word::doctor::CallOf { provider: &name });
            let settings = match settings {
                Ok(settings) => settings,
                Err(problem) => return Check::bad(&label, problem.what, problem.hint),
            };
            let begun = Instant::now();
            let answer = tokio::time::timeout(PATIENCE, provider::check_key(&settings, client)).await;
            match answer {
                Ok(Ok(())) => {
                    let milliseconds = &begun.elapsed().as_millis().to_string();
                    Check::good(&label, locale.with(word::doctor::Answered { milliseconds }))
                }
                Ok(Err(error)) => {
                    let told = words::failure(locale, &Failure::from(&error), Speaking::ByFlags);
                    Check::bad(&label, told.what, told.hint)
                }
                Err(_) => Check::bad(
                    &label,
                    locale.text(word::doctor::NO_ANSWER),
                    locale.text(word::doctor::NETWORK_HINT),
                ),
            }
        }
    });
    runtime.block_on(futures_util::future::join_all(calls))
}
