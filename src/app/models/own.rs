//! The model inside of axi: finding its weights, connecting to it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::super::context::App;
use super::memory::{UNTOLD, available};
use crate::command::Problem;
use crate::locale::{Locale, word};
use crate::provider::Provider;
use crate::provider::local::{LocalProvider, NAME, Places, TABLE, Weights, by_name, context, find};

/// Connects to a model in this process when it is first wanted.
pub(in crate::app) type LineConnector = Box<dyn Fn() -> Option<Arc<dyn Provider>> + Send>;

/// Connects to `local/NAME` or `local/PATH`; `None` when the name is another provider's.
pub(in crate::app) fn connect(
    app: &App,
    name: &str,
    locale: &Locale,
) -> Option<Result<Arc<dyn Provider>, Problem>> {
    let model = own_name(app, name)?;
    Some(Finder::new(app).provider(model, prefixes(app)).ok_or_else(|| missing(locale, model)))
}

/// The folder where beginnings of conversations are kept.
pub(super) fn prefixes(app: &App) -> Option<PathBuf> {
    app.paths.cache.as_ref().map(|cache| cache.join("prefixes"))
}

/// Returns a connector to axi's own model for ghost text; `None` if the name belongs to another provider.
pub(in crate::app) fn line_connector(app: &App, name: &str) -> Option<LineConnector> {
    let model = own_name(app, name)?.to_owned();
    let finder = Finder::new(app);
    // Separate from the prefixes of conversations: this one changes with the history, and must not displace those.
    let kept = app.paths.cache.as_ref().map(|cache| cache.join("prefixes").join("lines"));
    Some(Box::new(move || finder.provider(&model, kept.clone())))
}

fn own_name<'a>(app: &App, name: &'a str) -> Option<&'a str> {
    name.strip_prefix("local/").filter(|_| !app.config().providers.contains_key(NAME))
}

/// Finds weights, on whichever thread it is called.
struct Finder {
    places: Places,
    home: Option<PathBuf>,
    cwd: PathBuf,
    idle: Duration,
}

impl Finder {
    fn new(app: &App) -> Self {
        let idle = Duration::from_mins(app.config().local_idle_minutes);
        Self { places: places(app), home: app.paths.home.clone(), cwd: app.project.cwd.clone(), idle }
    }

    fn provider(&self, model: &str, kept: Option<PathBuf>) -> Option<Arc<dyn Provider>> {
        let published = by_name(model);
        let path = if let Some(weights) = published {
            find(weights, &self.places)
        } else {
            let path = match (model.strip_prefix("~/"), &self.home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => self.cwd.join(model),
            };
            path.is_file().then_some(path)
        };
        let shown = model.rsplit('/').next().unwrap_or(model).trim_end_matches(".gguf");
        let context = room(published);
        let published = published.map(|weights| (weights, self.places.clone()));
        Some(Arc::new(LocalProvider::new(shown, path?, published, kept, (self.idle, context))))
    }
}

/// How many tokens a conversation with a model may have on this machine.
pub(in crate::app) fn room(weights: Option<&Weights>) -> u64 {
    context(weights, available().unwrap_or(UNTOLD))
}

pub(in crate::app) fn missing(locale: &Locale, model: &str) -> Problem {
    let known: Vec<&str> = TABLE.iter().map(|weights| weights.name).collect();
    let hint = if by_name(model).is_some() {
        locale.with(word::local::MissingHint { model })
    } else {
        locale.with(word::local::UnknownHint { known: &known.join(", ") })
    };
    Problem { what: locale.with(word::local::Missing { model }), hint }
}

/// Lists the models whose weights are here.
pub(in crate::app) fn models(app: &App) -> Vec<String> {
    lister(app)()
}

/// Returns a function that lists them, for another thread: it reads the disk only when it is called.
pub(in crate::app) fn lister(app: &App) -> impl Fn() -> Vec<String> + Send + Sync + use<> {
    let places = places(app);
    move || {
        let here = TABLE.iter().filter(|weights| find(weights, &places).is_some());
        here.map(|weights| format!("{NAME}/{}", weights.name)).collect()
    }
}

pub(in crate::app) fn places(app: &App) -> Places {
    let variable = |name: &str| (app.process.variables)(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Places {
        cache: app.paths.cache.clone(),
        home: app.paths.home.clone(),
        ollama: variable("OLLAMA_MODELS"),
        hub: variable("HF_HUB_CACHE").or_else(|| variable("HF_HOME").map(|home| home.join("hub"))),
    }
}
