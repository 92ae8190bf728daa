//! What a server asks the person while it works (`elicitation/create`): a form, field by field, or an address to open.

use serde_json::{Map, Value, json};

use crate::conversation::{Answer, Asker, Question};
use crate::secret::{asks_for_secret, is_secret_name};
use crate::tool::Person;
use crate::tool::output::clean;

/// A form with more fields is not asked.
const MOST_FIELDS: usize = 20;
/// Choices are picked by one digit.
const MOST_CHOICES: usize = 8;
/// How often a field is asked that was answered with something that does not fit.
const TRIES: usize = 3;

/// Asks, and makes the result for the server.
pub(super) async fn answer(server: &str, params: &Value, person: &Person) -> Value {
    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = clean(text("message").as_bytes());
    match text("mode") {
        "url" => {
            let url = clean(text("url").as_bytes());
            let asker = Asker::Server { name: server.to_owned(), secret: false, url: true };
            let question = Question { text: format!("{message}\n{url}"), asker, ..Question::default() };
            match person.ask(question).await {
                Answer::Given { chosen, .. } if chosen == [0] => json!({"action": "accept"}),
                Answer::Given { .. } => json!({"action": "decline"}),
                Answer::Aborted | Answer::Unavailable => json!({"action": "cancel"}),
            }
        }
        _ => form(server, &message, params.get("requestedSchema").unwrap_or(&Value::Null), person).await,
    }
}

async fn form(server: &str, message: &str, schema: &Value, person: &Person) -> Value {
    let fields: Vec<(&String, &Value)> =
        schema.get("properties").and_then(Value::as_object).into_iter().flatten().collect();
    if fields.len() > MOST_FIELDS {
        return json!({"action": "decline"});
    }
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let said = ["title", "description"].map(|key| schema.get(key).and_then(Value::as_str).unwrap_or_default());
    let about = format!("{message} {}", said.join(" "));
    let mut content = Map::new();
    for (name, field) in fields {
        let field = Field::read(name, field, required.contains(&name.as_str()), &about);
        match field.ask(server, message, person).await {
            Said::Value(value) => drop(content.insert(name.clone(), value)),
            Said::Nothing => {}
            Said::No => return json!({"action": "decline"}),
            Said::Gone => return json!({"action": "cancel"}),
        }
    }
    json!({"action": "accept", "content": content})
}

/// What the person said to a field.
enum Said {
    Value(Value),
    /// Nothing, and nothing is needed.
    Nothing,
    /// Nothing, and it is needed; or nothing that fits.
    No,
    Gone,
}

/// What a field takes.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Number,
    Integer,
    Switch,
    Several,
}

struct Field {
    label: String,
    kind: Kind,
    /// What can be chosen: what is shown, and what is sent.
    choices: Vec<(String, Value)>,
    default: Option<Value>,
    needed: bool,
    secret: bool,
    /// The least and the most: of a number its value, of a text its characters.
    least: Option<f64>,
    most: Option<f64>,
}

impl Field {
    /// Reads a field; `about` is what the form says of all.
    fn read(name: &str, field: &Value, needed: bool, about: &str) -> Self {
        let text = |key: &str| field.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = match text("type") {
            "number" => Kind::Number,
            "integer" => Kind::Integer,
            "boolean" => Kind::Switch,
            "array" => Kind::Several,
            _ => Kind::Text,
        };
        let items = if kind == Kind::Several { field.get("items").unwrap_or(&Value::Null) } else { field };
        let list = |key: &str| items.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let titled = list("oneOf").into_iter().chain(list("anyOf"));
        let titled = titled.filter_map(|choice| {
            let title = choice.get("title")?.as_str()?.to_owned();
            Some((title, choice.get("const")?.clone()))
        });
        let plain = list("enum").into_iter().filter_map(|value| Some((value.as_str()?.to_owned(), value.clone())));
        let mut choices: Vec<(String, Value)> = titled.chain(plain).collect();
        if kind == Kind::Switch {
            choices = vec![("true".to_owned(), true.into()), ("false".to_owned(), false.into())];
        }
        let title = if text("title").is_empty() { name } else { text("title") };
        let label = match text("description") {
            "" => title.to_owned(),
            description => format!("{title}: {description}"),
        };
        // What is picked from a list is no secret because of the words above the form.
        let about = if choices.is_empty() { about } else { "" };
        let told = format!("{label} {about}");
        let is_number = matches!(kind, Kind::Number | Kind::Integer);
        let bound = |number: &str, text: &str| {
            field.get(if is_number { number } else { text }).and_then(Value::as_f64).filter(|_| choices.is_empty())
        };
        let (least, most) = (bound("minimum", "minLength"), bound("maximum", "maxLength"));
        let label = match (least, most) {
            (Some(least), Some(most)) if is_number => format!("{label} ({least}–{most})"),
            (Some(least), None) if is_number => format!("{label} (≥ {least})"),
            (None, Some(most)) if is_number => format!("{label} (≤ {most})"),
            _ => label,
        };
        let secret = text("format") == "password" || is_secret_name(name) || asks_for_secret(&told);
        let default = field.get("default").filter(|default| !default.is_null()).cloned();
        Self { label: clean(label.as_bytes()), kind, choices, default, needed, secret, least, most }
    }

