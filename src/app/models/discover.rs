//! Finding a model where none is named.

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
        // Another address is another server, which has models of its own.
        let elsewhere = row.base_url(&app.process.variables) != row.base_url;
        let model = match elsewhere.then(|| first_model(app, row.name, client, runtime)) {
            // A server that is slow to tell has other models than the provider whose name it answers to.
            Some(Listed::NotYet) => return None,
            Some(Listed::First(model)) => model,
            Some(Listed::Unknown) | None => row.default_model.to_owned(),
        };
        let why = app.locale.with(word::repl::FoundKey { variable: found.variable });
        return Some((format!("{}/{model}", row.name), why));
    }
    // An address without a key: a server of one's own, which has to say what it has.
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

/// What a server says it has.
enum Listed {
    First(String),
    /// It keeps no list, or does not answer at all.
    Unknown,
    /// It has not answered in time.
    NotYet,
}

/// How long a server that somebody named is waited for.
const NAMED_LIMIT: Duration = Duration::from_secs(5);

fn first_model(app: &App, provider: &str, client: &Client, runtime: &Runtime) -> Listed {
    let any = format!("{provider}/any");
    let Ok(settings) = resolve(&any, &app.config, &app.process.variables, &app.locale) else {
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
