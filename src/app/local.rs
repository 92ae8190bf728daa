//! The model inside of axi: finding its weights, offering to fetch them, and `axi local`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::Base;
use super::console::Console;
use super::local_memory::{available, fitting};
use super::setup::Failed;
use super::suggest::LineConnector;
use crate::cli::LocalAction;
use crate::command::Problem;
use crate::frontend::dialog::{NoChoice, Terminal};
use crate::frontend::exit::Exit;
use crate::frontend::signals::Signals;
use crate::locale::{Locale, word};
use crate::provider::local::{
    self, FetchError, IDLE, LocalProvider, NAME, Places, Progress, Sources, TABLE, Weights, by_name, find, leavings,
};
use crate::provider::{Client, Provider};
use crate::terminal::{KeyWatch, Tty, TypeAhead, escape_wait};

/// The most minutes a model may stay without a question: a year, for a clock has an end.
const YEAR: u64 = 365 * 24 * 60;
/// How often progress is told.
const STEP: Duration = Duration::from_millis(200);

/// Connects to `local/NAME` or `local/PATH`; `None` when the name is another provider's.
pub(super) fn connect(base: &Base, name: &str, locale: &Locale) -> Option<Result<Arc<dyn Provider>, Problem>> {
    let model = own_name(base, name)?;
    let kept = base.paths.cache.as_ref().map(|cache| cache.join("prefixes"));
    Some(Finder::new(base).provider(model, kept).ok_or_else(|| missing(locale, model)))
}

/// What connects to a model of axi's own for ghost text; `None` when the name is another provider's.
pub(super) fn line_connector(base: &Base, name: &str) -> Option<LineConnector> {
    let model = own_name(base, name)?.to_owned();
    let finder = Finder::new(base);
    // Apart from what conversations begin with: what changes with the history must not push that out.
    let kept = base.paths.cache.as_ref().map(|cache| cache.join("prefixes").join("lines"));
    Some(Box::new(move || finder.provider(&model, kept.clone())))
}

fn own_name<'a>(base: &Base, name: &'a str) -> Option<&'a str> {
    name.strip_prefix("local/").filter(|_| !base.config.providers.contains_key(NAME))
}

/// Finds weights; on whatever thread it is asked.
struct Finder {
    places: Places,
    home: Option<PathBuf>,
    cwd: PathBuf,
    idle: Duration,
}

impl Finder {
    fn new(base: &Base) -> Self {
        let idle = base.config.local_idle_minutes.map_or(IDLE, |minutes| Duration::from_mins(minutes.min(YEAR)));
        Self { places: places(base), home: base.paths.home.clone(), cwd: base.cwd.clone(), idle }
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
        let published = published.map(|weights| (weights, self.places.clone()));
        Some(Arc::new(LocalProvider::new(shown, path?, published, kept, self.idle)))
    }
}

fn missing(locale: &Locale, model: &str) -> Problem {
    let known: Vec<&str> = TABLE.iter().map(|weights| weights.name).collect();
    let hint = if by_name(model).is_some() {
        locale.with(word::local::MissingHint { model })
    } else {
        locale.with(word::local::UnknownHint { known: &known.join(", ") })
    };
    Problem { what: locale.with(word::local::Missing { model }), hint }
}

/// Lists the models whose weights are here.
pub(super) fn models(base: &Base) -> Vec<String> {
    lister(base)()
}

/// Returns what lists them, for a thread of its own: the disk is looked at when it is called.
pub(super) fn lister(base: &Base) -> impl Fn() -> Vec<String> + Send + Sync + use<> {
    let places = places(base);
    move || {
        let here = TABLE.iter().filter(|weights| find(weights, &places).is_some());
        here.map(|weights| format!("{NAME}/{}", weights.name)).collect()
    }
}

