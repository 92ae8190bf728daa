//! From a model's name to everything it takes to ask it: settings, table, environment, keychain.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::runtime::Runtime;

use super::super::kept::KeptError;
use super::super::keys::Keys;
use crate::command::Problem;
use crate::config::{Config, OnOff, Paths, PromptCache};
use crate::conversation::Price;
use crate::locale::{Locale, word};
use crate::mcp::{Unset, filled};
use crate::provider::{self, Client, Envelope, Environment, KeyPlace, Protocol, ProviderSettings, Secret};

use super::super::answers::{Asked, CommandFailed, Facts, Listed};
use super::key_store::{KeyStore, KeyStoreError};
use super::keyfile::{self, Entry};
use super::profiles;

/// What `web_search` says where the provider's own tool is meant.
const SEARCH_BY_PROVIDER: &str = "provider";

/// How long servers may take to list their models when all are asked.
const LIST_LIMIT: Duration = Duration::from_secs(2);

/// Resolves `PROVIDER/MODEL`.
///
/// # Errors
/// What is missing, in the user's words.
pub(in crate::app) fn resolve(
    name: &str,
    config: &Config,
    environment: &Environment<'_>,
    locale: &Locale,
    asked: &Asked,
) -> Result<ProviderSettings, Problem> {
    let mut settings = without_key(name, config, environment, locale)?;
    let provider = &settings.name;
    let (row, section) = (provider::find(provider), config.providers.get(provider));
    // A server of one's own at another address may ask for none; it says so if it does.
    let needs_key = (row.is_some_and(|row| !row.key_variables.is_empty() && row.is_home(&settings.base_url))
        || section.is_some_and(|section| section.api_key_env.is_some()))
        && !is_local(&settings.base_url);
    let found = match key(&settings, config, environment, asked) {
        Ok(found) => found,
        Err(NoKey::Command(failed)) => return Err(failed.into_problem(provider, locale)),
        Err(NoKey::File(path, error)) if needs_key => {
            let paths = Paths::new(environment, environment("HOME").map(PathBuf::from));
            return Err(error.into_problem(&paths.shown(&path), locale));
        }
        Err(NoKey::File(_, error)) => {
            tracing::warn!(%error, "the file of keys cannot be read");
            None
        }
    };
    if found.is_none() && needs_key {
        let variable = &Keys::variable(provider, config);
        return Err(Problem {
            what: locale.with(word::error::NoKey { provider }),
            hint: locale.with(word::error::NoKeyHint { variable, provider }),
        });
    }
    settings.key = found;
    settings.profile = profiles::find(&settings, environment);
    // What the person wrote holds whatever others say.
    let is_said = Facts::of_settings(config, &settings.name, &settings.model).window.is_some();
    if let Some(found) = profiles::window(&settings.profile).filter(|_| !is_said) {
        settings.context_window = Some(settings.context_window.map_or(found, |known| known.min(found)));
    }
    Ok(settings)
}

/// Takes what its own server lists of a model above the catalogue, below what the person says. A window that a refusal
/// showed holds against the list.
pub(in crate::app) fn correct(settings: &mut ProviderSettings, listed: Facts, config: &Config) {
    let person = Facts::of_settings(config, &settings.name, &settings.model);
    let Facts { tools, vision, .. } = person.above(listed);
    settings.tools = tools.unwrap_or(settings.tools);
    settings.vision = vision.unwrap_or(settings.vision);
    if let Some(listed) = listed.window.filter(|_| person.window.is_none()) {
        settings.context_window =
            Some(profiles::window(&settings.profile).map_or(listed, |found| found.min(listed)));
    }
}

