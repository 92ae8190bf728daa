//! `axi login` and `axi logout`: a provider's key into the keychain and out of it.

use std::io::{IsTerminal, Read};

use super::super::console::Console;
use super::super::context::App;
use super::super::models::{self, KeychainError, remove_key, store_key};
use crate::command::{KeyAction, Problem};
use crate::frontend::dialog::Terminal;
use crate::frontend::exit::Exit;
use crate::frontend::signals::Signals;
use crate::locale::{Locale, word};
use crate::provider;

/// The longest key that is read from a pipe, in bytes.
const KEY_LIMIT: u64 = 16 * 1024;

pub(in crate::app) fn login(app: &App, provider: &str) -> Exit {
    let console = Console::new(&app.locale);
    let key = if std::io::stdin().is_terminal() {
        let question = app.locale.with(word::said::LoginPrompt { provider });
        Terminal { color: false, plain: app.display().linear(), tty: None, signals: Signals::default() }
            .secret(&question)
    } else {
        let mut key = String::new();
        std::io::stdin().lock().take(KEY_LIMIT).read_to_string(&mut key).ok().map(|_| key)
    };
    done(&console, change_key(app, KeyAction::Store(key.unwrap_or_default()), provider, &app.locale))
}

pub(in crate::app) fn logout(app: &App, provider: &str) -> Exit {
    let console = Console::new(&app.locale);
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
    if !models::names(&app.config).iter().any(|name| name == provider) {
        let known = models::names(&app.config).join(", ");
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
            store_key(provider, key.trim()).map(|()| locale.with(word::said::LoginDone { provider }))
        }
        KeyAction::Remove => remove_key(provider).map(|was| {
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
pub(in crate::app) fn keychain_cause(locale: &Locale, error: &KeychainError) -> String {
    match error {
        KeychainError::Off => locale.text(word::said::KEYCHAIN_NONE).to_owned(),
        KeychainError::Silent => locale.text(word::said::KEYCHAIN_SILENT).to_owned(),
        KeychainError::Refused(cause) => cause.clone(),
    }
}