    async fn ask(&self, server: &str, message: &str, person: &Person) -> Said {
        let default = self.default.as_ref().map(|default| clean(self.words(default).as_bytes()));
        let shown_default = default.as_ref().map(|default| format!(" [{default}]")).unwrap_or_default();
        let asker = Asker::Server { name: server.to_owned(), secret: self.secret, url: false };
        let picked = self.choices.len() <= MOST_CHOICES;
        let shown = |(label, _): &(String, Value)| clean(label.as_bytes());
        let choices: Vec<String> = self.choices.iter().map(shown).collect();
        let listed = if picked { String::new() } else { format!(" ({})", choices.join(", ")) };
        let question = Question {
            text: format!("{message}\n{}{listed}{shown_default}", self.label),
            several: picked && self.kind == Kind::Several,
            choices: if picked { choices } else { Vec::new() },
            free_text: false,
            default,
            asker,
        };
        for _ in 0..TRIES {
            match person.ask(question.clone()).await {
                Answer::Given { chosen, text } => {
                    if let Some(said) = self.read_answer(&chosen, text.trim()) {
                        return said;
                    }
                }
                Answer::Aborted | Answer::Unavailable => return Said::Gone,
            }
        }
        Said::No
    }

    /// A value as a person reads it.
    fn words(&self, value: &Value) -> String {
        if let Some(values) = value.as_array() {
            return values.iter().map(|value| self.words(value)).collect::<Vec<_>>().join(", ");
        }
        let label = self.choices.iter().find(|(_, known)| known == value).map(|(label, _)| label.clone());
        label.unwrap_or_else(|| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// Reads an answer; `None` where it does not fit.
    fn read_answer(&self, chosen: &[usize], text: &str) -> Option<Said> {
        let value = |index: &usize| self.choices.get(*index).map(|(_, value)| value.clone());
        let takes_default = chosen.is_empty() && text.is_empty() && self.default.is_some();
        if self.kind == Kind::Several && !takes_default && (!chosen.is_empty() || text.is_empty()) {
            return Some(Said::Value(chosen.iter().filter_map(value).collect()));
        }
        if let Some(value) = chosen.first().and_then(value) {
            return Some(Said::Value(value));
        }
        if text.is_empty() {
            return Some(match (&self.default, self.needed) {
                (Some(default), _) => Said::Value(default.clone()),
                (None, false) => Said::Nothing,
                (None, true) => Said::No,
            });
        }
        if !self.choices.is_empty() {
            let found = self.choices.iter().find(|(label, value)| label == text || value == text)?;
            let value = found.1.clone();
            return Some(Said::Value(if self.kind == Kind::Several { json!([value]) } else { value }));
        }
        let number = || text.parse::<f64>().ok().filter(|number| number.is_finite());
        let size = match self.kind {
            Kind::Number | Kind::Integer => number()?,
            #[expect(clippy::cast_precision_loss, reason = "nobody types so much")]
            Kind::Text | Kind::Switch | Kind::Several => text.chars().count() as f64,
        };
        if self.least.is_some_and(|least| size < least) || self.most.is_some_and(|most| size > most) {
            return None;
        }
        Some(Said::Value(match self.kind {
            Kind::Number => json!(number()?),
            Kind::Integer => json!(text.parse::<i64>().ok()?),
            Kind::Text => text.into(),
            Kind::Switch => json!(text.parse::<bool>().ok()?),
            Kind::Several => json!([text]),
        }))
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::tool::Wish;

    /// Asks, answers each question with what is next in `answers`, and returns the questions.
    async fn asked(params: Value, answers: Vec<Answer>) -> (Value, Vec<Question>) {
        let (wishes, mut taken) = mpsc::channel(1);
        let person = Person::new(wishes, false);
        let mut questions = Vec::new();
        let mut answers = answers.into_iter();
        let replies = async {
            while let Some(wish) = taken.recv().await {
                let Wish::Ask { question, reply } = wish else { continue };
                questions.push(question);
                reply.send(answers.next().unwrap_or(Answer::Aborted)).unwrap();
            }
        };
        let result = async {
            let result = answer("lab", &params, &person).await;
            drop(person);
            result
        };
        let (result, ()) = tokio::join!(result, replies);
        (result, questions)
    }

    fn words(text: &str) -> Answer {
        Answer::Given { chosen: Vec::new(), text: text.to_owned() }
    }

    fn pick(chosen: &[usize]) -> Answer {
        Answer::Given { chosen: chosen.to_vec(), text: String::new() }
    }

    #[tokio::test]
    async fn a_form_is_asked_field_by_field() {
        let params = json!({"message": "Who?\u{1b}[2J", "requestedSchema": {"type": "object", "properties": {
            "name": {"type": "string", "title": "Name", "description": "yours"},
            "age": {"type": "integer", "default": 7},
            "sure": {"type": "boolean"},
            "colour": {"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]},
            "days": {"type": "array", "items": {"enum": ["Mo", "Tu", "We"]}},
            "more": {"type": "string"}
        }, "required": ["name"]}});
        let answers = vec![words("me"), words("old"), words(""), pick(&[1]), pick(&[1]), pick(&[0, 2]), words("")];
        let (result, questions) = asked(params, answers).await;
        let content = json!({"name": "me", "age": 7, "sure": false, "colour": "#0f0", "days": ["Mo", "We"]});
        assert_eq!(result, json!({"action": "accept", "content": content}));
        // A number that is none is asked once more.
        assert_eq!(questions.len(), 7);
        assert_eq!(questions[0].text, "Who?\nName: yours");
        let asker = Asker::Server { name: "lab".to_owned(), secret: false, url: false };
        assert_eq!((&questions[0].asker, questions[5].several), (&asker, true));
    }

    #[tokio::test]
    async fn a_secret_that_is_asked_for_is_told_as_one() {
        for (name, field) in [
            ("password", json!({"type": "string"})),
            ("x", json!({"type": "string", "format": "password"})),
            ("value", json!({"type": "string", "description": "Your GitHub token"})),
            ("API_KEY", json!({"type": "string"})),
        ] {
            let params =
                json!({"message": "?", "requestedSchema": {"properties": {name: field}, "required": [name]}});
            let (result, questions) = asked(params, vec![words("")]).await;
            assert_eq!(result, json!({"action": "decline"}));
            assert!(matches!(&questions[0].asker, Asker::Server { secret: true, .. }), "{name}");
        }
        let secret = |question: &Question| matches!(&question.asker, Asker::Server { secret: true, .. });
        for (message, title) in [("Paste your API key", ""), ("?", "Your password")] {
            let properties = json!({"value": {"type": "string"}, "days": {"enum": ["Mo", "Tu"]}});
            let params = json!({"message": message, "requestedSchema": {"title": title, "properties": properties}});
            let (_, questions) = asked(params, vec![words(""), words("")]).await;
            let found = |word: &str| questions.iter().find(|question| question.text.ends_with(word)).map(secret);
            assert_eq!((found("value"), found("days")), (Some(true), Some(false)), "{message}");
        }
    }

    #[tokio::test]
    async fn what_is_too_small_too_large_too_short_or_too_long_is_asked_once_more() {
        let field = |field: Value| json!({"message": "?", "requestedSchema": {"properties": {"x": field}}});
        let port = field(json!({"type": "integer", "minimum": 1, "maximum": 65535}));
        let (result, questions) = asked(port, vec![words("0"), words("65536"), words("443")]).await;
        assert_eq!(result, json!({"action": "accept", "content": {"x": 443}}));
        assert_eq!(questions[0].text, "?\nx (1–65535)");
        let name = field(json!({"type": "string", "minLength": 2, "maxLength": 3}));
        let (result, _) = asked(name, vec![words("ä"), words("four"), words("äöü")]).await;
        assert_eq!(result, json!({"action": "accept", "content": {"x": "äöü"}}));
    }

    #[tokio::test]
    async fn an_address_is_shown_and_nothing_is_opened() {
        let params = json!({"mode": "url", "message": "Pay", "url": "https://pay.example/1\u{1b}]0;x\u{7}"});
        let (result, questions) = asked(params.clone(), vec![pick(&[0])]).await;
        assert_eq!(result, json!({"action": "accept"}));
        assert_eq!(questions[0].text, "Pay\nhttps://pay.example/1");
        assert_eq!(asked(params.clone(), vec![pick(&[1])]).await.0, json!({"action": "decline"}));
        assert_eq!(asked(params, vec![Answer::Aborted]).await.0, json!({"action": "cancel"}));
    }
}