/// Resolves it as far as that can be done without its key.
///
/// # Errors
/// As [`resolve`].
pub(in crate::app) fn without_key(
    name: &str,
    config: &Config,
    environment: &Environment<'_>,
    locale: &Locale,
) -> Result<ProviderSettings, Problem> {
    let (provider, model) = name.split_once('/').unwrap_or((name, ""));
    let row = provider::find(provider);
    let section = config.providers.get(provider);
    if let Some(problem) = inside(provider, config, locale) {
        return Err(problem);
    }
    if row.is_none() && section.is_none() {
        return Err(unknown_model(name, provider, config, locale));
    }
    let mut settings = if let Some(row) = row {
        row.settings(model, None, environment)
    } else {
        let said = section.and_then(|section| Protocol::parse(section.protocol.as_deref()?));
        ProviderSettings::custom(provider, said.unwrap_or(Protocol::OpenAiChat), "", model)
    };
    if settings.model.is_empty() {
        return Err(Problem {
            what: locale.with(word::error::BadModel { model: name }),
            hint: locale.text(word::error::BAD_MODEL_HINT).to_owned(),
        });
    }
    if let Some(section) = section {
        if let Some(protocol) = &section.protocol {
            settings.protocol = Protocol::parse(protocol).ok_or_else(|| Problem {
                what: locale.with(word::error::UnknownProtocol { provider, protocol }),
                hint: locale.with(word::error::UnknownProtocolHint {
                    known: &Protocol::ALL.map(Protocol::name).join(", "),
                }),
            })?;
        }
        let from_environment = row.is_some_and(|row| row.base_url(environment) != row.base_url);
        if let Some(base_url) = section.base_url.as_ref().filter(|_| !from_environment) {
            settings.base_url.clone_from(base_url);
            if let Some(price) =
                settings.abilities.price.as_mut().filter(|_| row.is_none_or(|row| !row.is_home(base_url)))
            {
                price.search = None;
            }
            // What stands there imitates the provider, in the words that imitators know.
            if let Some(row) = row.filter(|_| section.protocol.is_none()) {
                settings.protocol = row.protocol;
            }
        }
        if let Some(known) = section.models.get(&settings.model) {
            let said = Facts::of_settings(config, provider, &settings.model);
            settings.context_window = said.window.or(settings.context_window);
            settings.tools = said.tools.unwrap_or(settings.tools);
            settings.vision = said.vision.unwrap_or(settings.vision);
            let search = settings.abilities.price.as_ref().and_then(|price| price.search);
            let price = known.price.as_deref().and_then(Price::parse).map(|price| Price { search, ..price });
            settings.abilities.price = price.or(settings.abilities.price);
        }
        for (name, value) in &section.headers {
            let value = filled(value, &|variable| environment(variable).map(|value| value.trim().to_owned()));
            let value = value.map_err(|Unset { variable }| Problem {
                what: locale.with(word::error::HeaderUnset { provider, header: name, variable: &variable }),
                hint: locale.with(word::error::HeaderUnsetHint { variable: &variable }),
            })?;
            settings.gateway.headers.push((name.clone(), Secret::new(value)));
        }
        let query = section.query.iter().map(|(name, value)| (name.clone(), value.clone()));
        settings.gateway.query.retain(|(name, _)| !section.query.contains_key(name));
        settings.gateway.query.extend(query);
        settings.gateway.envelope = section.envelope.field.clone().map(|field| Envelope {
            field,
            fixed: section
                .envelope
                .fixed
                .iter()
                .map(|(name, value)| (name.clone(), value.clone().into()))
                .collect(),
            answer: section.envelope.answer.clone().unwrap_or_default(),
        });
    }
    settings.search = config.web_search == SEARCH_BY_PROVIDER;
    settings.stored = config.stored_responses == OnOff::On;
    // Amazon's own models have no such cache.
    let keeps_long = match settings.protocol {
        Protocol::Anthropic => true,
        Protocol::Bedrock => settings.model.contains("claude"),
        Protocol::OpenAiChat | Protocol::OpenAiResponses | Protocol::Gemini | Protocol::Ollama => false,
    };
    if keeps_long && config.prompt_cache == PromptCache::Hour {
        settings.long_cache = true;
        settings.abilities.price = settings.abilities.price.map(Price::with_long_cache);
    }
    if settings.base_url.is_empty() {
        return Err(no_base_url(provider, locale));
    }
    Ok(settings)
}

/// Why it cannot be known whether there is a key.
enum NoKey {
    /// The person's command gave none.
    Command(CommandFailed),
    /// The file of keys cannot be read.
    File(PathBuf, KeptError),
}

/// Tells whether the keychain is asked for a provider's key without a note that it is there. A server on this machine
/// seldom needs a key, and a locked keychain would hold up each start by seconds.
fn is_keychain_asked(settings: &ProviderSettings, config: &Config) -> bool {
    let (row, section) = (provider::find(&settings.name), config.providers.get(&settings.name));
    row.is_some_and(|row| !row.key_variables.is_empty())
        || section.is_some_and(|section| section.api_key_env.is_some())
        || !is_local(&settings.base_url)
}

/// Keeps a provider's key in the keychain, with a note where it would not be looked for there.
///
/// # Errors
/// [`KeyStoreError`].
pub(in crate::app) fn keep_in_keychain(
    store: &KeyStore,
    settings: &ProviderSettings,
    config: &Config,
    key: &str,
) -> Result<(), KeyStoreError> {
    let account = keyfile::account(settings);
    if is_keychain_asked(settings, config) {
        store.keep_in_keychain(&account, key)
    } else {
        store.keep_noted_in_keychain(&account, key)
    }
}

