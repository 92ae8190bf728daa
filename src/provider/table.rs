//! The providers axi knows by name, one row each. Data; the only logic is reading a row.

use super::address::{self, is_loopback};
use super::catalogue::{self, Abilities, Known};
use super::settings::{
    CallIds, Gateway, OutputLimit, Protocol, ProviderSettings, Quirks, ReasoningEcho, ResultPictures, Secret,
};
use crate::conversation::{Money, Price};

/// How to look a variable of the environment up; blank values count as unset.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// One provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The name in `PROVIDER/MODEL`.
    pub name: &'static str,
    /// Its wire.
    pub protocol: Protocol,
    /// The wire at the provider's own address, where servers that imitate it speak another one.
    pub at_home: Option<Protocol>,
    /// Its address when nothing else is said.
    pub base_url: &'static str,
    /// Variables that name another address, first found wins.
    pub base_url_variables: &'static [&'static str],
    /// Variables that hold the key, first found wins; empty when it needs none.
    pub key_variables: &'static [&'static str],
    /// The model to start with; empty when the server must be asked.
    pub default_model: &'static str,
    /// Fields that each address has.
    pub query: &'static [(&'static str, &'static str)],
    /// The path at which a key is checked, where the list of models needs no key.
    pub key_check: &'static str,
    /// What one search by the provider costs in dollars, by its price list of autumn 2026; empty where that is
    /// unknown.
    pub search_price: &'static str,
    /// The command that starts it, where it is a server of this machine that needs nothing else; empty otherwise.
    pub start: &'static [&'static str],
    /// Where the server departs from its protocol.
    pub quirks: Quirks,
}

/// What the most imitators accept.
const PLAIN: Quirks = Quirks {
    call_ids: CallIds::Usual,
    reasoning_echo: ReasoningEcho::WithCalls,
    output_limit: OutputLimit::MaxTokens,
    result_pictures: ResultPictures::Behind,
};

/// All rows, in the order in which a key in the environment is preferred; local servers last. They stand in
/// `providers.json`, which the build lays out.
pub const TABLE: &[Row] = include!(concat!(env!("OUT_DIR"), "/providers.rs"));

/// Finds a row by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

fn lookup(environment: &Environment<'_>, names: &[&'static str]) -> Option<(&'static str, String)> {
    names.iter().find_map(|name| {
        let value = environment(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| (*name, value.to_owned()))
    })
}

impl Row {
    /// Tells whether its usual address is on this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        is_loopback(self.base_url)
    }

    /// Finds the key in the environment: the variable's name and the key.
    #[must_use]
    pub fn key(&self, environment: &Environment<'_>) -> Option<(&'static str, Secret)> {
        lookup(environment, self.key_variables).map(|(name, key)| (name, Secret::new(key)))
    }

    /// Returns its address, from the environment if that names one, brought into one form.
    #[must_use]
    pub fn base_url(&self, environment: &Environment<'_>) -> String {
        match lookup(environment, self.base_url_variables) {
            Some(("OLLAMA_HOST", host)) => address::ollama_host(&host),
            // The address of a resource as Azure shows it; the wire's path has to be added.
            Some(("AZURE_OPENAI_ENDPOINT", url)) if !url.contains("/openai/") => {
                address::base_url(self.protocol, &format!("{}/openai/v1", url.trim_end_matches('/')))
            }
            Some((_, url)) => address::base_url(self.protocol, &url),
            None => self.base_url.to_owned(),
        }
    }

    /// Tells whether an address is the provider's own, in whatever region.
    #[must_use]
    pub fn is_home(&self, base_url: &str) -> bool {
        let regional = |url: &str| {
            let host = url.strip_prefix("https://bedrock-runtime.")?;
            Some(host.strip_suffix(".amazonaws.com")?.to_owned())
        };
        base_url == self.base_url || (regional(self.base_url).is_some() && regional(base_url).is_some())
    }

    /// The address in the region that the environment names, for a provider with one address a region.
    fn in_region(&self, environment: &Environment<'_>) -> String {
        match lookup(environment, &["AWS_REGION", "AWS_DEFAULT_REGION"]) {
            Some((_, region)) if self.protocol == Protocol::Bedrock => {
                format!("https://bedrock-runtime.{region}.amazonaws.com")
            }
            Some(_) | None => self.base_url.to_owned(),
        }
    }

    /// What a model can do; what answers on this machine by itself costs nothing.
    fn abilities(&self, known: Option<Known>, base_url: &str) -> Abilities {
        let mut abilities = known.map(|known| known.abilities).unwrap_or_default();
        // The price of a search at a server that imitates it is unknown.
        if let Some(price) = abilities.price.as_mut().filter(|_| self.is_home(base_url)) {
            price.search = self.search_price.parse().ok().map(Money::dollars);
        }
        if self.is_local() && self.key_variables.is_empty() {
            abilities.price = Some(Price::free());
        }
        abilities
    }

    /// Makes the settings of one of its models; an empty name takes the default model.
    #[must_use]
    pub fn settings(&self, model: &str, key: Option<Secret>, environment: &Environment<'_>) -> ProviderSettings {
        let model = if model.is_empty() { self.default_model } else { model };
        let known = catalogue::find(self.name, model);
        let mut quirks = self.quirks;
        let base_url = self.base_url(environment);
        let base_url = if base_url == self.base_url { self.in_region(environment) } else { base_url };
        let at_home = self.at_home.filter(|_| base_url == self.base_url);
        // OPENAI_BASE_URL at a local server: `max_tokens` is the field that all imitators know.
        if !self.is_home(&base_url) && quirks.output_limit == OutputLimit::MaxCompletionTokens {
            quirks = PLAIN;
        }
        // Such a model refuses tools on the other wire, also behind a gateway.
        let responses = known.as_ref().is_some_and(|known| known.abilities.tools_on_responses);
        let protocol = at_home.unwrap_or(self.protocol);
        let protocol = match protocol {
            Protocol::OpenAiChat if responses => Protocol::OpenAiResponses,
            other => other,
        };
        let (context_window, vision) = (
            known.as_ref().and_then(|known| known.context_window),
            known.as_ref().is_some_and(|known| known.vision),
        );
        let abilities = self.abilities(known, &base_url);
        ProviderSettings {
            name: self.name.to_owned(),
            protocol,
            base_url,
            key,
            model: model.to_owned(),
            context_window,
            tools: true,
            vision,
            quirks,
            abilities,
            gateway: Gateway {
                query: self.query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
                ..Gateway::default()
            },
            search: false,
            stored: false,
            long_cache: false,
            profile: Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
