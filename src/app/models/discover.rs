//! Finds a model if none is named.

use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::super::context::App;
use super::resolve::resolve;
use crate::locale::word;
use crate::provider::{self, Client};

/// Finds a model when nothing is configured: a key in the environment, else a server on this machine that answers
/// within 300 ms. Returns its name and, in the user's words, why.
pub(in crate::app) fn discover(app: &App, client: &Client, runtime: &Runtime) -> Option<(String, String)> {
    if let Some(found) = provider::keys_in_environment(&app.process.variables).first() {
        let row = found.row;
        // Another address means another server, with other models.
        let elsewhere = row.base_url(&app.process.variables) != row.base_url;
        let model = match elsewhere.then(|| first_model(app, row.name, client, runtime)) {
            // A slow server has models of its own, and not those of the provider under whose name it is set.
            Some(Listed::NotYet) => return None,
            Some(Listed::First(model)) => model,
            Some(Listed::Unknown) | None => row.default_model.to_owned(),
        };
        let why = app.locale.with(word::repl::FoundKey { variable: found.variable });
        return Some((format!("{}/{model}", row.name), why));
    }
    // An address without a key belongs to the person's own server, which must list its models.
    let named = provider::TABLE.iter().filter(|row| !row.is_local());
    for row in named.filter(|row| row.base_url(&app.process.variables) != row.base_url) {
        if let Listed::First(model) = first_model(app, row.name, client, runtime) {
            let why = app.locale.with(word::repl::FoundServer { url: &row.base_url(&app.process.variables) });
            return Some((format!("{}/{model}", row.name), why));
        }
    }
    let cancel = CancellationToken::new();
    let search = provider::discover(&app.process.variables, client, provider::DISCOVERY_LIMIT, &cancel);
    let found = runtime.block_on(search);
    let server = found.servers.first()?;
    let model = server.models.first()?;
    let why = app.locale.with(word::repl::FoundServer { url: &server.base_url });
    Some((format!("{}/{}", server.row.name, model.name), why))
}

/// The models that a server lists.
enum Listed {
    First(String),
    /// It has no list, or does not answer at all.
    Unknown,
    /// It did not answer in time.
    NotYet,
}

/// How long axi waits for a server that somebody named.
const NAMED_LIMIT: Duration = Duration::from_secs(5);

fn first_model(app: &App, provider: &str, client: &Client, runtime: &Runtime) -> Listed {
    let any = format!("{provider}/any");
    let Ok(settings) = resolve(&any, &app.config, &app.process.variables, &app.locale, &app.asked) else {
        return Listed::Unknown;
    };
    let list = provider::list_models(&settings, client);
    match runtime.block_on(async { tokio::time::timeout(NAMED_LIMIT, list).await }) {
        Err(_) => Listed::NotYet,
        Ok(listed) => {
            let first = listed.ok().and_then(|models| models.into_iter().next());
            first.map_or(Listed::Unknown, |model| Listed::First(model.name))
        }
    }
}
