//! What setting up works with, and what it is about to write.

use tokio::runtime::Runtime;

use super::super::context::App;
use crate::config::Config;
use crate::frontend::dialog::Terminal;
use crate::locale::Locale;
use crate::provider::Client;

/// What setting up works with.
pub(in crate::app) struct Scene<'a> {
    pub(in crate::app) app: &'a App,
    pub(in crate::app) asker: &'a Terminal,
    pub(in crate::app) client: &'a Client,
    pub(in crate::app) runtime: &'a Runtime,
    pub(in crate::app) locale: &'a Locale,
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
