//! The key of the provider that was chosen: found, typed without echo, printed by a command, or taken over from another
//! agent once the person said so; and tried before anything is kept.

use std::time::Duration;

use super::super::answers::keychain_cause;
use super::super::console::Console;
use super::super::models::{self, KeyStore, KeyStoreError};
use super::imports::{Import, ImportedKey, key_in};
use super::scene::{Plan, Scene};
use crate::agent::Failure;
use crate::frontend::dialog::NoChoice;
use crate::frontend::words::{self, Speaking};
use crate::locale::word;
use crate::provider::{self, ProviderError, ProviderSettings, Secret};

/// How long a server may take to say whether it takes a key.
const PATIENCE: Duration = Duration::from_secs(10);

/// How settling the key ended.
pub(super) enum KeyStep {
    /// The provider can be asked so; the key, where it is not kept anywhere yet.
    Settled(Box<Plan>, Box<ProviderSettings>, Option<Secret>),
    /// To the offers again.
    Back,
    /// Out of it all.
    Leave,
}

/// Where the next key to try comes from.
enum Source {
    /// It is there already, or none is needed.
    Found,
    /// The person types it.
    Typed,
    /// A command prints it.
    Command,
    /// It stands in another agent's file.
    Taken(String),
}

/// Settles it; a key that was typed or taken over is not kept yet.
pub(super) fn settle_key(scene: &Scene<'_>, mut plan: Plan, import: Option<&Import>) -> KeyStep {
    let Scene { app, asker, client, locale, .. } = scene;
    let console = Console::new(locale);
    let any = format!("{}/any", plan.provider);
    let environment = &app.process.variables;
    let mut source = Source::Found;
    if let Some(Import { key: ImportedKey::File(path, fields), agent, .. }) = import
        && models::resolve(&any, &plan.config(app), environment, locale, &app.asked)
            .ok()
            .is_none_or(|found| found.key.is_none())
    {
        let question = locale.with(word::setup::TakeKey { agent, file: &app.paths.shown(path) });
        let items = [
            ('n', locale.text(word::setup::TAKE_NO).to_owned()),
            ('y', locale.text(word::setup::TAKE_YES).to_owned()),
        ];
        match asker.decide(&question, "", &items) {
            Ok(1) => {
                let key = std::fs::read_to_string(path).ok().and_then(|text| key_in(&text, fields));
                source = key.map_or(Source::Found, Source::Taken);
            }
            Ok(_) => {}
            Err(NoChoice::Escaped) => return KeyStep::Back,
            Err(NoChoice::Interrupted) => return KeyStep::Leave,
        }
    }
    loop {
        let config = plan.config(app);
        let (settings, given) = match source {
            Source::Found => match models::resolve(&any, &config, environment, locale, &app.asked) {
                Ok(settings) => (settings, None),
                Err(problem) => {
                    console.note(&problem.what);
                    source = match ask_how(scene) {
                        Ok(source) => source,
                        Err(step) => return step,
                    };
                    continue;
                }
            },
            Source::Command => {
                let Some(command) =
                    asker.feedback(locale.text(word::setup::COMMAND)).filter(|text| !text.trim().is_empty())
                else {
                    return KeyStep::Back;
                };
                plan.section.retain(|(name, _)| *name != "api_key_cmd");
                plan.section.push(("api_key_cmd", command.trim().to_owned()));
                source = Source::Found;
                continue;
            }
            Source::Typed | Source::Taken(_) => {
                let key = match &source {
                    Source::Taken(key) => Some(key.clone()),
                    _ => asker.secret(&locale.with(word::said::LoginPrompt { provider: &plan.provider })),
                };
                let Some(key) = key.filter(|key| !key.trim().is_empty()) else { return KeyStep::Back };
                match models::without_key(&any, &config, environment, locale) {
                    Ok(settings) => {
                        let key = Secret::new(&key);
                        (ProviderSettings { key: Some(key.clone()), ..settings }, Some(key))
                    }
                    Err(problem) => {
                        console.fail(&problem);
                        return KeyStep::Back;
                    }
                }
            }
        };
        let asked = async { tokio::time::timeout(PATIENCE, provider::check_key(&settings, client)).await };
        let answered = match scene.wait(asked) {
            Ok(answered) => answered,
            Err(NoChoice::Escaped) => return KeyStep::Back,
            Err(NoChoice::Interrupted) => return KeyStep::Leave,
        };
        match answered {
            Ok(Ok(())) => console.note(&locale.with(word::said::LoginTried { provider: &plan.provider })),
            Ok(Err(error @ ProviderError::Unauthorized { .. })) => {
                console.warn(&match settings.key {
                    Some(_) => words::failure(locale, &Failure::from(&error), Speaking::ByFlags).what,
                    None => locale.with(word::error::NoKey { provider: &plan.provider }),
                });
                source = match ask_how(scene) {
                    Ok(source) => source,
                    Err(step) => return step,
                };
                continue;
            }
            Ok(Err(_)) | Err(_) => {
                console.warn(&locale.with(word::said::LoginUntried { provider: &plan.provider }));
            }
        }
        app.keys.remember(&settings);
        return KeyStep::Settled(Box::new(plan), Box::new(settings), given);
    }
}

