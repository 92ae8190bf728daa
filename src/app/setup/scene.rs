//! What setting up works with, and what it is about to write.

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::super::context::App;
use crate::config::Config;
use crate::frontend::dialog::{NoChoice, Terminal};
use crate::locale::Locale;
use crate::provider::Client;
use crate::terminal::{KeyWatch, Pending, escape_wait};

/// What setting up works with.
pub(in crate::app) struct Scene<'a> {
    pub(in crate::app) app: &'a App,
    pub(in crate::app) asker: &'a Terminal,
    pub(in crate::app) client: &'a Client,
    pub(in crate::app) runtime: &'a Runtime,
    pub(in crate::app) locale: &'a Locale,
}

impl Scene<'_> {
    /// Waits for what is asked elsewhere. The terminal is axi's meanwhile, and sends no signals: the keys that stop are
    /// listened for, and what else is typed answers no question that is not there yet.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T, NoChoice> {
        let Self { asker, runtime, .. } = self;
        let cancel = CancellationToken::new();
        let watch = |_| KeyWatch::start(cancel.clone(), Pending::default(), escape_wait(true)).ok();
        let keys = asker.tty.as_ref().and_then(watch);
        asker.signals.watch(Some(cancel.clone()));
        let done = runtime.block_on(cancel.run_until_cancelled(work));
        asker.signals.watch(None);
        let pressed = keys.map(KeyWatch::stop).unwrap_or_default();
        let stopped = if pressed.escaped.is_some() { NoChoice::Escaped } else { NoChoice::Interrupted };
        done.ok_or(stopped)
    }
}

/// What is written at the end.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    /// The provider's name.
    pub(super) provider: String,
    /// What its section says, below `providers.NAME`.
    pub(super) section: Vec<(&'static str, String)>,
    /// The model that was meant; another can be chosen.
    pub(super) model: Option<String>,
}

impl Plan {
    /// The settings as they would be.
    pub(super) fn config(&self, app: &App) -> Config {
        let mut config = (*app.config()).clone();
        if !self.section.is_empty() {
            let section = config.providers.entry(self.provider.clone()).or_default();
            for (name, value) in &self.section {
                let value = Some(value.clone());
                match *name {
                    "base_url" => section.base_url = value,
                    "protocol" => section.protocol = value,
                    "api_key_env" => section.api_key_env = value,
                    _ => section.api_key_cmd = value,
                }
            }
        }
        config
    }
}
