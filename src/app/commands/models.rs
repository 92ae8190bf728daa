//! `axi models`: the models that can be asked.

use tokio::runtime::Runtime;

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

pub(in crate::app) fn models(app: &App, wanted: Option<&str>) -> Exit {
    let console = Console::new(&app.locale);
    if let Some(name) = wanted.filter(|name| !models::names(&app.config).iter().any(|known| known == name)) {
        let known = models::names(&app.config).join(", ");
        console.fail(&Problem {
            what: app.locale.with(word::error::UnknownProvider { provider: name }),
            hint: app.locale.with(word::error::UnknownProviderHint { known: &known, provider: name }),
        });
        return Exit::Usage;
    }
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Exit::Failed;
    };
    let client = Client::default();
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
    if list.is_empty() {
        console.note(app.locale.text(word::said::MODEL_NONE));
        return Exit::Done;
    }
    // A name is one row.
    console.print(&list.iter().map(|name| sanitize_line(name)).collect::<Vec<_>>().join("\n"))
}

fn provider_models(app: &App, name: &str, client: &Client, runtime: &Runtime) -> Result<Vec<String>, Problem> {
    if name == "local" && !app.config.providers.contains_key(name) {
        return Ok(models::own_models(app));
    }
    let settings = models::resolve(&format!("{name}/any"), &app.config, &app.process.variables, &app.locale)?;
    let list = runtime.block_on(provider::list_models(&settings, client)).map_err(|error| {
        let told = words::failure(&app.locale, &Failure::from(&error), words::Speaking::ByFlags);
        Problem { what: told.what, hint: told.hint }
    })?;
    Ok(list.into_iter().map(|model| format!("{name}/{}", model.name)).collect())
}
