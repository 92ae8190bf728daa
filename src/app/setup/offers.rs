//! What there is to choose from, found on this machine.

use tokio_util::sync::CancellationToken;

use super::super::context::App;
use super::super::models;
use super::imports::{self, Import, ImportedKey};
use super::scene::{Plan, Scene};
use super::start;
use crate::locale::{Locale, word};
use crate::provider::{self, FoundServer, KeyPlace};

/// Something that can answer, or a way to it.
#[derive(Debug, Clone)]
pub(super) enum Offer {
    /// A provider with a key.
    Key { provider: String, found: KeyPlace },
    /// A server on this machine.
    Server(FoundServer),
    /// A server that is installed here and does not answer.
    Start(&'static provider::Row),
    /// What another agent asks.
    Import(Import),
    /// axi's own model.
    #[cfg_attr(not(feature = "local"), expect(dead_code, reason = "there is none in this build"))]
    Own { name: String, size: String, licence: &'static str, tokens: String },
    /// A provider whose key has to be given.
    Other,
    /// A server whose address has to be given.
    Elsewhere,
    /// No model: the person chooses one later.
    NotNow,
}

/// A file of another agent is no longer than this, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Looks for everything; takes no longer than local servers may take to answer.
pub(super) fn offers(scene: &Scene<'_>) -> Vec<Offer> {
    let Scene { app, client, runtime, locale, .. } = scene;
    let config = app.config();
    let keys = models::keys(&config, &app.process.variables, locale, &app.asked);
    let keys = keys.into_iter().map(|(provider, found)| Offer::Key { provider, found });
    let cancel = CancellationToken::new();
    let search = provider::discover(&app.process.variables, client, provider::DISCOVERY_LIMIT, &cancel);
    let servers = runtime.block_on(search).servers;
    let sleeping = start::sleeping(&servers, &app.process.variables).into_iter().map(Offer::Start);
    let servers = servers.into_iter().map(Offer::Server);
    let read = |path: &std::path::Path| {
        let small = path.metadata().is_ok_and(|file| file.is_file() && file.len() <= LARGEST);
        small.then(|| std::fs::read_to_string(path).ok()).flatten()
    };
    let imports = app.paths.home.as_deref().map(|home| imports::all(home, &read)).unwrap_or_default();
    let imports = imports.into_iter().map(Offer::Import);
    let mut offers: Vec<Offer> = keys.chain(servers).chain(imports).collect();
    offers.extend(sleeping);
    offers.extend(own(app));
    offers.extend([Offer::Other, Offer::Elsewhere, Offer::NotNow]);
    offers
}

#[cfg(feature = "local")]
fn own(app: &App) -> Vec<Offer> {
    let speed = models::speed(app);
    let row = |weights: &provider::local::Weights| Offer::Own {
        name: format!("{}/{}", provider::local::NAME, weights.name),
        size: models::megabytes(weights.size),
        licence: weights.licence,
        tokens: models::tokens(app, speed, weights),
    };
    let (available, places) = (models::available(), models::places(app));
    // What is here is not measured against what is worth fetching.
    let mut rows = models::fitting(available);
    rows.retain(|weights| provider::local::find(weights, &places).is_some());
    for weights in models::offered(available, speed) {
        if !rows.contains(&weights) {
            rows.push(weights);
        }
    }
    rows.into_iter().map(row).collect()
}

#[cfg(not(feature = "local"))]
const fn own(_app: &App) -> Vec<Offer> {
    Vec::new()
}

/// The providers that want a key.
pub(super) fn with_keys() -> Vec<String> {
    let rows = provider::TABLE.iter().filter(|row| !row.is_local() && !row.base_url.is_empty());
    rows.filter(|row| !row.key_variables.is_empty()).map(|row| row.name.to_owned()).collect()
}

/// What taking over the settings of another agent would write; `None` where they name no provider of any kind.
pub(super) fn plan_of(import: &Import) -> Option<Plan> {
    let mut section = Vec::new();
    if let Some((url, protocol)) = &import.address {
        section.push(("protocol", protocol.name().to_owned()));
        section.push(("base_url", url.clone()));
    } else {
        provider::find(&import.provider)?;
    }
    let is_usual = |variable: &String| {
        provider::find(&import.provider).is_some_and(|row| row.key_variables.contains(&variable.as_str()))
    };
    match &import.key {
        ImportedKey::Variable(variable) if !is_usual(variable) => section.push(("api_key_env", variable.clone())),
        ImportedKey::Command(command) => section.push(("api_key_cmd", command.clone())),
        ImportedKey::Variable(_) | ImportedKey::File(..) | ImportedKey::Unknown => {}
    }
    Some(Plan { provider: import.provider.clone(), section, model: import.model.clone() })
}

impl Offer {
    /// The offer as a row of the menu.
    pub(super) fn words(&self, app: &App, locale: &Locale) -> String {
        match self {
            Self::Key { provider, found } => {
                let place = models::key_place(app, found, locale);
                locale.with(word::setup::Key { provider, place: &place })
            }
            Self::Server(server) => {
                let shown: Vec<String> = server.models.iter().take(2).map(sized).collect();
                let more = server.models.len().saturating_sub(shown.len());
                let more = if more > 0 { format!(" +{more}") } else { String::new() };
                let (name, url) = (server.row.name, server.base_url.as_str());
                locale.with(word::setup::Server { name, url, models: &(shown.join(", ") + &more) })
            }
            Self::Import(import) => {
                let model = import.model.as_deref().unwrap_or("…");
                let model = &format!("{}/{model}", import.provider);
                locale.with(word::setup::Import {
                    agent: import.agent,
                    model,
                    file: &app.paths.shown(&import.file),
                })
            }
            Self::Start(row) => locale.with(word::setup::Start { name: row.name, command: &row.start.join(" ") }),
            Self::Own { name, size, licence, tokens } => {
                locale.with(word::setup::Own { model: name, size, licence, tokens })
            }
            Self::Other => locale.text(word::setup::OTHER).to_owned(),
            Self::Elsewhere => locale.text(word::setup::ELSEWHERE).to_owned(),
            Self::NotNow => locale.text(word::setup::NOT_NOW).to_owned(),
        }
    }
}

/// A model of a server, with its size where the server tells it.
fn sized(model: &provider::ModelEntry) -> String {
    let size = model.size.map(|size| format!(" ({})", models::megabytes(size)));
    format!("{}{}", model.name, size.unwrap_or_default())
}
