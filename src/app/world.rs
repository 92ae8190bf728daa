//! What slash commands ask of everything outside the agent; and finding a model when nothing is configured.

use std::rc::Rc;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::keychain::{self, KeychainError};
use super::suggest::GhostUsage;
use super::{Base, local, models, report, rules};
use crate::approval::{Decision, Rule};
use crate::command::{KeyAction, Problem, World};
use crate::config;
use crate::conversation::Usage;
use crate::locale::{Locale, word};
use crate::provider::{self, Client, Provider, connect};
use crate::session::SessionStore;

/// The outside of a REPL.
pub(super) struct Outside {
    base: Rc<Base>,
    client: Client,
    runtime: Rc<Runtime>,
    ghost: GhostUsage,
}

impl Outside {
    pub(super) const fn new(base: Rc<Base>, client: Client, runtime: Rc<Runtime>, ghost: GhostUsage) -> Self {
        Self { base, client, runtime, ghost }
    }
}

impl World for Outside {
    fn connect(&mut self, model: &str, locale: &Locale) -> Result<Arc<dyn Provider>, Problem> {
        if let Some(connected) = local::connect(&self.base, model, locale) {
            return connected;
        }
        let settings = models::resolve(model, &self.base.config, &self.base.variables, locale)?;
        self.base.keep_out(&settings);
        Ok(connect(settings, &self.client))
    }

    fn models(&mut self) -> Vec<String> {
        report::all_models(&self.base, &self.client, &self.runtime)
    }

    fn providers(&self) -> Vec<String> {
        models::names(&self.base.config)
    }

    fn remember(&mut self, key: &str, value: &str, locale: &Locale) -> Result<(), Problem> {
        let Some(path) = self.base.paths.settings() else {
            return Err(Problem { what: locale.text(word::error::NO_CONFIG_DIR).to_owned(), hint: String::new() });
        };
        config::set(&path, key, value).map_err(|error| Problem {
            what: locale.with(word::said::NotSaved { cause: &error.to_string() }),
            hint: String::new(),
        })
    }

    fn ghost_usage(&self) -> Usage {
        self.ghost.get()
    }

    fn keep_rule(&mut self, decision: Decision, rule: &Rule, locale: &Locale) -> Result<String, Problem> {
        rules::keep(&self.base, decision, rule, locale)
    }

    fn forget_rule(&mut self, decision: Decision, rule: &Rule, locale: &Locale) -> Result<(), Problem> {
        rules::forget(&self.base, decision, rule, locale)
    }

    fn sessions(&self) -> Option<SessionStore> {
        self.base.sessions()
    }

    fn keychain(&mut self, action: KeyAction, provider: &str, locale: &Locale) -> Result<String, Problem> {
        change_key(&self.base, action, provider, locale)
    }

    fn doctor(&mut self, locale: &Locale) -> String {
        report::doctor_text(&self.base, locale)
    }
}

/// Stores or removes a provider's key.
pub(super) fn change_key(
    base: &Base,
    action: KeyAction,
    provider: &str,
    locale: &Locale,
) -> Result<String, Problem> {
    if !models::names(&base.config).iter().any(|name| name == provider) {
        let known = models::names(&base.config).join(", ");
        return Err(Problem {
            what: locale.with(word::error::UnknownProvider { provider }),
            hint: locale.with(word::error::UnknownProviderHint { known: &known, provider }),
        });
    }
    let done = match action {
        KeyAction::Store(key) if key.trim().is_empty() => {
            return Err(Problem { what: locale.text(word::error::EMPTY_KEY).to_owned(), hint: String::new() });
        }
        KeyAction::Store(key) => {
            keychain::store(provider, key.trim()).map(|()| locale.with(word::said::LoginDone { provider }))
        }
        KeyAction::Remove => keychain::remove(provider).map(|was| {
            if was {
                locale.with(word::said::LogoutDone { provider })
            } else {
                locale.with(word::said::LogoutNone { provider })
            }
        }),
    };
    done.map_err(|error| {
        let variable = provider::find(provider).and_then(|row| row.key_variables.first().copied());
        let variable = variable.map_or_else(|| format!("{}_API_KEY", provider.to_uppercase()), str::to_owned);
        Problem {
            what: locale.with(word::error::Keychain { cause: &keychain_cause(locale, &error) }),
            hint: locale.with(word::error::KeychainHint { variable: &variable }),
        }
    })
}

/// Words why the keychain did not do it.
pub(super) fn keychain_cause(locale: &Locale, error: &KeychainError) -> String {
    match error {
        KeychainError::Off => locale.text(word::said::KEYCHAIN_NONE).to_owned(),
        KeychainError::Silent => locale.text(word::said::KEYCHAIN_SILENT).to_owned(),
        KeychainError::Refused(cause) => cause.clone(),
    }
}

/// Finds a model when nothing is configured: a key in the environment, else a server on this machine that answers
/// within 300 ms. Returns its name and, in the user's words, why.
pub(super) fn discover(base: &Base, client: &Client, runtime: &Runtime) -> Option<(String, String)> {
    if let Some(found) = provider::keys_in_environment(&base.variables).first() {
        let row = found.row;
        // Another address is another server, which has models of its own.
        let elsewhere = row.base_url(&base.variables) != row.base_url;
        let listed = if elsewhere { first_model(base, row.name, client, runtime) } else { None };
        let model = listed.unwrap_or_else(|| row.default_model.to_owned());
        let why = base.locale.with(word::repl::FoundKey { variable: found.variable });
        return Some((format!("{}/{model}", row.name), why));
    }
    let cancel = CancellationToken::new();
    let search = provider::discover(&base.variables, client, provider::DISCOVERY_LIMIT, &cancel);
    let found = runtime.block_on(search);
    let server = found.servers.first()?;
    let model = server.models.first()?;
    let why = base.locale.with(word::repl::FoundServer { url: &server.base_url });
    Some((format!("{}/{}", server.row.name, model.name), why))
}

fn first_model(base: &Base, provider: &str, client: &Client, runtime: &Runtime) -> Option<String> {
    let settings = models::resolve(&format!("{provider}/any"), &base.config, &base.variables, &base.locale).ok()?;
    let list = provider::list_models(&settings, client);
    let list = runtime.block_on(async { tokio::time::timeout(provider::DISCOVERY_LIMIT, list).await });
    Some(list.ok()?.ok()?.into_iter().next()?.name)
}
