//! The MCP servers of a run: those of the settings, and those of a project's `.mcp.json` once the person agreed to them.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::console::Console;
use super::context::App;
use super::keys::Keys;
use super::models;
use super::tokens::{Keeping, Tokens};
use crate::config::{self, Config};
use crate::frontend::dialog::NoChoice;
use crate::frontend::exit::Exit;
use crate::locale::{Locale, word};
use crate::mcp::{
    Agreed, AgreedStore, Definition, DefinitionError, GivenClient, Servers, Setup, Way, read_project,
};
use crate::secret::is_secret_name;
use crate::terminal::sanitize_line;
use crate::tool::{HANDOFF_VARIABLES, ServerTools};

/// More bytes than this are no list of servers.
const LARGEST: u64 = 1024 * 1024;

/// The file of a project that names servers.
const FILE: &str = ".mcp.json";

/// A definition that cannot be used: its file, its name, and why.
type Wrong = (PathBuf, String, DefinitionError);

/// A definition that is not used, in words.
pub(super) struct Unused {
    pub(super) file: String,
    /// Empty where it is the whole file.
    pub(super) name: String,
    pub(super) cause: String,
    pub(super) of_project: bool,
}

/// Lists the definitions that are not used, and why: wrong ones, and those of a name that another one has.
pub(super) fn unused(app: &App) -> Vec<Unused> {
    let own = app.paths.settings();
    let words = |(path, name, error): Wrong| Unused {
        of_project: own.as_ref() != Some(&path),
        file: place(app, &path, &error),
        name,
        cause: match &error {
            DefinitionError::Syntax { .. } | DefinitionError::NoObject { .. } => none_used(&app.locale, &error),
            DefinitionError::NoWay | DefinitionError::Name | DefinitionError::Shadowed => {
                cause(&app.locale, &error)
            }
        },
    };
    defined(app).1.into_iter().map(words).collect()
}

/// Where a mistake is.
fn place(app: &App, path: &Path, error: &DefinitionError) -> String {
    let file = app.paths.shown(path);
    match error {
        DefinitionError::NoObject { line, column } => format!("{file}:{line}:{column}"),
        DefinitionError::Syntax { .. }
        | DefinitionError::NoWay
        | DefinitionError::Name
        | DefinitionError::Shadowed => file,
    }
}

/// Says why none of a file's servers is used.
fn none_used(locale: &Locale, error: &DefinitionError) -> String {
    locale.with(word::server::NotRead { cause: &cause(locale, error) })
}

/// All that are defined, in the order of their names, and what is wrong with others. The person's own comes before
/// what an editor handed over, and that before a project's of the same name.
fn defined(app: &App) -> (Vec<Definition>, Vec<Wrong>) {
    let (mut found, unusable) = own(&app.config());
    let file = || app.paths.settings().unwrap_or_default();
    let mut wrong: Vec<Wrong> = unusable.into_iter().map(|(name, error)| (file(), name, error)).collect();
    for definition in &app.handed {
        if found.iter().all(|known| known.name != definition.name) {
            found.push(definition.clone());
        }
    }
    let folders = app.project.cwd.ancestors().take_while(|folder| folder.starts_with(&app.project.root));
    // The nearest wins.
    for folder in folders {
        let path = folder.join(FILE);
        let bytes = match content(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => {
                wrong.push((path, String::new(), DefinitionError::Syntax { cause: error.to_string() }));
                continue;
            }
        };
        let definitions = read_project(&String::from_utf8_lossy(&bytes));
        wrong.extend(definitions.wrong.into_iter().map(|(name, error)| (path.clone(), name, error)));
        for definition in definitions.found {
            if found.iter().all(|known| known.name != definition.name) {
                found.push(definition);
            } else {
                wrong.push((path.clone(), definition.name, DefinitionError::Shadowed));
            }
        }
    }
    (found, wrong)
}

/// Reads a file that may name servers.
fn content(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = path.metadata()?;
    // A pipe or a device would be waited for.
    if !file.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    if file.len() > LARGEST {
        return Err(ErrorKind::FileTooLarge.into());
    }
    std::fs::read(path)
}

