//! The JSON schema of the settings, from their declarations: editors complete and check with it.

use serde_json::{Map, Value, json};

use super::entry::Section;
use super::setting::{Form, Setting, Shape};
use super::table::Config;
use crate::locale::Locale;

/// Returns the values that a text of a form can have, for forms that another room defines.
pub type Known<'a> = &'a dyn Fn(Form) -> Vec<&'static str>;

/// Writes the schema (draft 7, which TOML editors take), its sentences in one language.
#[must_use]
pub fn schema(locale: &Locale, known: Known<'_>) -> Value {
    let mut schema = table(Config::SETTINGS, locale, known);
    schema.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
    schema.insert("title".to_owned(), "axi".into());
    Value::Object(schema)
}

fn table(settings: &[Setting], locale: &Locale, known: Known<'_>) -> Map<String, Value> {
    let properties: Map<String, Value> = settings
        .iter()
        .map(|setting| (setting.name.to_owned(), Value::Object(property(setting, locale, known))))
        .collect();
    object(json!({ "type": "object", "additionalProperties": false, "properties": properties }))
}

fn property(setting: &Setting, locale: &Locale, known: Known<'_>) -> Map<String, Value> {
    let text = || text(setting.form, known);
    let mut property = match setting.shape {
        Shape::Choice(words) => object(json!({ "type": "string", "enum": words })),
        Shape::Number => {
            let (least, most) = setting.range;
            let mut number = object(json!({ "type": "integer", "minimum": least }));
            if most < u64::MAX {
                number.insert("maximum".to_owned(), most.into());
            }
            number
        }
        Shape::Dollars => object(json!({ "type": "number", "minimum": 0 })),
        Shape::Switch => object(json!({ "type": "boolean" })),
        Shape::Text => text(),
        Shape::List | Shape::Words => object(json!({ "type": "array", "items": text() })),
        Shape::Texts => object(json!({ "type": "object", "additionalProperties": text() })),
        Shape::Section(settings) => table(settings, locale, known),
        Shape::Named(settings) => {
            object(json!({ "type": "object", "additionalProperties": table(settings, locale, known) }))
        }
    };
    property.insert("description".to_owned(), locale.text(setting.says).into());
    property.insert("$comment".to_owned(), format!("since {}", setting.since).into());
    // A default is written in TOML; for all settings that have one, JSON writes it the same way.
    if let Ok(default) = serde_json::from_str::<Value>(&(setting.default)()) {
        property.insert("default".to_owned(), default);
    }
    property
}

fn text(form: Form, known: Known<'_>) -> Map<String, Value> {
    let mut text = object(json!({ "type": "string" }));
    let words = known(form);
    if !words.is_empty() {
        text.insert("enum".to_owned(), words.into());
    }
    let pattern = match form {
        Form::Model => "^[^/\\s]+/\\S+$",
        Form::Models => "^[^/\\s]+/[^\\s,]+(\\s*,\\s*[^/\\s]+/[^\\s,]+)*$",
        Form::GhostModel => "^(off|[^/\\s]+/\\S+)$",
        Form::Search => "^(off|provider|https?://[^/\\s]\\S*)$",
        Form::Url => "^https?://[^/\\s]\\S*$",
        Form::Price => "^[0-9.]+(/[0-9.]+){1,3}$",
        Form::Variable => "^[A-Za-z_][A-Za-z0-9_]*$",
        Form::Any | Form::Secret | Form::Language | Form::Protocol | Form::Rule | Form::Style | Form::Action => {
            return text;
        }
    };
    text.insert("pattern".to_owned(), pattern.into());
    text
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
