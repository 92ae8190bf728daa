//! `axi mcp login NAME` and `axi mcp logout NAME`.

use std::io::{BufRead as _, IsTerminal as _};

use tokio::sync::mpsc;

use super::super::answers::{find, keychain_cause};
use super::super::browser;
use super::super::console::Console;
use super::super::context::App;
use super::super::keys::Keys;
use super::super::models;
use super::super::tokens::Keeping;
use super::mcp_found::{report, usable, waiting};
use crate::command::Problem;
use crate::frontend::dialog::NoChoice;
use crate::frontend::exit::Exit;
use crate::locale::{Locale, word};
use crate::mcp::{Forgotten, Pages, SignIn, SignInError, Way};

/// Signs in to a server.
///
/// # Errors
/// How axi ends where that is not possible, after it was said.
pub(super) fn sign_in(app: &App, name: &str, in_file: bool) -> Result<Exit, Exit> {
    let (console, locale) = (Console::new(&app.locale), &app.locale);
    let tools = usable(app, name, if in_file { Keeping::File } else { Keeping::Keychain })?;
    if report(&tools, name).is_some_and(|known| matches!(known.definition.way, Way::Process { .. })) {
        // Before the keychain, whose hint would help nobody here.
        console.fail(&problem(locale, name, &SignInError::NoAddress));
        return Err(Exit::Failed);
    }
    if !in_file && let Err(error) = find("axi-sign-in") {
        // Before the person goes all the way in the browser.
        let what = locale.with(word::error::Keychain { cause: &keychain_cause(locale, &error) });
        console.fail(&Problem { what, hint: locale.with(word::server::sign_in::KeychainHint { name }) });
        return Err(Exit::Failed);
    }
    let runtime = waiting(app)?;
    let failed = |error: &SignInError| {
        console.fail(&problem(locale, name, error));
        Exit::Failed
    };
    let begun = runtime.block_on(tools.servers().sign_in(name)).map_err(|error| failed(&error))?;
    show(app, &console, name, &begun)?;
    let pages = Pages {
        done: locale.text(word::server::sign_in::PAGE_DONE).to_owned(),
        strange: locale.text(word::server::sign_in::PAGE_STRANGE).to_owned(),
    };
    let strange = || console.warn(locale.text(word::server::sign_in::PASTED_STRANGE));
    runtime.block_on(begun.finish(&pages, typed(), strange)).map_err(|error| failed(&error))?;
    let path = models::key_file(&app.process.variables).filter(|_| in_file);
    console.note(&match path {
        Some(path) => locale.with(word::server::sign_in::DoneFile { name, path: &app.paths.shown(&path) }),
        None => locale.with(word::server::sign_in::Done { name }),
    });
    Ok(Exit::Done)
}

/// Shows where to sign in, and opens it if the person agrees.
fn show(app: &App, console: &Console<'_>, name: &str, begun: &SignIn) -> Result<(), Exit> {
    let locale = &app.locale;
    console.note(&locale.with(word::server::sign_in::At { name, issuer: &begun.issuer }));
    if let Some(scope) = &begun.scope {
        console.note(&locale.with(word::server::sign_in::Scope { scope }));
    }
    console.note(locale.text(word::server::sign_in::OPEN_YOURSELF));
    // In one piece, so that it can be copied.
    console.print(&begun.address);
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && agrees(app)? {
        let opened = browser::open(&begun.address, app.process.variables, Keys::names(&app.config()));
        if !opened {
            console.warn(locale.text(word::server::sign_in::NO_BROWSER));
        }
    }
    console.note(&locale.with(word::server::sign_in::Waiting { minutes: &SignIn::MINUTES.to_string() }));
    Ok(())
}

fn agrees(app: &App) -> Result<bool, Exit> {
    use word::server::sign_in::{HINT, NO, QUESTION, YES};
    let items = [('y', app.locale.text(YES).to_owned()), ('n', app.locale.text(NO).to_owned())];
    match app.asker().decide(app.locale.text(QUESTION), app.locale.text(HINT), &items) {
        Ok(picked) => Ok(picked == 0),
        Err(NoChoice::Escaped) => Ok(false),
        Err(NoChoice::Interrupted) => Err(Exit::Interrupted),
    }
}

/// What the person pastes, line by line. The thread ends with axi.
fn typed() -> mpsc::Receiver<String> {
    let (lines, typed) = mpsc::channel(1);
    let read = move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
    };
    // Without it there is the browser.
    drop(std::thread::Builder::new().name("typed".to_owned()).spawn(read));
    typed
}

/// Forgets the token for a server.
///
/// # Errors
/// How axi ends where that is not possible, after it was said.
pub(super) fn sign_out(app: &App, name: &str) -> Result<Exit, Exit> {
    let (console, locale) = (Console::new(&app.locale), &app.locale);
    match usable(app, name, Keeping::AsBefore)?.servers().sign_out(name) {
        Ok(Forgotten::All) => console.note(&locale.with(word::server::sign_in::Out { name })),
        Ok(Forgotten::Nothing) => console.note(&locale.with(word::server::sign_in::OutNone { name })),
        Ok(Forgotten::Perhaps { cause }) => {
            console.note(&locale.with(word::server::sign_in::OutOfFile { name, cause: &cause }));
        }
        Err(error) => {
            console.fail(&problem(locale, name, &error));
            return Err(Exit::Failed);
        }
    }
    Ok(Exit::Done)
}

fn problem(locale: &Locale, name: &str, error: &SignInError) -> Problem {
    use word::server::sign_in::failure::{
        NO_ADDRESS, NO_METADATA, NOT_WANTED, NoOauth, NoPkce, NoRegistration, NotBegun, NotHttps, NotKept, Refused,
        Slow, Unreached, WrongIssuer, WrongResource,
    };
    let cause = match error {
        SignInError::NoAddress => locale.text(NO_ADDRESS).to_owned(),
        SignInError::Unset { variable } => locale.with(word::server::failure::Unset { variable }),
        SignInError::NotWanted => locale.text(NOT_WANTED).to_owned(),
        SignInError::Unreached { address, cause } => locale.with(Unreached { address, cause }),
        SignInError::NotHttps { address } => locale.with(NotHttps { address }),
        SignInError::NoMetadata => locale.text(NO_METADATA).to_owned(),
        SignInError::WrongResource { said } => locale.with(WrongResource { said }),
        SignInError::WrongIssuer { said, wanted } => locale.with(WrongIssuer { said, wanted }),
        SignInError::NoPkce { issuer } => locale.with(NoPkce { issuer }),
        SignInError::NoRegistration { issuer } => locale.with(NoRegistration { issuer }),
        SignInError::Refused { issuer, said } => locale.with(Refused { issuer, said }),
        SignInError::NoOauth { address } => locale.with(NoOauth { address }),
        SignInError::Slow { minutes } => locale.with(Slow { minutes: &minutes.to_string() }),
        SignInError::NotBegun { cause } => locale.with(NotBegun { cause }),
        SignInError::NotKept { cause } => locale.with(NotKept { cause }),
    };
    let hint = if matches!(error, SignInError::NoRegistration { .. }) {
        locale.with(word::server::sign_in::ClientHint { name })
    } else {
        String::new()
    };
    Problem { what: locale.with(word::server::sign_in::Fails { name, cause: &cause }), hint }
}