/// Those of the settings, and the names of those that cannot be used.
fn own(config: &Config) -> (Vec<Definition>, Vec<(String, DefinitionError)>) {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (name, server) in config.mcp.iter().filter(|(_, server)| server.enabled) {
        let way = match (&server.command, &server.url) {
            (Some(command), _) => {
                Some(Way::Process { command: command.clone(), args: server.args.clone(), env: server.env.clone() })
            }
            (None, Some(url)) => Some(Way::Address { url: url.clone(), headers: server.headers.clone() }),
            (None, None) => None,
        };
        match way {
            Some(way) if Definition::is_name(name) => found.push(Definition {
                always_load: server.always_load,
                call_seconds: server.timeout,
                start: Duration::from_secs(server.start_timeout),
                client: server.client_id.clone().map(|id| GivenClient { id, secret: server.client_secret.clone() }),
                ..Definition::own(name, way)
            }),
            Some(_) => wrong.push((name.clone(), DefinitionError::Name)),
            None => wrong.push((name.clone(), DefinitionError::NoWay)),
        }
    }
    (found, wrong)
}

/// Words what is wrong with sections of settings that define servers: the name, and why it cannot be used.
pub(super) fn unusable(config: &Config, locale: &Locale) -> Vec<(String, String)> {
    let words = |(name, error): (String, DefinitionError)| (name, cause(locale, &error));
    own(config).1.into_iter().map(words).collect()
}

fn cause(locale: &Locale, error: &DefinitionError) -> String {
    match error {
        DefinitionError::Syntax { cause } => cause.clone(),
        DefinitionError::NoObject { .. } => locale.text(word::server::NEEDS_OBJECT).to_owned(),
        DefinitionError::NoWay => locale.text(word::server::NEEDS_WAY).to_owned(),
        DefinitionError::Name => locale.text(word::server::NEEDS_NAME).to_owned(),
        DefinitionError::Shadowed => locale.text(word::server::SHADOWED).to_owned(),
    }
}

fn store(app: &App) -> Option<AgreedStore> {
    let path = app.paths.state.as_ref()?.join("servers.json");
    Some(AgreedStore::new(path, app.project.root.clone()))
}

fn agreed(app: &App, definition: &Definition) -> Agreed {
    match store(app) {
        Some(store) => store.of(definition),
        None if definition.of_project => Agreed::Unknown,
        None => Agreed::Yes,
    }
}

/// Names all that are defined, with whether the person agreed to each, and whether it is a project's. Starts none.
pub(super) fn standing(app: &App) -> Vec<(String, Agreed, bool)> {
    let row = |definition: Definition| (definition.name.clone(), agreed(app, &definition), definition.of_project);
    defined(app).0.into_iter().map(row).collect()
}

/// Asks about the servers of the project that nobody was asked about yet.
///
/// # Errors
/// How axi ends when the person wants neither: [`Exit::Interrupted`].
pub(super) fn settle_servers(app: &App) -> Result<(), Exit> {
    let console = Console::new(&app.locale);
    let (found, wrong) = defined(app);
    tell_wrong(app, &wrong);
    let unknown: Vec<Definition> =
        found.into_iter().filter(|definition| agreed(app, definition) == Agreed::Unknown).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    console.note(&app.locale.with(word::server::Brings { place: &app.paths.shown(&app.project.root) }));
    for definition in &unknown {
        console.note(&line(app, definition));
    }
    console.note(app.locale.text(word::server::WHY));
    for definition in &unknown {
        let Some(yes) = ask(app, &definition.name)? else { continue };
        if let Some(store) = store(app)
            && let Err(error) = store.remember(definition, yes)
        {
            console.warn(&app.locale.with(word::server::NotKept { cause: &error.to_string() }));
        }
    }
    Ok(())
}

fn line(app: &App, definition: &Definition) -> String {
    let line = definition.line();
    // Nothing of it may be out of sight.
    let line = line.replace(['\n', '\r'], "⏎");
    app.locale.with(word::server::Line { name: &definition.name, line: &sanitize_line(&line) })
}

