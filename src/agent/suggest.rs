//! Ghost text: one small question to a small model, beside the conversation and never part of it.

use std::time::Duration;

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::conversation::{Message, StreamEvent, Usage, tokens};
use crate::provider::{Provider, ProviderError, Request};

/// Tokens of an answer at most: a row of text, not more.
const MOST_TOKENS: u64 = 30;
/// Likely words, not inventive ones.
const TEMPERATURE: f64 = 0.3;
/// How long an answer is waited for: later nobody looks at the line any more.
const TIME_LIMIT: Duration = Duration::from_secs(3);
/// Characters of the last message that are sent along, from its beginning.
const SAID: usize = 600;
/// Characters of the last answer that are sent along, from its end.
const ANSWERED: usize = 1200;

const CONTINUE: &str = "You finish what a person is typing to an assistant in a terminal. Reply with the last word \
    they typed, completed if it is unfinished, and with how their message goes on. One short line, in their \
    language, no quotes, no explanation. If nothing is likely, reply with nothing.";
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

/// Asks for ghost text. Reads no further than the first row.
///
/// # Errors
/// What the provider says; 3 s without an answer are no error.
///
/// # Cancel safety
/// Dropping the future, and `cancel`, close the connection.
pub async fn guess(
    provider: &dyn Provider,
    guess: Guess<'_>,
    exchange: Exchange<'_>,
    cancel: &CancellationToken,
) -> (Guessed, Result<(), ProviderError>) {
    let (system, question) = question(guess, exchange);
    let messages = [Message::user(question)];
    let request = Request {
        system,
        messages: &messages,
        tools: &[],
        max_output_tokens: Some(MOST_TOKENS),
        temperature: Some(TEMPERATURE),
    };
    let mut usage = Usage::default();
    let mut text = String::new();
    let read = async {
        let mut stream = provider.stream(request);
        while let Some(event) = stream.next().await {
            match event? {
                StreamEvent::TextDelta(delta) => {
                    text.push_str(&delta);
                    if has_row(&text) {
                        break;
                    }
                }
                StreamEvent::Usage(reported) => usage.merge(reported),
                StreamEvent::ReasoningDelta(_)
                | StreamEvent::ReasoningSignature(_)
                | StreamEvent::RedactedReasoning(_)
                | StreamEvent::ToolCallStart { .. }
                | StreamEvent::ToolCallDelta { .. }
                | StreamEvent::Done(_) => {}
            }
        }
        Ok(())
    };
    let (answered, result) = tokio::select! {
        biased;
        () = cancel.cancelled() => (false, Ok(())),
        () = tokio::time::sleep(TIME_LIMIT) => (false, Ok(())),
        result = read => (result.is_ok(), result),
    };
    // The dropped connection is driven by a task of this runtime, which must be let run to close it.
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
    if usage == Usage::default() {
        usage.input_tokens = tokens::estimate(system) + messages.iter().map(tokens::estimate_message).sum::<u64>();
        usage.output_tokens = tokens::estimate(&text);
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
    fn thinking_aloud_is_no_answer() {
        assert_eq!(without_thinking("<think>\nhm\n</think>run it"), "run it");
        assert_eq!(without_thinking("<think>hm and"), "");
        assert_eq!(without_thinking("a <think>"), "a <think>");
    }
}
