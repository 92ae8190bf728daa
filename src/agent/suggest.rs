//! Ghost text: one small question to a small model, beside the conversation and never part of it.

use std::time::Duration;

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::conversation::{Message, StreamEvent, Usage, tokens};
use crate::provider::{EventStream, Provider, ProviderError, Request};

/// Tokens of an answer at most: a row of text, not more.
const MOST_TOKENS: u64 = 30;
/// Likely words, not inventive ones.
const TEMPERATURE: f64 = 0.3;
/// How long an answer is waited for: later nobody looks at the line any more.
const TIME_LIMIT: Duration = Duration::from_secs(3);
/// How long a title is: nobody waits for it.
const TITLE_LIMIT: Duration = Duration::from_secs(20);
/// Characters of the last message that are sent along, from its beginning.
const SAID: usize = 600;
/// Characters of the last answer that are sent along, from its end.
const ANSWERED: usize = 1200;

/// Lines of the history that are read together.
const BLOCK: usize = 16;
/// How many such blocks are read: a small model needs some two seconds for them, once.
const BLOCKS: usize = 2;
/// Characters of a line of the history that are read.
const LINE: usize = 120;
/// What stands before the lines of the history.
const TYPED: &str = "What somebody types at the prompt of an assistant in a terminal, line by line:\n";

const CONTINUE: &str = "You finish what a person is typing to an assistant in a terminal. Reply with the last word \
    they typed, completed if it is unfinished, and with how their message goes on. One short line, in their \
    language, no quotes, no explanation. If nothing is likely, reply with nothing.";
const TITLE: &str = "You name conversations for a list of them. Reply with a title of at most six words for this one: what \
    it is about, in the person's language, no quotes, no full stop, no explanation.";
const NEXT: &str = "You guess what a person types next to an assistant in a terminal. Reply with that message only: \
    what they would ask for next, in their own language and words, at most twelve words, no quotes, no explanation. \
    If nothing is likely, reply with nothing.";

/// What is to be guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess<'a> {
    /// How this line goes on.
    Continuation(&'a str),
    /// What the person says next.
    NextMessage,
    /// What the talk is about, in a few words.
    Title,
}

/// The last turn, which says what the talk is about. Empty before the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exchange<'a> {
    /// What the person said.
    pub said: &'a str,
    /// What the model answered.
    pub answered: &'a str,
}

/// What asking came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guessed {
    /// The model's words, as it wrote them; `None` when there are none, or none in time.
    pub text: Option<String>,
    /// What it used: as reported, else estimated. Also counted when nothing came of it.
    pub usage: Usage,
}

/// Asks for ghost text, or for a title. Reads no further than the first row.
///
/// # Errors
/// What the provider says; 3 s without an answer (20 s for a title) are no error.
///
/// # Cancel safety
/// Dropping the future, and `cancel`, close the connection.
pub async fn guess(
    provider: &dyn Provider,
    guess: Guess<'_>,
    exchange: Exchange<'_>,
    cancel: &CancellationToken,
) -> (Guessed, Result<(), ProviderError>) {
    let limit = if guess == Guess::Title { TITLE_LIMIT } else { TIME_LIMIT };
    let (system, question) = question(guess, exchange);
    let messages = [Message::user(question)];
    let request = Request {
        system,
        max_output_tokens: Some(MOST_TOKENS),
        temperature: Some(TEMPERATURE),
        ..Request::of(&messages)
    };
    let (mut guessed, result) = read(provider.stream(request), limit, &mut |_| (), cancel).await;
    if guessed.usage == Usage::default() {
        let asked = tokens::estimate(system) + messages.iter().map(tokens::estimate_message).sum::<u64>();
        guessed.usage.input = asked;
        guessed.usage.output = guessed.text.as_deref().map_or(0, tokens::estimate);
    }
    (guessed, result)
}

/// Asks a model in this process how a line goes on, from the lines typed before it, oldest first. `None` where the
/// model is elsewhere: lines of the history are sent to nobody. The text is what follows the line; `so_far` is told it as
/// it grows.
///
/// # Errors
/// As [`guess`].
///
/// # Cancel safety
/// As [`guess`].
pub async fn guess_line(
    provider: &dyn Provider,
    typed: &[String],
    line: &str,
    so_far: &mut dyn FnMut(&str),
    cancel: &CancellationToken,
) -> Option<(Guessed, Result<(), ProviderError>)> {
    let (before, rest) = lines(typed, line);
    Some(read(provider.finish_line(&before, &rest)?, TIME_LIMIT, so_far, cancel).await)
}

/// Words the lines typed so far; pure. The first text changes only when [`BLOCK`] more lines were typed, so that what
/// was read of it is found again.
fn lines(typed: &[String], line: &str) -> (String, String) {
    let is_usual = |typed: &&String| !typed.trim().is_empty() && !typed.contains('\n') && !typed.starts_with('/');
    let typed: Vec<&String> = typed.iter().filter(is_usual).collect();
    let kept = typed.len() - typed.len() % BLOCK;
    let row = |typed: &&String| format!("{}\n", typed.chars().take(LINE).collect::<String>());
    let before = typed[kept.saturating_sub(BLOCKS * BLOCK)..kept].iter().map(row).collect::<String>();
    let rest: String = typed[kept..].iter().map(row).collect();
    (format!("{TYPED}{before}"), format!("{rest}{line}"))
}