/// Yes, no, or `None` for neither: then it is asked next time.
fn ask(app: &App, name: &str) -> Result<Option<bool>, Exit> {
    let asker = app.asker();
    let text = |key| app.locale.text(key).to_owned();
    let items = [('n', text(word::server::NO)), ('y', text(word::server::YES))];
    let question = app.locale.with(word::server::Question { name });
    match asker.decide(&question, app.locale.text(word::server::HINT), &items) {
        Ok(picked) => Ok(Some(picked == 1)),
        Err(NoChoice::Escaped) => Ok(None),
        Err(NoChoice::Interrupted) => Err(Exit::Interrupted),
    }
}

/// Where nobody can be asked: says which servers are not started.
pub(super) fn tell_unagreed(app: &App) {
    let (found, wrong) = defined(app);
    tell_wrong(app, &wrong);
    let unknown = found.iter().filter(|definition| agreed(app, definition) == Agreed::Unknown);
    let names: Vec<&str> = unknown.map(|definition| definition.name.as_str()).collect();
    if !names.is_empty() {
        let servers = &names.join(", ");
        Console::new(&app.locale).warn(&app.locale.with(word::server::NotAgreedYet { servers }));
    }
}

fn tell_wrong(app: &App, wrong: &[Wrong]) {
    let console = Console::new(&app.locale);
    for (path, name, error) in wrong {
        let file = &app.paths.shown(path);
        let cause = &cause(&app.locale, error);
        let text = match error {
            DefinitionError::Syntax { .. } => app.locale.with(word::server::WrongFile { file, cause }),
            DefinitionError::NoObject { .. } => {
                format!("{}: {}", place(app, path, error), none_used(&app.locale, error))
            }
            // Another one of its name is used: that is asked for, not told each time.
            DefinitionError::Shadowed => continue,
            DefinitionError::NoWay | DefinitionError::Name => {
                app.locale.with(word::server::Wrong { file, name, cause })
            }
        };
        console.warn(&text);
    }
}

/// The servers of this run; nothing where there are none. Starts none.
pub(super) fn servers(app: &App, tokens: Keeping) -> Option<ServerTools> {
    let (found, _) = defined(app);
    if found.is_empty() {
        return None;
    }
    let definitions: Vec<(Definition, bool)> = found
        .into_iter()
        .map(|definition| {
            let yes = agreed(app, &definition) == Agreed::Yes;
            (definition, yes)
        })
        .collect();
    let variables = app.process.variables;
    let keys: BTreeSet<String> = Keys::names(&app.config()).collect();
    // A project's server is not given the keys of providers, not even where its definition names them.
    let variable = {
        let keys = keys.clone();
        move |name: &str, of_project: bool| variables(name).filter(|_| !(of_project && keys.contains(name)))
    };
    let withheld_all = app.config().command_secrets == config::CommandSecrets::Named;
    let kept = app.sandbox().variables().clone();
    let withheld = move |line: &str| {
        let names = || std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let mut withheld = kept.kept_from(line, names());
        withheld.extend(HANDOFF_VARIABLES.iter().map(|name| (*name).to_owned()));
        // The keys of providers go to no server by themselves.
        withheld.extend(names().filter(|name| keys.contains(name)));
        if withheld_all {
            withheld.extend(names().filter(|name| is_secret_name(name) && !line.contains(name.as_str())));
        }
        withheld
    };
    let client = models::client(&app.config(), &app.process.variables);
    let setup = Setup {
        cache: app.paths.cache.as_ref().map(|cache| cache.join("mcp")),
        helper: app.process.program.clone(),
        directory: app.project.cwd.clone(),
        client: Arc::new(move |url| client.for_address(url)),
        tokens: Arc::new(Tokens::new(models::key_file(&app.process.variables), tokens)),
        variable: Box::new(variable),
        withheld: Box::new(withheld),
    };
    Some(ServerTools::new(Servers::new(definitions, setup)))
}