fn places(base: &Base) -> Places {
    let variable = |name: &str| (base.variables)(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Places {
        cache: base.paths.cache.clone(),
        home: base.paths.home.clone(),
        ollama: variable("OLLAMA_MODELS"),
        hub: variable("HF_HUB_CACHE").or_else(|| variable("HF_HOME").map(|home| home.join("hub"))),
    }
}

/// Finds a model that is here, or offers to fetch one where a person can be asked. The second value says what was
/// found. `None` when there is nothing and nobody agreed to fetch it; the error is of a fetch that was agreed to.
pub(super) fn find_or_offer(
    base: &Base,
    client: &Client,
    runtime: &Runtime,
) -> Result<Option<(String, String)>, Failed> {
    let places = places(base);
    let wanted = fitting(available());
    let here = wanted.iter().find(|weights| find(weights, &places).is_some());
    if let Some(weights) = here {
        let why = base.locale.text(word::local::FOUND).to_owned();
        return Ok(Some((format!("{NAME}/{}", weights.name), why)));
    }
    let asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let (Some(weights), Some(folder)) = (wanted.first().copied(), local::folder(&places)) else { return Ok(None) };
    if !asked || !agreed(base, weights, &folder)? {
        return Ok(None);
    }
    fetch(base, weights, &folder, client, runtime).map_err(|(problem, exit)| Failed::new(problem, exit))?;
    let why = base.locale.text(word::local::FETCHED).to_owned();
    Ok(Some((format!("{NAME}/{}", weights.name), why)))
}

/// Asks whether to fetch a model; ESC is a no. The error, which needs no words, is that of Ctrl+C.
fn agreed(base: &Base, weights: &Weights, folder: &Path) -> Result<bool, Failed> {
    let console = Console::new(&base.locale);
    let size = megabytes(weights.size);
    let folder = base.paths.shown(folder);
    console.note(base.locale.text(word::local::NOTHING_CONFIGURED));
    let question = base.locale.with(word::local::Question {
        model: weights.name,
        size: &size,
        licence: weights.licence,
        folder: &folder,
    });
    let asker = Terminal { color: false, plain: base.linear(), tty: None, signals: Signals::default() };
    let answer = match asker.short_answer(|| console.ask(&question)) {
        Ok(answer) => answer.trim().to_lowercase(),
        Err(NoChoice::Escaped) => return Ok(false),
        Err(NoChoice::Interrupted) => {
            return Err(Failed::new(Problem { what: String::new(), hint: String::new() }, Exit::Interrupted));
        }
    };
    let yes = ["", "y", "yes", base.locale.text(word::local::YES)];
    Ok(yes.contains(&answer.as_str()))
}

fn megabytes(bytes: u64) -> String {
    if bytes >= 1_000_000_000 {
        format!("{}.{} GB", bytes / 1_000_000_000, bytes / 100_000_000 % 10)
    } else {
        format!("{} MB", bytes / 1_000_000)
    }
}

/// Fetches weights with progress on standard error; ESC and Ctrl+C stop it and keep what has arrived.
fn fetch(
    base: &Base,
    weights: &Weights,
    folder: &Path,
    client: &Client,
    runtime: &Runtime,
) -> Result<PathBuf, (Problem, Exit)> {
    let locale = &base.locale;
    let cancel = CancellationToken::new();
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !base.linear();
    let tty = interactive.then(Tty::take).and_then(Result::ok);
    if let Some(tty) = &tty {
        tty.restorer().install_panic_hook();
    }
    let watch = tty
        .as_ref()
        .and_then(|_| KeyWatch::start(cancel.clone(), TypeAhead::default(), escape_wait(base.is_remote())).ok());
    let console = Console::new(locale);
    let mut begun = Instant::now();
    let mut last: Option<Instant> = None;
    let mut first = None;
    let mut told = |progress: Progress| {
        let now = Instant::now();
        let line = match progress {
            Progress::FromIndex => {
                if interactive {
                    console.rewrite("");
                }
                console.note(locale.text(word::local::FROM_INDEX));
                // What the hub had sent is counted apart, and may be more.
                (first, begun) = (None, now);
                return;
            }
            Progress::Fetched(bytes) => {
                let since = *first.get_or_insert(bytes);
                progress_line(locale, weights, bytes, bytes.saturating_sub(since), begun.elapsed())
            }
            Progress::Checked(bytes) => {
                let percent = (bytes * 100 / weights.size).to_string();
                locale.with(word::local::Checking { percent: &percent })
            }
        };
        if last.is_none_or(|last| now - last > STEP) {
            last = Some(now);
            if interactive {
                console.rewrite(&line);
            }
        }
    };
    if interactive {
        console.note(locale.text(word::local::KEYS));
    }
    let sources = Sources {
        hub: (base.variables)("AXI_MODEL_HUB").filter(|hub| !hub.is_empty()),
        python: PathBuf::from("python3"),
    };
    let fetched = runtime.block_on(local::fetch(weights, folder, &sources, client, &mut told, &cancel));
    drop(watch);
    drop(tty);
    if interactive {
        console.rewrite("");
    }
    let path = fetched.map_err(|error| problem(base, weights, folder, error))?;
    // Its bytes were looked at just now: the first question need not do it again.
    local::remember(&path, weights, &places(base));
    Ok(path)
}

fn progress_line(locale: &Locale, weights: &Weights, bytes: u64, new: u64, elapsed: Duration) -> String {
    let percent = (bytes * 100 / weights.size).to_string();
    let speed = new / u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1) * 1000;
    let left = (weights.size - bytes.min(weights.size)) / speed.max(1);
    let left = if speed == 0 { "–".to_owned() } else { format!("{}:{:02}", left / 60, left % 60) };
    let (bytes, size, speed) = (megabytes(bytes), megabytes(weights.size), megabytes(speed));
    locale.with(word::local::Progress { percent: &percent, bytes: &bytes, size: &size, speed: &speed, left: &left })
}

