//! The quick rewrite: a line editor waits while one request turns its line into one command.
//!
//! No session, no tools, no screen: the answer is a return value. The person sees one row, which axi owns while it
//! runs, and ESC or Ctrl+C undoes everything.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use tokio_util::sync::CancellationToken;

use super::extract::{NONE, extract};
use super::facts::Facts;
use crate::agent::Failure;
use crate::conversation::{Message, MessageBuilder, StreamEvent};
use crate::provider::{Provider, ProviderError, Request};
use crate::secret::{self, Known, Level};
use crate::terminal::{FRAME, Guest, spinner};

/// The most tokens an answer may have: a model that thinks first needs some.
const OUTPUT_LIMIT: u64 = 2000;

/// Why there is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoCommand {
    /// ESC or Ctrl+C.
    Interrupted,
    /// The time was over.
    TimedOut,
    /// The provider failed.
    Failed(Failure),
    /// The answer held none.
    NotGiven,
}

/// What the model is told about itself, where it is and what came before.
#[must_use]
pub fn system_prompt(facts: &Facts, directory: &str, known: &Known) -> String {
    let shell = if facts.shell.is_empty() { "sh" } else { facts.shell.as_str() };
    let system = std::env::consts::OS;
    let mut prompt = format!(
        "You turn the line on a user's {shell} prompt into one {shell} command. Answer with the command alone: no \
         explanation, no code fence, no prompt sign. A line that is a command already is corrected or completed. If \
         no command does what the line asks, answer {NONE}.\n\
         System: {system}. Shell: {}. Working directory: {directory}.",
        format!("{shell} {}", facts.version).trim_end()
    );
    if let Some(last) = &facts.last {
        let before = format!(
            "\nThe command before it: {} (exit code {}).",
            secret::redact(&last.command, known, Level::Sent).0,
            last.status
        );
        prompt.push_str(&before);
    }
    prompt
}

/// Asks once.
///
/// # Errors
/// [`NoCommand`].
///
/// # Cancel safety
/// Dropping it closes the connection.
pub async fn rewrite(
    provider: &dyn Provider,
    system: &str,
    line: &str,
    limit: Duration,
    cancel: &CancellationToken,
    mut show: impl FnMut(Duration),
) -> Result<String, NoCommand> {
    let text = ask(provider, (system, &[Message::user(line)], 0), limit, cancel, &mut show).await?;
    extract(&text).ok_or(NoCommand::NotGiven)
}

/// Returns the text that the model answers; `limit` is how long it may take once it has read what it is asked. Of the messages
/// the first `stable` are the same each time.
///
/// # Errors
/// [`NoCommand`].
///
/// # Cancel safety
/// Dropping it closes the connection.
pub(super) async fn ask(
    provider: &dyn Provider,
    (system, messages, stable): (&str, &[Message], usize),
    limit: Duration,
    cancel: &CancellationToken,
    mut show: impl FnMut(Duration),
) -> Result<String, NoCommand> {
    let request = Request { system, stable, max_output_tokens: Some(OUTPUT_LIMIT), ..Request::of(messages) };
    let mut builder = MessageBuilder::new(provider.model().id());
    let mut stream = provider.stream(request);
    let begun = Instant::now();
    let mut frames = tokio::time::interval(FRAME);
    let mut over = std::pin::pin!(tokio::time::sleep(limit));
    loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(NoCommand::Interrupted),
            () = &mut over => return Err(NoCommand::TimedOut),
            event = stream.next() => match event {
                Some(Ok(event)) => {
                    // What still reads is not silent: the first time it has all of the prompt to read.
                    if matches!(event, StreamEvent::Loading | StreamEvent::Reading { .. }) {
                        over.as_mut().reset(tokio::time::Instant::now() + limit);
                    }
                    builder.push(&event);
                }
                Some(Err(error)) => return Err(failed(&error)),
                None => break,
            },
            _ = frames.tick() => show(begun.elapsed()),
        }
    }
    Ok(builder.finish().message.map(|message| message.text()).unwrap_or_default())
}

fn failed(error: &ProviderError) -> NoCommand {
    tracing::warn!(%error, "the rewrite failed");
    NoCommand::Failed(Failure::from(error))
}

/// Paints the one row a rewrite has.
pub fn paint(guest: &mut Guest, words: &str, elapsed: Duration) {
    let seconds = match elapsed.as_secs() {
        0 => String::new(),
        seconds => format!(" · {seconds} s"),
    };
    guest.row(&format!("{} {words}{seconds}", spinner(elapsed)));
}
