//! `axi login` and `axi logout`: store a provider's key in the keychain, and remove it.

use std::io::{IsTerminal, Read};
use std::time::Duration;

use super::super::answers::{KeychainError, keychain_cause};
use super::super::console::Console;
use super::super::context::App;
use super::super::kept::KeptError;
use super::super::keys::Keys;
use super::super::models::{self, Forgotten, KeyStore, KeyStoreError};
use crate::agent::Failure;
use crate::command::{KeyAction, Problem};
use crate::frontend::exit::Exit;
use crate::frontend::words;
use crate::locale::{Locale, word};
use crate::provider::{self, Client, ProviderError, ProviderSettings, Secret};

/// The longest key that is read from a pipe, in bytes.
const KEY_LIMIT: u64 = 16 * 1024;

/// How long a server may take to answer whether it accepts a key.
const TRIED_FOR: Duration = Duration::from_secs(10);

pub(in crate::app) fn login(app: &App, provider: &str, in_file: bool) -> Exit {
    let console = Console::new(&app.locale);
    let config = app.config();
    if let Some(problem) = models::not_known(provider, &config, &app.locale) {
        console.fail(&problem);
        return Exit::NotConfigured;
    }
    if let Some(problem) = models::inside(provider, &config, &app.locale) {
        console.fail(&problem);
        return Exit::Usage;
    }
    let key = if std::io::stdin().is_terminal() {
        let question = app.locale.with(word::said::LoginPrompt { provider });
        let Some(key) = app.asker().secret(&question) else { return Exit::Interrupted };
        Some(key)
    } else {
        let mut key = String::new();
        std::io::stdin().lock().take(KEY_LIMIT).read_to_string(&mut key).ok().map(|_| key)
    };
    let action = if in_file { KeyAction::StoreInFile } else { KeyAction::Store };
    done(&console, change_key(app, action(key.unwrap_or_default()), provider, &app.locale))
}

/// Asks for the provider, and then for its key: an editor opens this in a terminal.
pub(in crate::app) fn login_any(app: &App) -> Exit {
    let names = models::names(&app.config());
    match app.asker().pick(app.locale.text(word::acp::WHICH_PROVIDER), &names).and_then(|index| names.get(index)) {
        Some(provider) => login(app, provider, false),
        None => Exit::Interrupted,
    }
}

pub(in crate::app) fn logout(app: &App, provider: &str) -> Exit {
    let console = Console::new(&app.locale);
    if let Some(problem) = models::not_known(provider, &app.config(), &app.locale) {
        console.fail(&problem);
        return Exit::NotConfigured;
    }
    done(&console, change_key(app, KeyAction::Remove, provider, &app.locale))
}

fn done(console: &Console<'_>, result: Result<String, Problem>) -> Exit {
    match result {
        Ok(said) => {
            console.note(&said);
            Exit::Done
        }
        Err(problem) => {
            console.fail(&problem);
            Exit::Failed
        }
    }
}

/// Stores or removes a provider's key.
pub(in crate::app) fn change_key(
    app: &App,
    action: KeyAction,
    provider: &str,
    locale: &Locale,
) -> Result<String, Problem> {
    if let Some(problem) = models::not_known(provider, &app.config(), locale) {
        return Err(problem);
    }
    let mut settings =
        models::without_key(&format!("{provider}/any"), &app.config(), &app.process.variables, locale)?;
    let account = models::account(&settings);
    let file = models::key_file(&app.process.variables);
    let unwritten = |error: KeptError| {
        let path = file.as_deref().map(|path| app.paths.shown(path)).unwrap_or_default();
        error.into_problem(&path, locale)
    };
    let failed = |error: KeyStoreError| match error {
        KeyStoreError::File(error) => unwritten(error),
        KeyStoreError::Keychain(error) => no_keychain(app, locale, &error, provider),
    };
    let store = KeyStore::new(file.clone());
    let (key, in_file) = match action {
        KeyAction::Store(key) => (key, false),
        KeyAction::StoreInFile(key) => (key, true),
        KeyAction::Remove => {
            return match store.forget(&account) {
                Ok(Forgotten::All) => Ok(locale.with(word::said::LogoutDone { provider })),
                Ok(Forgotten::Nothing) => Ok(locale.with(word::said::LogoutNone { provider })),
                Ok(Forgotten::OfFile(error)) => {
                    let cause = &keychain_cause(locale, &error);
                    Ok(locale.with(word::said::LogoutOfFile { provider, cause }))
                }
                Err(error) => Err(failed(error)),
            };
        }
    };
    if key.trim().is_empty() {
        return Err(Problem { what: locale.text(word::error::EMPTY_KEY).to_owned(), hint: String::new() });
    }
    if key.trim().chars().any(char::is_control) {
        return Err(Problem { what: locale.text(word::error::BAD_KEY).to_owned(), hint: String::new() });
    }
    settings.key = Some(Secret::new(&key));
    let client = models::client(&app.config(), &app.process.variables);
    let checked = check(&settings, &client, locale)?;
    let kept = if in_file {
        let path =
            file.as_deref().ok_or_else(|| unwritten(std::io::Error::from(std::io::ErrorKind::NotFound).into()))?;
        store.keep_in_file(&account, key.trim()).map_err(unwritten)?;
        locale.with(word::said::LoginFile { provider, path: &app.paths.shown(path) })
    } else {
        models::keep_in_keychain(&store, &settings, &app.config(), key.trim()).map_err(failed)?;
        locale.with(word::said::LoginDone { provider })
    };
    Ok(format!("{kept}; {checked}"))
}

/// Tries a key before it is stored: a key that the server refuses now would be refused each time. A server that
/// cannot be reached now tells nothing about the key.
fn check(settings: &ProviderSettings, client: &Client, locale: &Locale) -> Result<String, Problem> {
    let provider = &settings.name;
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Ok(locale.with(word::said::LoginUntried { provider }));
    };
    let asking = async { tokio::time::timeout(TRIED_FOR, provider::check_key(settings, client)).await };
    match runtime.block_on(asking) {
        Ok(Ok(())) => Ok(locale.with(word::said::LoginTried { provider })),
        Ok(Err(error @ ProviderError::Unauthorized { .. })) => {
            let told = words::failure(locale, &Failure::from(&error), words::Speaking::ByFlags);
            Err(Problem { what: told.what, hint: locale.text(word::error::KEY_REFUSED_HINT).to_owned() })
        }
        Ok(Err(_)) | Err(_) => Ok(locale.with(word::said::LoginUntried { provider })),
    }
}

fn no_keychain(app: &App, locale: &Locale, error: &KeychainError, provider: &str) -> Problem {
    let variable = Keys::variable(provider, &app.config());
    Problem {
        what: locale.with(word::error::Keychain { cause: &keychain_cause(locale, error) }),
        hint: locale.with(word::error::KeychainHint { variable: &variable, provider }),
    }
}