/// Asks how the key is to be given.
fn ask_how(scene: &Scene<'_>) -> Result<Source, KeyStep> {
    let text = |key| scene.locale.text(key).to_owned();
    let items =
        [('k', text(word::setup::TYPE_KEY)), ('c', text(word::setup::KEY_COMMAND)), ('b', text(word::setup::BACK))];
    match scene.asker.decide(scene.locale.text(word::setup::HOW), "", &items) {
        Ok(0) => Ok(Source::Typed),
        Ok(1) => Ok(Source::Command),
        Ok(_) | Err(NoChoice::Escaped) => Err(KeyStep::Back),
        Err(NoChoice::Interrupted) => Err(KeyStep::Leave),
    }
}

/// Keeps a key in the keychain; where there is none, in a file only the person can read, if they say so. False where
/// they want to leave.
pub(super) fn keep_key(scene: &Scene<'_>, plan: &Plan, settings: &ProviderSettings, key: &Secret) -> bool {
    let Scene { app, asker, locale, .. } = scene;
    let console = Console::new(locale);
    let (account, provider) = (models::account(settings), settings.name.as_str());
    let file = models::key_file(&app.process.variables);
    let shown = file.as_deref().map(|path| app.paths.shown(path)).unwrap_or_default();
    let has_file = file.is_some();
    let store = KeyStore::new(file);
    let kept = models::keep_in_keychain(&store, settings, &plan.config(app), key.expose());
    // Whatever becomes of it, it serves this run.
    app.keys.give(account.clone(), key.clone());
    let cause = match kept {
        Ok(()) => {
            console.note(&locale.with(word::said::LoginDone { provider }));
            return true;
        }
        Err(KeyStoreError::File(error)) => {
            console.fail(&error.into_problem(&shown, locale));
            return true;
        }
        Err(KeyStoreError::Keychain(error)) => keychain_cause(locale, &error),
    };
    if !has_file {
        return true;
    }
    let question = locale.with(word::setup::KeepInFile { cause: &cause, path: &shown });
    let items =
        [('y', locale.text(word::setup::KEEP_YES).to_owned()), ('n', locale.text(word::setup::KEEP_NO).to_owned())];
    match asker.decide(&question, "", &items) {
        Ok(0) => match store.keep_in_file(&account, key.expose()) {
            Ok(()) => console.note(&locale.with(word::said::LoginFile { provider, path: &shown })),
            Err(error) => console.fail(&error.into_problem(&shown, locale)),
        },
        Ok(_) | Err(NoChoice::Escaped) => {}
        Err(NoChoice::Interrupted) => return false,
    }
    true
}
