//! What is known of a model: what the person says of it, above what its server says, above the catalogue.

use serde_json::{Value, json};

use crate::config::Config;
use crate::conversation::{Money, Price};
use crate::fingerprint::fingerprint;
use crate::frontend::repl::ModelGroup;
use crate::locale::{Locale, word};
use crate::provider::catalogue::Effort;
use crate::provider::{self, ModelEntry, ProviderSettings};

/// What somebody says of a model, as far as they say it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::app) struct Facts {
    /// Unit: tokens.
    pub(in crate::app) window: Option<u64>,
    pub(in crate::app) tools: Option<bool>,
    pub(in crate::app) vision: Option<bool>,
}

impl Facts {
    /// What the person says in the settings.
    pub(in crate::app) fn of_settings(config: &Config, provider: &str, model: &str) -> Self {
        let said = config.providers.get(provider).and_then(|section| section.models.get(model));
        said.map_or_else(Self::default, |said| Self {
            window: said.context_window,
            tools: said.tools,
            vision: said.vision,
        })
    }

    const fn of_server(entry: &ModelEntry) -> Self {
        Self { window: entry.context_window, tools: entry.tools, vision: entry.vision }
    }

    /// These, and of what they leave out, those.
    pub(in crate::app) fn above(self, those: Self) -> Self {
        Self {
            window: self.window.or(those.window),
            tools: self.tools.or(those.tools),
            vision: self.vision.or(those.vision),
        }
    }
}

/// A server, by its address: another one under the same name has other models. The address itself may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::app) struct Server(pub(super) u64);

impl Server {
    pub(in crate::app) fn of(settings: &ProviderSettings) -> Self {
        Self(fingerprint(settings.base_url.bytes()))
    }
}

/// A model that can be asked, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct Listed {
    /// `PROVIDER/MODEL`.
    pub(in crate::app) id: String,
    pub(in crate::app) group: ModelGroup,
    facts: Facts,
    /// What its own server says.
    pub(in crate::app) said: Facts,
    efforts: Vec<Effort>,
    thinks: bool,
    price: Option<Price>,
    /// The day of what the catalogue says, as `YYYYMMDD`.
    as_of: Option<u32>,
    /// The server that lists it.
    pub(in crate::app) server: Option<Server>,
}

impl Listed {
    /// A model that a server lists; `settings` are of any model of it.
    pub(in crate::app) fn of_server(settings: &ProviderSettings, entry: &ModelEntry, config: &Config) -> Self {
        let (name, model, said) = (&settings.name, &entry.name, Facts::of_server(entry));
        let listed = Self::of_catalogue(name, model, config, provider::is_loopback(&settings.base_url));
        let facts = Facts::of_settings(config, name, model).above(said).above(listed.facts);
        Self { facts, said, server: Some(Server::of(settings)), ..listed }
    }

    /// A model of which no server has said anything.
    pub(in crate::app) fn of_catalogue(provider: &str, model: &str, config: &Config, local: bool) -> Self {
        let row = provider::find(provider);
        let known = row.and_then(|_| provider::catalogue::find(provider, model));
        let free = row.is_some_and(|row| row.is_local() && row.key_variables.is_empty()).then(Price::free);
        let said = config.providers.get(provider).and_then(|section| section.models.get(model));
        let catalogued = known.as_ref().map_or_else(Facts::default, |known| Facts {
            window: known.context_window,
            tools: Some(known.tools),
            vision: Some(known.vision),
        });
        let group = match (local, row) {
            (true, _) => ModelGroup::Local,
            (false, Some(_)) => ModelGroup::Cloud,
            (false, None) => ModelGroup::Custom,
        };
        Self {
            id: format!("{provider}/{model}"),
            group,
            said: Facts::default(),
            server: None,
            facts: Facts::of_settings(config, provider, model).above(catalogued),
            price: said
                .and_then(|said| Price::parse(said.price.as_deref()?))
                .or_else(|| known.as_ref().and_then(|known| known.abilities.price.clone()))
                .or(free),
            as_of: known.as_ref().map(|known| known.as_of),
            thinks: known.as_ref().is_some_and(|known| known.abilities.reasons == Some(true)),
            efforts: known.map(|known| known.abilities.efforts).unwrap_or_default(),
        }
    }

    /// A model inside of axi.
    pub(in crate::app) fn own(id: String) -> Self {
        let price = Some(Price::free());
        let group = ModelGroup::Local;
        Self {
            id,
            group,
            facts: Facts::default(),
            said: Facts::default(),
            server: None,
            thinks: false,
            efforts: Vec::new(),
            price,
            as_of: None,
        }
    }

