//! The commands that are no conversation: models, tools, sessions, keys, doctor, completions.

use std::io::{IsTerminal, Read};

use tokio::runtime::Runtime;

use super::console::Console;
use super::hook;
use super::world::{change_key, keychain_cause};
use super::{Base, keychain, local, models, settings};
use crate::cli::{self, SessionsAction};
use crate::command::{self, KeyAction, Problem};
use crate::conversation::{ContentBlock, Conversation, Role};
use crate::frontend::dialog::Terminal;
use crate::frontend::exit::Exit;
use crate::frontend::signals::Signals;
use crate::frontend::words;
use crate::locale::{Locale, word};
use crate::provider::{self, Client};
use crate::session::{Loaded, SessionError, Summary, load};
use crate::terminal::{Size, sanitize};
use crate::tool::table;

/// The longest key that is read from a pipe, in bytes.
const KEY_LIMIT: u64 = 16 * 1024;

pub(super) fn login(base: &Base, provider: &str) -> Exit {
    let console = Console::new(&base.locale);
    let key = if std::io::stdin().is_terminal() {
        let question = base.locale.with(word::said::LoginPrompt { provider });
        Terminal { color: false, plain: base.linear(), tty: None, signals: Signals::default() }.secret(&question)
    } else {
        let mut key = String::new();
        std::io::stdin().lock().take(KEY_LIMIT).read_to_string(&mut key).ok().map(|_| key)
    };
    done(&console, change_key(base, KeyAction::Store(key.unwrap_or_default()), provider, &base.locale))
}

pub(super) fn logout(base: &Base, provider: &str) -> Exit {
    let console = Console::new(&base.locale);
    done(&console, change_key(base, KeyAction::Remove, provider, &base.locale))
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

pub(super) fn models(base: &Base, wanted: Option<&str>) -> Exit {
    let console = Console::new(&base.locale);
    if let Some(name) = wanted.filter(|name| !models::names(&base.config).iter().any(|known| known == name)) {
        let known = models::names(&base.config).join(", ");
        console.fail(&Problem {
            what: base.locale.with(word::error::UnknownProvider { provider: name }),
            hint: base.locale.with(word::error::UnknownProviderHint { known: &known, provider: name }),
        });
        return Exit::Usage;
    }
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Exit::Failed;
    };
    let client = Client::default();
    let list = match wanted {
        Some(name) => match provider_models(base, name, &client, &runtime) {
            Ok(list) => list,
            Err(problem) => {
                console.fail(&problem);
                return Exit::Provider;
            }
        },
        None => all_models(base, &client, &runtime),
    };
    if list.is_empty() {
        console.note(base.locale.text(word::said::MODEL_NONE));
        return Exit::Done;
    }
    console.print(&list.join("\n"))
}

/// Lists the models of every provider that has a key or runs here; those that do not answer are left out.
pub(super) fn all_models(base: &Base, client: &Client, runtime: &Runtime) -> Vec<String> {
    let mut list = local::models(base);
    let listed = models::list(&base.config, &base.variables, &base.locale, client, runtime);
    list.extend(listed.into_iter().map(|(id, _)| id));
    list
}

fn provider_models(base: &Base, name: &str, client: &Client, runtime: &Runtime) -> Result<Vec<String>, Problem> {
    if name == "local" && !base.config.providers.contains_key(name) {
        return Ok(local::models(base));
    }
    let settings = models::resolve(&format!("{name}/any"), &base.config, &base.variables, &base.locale)?;
    let list = runtime.block_on(provider::list_models(&settings, client)).map_err(|error| {
        let told = crate::frontend::words::failure(&base.locale, &crate::agent::Failure::from(&error));
        Problem { what: told.what, hint: told.hint }
    })?;
    Ok(list.into_iter().map(|model| format!("{name}/{}", model.name)).collect())
}

pub(super) fn tools(base: &Base) -> Exit {
    let rows = table::standard(None).into_iter().map(|tool| {
        let spec = tool.spec();
        let first = spec.description.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned();
        format!("{:<12} {first}", spec.name)
    });
    Console::new(&base.locale).print(&rows.collect::<Vec<_>>().join("\n"))
}

pub(super) fn sessions(base: &Base, action: &SessionsAction) -> Exit {
    let console = Console::new(&base.locale);
    let Some(store) = base.sessions() else {
        console
            .fail(&Problem { what: base.locale.text(word::error::NO_CONFIG_DIR).to_owned(), hint: String::new() });
        return Exit::Failed;
    };
    let open = |id: &str| store.find(id).and_then(|(_, path)| load(&path));
    let result: Result<String, SessionError> = match action {
        SessionsAction::List => Ok(rows(base, store.list())),
        SessionsAction::Search(text) => {
            let found = store.search(text);
            if found.is_empty() && !store.list().is_empty() {
                console.note(&base.locale.with(word::said::SessionsNotFound { text }));
                return Exit::Done;
            }
            Ok(rows(base, found))
        }
        SessionsAction::Show(id) => open(id).map(|loaded| sanitize(&markdown(&loaded)).into_owned()),
        SessionsAction::Export(id) => open(id).map(|loaded| markdown(&loaded)),
        SessionsAction::Delete(id) => {
            store.delete(id).map(|id| base.locale.with(word::said::SessionDeleted { id: id.as_str() }))
        }
    };
    match result {
        Ok(text) if text.is_empty() => {
            console.note(base.locale.text(word::said::SESSIONS_NONE));
            Exit::Done
        }
        Ok(text) => console.print(&text),
        Err(error) => {
            console.fail(&command::session_problem(&base.locale, &error));
            Exit::Failed
        }
    }
}