/// A provider's key in the environment.
fn in_environment(provider: &str, config: &Config, environment: &Environment<'_>) -> Option<Secret> {
    let is_named = config.providers.get(provider).is_some_and(|section| section.api_key_env.is_some());
    let (variable, key) =
        if let Some(row) = provider::find(provider).filter(|row| !is_named && !row.key_variables.is_empty()) {
            row.key(environment).map(|(variable, key)| (variable.to_owned(), key))?
        } else {
            let variable = Keys::variable(provider, config);
            let key = environment(&variable).filter(|key| !key.trim().is_empty())?;
            (variable, Secret::new(key))
        };
    Some(key.found_in(KeyPlace::Variable(variable.into())))
}

/// Finds the key: the environment, the person's own command, the file they agreed to, the keychain. A provider that a
/// project's file brought gets none, and one that was stored belongs to the address it was stored for.
fn key(
    settings: &ProviderSettings,
    config: &Config,
    environment: &Environment<'_>,
    asked: &Asked,
) -> Result<Option<Secret>, NoKey> {
    let provider = &settings.name;
    if config.providers.is_from_project(provider) {
        return Ok(None);
    }
    if let Some(key) = in_environment(provider, config, environment) {
        return Ok(Some(key));
    }
    if let Some(command) = config.providers.get(provider).and_then(|section| section.api_key_cmd.as_deref()) {
        let printed = asked.command(command).map_err(NoKey::Command)?;
        return Ok(Some(printed.found_in(KeyPlace::Command)));
    }
    let account = keyfile::account(settings);
    // The file first: the keychain of who asked for it may wait for a window that nobody sees.
    let of_file = match keyfile::path(environment) {
        Some(path) => keyfile::find(&path, &account).map_err(|error| NoKey::File(path, error)),
        None => Ok(None),
    };
    let is_asked = match of_file {
        Ok(Some(Entry::Key(key))) => return Ok(Some(Secret::new(key).found_in(KeyPlace::File))),
        Ok(Some(Entry::InKeychain)) => true,
        Ok(None) | Err(_) => is_keychain_asked(settings, config),
    };
    match is_asked.then(|| asked.keychain(&account)).flatten() {
        Some(key) => Ok(Some(Secret::new(key).found_in(KeyPlace::Keychain))),
        None => of_file.map(|_| None),
    }
}

/// Names the providers that have a key, with where it is; no key is read but to see that it is there.
pub(in crate::app) fn keys(
    config: &Config,
    environment: &Environment<'_>,
    locale: &Locale,
    asked: &Asked,
) -> Vec<(String, KeyPlace)> {
    let file = keyfile::path(environment);
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for name in names(config).into_iter().filter(|name| !config.providers.is_from_project(name)) {
        let has_command = config.providers.get(&name).is_some_and(|section| section.api_key_cmd.is_some());
        let account = || {
            without_key(&format!("{name}/any"), config, environment, locale)
                .ok()
                .map(|found| keyfile::account(&found))
        };
        if let Some(key) = in_environment(&name, config, environment) {
            found.push((name, key.place().clone()));
        } else if has_command {
            found.push((name, KeyPlace::Command));
        } else if let Some(account) = account() {
            others.push((name, account));
        }
    }
    let kept = asked.kept(others.iter().map(|(_, account): &(String, String)| account.clone()).collect());
    for ((name, account), in_keychain) in others.into_iter().zip(kept) {
        if is_in_file(file.as_deref(), &account) {
            found.push((name, KeyPlace::File));
        } else if in_keychain {
            found.push((name, KeyPlace::Keychain));
        }
    }
    found
}

/// Tells whether the file of keys has one. A file that cannot be read is told where a key of it is needed.
fn is_in_file(file: Option<&Path>, account: &str) -> bool {
    file.is_some_and(|file| matches!(keyfile::find(file, account), Ok(Some(Entry::Key(_)))))
}

fn is_local(base_url: &str) -> bool {
    provider::is_loopback(base_url)
}

fn unknown_model(name: &str, provider: &str, config: &Config, locale: &Locale) -> Problem {
    if !name.contains('/') {
        return Problem {
            what: locale.with(word::error::BadModel { model: name }),
            hint: locale.text(word::error::BAD_MODEL_HINT).to_owned(),
        };
    }
    unknown_provider(provider, &names(config), locale)
}

fn unknown_provider(provider: &str, known: &[String], locale: &Locale) -> Problem {
    let known = known.join(", ");
    Problem {
        what: locale.with(word::error::UnknownProvider { provider }),
        hint: locale.with(word::error::UnknownProviderHint { known: &known, provider }),
    }
}

