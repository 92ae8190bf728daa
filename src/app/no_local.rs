//! What stands for the model inside of axi where it was left out when axi was built.

use std::sync::Arc;

use tokio::runtime::Runtime;

use super::Base;
use super::console::Console;
use super::setup::{Failed, left_out};
use super::suggest::LineConnector;
use crate::cli::LocalAction;
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::locale::Locale;
use crate::provider::{Client, Provider};

pub(super) fn connect(base: &Base, name: &str, locale: &Locale) -> Option<Result<Arc<dyn Provider>, Problem>> {
    let wanted = name.starts_with("local/") && !base.config.providers.contains_key("local");
    wanted.then(|| Err(left_out(locale)))
}

pub(super) fn line_connector(_base: &Base, _name: &str) -> Option<LineConnector> {
    None
}

pub(super) const fn models(_base: &Base) -> Vec<String> {
    Vec::new()
}

pub(super) fn lister(_base: &Base) -> impl Fn() -> Vec<String> + Send + Sync + use<> {
    Vec::new
}

pub(super) const fn find_or_offer(
    _base: &Base,
    _client: &Client,
    _runtime: &Runtime,
) -> Result<Option<(String, String)>, Failed> {
    Ok(None)
}

pub(super) fn command(base: &Base, _action: &LocalAction) -> Exit {
    Console::new(&base.locale).fail(&left_out(&base.locale));
    Exit::NotConfigured
}