fn rows(base: &Base, list: Vec<Summary>) -> String {
    let lines =
        list.into_iter().map(|row| format!("{}  {}  {}", row.id, base.paths.shown(&row.directory), row.title));
    lines.map(|line| sanitize(&line).into_owned()).collect::<Vec<_>>().join("\n")
}

/// Writes a session as markdown: who said what, tools by their names.
fn markdown(loaded: &Loaded) -> String {
    let mut parts = vec![format!("# {}\n\n{} · {}", loaded.id, loaded.model, loaded.directory.display())];
    parts.extend(conversation_parts(&loaded.conversation));
    parts.join("\n\n")
}

fn conversation_parts(conversation: &Conversation) -> Vec<String> {
    let mut parts = Vec::new();
    for message in conversation.messages() {
        for block in &message.content {
            match block {
                ContentBlock::Text { text } if message.role == Role::User => {
                    let quoted: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
                    parts.push(quoted.join("\n"));
                }
                ContentBlock::Text { text } => parts.push(text.trim_end().to_owned()),
                ContentBlock::ToolCall(call) => parts.push(format!("`{}` `{}`", call.name, call.input)),
                ContentBlock::ToolResult(result) => {
                    parts.push(format!("````\n{}\n````", result.content.trim_end()));
                }
                ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => {}
            }
        }
    }
    parts
}

pub(super) fn doctor(base: &Base) -> Exit {
    Console::new(&base.locale).print(&doctor_text(base, &base.locale))
}

/// Gives a terminal that a killed program has left in a bad mode back its usual one.
pub(super) fn reset_terminal(base: &Base) -> Exit {
    let console = Console::new(&base.locale);
    match crate::terminal::reset_terminal() {
        Ok(()) => {
            console.note(base.locale.text(word::doctor::TERMINAL_RESET));
            Exit::Done
        }
        Err(error) => {
            let what = base.locale.with(word::error::Terminal { cause: &error.to_string() });
            console.fail(&Problem { what, hint: base.locale.text(word::doctor::TERMINAL_RESET_HINT).to_owned() });
            Exit::Failed
        }
    }
}

/// Says what works here and what does not, one line each.
pub(super) fn doctor_text(base: &Base, locale: &Locale) -> String {
    let there = |path: Option<std::path::PathBuf>| match path {
        Some(path) if path.exists() => base.paths.shown(&path),
        Some(path) => format!("{} ({})", base.paths.shown(&path), locale.text(word::doctor::NOT_THERE_YET)),
        None => locale.text(word::doctor::MISSING).to_owned(),
    };
    let terminal = if std::io::stdout().is_terminal() {
        let size = Size::of_terminal(None, None);
        let term = (base.variables)("TERM").unwrap_or_default();
        locale.with(word::doctor::Size {
            columns: &size.columns.to_string(),
            rows: &size.rows.to_string(),
            term: &term,
        })
    } else {
        locale.text(word::doctor::NOT_A_TERMINAL).to_owned()
    };
    let keychain = match keychain::find("axi-doctor") {
        Ok(_) => locale.text(word::doctor::WORKS).to_owned(),
        Err(error) => keychain_cause(locale, &error),
    };
    let sandbox = base.sandbox();
    let model = (base.variables)("AXI_MODEL").or_else(|| base.config.model.clone());
    let mut rows = vec![
        (word::doctor::VERSION, env!("CARGO_PKG_VERSION").to_owned()),
        (word::doctor::MODEL, model.unwrap_or_else(|| locale.text(word::doctor::MISSING).to_owned())),
        (word::doctor::CONFIG, settings::standing(base, locale).unwrap_or_else(|| there(base.paths.settings()))),
        (word::doctor::SESSIONS, there(base.paths.sessions())),
        (word::doctor::LANGUAGE, locale.tag().to_owned()),
        (word::doctor::TERMINAL, terminal),
        (word::doctor::KEYCHAIN, keychain),
        (word::doctor::SANDBOX, words::sandbox(locale, sandbox.standing(), sandbox.keeps_attributes())),
    ];
    rows.extend(hook::doctor_rows(locale, base.variables));
    let lines = rows.into_iter().map(|(key, value)| format!("- {}: {}", locale.text(key), sanitize(&value)));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn completions(base: &Base, shell: clap_complete::Shell) -> Exit {
    let mut command = cli::command(&|word| base.locale.text(word));
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "axi", &mut text);
    Console::new(&base.locale).print(&String::from_utf8_lossy(&text))
}

pub(super) fn manual(base: &Base) -> Exit {
    let command = cli::command(&|word| base.locale.text(word));
    let mut text = Vec::new();
    match clap_mangen::Man::new(command).render(&mut text) {
        Ok(()) => Console::new(&base.locale).print(&String::from_utf8_lossy(&text)),
        Err(error) => {
            let what = base.locale.with(word::error::Io { path: "stdout", cause: &error.to_string() });
            Console::new(&base.locale).fail(&Problem { what, hint: String::new() });
            Exit::Failed
        }
    }
}
