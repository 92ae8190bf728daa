//! Finds a model if none is named.

use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::super::context::App;
use super::super::failed::Failed;
use super::resolve::resolve;
use crate::agent::Failure;
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::frontend::words;
use crate::locale::word;
use crate::provider::{self, Client, ProviderError};

/// Finds a model when nothing is configured: a key in the environment, an address there, else a server on this machine
/// that answers within 300 ms. Returns its name and, in the user's words, why.
///
/// # Errors
/// A server that somebody named and that does not answer: another model would get what was meant for it.
pub(in crate::app) fn discover(
    app: &App,
    client: &Client,
    runtime: &Runtime,
) -> Result<Option<(String, String)>, Failed> {
    if let Some(found) = provider::keys_in_environment(&app.process.variables).first() {
        let row = found.row;
        // Another address means another server, with other models.
        let elsewhere = row.base_url(&app.process.variables) != row.base_url;
        let listed = if elsewhere { first_model(app, row.name, client, runtime)? } else { Ok(None) };
        let model = match listed {
            Ok(Some(model)) => model,
            // A slow server has models of its own, and not those of the provider under whose name it is set.
            Err(error @ ProviderError::Timeout { .. }) => return Err(failed(app, &error)),
            // It has no list; what else is wrong is told when it is asked.
            Ok(None) | Err(_) => row.default_model.to_owned(),
        };
        let why = app.locale.with(word::repl::FoundKey { variable: found.variable });
        return Ok(Some((format!("{}/{model}", row.name), why)));
    }
    // An address without a key belongs to the person's own server, which must list its models.
    let mut failure = None;
    let named = provider::TABLE.iter().filter(|row| !row.is_local());
    for row in named.filter(|row| row.base_url(&app.process.variables) != row.base_url) {
        let url = row.base_url(&app.process.variables);
        let problem = match first_model(app, row.name, client, runtime)? {
            Ok(Some(model)) => {
                let why = app.locale.with(word::repl::FoundServer { url: &url });
                return Ok(Some((format!("{}/{model}", row.name), why)));
            }
            Err(
                error @ (ProviderError::Unreachable { .. }
                | ProviderError::Broken { .. }
                | ProviderError::Timeout { .. }
                | ProviderError::Unauthorized { .. }),
            ) => failed(app, &error),
            Ok(None)
            | Err(
                ProviderError::NoSuchModel { .. }
                | ProviderError::ContextOverflow { .. }
                | ProviderError::Status { .. }
                | ProviderError::Protocol { .. },
            ) => {
                let what = app.locale.with(word::error::NoList { url: &url });
                let hint = app.locale.with(word::error::NoListHint { provider: row.name });
                Failed::new(Problem { what, hint }, Exit::Provider)
            }
        };
        failure = failure.or(Some(problem));
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let cancel = CancellationToken::new();
    let search = provider::discover(&app.process.variables, client, provider::DISCOVERY_LIMIT, &cancel);
    let found = runtime.block_on(search);
    let server = found.servers.first().and_then(|server| Some((server, server.models.first()?)));
    Ok(server.map(|(server, model)| {
        let why = app.locale.with(word::repl::FoundServer { url: &server.base_url });
        (format!("{}/{}", server.row.name, model.name), why)
    }))
}

fn failed(app: &App, error: &ProviderError) -> Failed {
    let exit =
        if matches!(error, ProviderError::Unauthorized { .. }) { Exit::NotConfigured } else { Exit::Provider };
    let told = words::failure(&app.locale, &Failure::from(error), words::Speaking::ByFlags);
    Failed::new(Problem { what: told.what, hint: told.hint }, exit)
}

/// How long axi waits for a server that somebody named.
const NAMED_LIMIT: Duration = Duration::from_secs(5);

/// Asks a server that somebody named for the first model of its list.
fn first_model(
    app: &App,
    provider: &str,
    client: &Client,
    runtime: &Runtime,
) -> Result<Result<Option<String>, ProviderError>, Failed> {
    let settings =
        resolve(&format!("{provider}/any"), &app.config(), &app.process.variables, &app.locale, &app.asked)
            .map_err(|problem| Failed::new(problem, Exit::NotConfigured))?;
    let list = provider::list_models(&settings, client);
    let listed = runtime.block_on(async { tokio::time::timeout(NAMED_LIMIT, list).await });
    let listed = listed
        .unwrap_or_else(|_| Err(ProviderError::Timeout { url: settings.base_url.clone(), after: NAMED_LIMIT }));
    Ok(listed.map(|models| models.into_iter().next().map(|model| model.name)))
}
