//! Finding a model where none is named.

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
        // Another address is another server, which has models of its own.
        let elsewhere = row.base_url(&app.process.variables) != row.base_url;
        let listed = if elsewhere { first_model(app, row.name, client, runtime) } else { None };
        let model = listed.unwrap_or_else(|| row.default_model.to_owned());
        let why = app.locale.with(word::repl::FoundKey { variable: found.variable });
        return Some((format!("{}/{model}", row.name), why));
    }
    let cancel = CancellationToken::new();
    let search = provider::discover(&app.process.variables, client, provider::DISCOVERY_LIMIT, &cancel);
    let found = runtime.block_on(search);
    let server = found.servers.first()?;
    let model = server.models.first()?;
    let why = app.locale.with(word::repl::FoundServer { url: &server.base_url });
    Some((format!("{}/{}", server.row.name, model.name), why))
}

fn first_model(app: &App, provider: &str, client: &Client, runtime: &Runtime) -> Option<String> {
    let settings = resolve(&format!("{provider}/any"), &app.config, &app.process.variables, &app.locale).ok()?;
    let list = provider::list_models(&settings, client);
    let list = runtime.block_on(async { tokio::time::timeout(provider::DISCOVERY_LIMIT, list).await });
    Some(list.ok()?.ok()?.into_iter().next()?.name)
}
