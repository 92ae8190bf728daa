//! The `ask_user` tool: one question to the person, whose answer the turn goes on with.

use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{
    About, Answer, Asker, Effect, Outcome, Preview, Question, ToolFacts, ToolIdentity, ToolSpec, ToolVerb,
};

use super::arguments::{Arguments, Field};
use super::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread};

/// Choices are picked by one digit, and the last digit may stand for the person's own words.
const MOST_CHOICES: usize = 8;

const FIELDS: &[Field] = &[
    Field { name: "question", aliases: &["text", "prompt", "message"] },
    Field { name: "choices", aliases: &["options", "answers"] },
    Field { name: "several", aliases: &["multiple", "multi_select", "multiSelect"] },
    Field { name: "free_text", aliases: &["allow_other", "other"] },
];

/// Asks the person.
#[derive(Debug, Default)]
pub struct AskUserTool;

fn parse(input: &Value) -> Result<Question, String> {
    let arguments = Arguments::parse("ask_user", input, FIELDS)?;
    let text = arguments.filled_text("question")?.trim().to_owned();
    let expected = "an array of strings";
    let choices: Vec<String> = match arguments.value("choices") {
        None => Vec::new(),
        Some(Value::Array(items)) => {
            let texts = items.iter().map(|item| match item {
                Value::String(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
                // Some models write {label, description}.
                Value::Object(fields) => match fields.get("label").or_else(|| fields.get("text")) {
                    Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
                    Some(_) | None => Err(arguments.wrong("choices", expected, item)),
                },
                other => Err(arguments.wrong("choices", expected, other)),
            });
            texts.collect::<Result<_, _>>()?
        }
        Some(other) => return Err(arguments.wrong("choices", expected, other)),
    };
    if choices.len() > MOST_CHOICES {
        return Err(format!(
            "ask_user: {} choices are too many, at most {MOST_CHOICES}: offer the likeliest and set free_text",
            choices.len()
        ));
    }
    let free_text = choices.is_empty() || arguments.value("free_text").is_none() || arguments.flag("free_text")?;
    Ok(Question {
        text,
        several: arguments.flag("several")? && choices.len() > 1,
        free_text,
        choices,
        default: None,
        asker: Asker::Model,
    })
}

/// Words the answer for the model.
fn told(question: &Question, chosen: &[usize], text: &str) -> String {
    let mut told = String::new();
    for choice in chosen.iter().filter_map(|index| question.choices.get(*index)) {
        // Writing to a String cannot fail.
        let _ = writeln!(told, "The user chose: {choice}");
    }
    if !text.trim().is_empty() {
        let _ = writeln!(told, "The user said: {}", text.trim());
    }
    if told.is_empty() {
        told.push_str("The user chose none of them.\n");
    }
    told
}

impl Tool for AskUserTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ask_user".to_owned(),
            description: "Asks the user a question, for what you can neither find out nor sensibly decide. They \
                          may answer in their own words unless free_text is false."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "question": {"type": "string"},
                    "choices": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_CHOICES},
                    "several": {"type": "boolean", "description": "May choose more than one"},
                    "free_text": {"type": "boolean"}
                },
                "required": ["question"]
            }),
            identity: ToolIdentity { verb: ToolVerb::Ask, ..ToolIdentity::default() },
        }
    }

    fn read(&self, input: &Value, _place: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Read, parse(input))
    }
}

impl Request for Question {
    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn about(&self) -> About {
        About::Text { text: self.text.clone() }
    }

    fn check(&self, _before: &Before<'_>) -> Result<Preview, String> {
        Ok(Preview::Text { text: self.text.clone() })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let stopped = context.cancel.is_cancelled();
            let answer = if stopped { Answer::Aborted } else { context.person.ask((*self).clone()).await };
            match answer {
                Answer::Given { chosen, text } => ToolOutput::ok(told(&self, &chosen, &text), ToolFacts::default()),
                Answer::Aborted => ToolOutput {
                    outcome: Outcome::Interrupted,
                    ..ToolOutput::failed("The user stopped the turn instead of answering.")
                },
                Answer::Unavailable => ToolOutput::failed(
                    "Nobody can be asked in this mode. Decide yourself, and say in the answer what you assumed.",
                ),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_in_the_words_of_several_models() {
        let question = parse(&json!({"question": " Which? ", "choices": ["a", " b "], "several": true})).unwrap();
        let expected = Question {
            text: "Which?".into(),
            choices: vec!["a".into(), "b".into()],
            several: true,
            free_text: true,
            asker: Asker::Model,
            default: None,
        };
        assert_eq!(question, expected);
        let question = parse(&json!({
            "prompt": "Which?", "options": [{"label": "a", "description": "x"}], "free_text": false
        }));
        let expected = Question { choices: vec!["a".into()], several: false, free_text: false, ..expected };
        assert_eq!(question, Ok(expected));
        // Without choices only words can be an answer.
        assert!(parse(&json!({"question": "Why?", "free_text": false})).unwrap().free_text);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (input, says) in [
            (json!({}), "missing argument `question`"),
            (json!({"question": "x", "choices": "a"}), "`choices` must be an array of strings, got a string"),
            (json!({"question": "x", "choices": [1]}), "`choices` must be an array of strings, got 1"),
            (json!({"question": "x", "choices": vec!["a"; 9]}), "9 choices are too many, at most 8"),
        ] {
            let problem = parse(&input).unwrap_err();
            assert!(problem.contains(says), "{problem}");
        }
    }

    #[test]
    fn the_model_reads_choices_and_words() {
        let question = Question { choices: vec!["a".into(), "b".into()], ..Question::default() };
        assert_eq!(told(&question, &[0, 1], ""), "The user chose: a\nThe user chose: b\n");
        assert_eq!(told(&question, &[], " but c "), "The user said: but c\n");
        assert_eq!(told(&question, &[], ""), "The user chose none of them.\n");
    }
}