fn problem(base: &Base, weights: &Weights, folder: &Path, error: FetchError) -> (Problem, Exit) {
    let locale = &base.locale;
    let again = locale.with(word::local::AgainHint { model: weights.name });
    let exit = match error {
        FetchError::Stopped => Exit::Interrupted,
        FetchError::NoRoom { .. } | FetchError::Io { .. } => Exit::Failed,
        FetchError::Unreachable { .. } | FetchError::WrongHash => Exit::Provider,
    };
    let problem = match error {
        FetchError::Stopped => {
            let sizes =
                leavings(folder, weights).map(|path| std::fs::metadata(path).map_or(0, |found| found.len()));
            let here = sizes.into_iter().max().unwrap_or(0);
            Problem { what: locale.with(word::local::Stopped { bytes: &megabytes(here) }), hint: again }
        }
        FetchError::NoRoom { free, needed } => {
            let (free, needed) = (megabytes(free), megabytes(needed));
            let folder = base.paths.shown(folder);
            Problem {
                what: locale.with(word::local::NoRoom { free: &free, needed: &needed, folder: &folder }),
                hint: locale.text(word::local::NO_ROOM_HINT).to_owned(),
            }
        }
        FetchError::Io { path, cause } => Problem {
            what: locale.with(word::error::Io { path: &base.paths.shown(&path), cause: &cause.to_string() }),
            hint: again,
        },
        FetchError::Unreachable { hub, index } => {
            let folder = base.paths.shown(folder);
            let hint = locale.with(word::local::UnreachableHint { file: weights.file, folder: &folder });
            Problem { what: locale.with(word::local::Unreachable { hub: &hub, index: &index }), hint }
        }
        FetchError::WrongHash => Problem { what: locale.text(word::local::WRONG_HASH).to_owned(), hint: again },
    };
    (problem, exit)
}

/// Runs `axi local`.
pub(super) fn command(base: &Base, action: &LocalAction) -> Exit {
    let console = Console::new(&base.locale);
    let done = match action {
        LocalAction::List => Ok(list(base)),
        LocalAction::Pull { model, yes } => pull(base, model.as_deref(), *yes),
        LocalAction::Remove(model) => remove(base, model),
        LocalAction::Path(model) => path(base, model.as_deref()),
    };
    match done {
        Ok(text) => console.print(&text),
        Err((problem, exit)) => {
            console.fail(&problem);
            exit
        }
    }
}

