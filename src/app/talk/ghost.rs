//! Ghost text from the model the person chose for it: connected when it is first wanted, counted, capped.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::super::answers::Asked;
use super::super::context::App;
use super::super::models::{self, LineConnector, line_connector};
use super::super::process::Variables;
use crate::agent::suggest::{Exchange as Turn, Guess, Guessed, guess, guess_line};
use crate::config::Config;
use crate::conversation::Usage;
use crate::frontend::repl::{Exchange, Suggest, Wanted, recent_lines};
use crate::locale::Locale;
use crate::provider::{Provider, ProviderError, connect};
use crate::session::{Redactor, SessionStore};
use crate::terminal::sanitize;

/// Turns a model of the settings off for one run.
const OFF: &str = "off";

/// Lines of the history that a model in this process is shown, at most.
const LINES: usize = 64;

/// The tokens ghost text has used in this run.
#[derive(Debug, Clone, Default)]
pub(super) struct GhostUsage(Arc<Mutex<Usage>>);

impl GhostUsage {
    /// Returns them.
    pub(super) fn get(&self) -> Usage {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, usage: Usage) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(usage);
    }
}

/// The asking side. Lives on the editor's worker: what it holds is its own.
pub(super) struct ModelSuggest {
    name: String,
    config: Arc<Config>,
    variables: Variables,
    locale: Locale,
    asked: Asked,
    redactor: Redactor,
    used: GhostUsage,
    most: Option<u64>,
    /// Where the model is in this process: how to have it, and where the history is.
    own: Option<(LineConnector, Option<PathBuf>)>,
    /// Lines typed so far, oldest first, without secrets.
    typed: Vec<String>,
    connection: Option<Connection>,
    /// Failures in a row.
    failures: u32,
    given_up: bool,
    /// Where sessions are that get titles.
    sessions: Option<SessionStore>,
    /// The last one that was looked at: it has a title, or is to have none.
    entitled: Option<PathBuf>,
}

struct Connection {
    runtime: Runtime,
    provider: Arc<dyn Provider>,
}

type Guessing = (Guessed, Result<(), ProviderError>);

/// The longest title a model gives, in characters.
const LONGEST_TITLE: usize = 60;

/// After so many failures one after the other the model is left alone for the rest of the run.
const FAILURES: u32 = 5;

/// Makes the asking side, if the environment or the settings name a model for it.
pub(super) fn suggest(app: &App, used: &GhostUsage) -> Option<ModelSuggest> {
    let name = app.config().suggest_model.clone()?;
    if name == OFF {
        return None;
    }
    let own = line_connector(app, &name).map(|connector| (connector, app.paths.history()));
    Some(ModelSuggest {
        name,
        config: app.config(),
        variables: app.process.variables,
        locale: app.locale.clone(),
        asked: app.asked.without_terminal(),
        redactor: app.redactor(),
        used: used.clone(),
        most: app.config().suggest_max_tokens,
        own,
        typed: Vec::new(),
        connection: None,
        failures: 0,
        given_up: false,
        sessions: app.sessions(),
        entitled: None,
    })
}

impl ModelSuggest {
    /// Connects, once. The keychain may be asked here, which takes its time.
    fn connect(&mut self) -> Option<Connection> {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                tracing::warn!(%error, "no ghost text");
                return None;
            }
        };
        if let Some((connector, history)) = &self.own {
            let provider = connector();
            if provider.is_none() {
                tracing::warn!(model = self.name, "no ghost text: its weights are not here");
            }
            let lines = history.as_ref().map(|path| recent_lines(path, LINES)).unwrap_or_default();
            self.typed = lines.iter().map(|line| self.redactor.text(line)).collect();
            return provider.map(|provider| Connection { runtime, provider });
        }
        let settings = models::resolve(&self.name, &self.config, &self.variables, &self.locale, &self.asked);
        let settings = match settings {
            Ok(settings) => settings,
            Err(problem) => {
                tracing::warn!(model = self.name, problem = problem.what, "no ghost text");
                return None;
            }
        };
        // A client of its own: connections belong to the runtime that drives them.
        Some(Connection { runtime, provider: connect(settings, &models::client(&self.config, &self.variables)) })
    }

    /// Asks a model in this process, which is shown lines typed before instead of the conversation.
    fn finish_line(
        &mut self,
        line: &str,
        said: &str,
        so_far: &mut dyn FnMut(&str),
        cancel: &CancellationToken,
    ) -> Option<Guessing> {
        self.own.as_ref()?;
        if !said.is_empty() && self.typed.last().is_none_or(|last| last != said) {
            self.typed.push(said.to_owned());
        }
        let connection = self.connection.as_ref()?;
        // As others answer: the last word is said again, completed.
        let word = line.rsplit(' ').next().unwrap_or_default();
        let mut so_far = |text: &str| so_far(&format!("{word}{text}"));
        let asked = guess_line(connection.provider.as_ref(), &self.typed, line, &mut so_far, cancel);
        let (mut guessed, result) = connection.runtime.block_on(asked)?;
        guessed.text = guessed.text.map(|text| format!("{word}{text}"));
        Some((guessed, result))
    }

    fn is_spent(&self) -> bool {
        let used = self.used.get();
        self.most.is_some_and(|most| used.total() >= most)
    }
}