    /// Says in a few words what is known: `1M, $3/$15 · tools, pictures, thinks`. A row that is too narrow keeps what stands
    /// before the first ` · `.
    pub(in crate::app) fn words(&self, locale: &Locale) -> String {
        let can = [
            (self.facts.tools == Some(true), word::models::TOOLS),
            (self.facts.vision == Some(true), word::models::PICTURES),
            (self.thinks, word::models::THINKS),
        ];
        let can: Vec<&str> = can.into_iter().filter(|(can, _)| *can).map(|(_, word)| locale.text(word)).collect();
        let price = match &self.price {
            Some(price) if *price == Price::free() => locale.text(word::models::FREE).to_owned(),
            Some(price) => format!("{}/{}", a_million(price.rates.input), a_million(price.rates.output)),
            None => locale.text(word::models::PRICE_UNKNOWN).to_owned(),
        };
        let decides = self.facts.window.map(short_count).into_iter().chain([price]).collect::<Vec<_>>().join(", ");
        if can.is_empty() { decides } else { format!("{decides} · {}", can.join(", ")) }
    }

    /// As `axi models --json` prints it: what is not known is null, prices are dollars for a million tokens.
    pub(in crate::app) fn json(&self) -> Value {
        let (provider, model) = self.id.split_once('/').unwrap_or((&self.id, ""));
        let dollars = |money: Money| money.times(1_000_000).in_dollars();
        let price = self.price.as_ref().map(|price| {
            let rates = &price.rates;
            json!({
                "input": dollars(rates.input), "output": dollars(rates.output),
                "cached_read": rates.cached_read.map(dollars), "cached_write": rates.cached_write.map(dollars),
            })
        });
        let day = |day: u32| format!("{:04}-{:02}-{:02}", day / 10_000, day / 100 % 100, day % 100);
        json!({
            "id": self.id, "provider": provider, "model": model, "group": self.group.word(),
            "context_window": self.facts.window, "tools": self.facts.tools, "vision": self.facts.vision,
            "efforts": self.efforts.iter().map(|effort| effort.word()).collect::<Vec<_>>(),
            "price": price, "as_of": self.as_of.map(day),
        })
    }
}

/// What a million tokens cost at this price for one: `$3`, `$0.25`.
fn a_million(one: Money) -> String {
    format!("${}", one.times(1_000_000).in_dollars())
}

/// `200k`, `1M`, as windows are written.
fn short_count(tokens: u64) -> String {
    match tokens {
        1_000_000.. => {
            let (whole, part) = (tokens / 1_000_000, tokens / 10_000 % 100);
            format!("{}M", format!("{whole}.{part:02}").trim_end_matches('0').trim_end_matches('.'))
        }
        1_000.. => format!("{}k", tokens / 1_000),
        _ => tokens.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::models::{correct, without_key};
    use super::*;
    use crate::config::{self, PlaceFiles};

    #[test]
    fn what_is_known_is_said_in_a_few_words_and_what_is_not_as_unknown() {
        let locale = Locale::new("en");
        let config = Config::default();
        let listed = |provider: &str, model: &str| Listed::of_catalogue(provider, model, &config, false);
        let claude = listed("anthropic", "claude-opus-4-8");
        assert_eq!(claude.words(&locale), "1M, $5/$25 · tools, pictures, thinks");
        assert_eq!(
            claude.json()["price"],
            json!({"input": 5.0, "output": 25.0, "cached_read": 0.5, "cached_write": 6.25})
        );
        assert_eq!(claude.json()["as_of"], "2026-05-28");
        assert_eq!(listed("lab", "x").words(&locale), "price unknown");
        assert_eq!(listed("lab", "x").json()["price"], Value::Null);
        assert_eq!(listed("ollama", "qwen3:8b").words(&locale), "free");
        // A model that is newer than the catalogue can what its family can; nobody knows its price.
        assert_eq!(
            listed("anthropic", "claude-opus-99").words(&locale),
            "1M, price unknown · tools, pictures, thinks"
        );
    }

    #[test]
    fn what_is_listed_is_what_is_used_the_person_above_the_server_above_the_catalogue() {
        let nothing = |_: &str| None;
        let any = provider::find("openai").unwrap().settings("any", None, &nothing);
        let entry = ModelEntry {
            name: "gpt-4o".into(),
            context_window: Some(64_000),
            tools: None,
            vision: Some(false),
            size: None,
        };
        let said = "[providers.openai.models.\"gpt-4o\"]\n";
        for (section, facts) in [
            (String::new(), (Some(64_000), Some(true), Some(false))),
            (format!("{said}context_window = 9000\ntools = false\n"), (Some(9_000), Some(false), Some(false))),
            (format!("{said}vision = true\n"), (Some(64_000), Some(true), Some(true))),
        ] {
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join("config.toml");
            std::fs::write(&path, &section).unwrap();
            let config = config::load(Some(&path), &PlaceFiles::default(), true, &nothing).unwrap().config;
            let listed = Listed::of_server(&any, &entry, &config);
            assert_eq!((listed.facts.window, listed.facts.tools, listed.facts.vision), facts, "{section}");
            let locale = Locale::new("en");
            let mut used = without_key("openai/gpt-4o", &config, &nothing, &locale).unwrap();
            correct(&mut used, listed.said, &config);
            assert_eq!((used.context_window, Some(used.tools), Some(used.vision)), facts, "{section}");
        }
    }
}