async fn read(
    mut stream: EventStream<'_>,
    limit: Duration,
    so_far: &mut dyn FnMut(&str),
    cancel: &CancellationToken,
) -> (Guessed, Result<(), ProviderError>) {
    let mut usage = Usage::default();
    let mut text = String::new();
    let read = async {
        while let Some(event) = stream.next().await {
            match event? {
                StreamEvent::TextDelta(delta) => {
                    text.push_str(&delta);
                    so_far(&text);
                    if has_row(&text) {
                        break;
                    }
                }
                StreamEvent::Usage(reported) => usage = reported,
                StreamEvent::Loading
                | StreamEvent::Reading { .. }
                | StreamEvent::Silent { .. }
                | StreamEvent::Searched(_)
                | StreamEvent::WireItem(_)
                | StreamEvent::ReasoningDelta(_)
                | StreamEvent::ReasoningSignature(_)
                | StreamEvent::RedactedReasoning(_)
                | StreamEvent::ToolCallStart { .. }
                | StreamEvent::ToolCallExtra { .. }
                | StreamEvent::ToolCallDelta { .. }
                | StreamEvent::Done(_) => {}
            }
        }
        Ok(())
    };
    let (answered, result) = tokio::select! {
        biased;
        () = cancel.cancelled() => (false, Ok(())),
        () = tokio::time::sleep(limit) => (false, Ok(())),
        result = read => (result.is_ok(), result),
    };
    drop(stream);
    // The dropped connection is driven by a task of this runtime, which must be let run to close it.
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
    let text = Some(without_thinking(&text)).filter(|text| answered && !text.trim().is_empty()).map(str::to_owned);
    (Guessed { text, usage }, result)
}

/// Words the question; pure.
fn question(guess: Guess<'_>, exchange: Exchange<'_>) -> (&'static str, String) {
    let mut text = String::new();
    if !exchange.said.trim().is_empty() {
        let said: String = exchange.said.chars().take(SAID).collect();
        let skipped = exchange.answered.chars().count().saturating_sub(ANSWERED);
        let answered: String = exchange.answered.chars().skip(skipped).collect();
        text = format!("They said:\n{said}\n\nThe assistant answered:\n{answered}\n\n");
    }
    match guess {
        Guess::Continuation(line) => {
            text.push_str("They have typed so far:\n");
            text.push_str(line);
            (CONTINUE, text)
        }
        Guess::NextMessage => {
            text.push_str("They type next:");
            (NEXT, text)
        }
        Guess::Title => {
            text.push_str("The title:");
            (TITLE, text)
        }
    }
}

/// Tells whether the first row is whole: more is not shown.
fn has_row(text: &str) -> bool {
    without_thinking(text).trim_start().contains('\n')
}

/// Leaves out what a model thought aloud in its answer; all of it when it did not come to an end.
fn without_thinking(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(rest) => rest.split_once("</think>").map_or("", |(_, answer)| answer),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_holds_the_last_turn_and_the_line() {
        let long = "x".repeat(5_000);
        let exchange = Exchange { said: "fix the parser", answered: &format!("{long} done") };
        let (_, text) = question(Guess::Continuation("now ru"), exchange);
        assert!(text.starts_with("They said:\nfix the parser\n"), "{text}");
        assert!(text.ends_with("x done\n\nThey have typed so far:\nnow ru"), "{text}");
        assert!(text.len() < SAID + ANSWERED + 200);
        let (_, text) = question(Guess::NextMessage, Exchange::default());
        assert_eq!(text, "They type next:");
    }

    #[test]
    fn lines_of_the_history_stay_the_same_text_for_a_while() {
        let typed = |count: usize| (0..count).map(|number| format!("line {number}")).collect::<Vec<_>>();
        let (before, rest) = lines(&typed(3), "git st");
        assert_eq!((before.as_str(), rest.as_str()), (TYPED, "line 0\nline 1\nline 2\ngit st"));
        let (first, _) = lines(&typed(70), "");
        assert!(first.starts_with(&format!("{TYPED}line 32\n")) && first.ends_with("line 63\n"), "{first}");
        assert_eq!(lines(&typed(79), "x").0, first);
        assert_ne!(lines(&typed(80), "x").0, first);
        let odd = ["/help".to_owned(), "two\nrows".to_owned(), " ".to_owned(), "y".repeat(500)];
        assert_eq!(lines(&odd, "").1, format!("{}\n", "y".repeat(LINE)));
    }

    #[test]
    fn thinking_aloud_is_no_answer() {
        assert_eq!(without_thinking("<think>\nhm\n</think>run it"), "run it");
        assert_eq!(without_thinking("<think>hm and"), "");
        assert_eq!(without_thinking("a <think>"), "a <think>");
    }
}