impl Suggest for ModelSuggest {
    fn suggest(
        &mut self,
        wanted: &Wanted,
        exchange: &Exchange,
        so_far: &mut dyn FnMut(&str),
        cancel: &CancellationToken,
    ) -> Option<String> {
        if self.given_up {
            return None;
        }
        if self.is_spent() {
            tracing::info!(most = self.most, "no ghost text: its tokens are used up");
            self.given_up = true;
            return None;
        }
        if self.connection.is_none() {
            self.connection = self.connect();
            self.given_up = self.connection.is_none();
        }
        let (said, answered) = (self.redactor.text(&exchange.said), self.redactor.text(&exchange.answered));
        let line = match wanted {
            Wanted::Continuation(line) => self.redactor.text(line),
            Wanted::NextMessage => String::new(),
        };
        let question = match wanted {
            Wanted::Continuation(_) => Guess::Continuation(&line),
            Wanted::NextMessage => Guess::NextMessage,
        };
        let turn = Turn { said: &said, answered: &answered };
        let (guessed, result) = if let Some(finished) = self.finish_line(&line, &said, so_far, cancel) {
            finished
        } else {
            let connection = self.connection.as_ref()?;
            connection.runtime.block_on(guess(connection.provider.as_ref(), question, turn, cancel))
        };
        self.count(guessed, result)
    }

    fn entitle(&mut self, session: &Path, exchange: &Exchange, cancel: &CancellationToken) {
        let Some(store) = &self.sessions else { return };
        if self.given_up
            || self.is_spent()
            || self.entitled.as_deref() == Some(session)
            || !store.is_untitled(session)
        {
            return;
        }
        let Some(connection) = &self.connection else { return };
        let (said, answered) = (self.redactor.text(&exchange.said), self.redactor.text(&exchange.answered));
        let asked =
            guess(connection.provider.as_ref(), Guess::Title, Turn { said: &said, answered: &answered }, cancel);
        let (guessed, result) = connection.runtime.block_on(asked);
        let topic = self.count(guessed, result).and_then(|text| topic(&text));
        if cancel.is_cancelled() {
            return;
        }
        self.entitled = Some(session.to_owned());
        let store = self.sessions.as_ref();
        if let (Some(topic), Some(store)) = (topic, store)
            && let Err(error) = store.set_topic(session, &topic, SystemTime::now())
        {
            tracing::debug!(%error, "a title could not be kept");
        }
    }
}

impl ModelSuggest {
    /// Counts what an answer cost, and failures.
    fn count(&mut self, guessed: Guessed, result: Result<(), ProviderError>) -> Option<String> {
        self.used.add(guessed.usage);
        if let Err(error) = result {
            self.failures += 1;
            self.given_up = self.failures >= FAILURES;
            tracing::warn!(model = self.name, %error, failures = self.failures, "no ghost text");
        } else {
            self.failures = 0;
        }
        guessed.text
    }
}

/// A title as it is kept: one row, nothing that is not seen, not the marks models put around it.
fn topic(text: &str) -> Option<String> {
    let row = text.lines().map(str::trim).find(|row| !row.is_empty())?;
    let shown = sanitize(row);
    let bare = shown.trim_matches(|mark: char| mark.is_whitespace() || "\"'`*#.“”「」。".contains(mark));
    let bare = bare.strip_prefix("Title:").unwrap_or(bare).trim();
    (!bare.is_empty()).then(|| bare.chars().take(LONGEST_TITLE).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_row_without_marks() {
        for (text, title) in [
            ("\n  \"Fix the parser.\"\nmore", Some("Fix the parser")),
            ("**Title: ports\u{1b}[31m of heron**", Some("ports␛[31m of heron")),
            ("「修复解析器」", Some("修复解析器")),
            (" \n#", None),
        ] {
            assert_eq!(topic(text).as_deref(), title, "{text}");
        }
        assert_eq!(topic(&"x".repeat(99)).map(|title| title.len()), Some(LONGEST_TITLE));
    }
}