/// Says that there is no such provider, and which there are; `None` where there is. axi itself is one, wherever its
/// models are or are not.
pub(in crate::app) fn not_known(provider: &str, config: &Config, locale: &Locale) -> Option<Problem> {
    let known = names(config);
    let is_known = provider == provider::OWN || known.iter().any(|name| name == provider);
    (!is_known).then(|| unknown_provider(provider, &known, locale))
}

/// Says that axi itself is asked, which has no address and no key; `None` where it is a provider, with a section of its
/// own or without.
pub(in crate::app) fn inside(provider: &str, config: &Config, locale: &Locale) -> Option<Problem> {
    (provider == provider::OWN && !config.providers.contains_key(provider)).then(|| Problem {
        what: locale.with(word::error::Inside { name: provider }),
        hint: locale.text(word::error::INSIDE_HINT).to_owned(),
    })
}

/// Names the providers of the settings that have no address, with what is wrong.
pub(in crate::app) fn unreachable(config: &Config, locale: &Locale) -> Vec<(String, Problem)> {
    let sections = config.providers.iter();
    let lost = sections.filter(|(name, section)| section.base_url.is_none() && provider::find(name).is_none());
    lost.map(|(name, _)| (name.clone(), no_base_url(name, locale))).collect()
}

fn no_base_url(provider: &str, locale: &Locale) -> Problem {
    Problem {
        what: locale.with(word::error::NoBaseUrl { provider }),
        hint: locale.text(word::error::CONFIG_HINT).to_owned(),
    }
}

/// Lists the names of all providers: the table's, then the settings'.
#[must_use]
pub(in crate::app) fn names(config: &Config) -> Vec<String> {
    let mut names: Vec<String> = provider::TABLE.iter().map(|row| row.name.to_owned()).collect();
    names.extend(config.providers.keys().filter(|name| provider::find(name).is_none()).cloned());
    names
}

/// Names the providers that have a key, run here, or have an address of the person's own in the environment.
fn usable(config: &Config, environment: &Environment<'_>, locale: &Locale, asked: &Asked) -> Vec<String> {
    let is_told = |name: &String| {
        let of_settings = config.providers.get(name).is_some_and(|section| {
            section.api_key_cmd.is_some() || section.api_key_env.as_deref().and_then(environment).is_some()
        });
        let row = provider::find(name);
        let of_environment =
            |row: &provider::Row| row.key(environment).is_some() || row.base_url(environment) != row.base_url;
        of_settings || row.is_none_or(|row| row.is_local() || of_environment(row))
    };
    let (mut told, others): (Vec<String>, Vec<String>) = names(config).into_iter().partition(is_told);
    let account = |name: &String| {
        let settings = without_key(&format!("{name}/any"), config, environment, locale).ok()?;
        Some(keyfile::account(&settings)).filter(|_| !config.providers.is_from_project(name))
    };
    let (others, accounts): (Vec<String>, Vec<String>) =
        others.into_iter().filter_map(|name| account(&name).map(|account| (name, account))).unzip();
    let file = keyfile::path(environment);
    let in_file: Vec<bool> = accounts.iter().map(|account| is_in_file(file.as_deref(), account)).collect();
    let kept = asked.kept(accounts).into_iter().zip(in_file).map(|(keychain, file)| keychain || file);
    told.extend(others.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(name, _)| name));
    names(config).into_iter().filter(|name| told.contains(name)).collect()
}

/// Lists the models of every provider that has a key or runs here; waits a second or two for servers, and leaves out
/// those that do not answer.
pub(in crate::app) fn list(
    config: &Config,
    environment: &Environment<'_>,
    locale: &Locale,
    asked: &Asked,
    client: &Client,
    runtime: &Runtime,
) -> Vec<Listed> {
    // Any model will do to reach the list.
    let settings = usable(config, environment, locale, asked);
    let settings = settings.iter().map(|name| resolve(&format!("{name}/any"), config, environment, locale, asked));
    let settings: Vec<ProviderSettings> = settings.filter_map(Result::ok).collect();
    let questions = settings.iter().map(|settings| async {
        let listed = tokio::time::timeout(LIST_LIMIT, provider::list_models(settings, client)).await;
        let models = listed.ok().and_then(Result::ok).unwrap_or_default();
        models.iter().map(|model| Listed::of_server(settings, model, config)).collect::<Vec<_>>()
    });
    runtime.block_on(async { futures_util::future::join_all(questions).await }).concat()
}
