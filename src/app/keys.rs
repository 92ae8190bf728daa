//! The keys of providers, so that none is written anywhere.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::process::Variables;
use crate::config::Config;
use crate::provider::{self, ProviderSettings, Secret};
use crate::secret::{Known, is_secret_name};

/// The value of a header counts as secret from this many bytes on.
const SHORTEST_SECRET: usize = 16;

/// Keys that were found elsewhere than in the environment.
#[derive(Default)]
pub(super) struct Keys {
    found: RefCell<Vec<String>>,
    /// Keys for this run alone, by the name under which they would be stored.
    given: RefCell<BTreeMap<String, Secret>>,
}

impl Keys {
    /// Remembers the key that was found for a provider.
    pub(super) fn remember(&self, settings: &ProviderSettings) {
        let headers = settings.gateway.headers.iter().map(|(_, value)| value).filter(|value| {
            // A short word that occurs in many texts is no secret.
            value.expose().len() >= SHORTEST_SECRET
        });
        self.found.borrow_mut().extend(settings.key.iter().chain(headers).map(|key| key.expose().to_owned()));
    }

    /// Names the variable that holds a provider's key: the one in the settings, else the provider's usual one, else
    /// `NAME_API_KEY`.
    pub(super) fn variable(provider: &str, config: &Config) -> String {
        let own = config.providers.get(provider).and_then(|section| section.api_key_env.clone());
        let usual = || provider::find(provider)?.key_variables.first().map(|name| (*name).to_owned());
        own.or_else(usual).unwrap_or_else(|| {
            let name = provider.to_ascii_uppercase();
            name.replace(|character: char| !character.is_ascii_alphanumeric(), "_") + "_API_KEY"
        })
    }

    /// Takes a key that the person gave and wants to keep nowhere.
    pub(super) fn give(&self, account: String, key: Secret) {
        self.given.borrow_mut().insert(account, key);
    }

    /// Returns such a key.
    pub(super) fn given(&self, account: &str) -> Option<Secret> {
        self.given.borrow().get(account).cloned()
    }

    /// The variables that hold keys of providers.
    pub(super) fn names(config: &Config) -> impl Iterator<Item = String> {
        let table = provider::TABLE.iter();
        let usual = table.clone().flat_map(|row| row.key_variables.iter().map(|name| (*name).to_owned()));
        let read = table.map(|row| row.name).chain(config.providers.keys().map(String::as_str));
        usual.chain(read.map(|name| Self::variable(name, config)))
    }

    /// Lists every key in the environment, and those that were found elsewhere.
    pub(super) fn all(&self, config: &Config, variables: Variables) -> impl Iterator<Item = String> {
        Self::names(config).filter_map(move |name| variables(&name)).chain(self.found.borrow().clone())
    }

    /// Collects all of these keys, and the values of variables whose names say that they are secret.
    pub(super) fn known(&self, config: &Config, variables: Variables) -> Known {
        let named = std::env::vars_os().filter_map(|(name, value)| {
            let is_secret = name.to_str().is_some_and(is_secret_name);
            value.into_string().ok().filter(|_| is_secret)
        });
        Known::new(self.all(config, variables).chain(named))
    }
}
