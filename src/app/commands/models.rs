//! `axi models`: the models that can be asked.

use std::io::IsTerminal as _;
use std::time::SystemTime;

use tokio::runtime::Runtime;

use super::super::answers::Listed;
use super::super::console::Console;
use super::super::context::App;
use super::super::models;
use crate::agent::Failure;
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::frontend::words;
use crate::locale::word;
use crate::provider::{self, Client};
use crate::terminal::sanitize_line;
use crate::terminal::width::column_after;

pub(in crate::app) fn models(app: &App, wanted: Option<&str>, json: bool) -> Exit {
    let console = Console::new(&app.locale);
    if let Some(problem) = wanted.and_then(|name| models::not_known(name, &app.config(), &app.locale)) {
        console.fail(&problem);
        return Exit::NotConfigured;
    }
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Exit::Failed;
    };
    let client = models::client(&app.config(), &app.process.variables);
    let list = match wanted {
        Some(name) => match provider_models(app, name, &client, &runtime) {
            Ok(list) => list,
            Err(problem) => {
                console.fail(&problem);
                return Exit::Provider;
            }
        },
        None => models::all(app, &client, &runtime),
    };
    if json {
        let list: Vec<_> = list.iter().map(Listed::json).collect();
        return console.json(&serde_json::Value::Array(list));
    }
    if list.is_empty() {
        console.note(app.locale.text(word::said::MODEL_NONE));
        return Exit::Done;
    }
    console.print(&rows(app, &list).join("\n"))
}

/// Makes one row for each model: a person sees what is known of it, a program gets the name alone.
fn rows(app: &App, list: &[Listed]) -> Vec<String> {
    let names: Vec<_> = list.iter().map(|listed| sanitize_line(&listed.id)).collect();
    if !std::io::stdout().is_terminal() {
        return names.into_iter().map(String::from).collect();
    }
    let cells = |name: &str| column_after(name, 0);
    let widest = names.iter().map(|name| cells(name)).max().unwrap_or(0);
    let row = |(name, listed): (&std::borrow::Cow<'_, str>, &Listed)| {
        let gap = " ".repeat(widest - cells(name) + 2);
        format!("{name}{gap}{}", listed.words(&app.locale))
    };
    names.iter().zip(list).map(row).collect()
}

fn provider_models(app: &App, name: &str, client: &Client, runtime: &Runtime) -> Result<Vec<Listed>, Problem> {
    if models::inside(name, &app.config(), &app.locale).is_some() {
        return Ok(models::own_models(app).into_iter().map(Listed::own).collect());
    }
    let any = format!("{name}/any");
    let settings = match models::resolve(&any, &app.config(), &app.process.variables, &app.locale, &app.asked) {
        Ok(settings) => settings,
        Err(problem) => return known_models(app, name).ok_or(problem),
    };
    let list = runtime.block_on(provider::list_models(&settings, client)).map_err(|error| {
        let told = words::failure(&app.locale, &Failure::from(&error), words::Speaking::ByFlags);
        Problem { what: told.what, hint: told.hint }
    })?;
    let list: Vec<_> = list.iter().map(|model| Listed::of_server(&settings, model, &app.config())).collect();
    app.said.keep(&list, SystemTime::now());
    Ok(list)
}

/// Lists the models that the catalogue has for a provider without a key.
fn known_models(app: &App, name: &str) -> Option<Vec<Listed>> {
    let known: Vec<_> = provider::catalogue::of(name).collect();
    if known.is_empty() {
        return None;
    }
    Console::new(&app.locale).note(&app.locale.with(word::models::FromCatalogue { provider: name }));
    Some(known.iter().map(|known| Listed::of_catalogue(name, &known.name, &app.config(), false)).collect())
}