fn list(base: &Base) -> String {
    let places = places(base);
    let row = |weights: &Weights| {
        let here = match find(weights, &places) {
            Some(path) => base.paths.shown(&path),
            None => base.locale.text(word::local::NOT_HERE).to_owned(),
        };
        let Weights { name, licence, template, context, .. } = weights;
        let context = base.locale.with(word::local::Context { tokens: &context.to_string() });
        format!("{NAME}/{name:<20} {:>7}  {licence:<11} {template}, {context}  {here}", megabytes(weights.size))
    };
    TABLE.iter().map(row).collect::<Vec<_>>().join("\n")
}

fn named(base: &Base, model: Option<&str>) -> Result<&'static Weights, (Problem, Exit)> {
    let model = model.map(|model| model.trim_start_matches("local/"));
    match model {
        None => TABLE.first().ok_or_else(|| (missing(&base.locale, ""), Exit::Usage)),
        Some(model) => by_name(model).ok_or_else(|| (missing(&base.locale, model), Exit::Usage)),
    }
}

fn no_folder(base: &Base) -> (Problem, Exit) {
    (Problem { what: base.locale.text(word::local::NO_FOLDER).to_owned(), hint: String::new() }, Exit::Failed)
}

fn pull(base: &Base, model: Option<&str>, yes: bool) -> Result<String, (Problem, Exit)> {
    let weights = named(base, model)?;
    let places = places(base);
    let folder = local::folder(&places).ok_or_else(|| no_folder(base))?;
    if let Some(path) = find(weights, &places) {
        // Its size is right; whether its bytes still are is looked at here, and not at every start.
        let good = local::check(&path, weights, |_| true).unwrap_or(false);
        if good || path.parent() != Some(folder.as_path()) {
            return Ok(path.display().to_string());
        }
        Console::new(&base.locale).warn(base.locale.text(word::local::SPOILT));
        std::fs::remove_file(&path).map_err(|error| (unwritable(base, &path, &error), Exit::Failed))?;
    }
    let asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let agreed = || agreed(base, weights, &folder).map_err(|failed| (failed.problem, failed.exit));
    if !yes && (!asked || !agreed()?) {
        let what = base.locale.text(word::local::NOT_AGREED).to_owned();
        let exit = if asked { Exit::Interrupted } else { Exit::Usage };
        return Err((Problem { what, hint: base.locale.text(word::local::NOT_AGREED_HINT).to_owned() }, exit));
    }
    let runtime = base.runtime().map_err(|failed| (failed.problem, failed.exit))?;
    let fetched = fetch(base, weights, &folder, &Client::default(), &runtime);
    fetched.map(|path| path.display().to_string())
}

fn unwritable(base: &Base, path: &Path, error: &std::io::Error) -> Problem {
    Problem {
        what: base.locale.with(word::error::Io { path: &base.paths.shown(path), cause: &error.to_string() }),
        hint: String::new(),
    }
}

/// Removes what axi fetched; what others keep is theirs.
fn remove(base: &Base, model: &str) -> Result<String, (Problem, Exit)> {
    let weights = named(base, Some(model))?;
    let folder = local::folder(&places(base)).ok_or_else(|| no_folder(base))?;
    let mut removed = false;
    for path in leavings(&folder, weights).into_iter().chain([folder.join(weights.file)]) {
        match std::fs::remove_file(&path) {
            Ok(()) => removed = true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err((unwritable(base, &path, &error), Exit::Failed)),
        }
    }
    let model = weights.name;
    Ok(if removed {
        base.locale.with(word::local::Removed { model })
    } else {
        base.locale.with(word::local::NotOurs { model })
    })
}

fn path(base: &Base, model: Option<&str>) -> Result<String, (Problem, Exit)> {
    let places = places(base);
    let Some(model) = model else {
        let folder = local::folder(&places).ok_or_else(|| no_folder(base))?;
        return Ok(folder.display().to_string());
    };
    let weights = named(base, Some(model))?;
    let path = find(weights, &places).ok_or_else(|| (missing(&base.locale, weights.name), Exit::Failed))?;
    Ok(path.display().to_string())
}
