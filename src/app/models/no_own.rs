//! Takes the place of axi's own model in a build without it.

use std::sync::Arc;

use tokio::runtime::Runtime;

use super::super::context::App;
use super::super::failed::Failed;
use super::super::left_out::left_out;
use super::missing::{FirstRequest, Missing};
use crate::command::Problem;
use crate::locale::Locale;
use crate::provider::{Client, Provider};

/// Connects to a model in this process when it is first wanted.
pub(in crate::app) type LineConnector = Box<dyn Fn() -> Option<Arc<dyn Provider>> + Send>;

pub(in crate::app) fn connect(
    app: &App,
    name: &str,
    locale: &Locale,
) -> Option<Result<Arc<dyn Provider>, Problem>> {
    let wanted = name.starts_with("local/") && !app.config().providers.contains_key("local");
    wanted.then(|| Err(left_out(locale)))
}

pub(in crate::app) fn line_connector(_base: &App, _name: &str) -> Option<LineConnector> {
    None
}

pub(in crate::app) fn models(_base: &App) -> Vec<String> {
    Vec::new()
}

pub(in crate::app) fn lister(_base: &App) -> impl Fn() -> Vec<String> + Send + Sync + use<> {
    Vec::new
}

#[expect(clippy::unnecessary_wraps, reason = "the model inside of axi may fail")]
pub(in crate::app) fn find_or_offer(
    _base: &App,
    _client: &Client,
    _runtime: &Runtime,
    _missing: Missing<'_>,
) -> Result<Option<(String, String)>, Failed> {
    Ok(None)
}

pub(in crate::app) fn fetch_own(
    app: &App,
    _name: &str,
    _client: &Client,
    _runtime: &Runtime,
    _first: FirstRequest<'_>,
) -> Result<String, Failed> {
    Err(Failed::new(left_out(&app.locale), crate::frontend::exit::Exit::NotConfigured))
}
