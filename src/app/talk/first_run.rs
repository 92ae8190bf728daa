//! The start of a REPL whose model cannot be asked: setting up, with what was typed waiting.

use std::rc::Rc;
use std::sync::Arc;

use tokio::runtime::Runtime;

use super::super::console::Console;
use super::super::context::App;
use super::super::failed::Failed;
use super::super::models::{self, Missing, choose, fetch_own};
use super::super::setup::{Scene, SetUp, can_ask, set_up, tell_ways};
use super::agent::first_request;
use super::stage::stage;
use crate::cli::RunOptions;
use crate::command::Problem;
use crate::config::Origin;
use crate::frontend::dialog::Terminal;
use crate::frontend::exit::Exit;
use crate::frontend::stage::Stage;
use crate::locale::{Locale, word};
use crate::provider::{Client, Provider};

/// A conversation about to begin: who answers, what was found to be said, and the terminal where it was taken already.
pub(super) type Begun = (Arc<dyn Provider>, Option<String>, Option<Stage>);

/// Chooses the model; where there is none, has the person set one up.
pub(super) fn begin(
    app: &App,
    options: &RunOptions,
    client: &Client,
    runtime: &Rc<Runtime>,
) -> Result<Begun, Failed> {
    let failed = match choose(app, options.model.as_deref(), client, runtime, Missing::Tell) {
        Ok((provider, found)) => return Ok((provider, found, None)),
        Err(failed) => failed,
    };
    // A model that was named for this run is meant.
    let named = app.settings().held.get("model").map(|held| held.origins.clone()).unwrap_or_default();
    let is_for_this_run =
        options.model.is_some() || named.iter().any(|origin| matches!(origin, Origin::Variable(_)));
    if is_for_this_run || failed.exit != Exit::NotConfigured || !can_ask() {
        return Err(failed);
    }
    let (console, locale) = (Console::new(&app.locale), &app.locale);
    match &app.config().model {
        Some(model) => {
            console.fail(&failed.problem);
            console.note(&locale.with(word::setup::Gone { model }));
        }
        None if failed.problem == models::no_model(locale) => console.note(locale.text(word::setup::NOTHING)),
        // Something was found, or an address was named, and it cannot be asked.
        None => console.fail(&failed.problem),
    }
    // Until the prompt: what is typed between two questions, a key perhaps, is not shown.
    let stage = stage(app, runtime)?;
    loop {
        match chosen(app, options, &stage.terminal, (client, runtime), locale)? {
            Chosen::Model(name) => match models::connect(app, &name, client, locale) {
                Ok(provider) => return Ok((provider, None, Some(stage))),
                Err(problem) => console.fail(&problem),
            },
            Chosen::Nothing => {
                tell_ways(locale);
                return Err(silent(Exit::NotConfigured));
            }
        }
    }
}

/// How setting up ended, for whoever goes on.
pub(super) enum Chosen {
    Model(String),
    Nothing,
}

/// Sets up; axi's own model is fetched where it was chosen. The error is how axi ends, its words said.
pub(super) fn chosen(
    app: &App,
    options: &RunOptions,
    asker: &Terminal,
    (client, runtime): (&Client, &Runtime),
    locale: &Locale,
) -> Result<Chosen, Failed> {
    match set_up(&Scene { app, asker, client, runtime, locale }) {
        SetUp::Model(name) => Ok(Chosen::Model(name)),
        SetUp::Own(name) => {
            let first = || Some(first_request(app, options));
            fetch_own(app, &name, client, runtime, &first).map(Chosen::Model)
        }
        SetUp::NotNow => Ok(Chosen::Nothing),
        SetUp::Leave => Err(silent(Exit::Interrupted)),
    }
}

/// An end of which everything is said.
const fn silent(exit: Exit) -> Failed {
    Failed::new(Problem { what: String::new(), hint: String::new() }, exit)
}
